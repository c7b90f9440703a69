//! The metrics of one node. Rooms, sockets, flush and stores each keep their own numbers, as atomics that cost one addition; here
//! they are given names and read when somebody asks. Every family has a sample from the first scrape on.
//!
//! The names are the wire contract's; the exposition appends `_total` to counters.

use std::fmt;

use parking_lot::RwLock;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use super::read::{Read, ReadCounters, ReadGauges, Sample};

/// What the text of [`Metrics::expose`] is (OpenMetrics 1.0).
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A label's name and value, if a family has one.
pub type Label = Option<(&'static str, String)>;

/// See the module.
#[derive(Default)]
pub struct Metrics {
    registry: RwLock<Registry>,
}

impl Metrics {
    /// None yet.
    pub fn new() -> Self {
        Self { registry: RwLock::new(Registry::with_prefix("heartline")) }
    }

    /// A family of counters. `name` comes without the prefix and without `_total`.
    pub fn counters(&self, name: &'static str, help: &'static str, samples: Vec<(Label, Read<u64>)>) {
        let samples = samples.into_iter().map(|(label, read)| Sample { label, read }).collect();
        self.registry.write().register_collector(Box::new(ReadCounters { name, help, samples }));
    }

    /// A family of numbers that rise and fall.
    pub fn gauges(&self, name: &'static str, help: &'static str, samples: Vec<(Label, Read<f64>)>) {
        let samples = samples.into_iter().map(|(label, read)| Sample { label, read }).collect();
        self.registry.write().register_collector(Box::new(ReadGauges { name, help, samples }));
    }

    /// The text that is scraped.
    pub fn expose(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry.read())?;
        Ok(text)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Scenario: a store counts in an atomic of its own. Method: the text follows the atomic.
    #[test]
    fn numbers_kept_elsewhere_are_read_at_each_scrape() {
        let metrics = Metrics::new();
        let kept = Arc::new(AtomicU64::new(0));
        let (read, also) = (Arc::clone(&kept), Arc::clone(&kept));
        let labelled = Some(("kind", "a".to_owned()));
        metrics.counters("kept", "Kept", vec![(labelled, Box::new(move || read.load(Ordering::Relaxed)))]);
        metrics.gauges("lag_seconds", "Lag", vec![(None, Box::new(move || also.load(Ordering::Relaxed) as f64))]);
        assert!(metrics.expose().unwrap().contains("heartline_kept_total{kind=\"a\"} 0"));
        kept.store(7, Ordering::Relaxed);
        let text = metrics.expose().unwrap();
        assert!(text.contains("# TYPE heartline_kept counter\nheartline_kept_total{kind=\"a\"} 7"), "{text}");
        assert!(text.contains("heartline_lag_seconds 7.0"), "{text}");
    }
}
