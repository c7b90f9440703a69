//! What a replay found.

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::Duration;

use serde::Serialize;

use super::post::Posted;
use super::{ReplayConfig, Room};
use crate::api::Audit;
use crate::latency::{Latencies, Summary};
use crate::report::{Circumstances, Violations};

/// The figures of a replay. It has passed if there are no violations.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names say it; README.md explains how to read them")]
pub struct ReplayReport {
    pub item: String,
    pub speed: f64,
    pub seconds: f64,
    pub comments: usize,
    pub acknowledged: usize,
    pub in_history: usize,
    pub ledger_total: i64,
    pub watchers: usize,
    pub deliveries: u64,
    pub comments_per_s: f64,
    pub ack: Summary,
    pub broadcast_first: Summary,
    pub broadcast_last: Summary,
    pub generator_lateness: Summary,
    pub generator_cpu_s: f64,
    pub generator_cpu_share: f64,
    pub circumstances: Circumstances,
    pub violations: Violations,
}

pub(super) fn of(
    config: &ReplayConfig,
    room: &Room,
    posted: &[Posted],
    audit: &Audit,
    (took, cpu): (Duration, Duration),
    in_history: usize,
    violations: Violations,
) -> ReplayReport {
    let seconds = took.as_secs_f64().max(1e-9);
    let (ack, late) = (Latencies::default(), Latencies::default());
    for posted in posted {
        late.record(posted.sent.saturating_sub(posted.due));
        if posted.outcome.is_ok() {
            ack.record(posted.answered.saturating_sub(posted.due));
        }
    }
    let (first, last) = broadcast(room, posted);
    ReplayReport {
        item: config.item.clone(),
        speed: config.speed,
        seconds,
        comments: config.lines.len(),
        acknowledged: posted.iter().filter(|posted| posted.outcome.is_ok()).count(),
        in_history,
        ledger_total: audit.counter("comments").total,
        watchers: config.watchers,
        deliveries: (0..room.watches.len()).map(|i| room.with(i, |watch| watch.comments_seen()) as u64).sum(),
        comments_per_s: posted.len() as f64 / seconds,
        ack: ack.summary(),
        broadcast_first: first,
        broadcast_last: last,
        generator_lateness: late.summary(),
        generator_cpu_s: cpu.as_secs_f64(),
        generator_cpu_share: cpu.as_secs_f64() / seconds,
        circumstances: Circumstances::here(),
        violations,
    }
}

/// From the planned moment of each comment to its first and to its last watcher.
fn broadcast(room: &Room, posted: &[Posted]) -> (Summary, Summary) {
    let due_of: HashMap<&str, Duration> =
        posted.iter().filter_map(|posted| Some((&**posted.outcome.as_ref().ok()?, posted.due))).collect();
    let (first, last) = (Latencies::default(), Latencies::default());
    for placed in room.order.lock().unwrap_or_else(PoisonError::into_inner).placed() {
        if let Some(due) = due_of.get(&*placed.id) {
            first.record(placed.first_seen.saturating_sub(*due));
            last.record(placed.last_seen.saturating_sub(*due));
        }
    }
    (first.summary(), last.summary())
}

impl std::fmt::Display for ReplayReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "replay on {}: {} comments at {} x in {:.1} s",
            self.item, self.comments, self.speed, self.seconds
        )?;
        writeln!(
            f,
            "comments   {} acknowledged, {} in the history, ledger {}",
            self.acknowledged, self.in_history, self.ledger_total
        )?;
        writeln!(f, "watchers   {}, {} deliveries of comments", self.watchers, self.deliveries)?;
        writeln!(f, "rate       {:.0} comments/s", self.comments_per_s)?;
        writeln!(f, "ack        {}", self.ack)?;
        writeln!(
            f,
            "broadcast  first watcher {}\n           last watcher  {}",
            self.broadcast_first, self.broadcast_last
        )?;
        writeln!(f, "generator  late by {}", self.generator_lateness)?;
        writeln!(
            f,
            "           {:.2} s of processor time, {:.0} % of one core",
            self.generator_cpu_s,
            self.generator_cpu_share * 100.0
        )?;
        writeln!(f, "{}\n{}", self.circumstances, self.violations)
    }
}
