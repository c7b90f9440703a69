//! What a run of likes found.

use std::time::Duration;

use serde::Serialize;

use super::{Course, Sent};
use crate::api::Audit;
use crate::latency::Summary;
use crate::report::{Circumstances, Violations};

/// The figures. It has passed if there are no violations.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct LikesReport {
    pub way: String,
    pub items: usize,
    pub people: usize,
    pub senders: usize,
    pub seconds: f64,
    pub accepted: u64,
    pub accepted_per_s: f64,
    pub changed: u64,
    pub answer: Summary,
    pub generator_cpu_share: f64,
    pub circumstances: Circumstances,
    pub violations: Violations,
}

impl LikesReport {
    pub(super) fn new(course: &Course, sent: &[Sent], took: Duration, cpu: Duration) -> Self {
        let mut violations = Violations::default();
        sent.iter().for_each(|sent| violations.merge(sent.violations.clone()));
        let accepted = sent.iter().map(|sent| sent.accepted).sum();
        let seconds = course.config.length.as_secs_f64();
        Self {
            way: format!("{:?}", course.config.way).to_lowercase(),
            items: course.config.items,
            people: course.config.people,
            senders: course.config.senders(),
            seconds,
            accepted,
            accepted_per_s: accepted as f64 / seconds,
            changed: sent.iter().map(|sent| sent.changed).sum(),
            answer: course.answers.summary(),
            generator_cpu_share: cpu.as_secs_f64() / took.as_secs_f64().max(1e-9),
            circumstances: Circumstances::here(),
            violations,
        }
    }

    /// Facts, counter and drift of an item against the books.
    pub(super) fn compare(&mut self, item: &str, expected: i64, audit: &Audit) {
        self.violations.check(item, audit.check());
        let (total, facts, drift) = (audit.counter("likes").total, audit.facts.likes, audit.drift.likes);
        if (total, facts, drift) != (expected, expected, 0) {
            self.violations.add(format!("{item}: {facts} facts, {total} counted, drift {drift}; books: {expected}"));
        }
    }
}

impl std::fmt::Display for LikesReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { way, items, people, senders, seconds, accepted, accepted_per_s, changed, .. } = self;
        writeln!(f, "likes by {way}: {seconds:.1} s, {items} items, {people} people, {senders} senders")?;
        writeln!(f, "accepted   {accepted}, {accepted_per_s:.0} a second; {changed} changed something")?;
        writeln!(f, "answer     {}", self.answer)?;
        writeln!(f, "generator  {:.0} % of one core", self.generator_cpu_share * 100.0)?;
        writeln!(f, "{}\n{}", self.circumstances, self.violations)
    }
}
