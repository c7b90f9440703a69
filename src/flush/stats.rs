//! The flush's figures, read by whoever exposes them. Atomics, so that reading waits for nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Figures since the start of the process, and the latest state.
#[derive(Debug, Default)]
pub struct FlushStats {
    round_trips: AtomicU64,
    lag_ms: AtomicU64,
    waiting: AtomicU64,
    behind: AtomicU64,
    drift: AtomicU64,
    folded: AtomicU64,
    rejected: AtomicU64,
    failed: AtomicU64,
    laid_anew: AtomicU64,
}

impl FlushStats {
    /// Claims, aligns and audits asked of the hot store: `heartline_flush_round_trips_total`.
    pub fn round_trips(&self) -> u64 {
        self.round_trips.load(Ordering::Relaxed)
    }

    /// Age of the oldest thing that waits to be folded: `heartline_flush_lag_seconds`. Zero: nothing waits.
    pub fn lag(&self) -> Duration {
        Duration::from_millis(self.lag_ms.load(Ordering::Relaxed))
    }

    /// Items that were waiting when last looked at.
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Items whose document is behind them, an alarm: `heartline_fold_behind`.
    pub fn behind(&self) -> u64 {
        self.behind.load(Ordering::Relaxed)
    }

    /// Σ|base - durable| over items at the same fold, at their last rounds: `heartline_drift`. Anything but 0 is an alarm.
    pub fn drift(&self) -> u64 {
        self.drift.load(Ordering::Relaxed)
    }

    /// Flights that this flusher folded.
    pub fn folded(&self) -> u64 {
        self.folded.load(Ordering::Relaxed)
    }

    /// Comments that the durable store refused and that were set aside.
    pub fn rejected(&self) -> u64 {
        self.rejected.load(Ordering::Relaxed)
    }

    /// Items that left a round because a store did not answer.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Items that the hot store had lost or set back, laid anew by this flusher.
    pub fn laid_anew(&self) -> u64 {
        self.laid_anew.load(Ordering::Relaxed)
    }

    pub(super) fn count_laid_anew(&self, items: usize) {
        self.laid_anew.fetch_add(items as u64, Ordering::Relaxed);
    }

    pub(super) fn count_round_trip(&self) {
        self.round_trips.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_round(&self, folded: usize, rejected: usize, failed: usize) {
        self.folded.fetch_add(folded as u64, Ordering::Relaxed);
        self.rejected.fetch_add(rejected as u64, Ordering::Relaxed);
        self.failed.fetch_add(failed as u64, Ordering::Relaxed);
    }

    pub(super) fn stand(&self, lag: Duration, waiting: usize, behind: usize, drift: u64) {
        self.lag_ms.store(u64::try_from(lag.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.waiting.store(waiting as u64, Ordering::Relaxed);
        self.behind.store(behind as u64, Ordering::Relaxed);
        self.drift.store(drift, Ordering::Relaxed);
    }
}
