//! What a comparison of strategies is asked to do, and the bounds on it.

use std::path::PathBuf;
use std::time::Duration;

use crate::target::{NotAllowed, allow};

/// Items that are tapped, at most: each has sockets of its own.
const ITEMS_MAX: usize = 100;
/// Sockets of one item, at most.
const SOCKETS_MAX: usize = 1_000;
/// Taps of the first load, at most.
const TAPS_MAX: u64 = 100_000_000;
/// Taps a second, at most: as many messages go out in the compared load.
const TAPS_PER_S_MAX: f64 = 1e6;
/// Each load, at most.
const LENGTH_MAX: Duration = Duration::from_secs(3_600);
/// Taps in one message, by the wire contract.
const N_MAX: u32 = 100;
/// Items whose bytes are counted, at most; each is made and talked in over REST.
const LIVE_ITEMS_MAX: usize = 100_000;
/// Comments in each of them, at most: one takes a tick.
const COMMENTS_MAX: usize = 1_000;
/// The server's own bounds on its flush interval.
const FLUSH: std::ops::RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(60);

/// What to do.
#[derive(Debug, Clone)]
pub struct StrategiesConfig {
    /// The heartline binary.
    pub server_bin: PathBuf,
    /// The redis-server binary.
    pub redis_bin: PathBuf,
    /// A MongoDB on this machine; `None`: the one that the project's tests start.
    pub mongodb_url: Option<String>,
    /// Items that are tapped.
    pub items: usize,
    /// Sockets to each of them.
    pub sockets: usize,
    /// Taps of the first load, all items together.
    pub taps: u64,
    /// Over how long.
    pub length: Duration,
    /// Taps in one message of the first load.
    pub n: u32,
    /// Length of the compared loads, at the first one's taps a second.
    pub compared: Duration,
    /// The server's flush interval.
    pub flush: Duration,
    /// Items whose bytes in Redis are counted.
    pub live_items: usize,
    /// Comments in each of them.
    pub comments: usize,
    /// No progress bar.
    pub is_quiet: bool,
}

impl StrategiesConfig {
    /// A million taps on 10 items in 60 s, 20 s compared, 1,000 live items.
    pub fn new(server_bin: PathBuf) -> Self {
        Self {
            server_bin,
            redis_bin: "redis-server".into(),
            mongodb_url: None,
            items: 10,
            sockets: 20,
            taps: 1_000_000,
            length: Duration::from_secs(60),
            n: 10,
            compared: Duration::from_secs(20),
            flush: Duration::from_secs(5),
            live_items: 1_000,
            comments: 20,
            is_quiet: true,
        }
    }

    /// What every load offers.
    pub fn taps_per_s(&self) -> f64 {
        self.taps as f64 / self.length.as_secs_f64()
    }

    /// Whether the bounds are kept.
    ///
    /// # Errors
    /// Names the value that is out of bounds.
    pub fn check(&self) -> Result<(), NotAllowed> {
        allow((1..=ITEMS_MAX).contains(&self.items), format!("items: 1 to {ITEMS_MAX}"))?;
        allow((1..=SOCKETS_MAX).contains(&self.sockets), format!("sockets: 1 to {SOCKETS_MAX} an item"))?;
        allow((1..=TAPS_MAX).contains(&self.taps), format!("taps: 1 to {TAPS_MAX}"))?;
        allow((1..=N_MAX).contains(&self.n), format!("n: 1 to {N_MAX}"))?;
        for length in [self.length, self.compared] {
            let is_length = !length.is_zero() && length <= LENGTH_MAX;
            allow(is_length, format!("seconds: up to {}", LENGTH_MAX.as_secs()))?;
        }
        let is_rate = self.taps_per_s() <= TAPS_PER_S_MAX;
        allow(is_rate, format!("taps and seconds: {TAPS_PER_S_MAX} taps a second at most"))?;
        allow(FLUSH.contains(&self.flush), "flush-ms: 100 to 60,000")?;
        allow((1..=LIVE_ITEMS_MAX).contains(&self.live_items), format!("live-items: 1 to {LIVE_ITEMS_MAX}"))?;
        allow((1..=COMMENTS_MAX).contains(&self.comments), format!("comments: 1 to {COMMENTS_MAX}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_end_or_measure_is_refused() {
        let good = StrategiesConfig::new("heartline".into());
        assert_eq!(good.check(), Ok(()));
        let breaks: [fn(&mut StrategiesConfig); 7] = [
            |config| config.items = 0,
            |config| config.sockets = SOCKETS_MAX + 1,
            |config| config.length = Duration::ZERO,
            |config| config.compared = Duration::MAX,
            |config| config.length = Duration::from_millis(10),
            |config| config.flush = Duration::ZERO,
            |config| config.comments = 0,
        ];
        for (at, spoil) in breaks.iter().enumerate() {
            let mut config = good.clone();
            spoil(&mut config);
            assert!(config.check().is_err(), "{at}");
        }
    }
}
