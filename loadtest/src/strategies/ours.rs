//! The server's way: storms on all items at once, and what its metrics and its Redis say about them.

use std::time::{Duration, Instant};

use anyhow::Result;
use futures_util::future::{join_all, try_join_all};
use serde::Serialize;

use super::scrape::Scrape;
use super::stores::Redis;
use crate::http::Http;
use crate::process::Server;
use crate::report::Violations;
use crate::storm::{Storm, StormConfig, StormReport};
use crate::usage;

/// The fraction of tap messages that ask for an ack: acks are checked too, and most pages ask for none.
const WITH_ID: f64 = 0.1;
/// For everything to be durable after the load, beyond three flush intervals.
const SETTLE_MAX: Duration = Duration::from_secs(10);

/// Taps to offer.
#[derive(Debug, Clone)]
pub struct Load {
    /// What its items are called after.
    pub name: &'static str,
    /// Sockets to each item.
    pub sockets: usize,
    /// Of all items together.
    pub taps_per_s: f64,
    /// Taps in one message.
    pub n: u32,
    /// How long.
    pub length: Duration,
}

/// A server over this Redis.
#[derive(Debug)]
pub struct Ours<'a> {
    /// The server.
    pub server: &'a Server,
    /// Its Redis.
    pub redis: &'a Redis,
    /// Its flush interval.
    pub flush: Duration,
    /// Items that are tapped.
    pub items: usize,
}

/// What one load came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it; README.md explains how to read them")]
pub struct OursWindow {
    pub seconds: f64,
    pub taps_sent: u64,
    pub taps_accepted: u64,
    pub taps_durable: u64,
    pub ticks: u64,
    pub hot_round_trips: u64,
    pub folds: u64,
    pub folds_max: u64,
    pub durable_writes: u64,
    pub redis_cpu_s: f64,
    pub generator_late_p99_ms: f64,
    pub generator_cpu_s: f64,
}

impl Ours<'_> {
    /// Offers a load to the server. Processor time is that of the load, joining included; writes are counted until all is durable.
    pub async fn take(&self, load: &Load, violations: &mut Violations) -> Result<OursWindow> {
        let mut http = Http::new(self.server.target()?);
        let (started, before) = (Instant::now(), Scrape::take(&mut http).await?);
        let (redis_cpu_s, own_cpu) = (self.redis.cpu_s().await?, usage::own_cpu());
        let opening = (0..self.items).map(|item| Ok(Storm::open(self.storm(load, item)?)));
        let mut storms = try_join_all(opening.collect::<Result<Vec<_>>>()?).await?;
        join_all(storms.iter_mut().map(Storm::load)).await;
        let redis_cpu_s = self.redis.cpu_s().await? - redis_cpu_s;
        let generator_cpu_s = usage::own_cpu().saturating_sub(own_cpu).as_secs_f64();
        try_join_all(storms.iter_mut().map(Storm::settle)).await?;
        let (after, elapsed) = (Scrape::take(&mut http).await?, started.elapsed());
        join_all(storms.iter_mut().map(Storm::close)).await;
        let reports: Vec<StormReport> = storms.iter().map(Storm::report).collect();
        let grown = |name: &str| after.grown(&before, |at| at.get(name));
        let window = OursWindow {
            ticks: grown("heartline_ticks_total")?,
            hot_round_trips: grown("heartline_hot_round_trips_total")?,
            folds: grown("heartline_durable_writes_total{kind=\"fold\"}")?,
            folds_max: self.items as u64 * flushes_in(elapsed, self.flush),
            durable_writes: after.grown(&before, |at| at.sum("heartline_durable_writes_total"))?,
            redis_cpu_s,
            generator_cpu_s,
            ..sum(&reports)
        };
        reports.into_iter().for_each(|report| violations.merge(report.violations));
        let told = grown("heartline_taps_accepted_total")?;
        window.check(told).into_iter().for_each(|what| violations.add(format!("{}: {what}", load.name)));
        Ok(window)
    }

    fn storm(&self, load: &Load, item: usize) -> Result<StormConfig> {
        Ok(StormConfig {
            sockets: load.sockets,
            taps_per_s: load.taps_per_s / self.items as f64,
            n: load.n,
            with_id: WITH_ID,
            length: load.length,
            settle_max: self.flush * 3 + SETTLE_MAX,
            ..StormConfig::new(self.server.target()?, &format!("{}-{item}", load.name))
        })
    }
}

/// Flushes that can begin within a time: one may be due at its very beginning.
fn flushes_in(elapsed: Duration, flush: Duration) -> u64 {
    (elapsed.as_secs_f64() / flush.as_secs_f64()) as u64 + 1
}

/// The books of all items together; the load lasted as long as its longest storm.
fn sum(reports: &[StormReport]) -> OursWindow {
    reports.iter().fold(OursWindow::default(), |sum, report| OursWindow {
        seconds: sum.seconds.max(report.seconds),
        taps_sent: sum.taps_sent + report.taps_sent,
        taps_accepted: sum.taps_accepted + report.taps_accepted,
        taps_durable: sum.taps_durable + u64::try_from(report.durable_after - report.total_before).unwrap_or(0),
        generator_late_p99_ms: sum.generator_late_p99_ms.max(report.generator_lateness.p99_ms),
        ..sum
    })
}

impl OursWindow {
    /// Everything that is not as promised; `told` is what the server's metrics say it accepted.
    fn check(&self, told: u64) -> Vec<String> {
        let Self { taps_sent, taps_accepted, taps_durable, ticks, hot_round_trips, folds, folds_max, .. } = *self;
        let mut found = Vec::new();
        let mut must = |is: bool, what: String| {
            if !is {
                found.push(what);
            }
        };
        must(taps_accepted == taps_sent, format!("{taps_accepted} of {taps_sent} taps were accepted"));
        must(taps_durable == taps_accepted, format!("{taps_durable} of {taps_accepted} taps are durable"));
        must(told == taps_accepted, format!("the metrics say {told} taps, {taps_accepted} were accepted"));
        // None at all would mean that nothing was measured.
        must((1..=ticks).contains(&hot_round_trips), format!("{hot_round_trips} round trips in {ticks} ticks"));
        must((1..=folds_max).contains(&folds), format!("{folds} folds, {folds_max} at most"));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: OursWindow = OursWindow {
        seconds: 60.0,
        taps_sent: 1_000,
        taps_accepted: 1_000,
        taps_durable: 1_000,
        ticks: 650,
        hot_round_trips: 650,
        folds: 130,
        folds_max: 130,
        durable_writes: 130,
        redis_cpu_s: 1.0,
        generator_late_p99_ms: 1.0,
        generator_cpu_s: 1.0,
    };

    #[test]
    fn each_promise_that_is_broken_is_found() {
        assert_eq!(GOOD.check(1_000), Vec::<String>::new());
        assert_eq!(GOOD.check(1_001).len(), 1);
        for (broken, named) in [
            (OursWindow { hot_round_trips: 651, ..GOOD }, "651 round trips in 650 ticks"),
            (OursWindow { hot_round_trips: 0, ..GOOD }, "0 round trips"),
            (OursWindow { folds: 131, ..GOOD }, "131 folds, 130 at most"),
            (OursWindow { folds: 0, ..GOOD }, "0 folds"),
            (OursWindow { taps_durable: 999, ..GOOD }, "999 of 1000 taps are durable"),
            (OursWindow { taps_sent: 1_001, ..GOOD }, "1000 of 1001 taps were accepted"),
        ] {
            assert!(matches!(&broken.check(1_000)[..], [only] if only.contains(named)), "{named}");
        }
    }

    #[test]
    fn flushes_are_counted_whole_and_one_more() {
        let five = Duration::from_secs(5);
        assert_eq!(flushes_in(Duration::from_secs(4), five), 1);
        assert_eq!(flushes_in(Duration::from_secs(66), five), 14);
    }
}
