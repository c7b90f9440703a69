//! What the comparison found.

use serde::Serialize;

use super::StrategiesConfig;
use super::bytes::ItemBytes;
use super::ours::OursWindow;
use super::plain::PlainWindow;
use crate::report::{Circumstances, Violations};

/// The figures. The run has passed if there are no violations.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names say it; README.md explains how to read them")]
pub struct StrategiesReport {
    pub items: usize,
    pub sockets: usize,
    pub n: u32,
    pub taps_per_s: f64,
    pub million: OursWindow,
    pub ours: OursWindow,
    pub plain_redis: PlainWindow,
    pub plain_mongodb: PlainWindow,
    pub ratios: Ratios,
    pub bytes: ItemBytes,
    pub circumstances: Circumstances,
    pub violations: Violations,
}

/// The plain way's cost for each tap that it took, as a multiple of ours; and our rate as a multiple of the plain way's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it; README.md explains how to read them")]
pub struct Ratios {
    pub redis_cpu: f64,
    pub durable_writes: f64,
    pub accepted_per_s_of_redis: f64,
    pub accepted_per_s_of_mongodb: f64,
}

/// Puts the report together.
pub fn of(
    config: &StrategiesConfig,
    million: OursWindow,
    ours: OursWindow,
    plain_redis: PlainWindow,
    plain_mongodb: PlainWindow,
    bytes: ItemBytes,
    violations: Violations,
) -> StrategiesReport {
    StrategiesReport {
        items: config.items,
        sockets: config.items * config.sockets,
        n: config.n,
        taps_per_s: config.taps_per_s(),
        ratios: Ratios::of(&ours, &plain_redis, &plain_mongodb),
        million,
        ours,
        plain_redis,
        plain_mongodb,
        bytes,
        circumstances: Circumstances::here(),
        violations,
    }
}

impl Ratios {
    fn of(ours: &OursWindow, redis: &PlainWindow, mongo: &PlainWindow) -> Self {
        let each = |cost: f64, taps: u64| cost / taps as f64;
        let rate = ours.taps_accepted as f64 / ours.seconds;
        Self {
            redis_cpu: each(redis.redis_cpu_s, redis.taps_answered) / each(ours.redis_cpu_s, ours.taps_accepted),
            durable_writes: each(mongo.durable_writes as f64, mongo.taps_answered)
                / each(ours.durable_writes as f64, ours.taps_accepted),
            accepted_per_s_of_redis: rate / (redis.taps_accepted as f64 / redis.seconds),
            accepted_per_s_of_mongodb: rate / (mongo.taps_accepted as f64 / mongo.seconds),
        }
    }
}

impl std::fmt::Display for StrategiesReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { items, sockets, n, taps_per_s, million, ours, .. } = self;
        writeln!(f, "strategies: {taps_per_s:.0} taps/s on {items} items over {sockets} sockets")?;
        writeln!(f, "first      {n} taps to a message, {:.1} s: {}", million.seconds, Books(million))?;
        writeln!(f, "           {}", Trickle(million))?;
        writeln!(f, "compared   1 tap to a message, {:.1} s: {}", ours.seconds, Books(ours))?;
        writeln!(f, "           {}", Trickle(ours))?;
        self.write_plain(f)?;
        let ItemBytes { items, comments, keys_tapped, used_tapped, keys_talked, used_talked } = self.bytes;
        writeln!(f, "bytes of Redis for a live item, nothing unflushed, {items} items")?;
        writeln!(f, "           tapped: {keys_tapped:.0} by its keys, {used_tapped:.0} of used_memory")?;
        writeln!(
            f,
            "           with {comments} comments: {keys_talked:.0} by its keys, {used_talked:.0} of used_memory"
        )?;
        writeln!(f, "{}\n{}", self.circumstances, self.violations)
    }
}

impl StrategiesReport {
    fn write_plain(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { plain_redis: redis, plain_mongodb: mongo, ratios, .. } = self;
        writeln!(
            f,
            "plain      Redis, HINCRBY and SADD a tap: {} of {} taps in {:.0} s, {:.2} s of its CPU",
            redis.taps_accepted, redis.taps_offered, redis.seconds, redis.redis_cpu_s
        )?;
        writeln!(
            f,
            "           MongoDB, $inc a tap: {} of {} taps in {:.0} s, {} writes",
            mongo.taps_accepted, mongo.taps_offered, mongo.seconds, mongo.durable_writes
        )?;
        writeln!(f, "ratios     plain to ours, for each tap taken")?;
        writeln!(f, "           Redis CPU {:.1}, durable writes {:.0}", ratios.redis_cpu, ratios.durable_writes)?;
        writeln!(
            f,
            "           taps accepted a second, ours to plain: {:.2} of Redis alone, {:.1} of MongoDB alone",
            ratios.accepted_per_s_of_redis, ratios.accepted_per_s_of_mongodb
        )
    }
}

/// Taps of a window, in one line.
struct Books<'a>(&'a OursWindow);

impl std::fmt::Display for Books<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let OursWindow { taps_sent, taps_accepted, taps_durable, .. } = self.0;
        write!(f, "{taps_sent} taps sent, {taps_accepted} accepted, {taps_durable} durable")
    }
}

/// What went to the stores, and what the generator cost.
struct Trickle<'a>(&'a OursWindow);

impl std::fmt::Display for Trickle<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let OursWindow { ticks, hot_round_trips, folds, folds_max, durable_writes, redis_cpu_s, .. } = self.0;
        let OursWindow { seconds, generator_late_p99_ms, generator_cpu_s, .. } = self.0;
        writeln!(f, "{hot_round_trips} round trips in {ticks} ticks, {folds} folds of {folds_max} at most")?;
        writeln!(f, "           {durable_writes} durable writes, {redis_cpu_s:.3} s of Redis CPU")?;
        let share = generator_cpu_s / seconds * 100.0;
        write!(f, "           generator late by {generator_late_p99_ms:.1} ms (p99), {share:.0} % of one core")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_compared_tap_for_tap_and_rates_second_for_second() {
        let ours = OursWindow {
            seconds: 20.0,
            taps_accepted: 1_000,
            durable_writes: 10,
            redis_cpu_s: 0.1,
            ..OursWindow::default()
        };
        let taken = PlainWindow { seconds: 20.0, taps_offered: 1_000, ..PlainWindow::default() };
        let redis = PlainWindow { taps_accepted: 1_000, taps_answered: 1_000, redis_cpu_s: 2.0, ..taken };
        let mongo = PlainWindow { taps_accepted: 100, taps_answered: 110, durable_writes: 110, ..taken };
        let ratios = Ratios::of(&ours, &redis, &mongo);
        let near = |is: f64, expected: f64| (is - expected).abs() < 1e-9;
        assert!(near(ratios.redis_cpu, 20.0) && near(ratios.durable_writes, 100.0), "{ratios:?}");
        assert!(
            near(ratios.accepted_per_s_of_redis, 1.0) && near(ratios.accepted_per_s_of_mongodb, 10.0),
            "{ratios:?}"
        );
    }
}
