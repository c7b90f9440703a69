//! What a storm found.

use serde::Serialize;

use super::sender::lock;
use super::settle::taps_of;
use super::{KIND, Storm, StormConfig};
use crate::latency::Summary;
use crate::ledger::Ledger;
use crate::report::{Circumstances, Violations};

/// The figures of a storm. It has passed if there are no violations.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names say it; README.md explains how to read them")]
pub struct StormReport {
    pub item: String,
    pub sockets_asked: usize,
    pub sockets_to_the_end: usize,
    pub seconds: f64,
    pub taps_per_s_asked: f64,
    pub taps_per_s_sent: f64,
    pub taps_sent: u64,
    pub taps_accepted: u64,
    pub taps_refused: u64,
    pub taps_unsure: u64,
    pub total_before: i64,
    pub total_after: i64,
    pub durable_after: i64,
    pub comments_sent: u64,
    pub comments_acknowledged: u64,
    pub comments_refused: u64,
    pub ack: Summary,
    pub broadcast: Summary,
    pub generator_lateness: Summary,
    pub generator_cpu_s: f64,
    pub generator_cpu_share: f64,
    pub circumstances: Circumstances,
    pub violations: Violations,
}

impl Storm {
    /// The report. Before [`Storm::settle`] it says that the run did not settle.
    pub fn report(&self) -> StormReport {
        let Ledger { sent, certain, unsure, refused, .. } = self.ledger();
        let cpu_s = crate::usage::own_cpu().saturating_sub(self.cpu_before).as_secs_f64();
        let seconds = self.took.as_secs_f64().max(1e-9);
        let StormConfig { item, sockets, taps_per_s, .. } = self.config.clone();
        let seats = self.seats.iter().take(sockets).map(|seat| lock(seat));
        let measures = &self.shared.measures;
        let mut report = StormReport {
            item,
            sockets_asked: sockets,
            sockets_to_the_end: seats.filter(|seat| !seat.asks.books.cut).count(),
            seconds,
            taps_per_s_asked: taps_per_s,
            taps_per_s_sent: sent as f64 / seconds,
            taps_sent: sent,
            taps_accepted: certain,
            taps_refused: refused,
            taps_unsure: unsure,
            total_before: self.taps_before(),
            total_after: self.end_audit.as_ref().map_or(0, taps_of),
            durable_after: self.end_audit.as_ref().map_or(0, |audit| audit.counter(&format!("taps.{KIND}")).durable),
            comments_sent: 0,
            comments_acknowledged: 0,
            comments_refused: 0,
            ack: measures.acks.summary(),
            broadcast: measures.shown.summary(),
            generator_lateness: measures.late.summary(),
            generator_cpu_s: cpu_s,
            generator_cpu_share: cpu_s / seconds,
            circumstances: Circumstances::here(),
            violations: self.violations(),
        };
        self.add_comments(&mut report);
        report
    }

    fn add_comments(&self, report: &mut StormReport) {
        for seat in &self.seats {
            let asks = &lock(seat).asks;
            report.comments_sent += asks.comments_asked;
            report.comments_acknowledged += asks.comments_acked.len() as u64;
            report.comments_refused += asks.comments_refused;
        }
    }

    fn violations(&self) -> Violations {
        let mut all = Violations::default();
        self.seats.iter().for_each(|seat| all.merge(lock(seat).watch.violations.clone()));
        match &self.end_audit {
            Some(audit) => all.merge(self.unsettled(audit)),
            None => all.add("the run ended without a look at the ledger"),
        }
        all
    }
}

impl std::fmt::Display for StormReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { sockets_asked, sockets_to_the_end, seconds, taps_per_s_asked, taps_per_s_sent, .. } = self;
        writeln!(f, "storm on {}: {seconds:.1} s", self.item)?;
        writeln!(f, "sockets    {sockets_to_the_end} of {sockets_asked} to the end")?;
        writeln!(f, "rate       {taps_per_s_sent:.0} taps/s sent of {taps_per_s_asked:.0} asked")?;
        writeln!(
            f,
            "taps       {} sent, {} accepted, {} refused, {} unsure",
            self.taps_sent, self.taps_accepted, self.taps_refused, self.taps_unsure
        )?;
        writeln!(
            f,
            "ledger     {} before, {} after, {} of it durable",
            self.total_before, self.total_after, self.durable_after
        )?;
        writeln!(
            f,
            "comments   {} sent, {} acknowledged, {} refused",
            self.comments_sent, self.comments_acknowledged, self.comments_refused
        )?;
        writeln!(f, "ack        {}\nbroadcast  {}", self.ack, self.broadcast)?;
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
