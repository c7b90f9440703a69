//! Rates per person.

use super::bounds::{Bound, count, rate};

/// What one person may do in a second. `off` is for load tests: no rates at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateConfig {
    /// No rates: `--limits off`.
    pub off: bool,
    /// Tap messages a second: a client that follows `tick_ms` sends 10.
    pub tap_messages_per_s: u32,
    /// Taps a second: two thumbs make about 20.
    pub taps_per_s: u32,
    /// Taps saved up by who did not tap for a while.
    pub taps_burst: u32,
    /// Comments of a viewer a second.
    pub comments_per_s: u32,
    /// Comments saved up.
    pub comments_burst: u32,
    /// Comments of a host a second.
    pub host_comments_per_s: u32,
    /// People, per kind of rate, whose recent use is remembered. A million: 100 MiB at the worst; past it some start anew.
    pub people_max: usize,
}

/// Bounds that the file can set.
pub(super) const BOUNDS: &[Bound<RateConfig>] = &[
    Bound { key: "tap_messages_per_s", least: 1, most: 10_000, set: |c, n| c.tap_messages_per_s = rate(n) },
    Bound { key: "taps_per_s", least: 1, most: 1_000_000, set: |c, n| c.taps_per_s = rate(n) },
    Bound { key: "taps_burst", least: 1, most: 1_000_000, set: |c, n| c.taps_burst = rate(n) },
    Bound { key: "comments_per_s", least: 1, most: 1_000, set: |c, n| c.comments_per_s = rate(n) },
    Bound { key: "comments_burst", least: 1, most: 1_000, set: |c, n| c.comments_burst = rate(n) },
    Bound { key: "host_comments_per_s", least: 1, most: 1_000, set: |c, n| c.host_comments_per_s = rate(n) },
    Bound { key: "people_max", least: 1_000, most: 100_000_000, set: |c, n| c.people_max = count(n) },
];

impl Default for RateConfig {
    fn default() -> Self {
        Self {
            off: false,
            tap_messages_per_s: 20,
            taps_per_s: 100,
            taps_burst: 300,
            comments_per_s: 1,
            comments_burst: 5,
            host_comments_per_s: 10,
            people_max: 1_000_000,
        }
    }
}
