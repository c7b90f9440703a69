//! Latencies of a run: one histogram that all sockets share, summed up for people and machines.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// Significant digits kept of a latency: 1 % is finer than any figure that is ever compared.
const DIGITS: u8 = 2;
/// The longest latency told apart, in microseconds (10 min); what is longer counts as this. Past every deadline of a run.
const LONGEST_US: u64 = 600_000_000;

/// A histogram that many tasks write. The lock is held for one increment and never across a wait.
#[derive(Debug)]
pub struct Latencies(Mutex<Option<Histogram<u64>>>);

impl Default for Latencies {
    fn default() -> Self {
        Self(Mutex::new(Histogram::new_with_bounds(1, LONGEST_US, DIGITS).ok()))
    }
}

impl Latencies {
    /// Adds one latency.
    pub fn record(&self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        if let Some(histogram) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            histogram.saturating_record(micros.max(1));
        }
    }

    /// What is in it.
    pub fn summary(&self) -> Summary {
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        guard.as_ref().map_or_else(Summary::default, |histogram| Summary {
            samples: histogram.len(),
            p50_ms: ms(histogram.value_at_quantile(0.5)),
            p99_ms: ms(histogram.value_at_quantile(0.99)),
            max_ms: ms(histogram.max()),
        })
    }
}

fn ms(micros: u64) -> f64 {
    micros as f64 / 1e3
}

/// A histogram in four numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Summary {
    /// How many were measured.
    pub samples: u64,
    /// The median; milliseconds.
    pub p50_ms: f64,
    /// 99 of 100 are not above it; milliseconds.
    pub p99_ms: f64,
    /// The worst; milliseconds.
    pub max_ms: f64,
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { samples, p50_ms, p99_ms, max_ms } = self;
        write!(f, "p50 {p50_ms:.1} ms, p99 {p99_ms:.1} ms, max {max_ms:.1} ms ({samples} samples)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_percent() {
        let latencies = Latencies::default();
        (1..=1_000).for_each(|ms| latencies.record(Duration::from_millis(ms)));
        let Summary { samples, p50_ms, p99_ms, max_ms } = latencies.summary();
        assert_eq!(samples, 1_000);
        assert!((p50_ms - 500.0).abs() < 6.0 && (p99_ms - 990.0).abs() < 10.0 && max_ms >= 1_000.0);
    }
}
