//! What recounts found; read by telemetry.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::protocol::ItemId;

/// See the module.
#[derive(Debug, Default)]
pub struct ReconcileStats {
    exact: AtomicU64,
    failed: AtomicU64,
    repaired: AtomicU64,
    /// Items whose last recount could not make the counter fit, and by how much it is off.
    drift: Mutex<HashMap<ItemId, u64>>,
}

impl ReconcileStats {
    /// Recounts after which the counter fitted the facts.
    pub fn exact(&self) -> u64 {
        self.exact.load(Ordering::Relaxed)
    }

    /// Recounts that were given up.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// By how much counters were moved to fit, summed without signs.
    pub fn repaired(&self) -> u64 {
        self.repaired.load(Ordering::Relaxed)
    }

    /// Σ|likes - facts| that recounts found and could not repair.
    pub fn drift(&self) -> u64 {
        self.drift.lock().values().sum()
    }

    pub(super) fn count_exact(&self, item: &ItemId, repaired: i64) {
        self.drift.lock().remove(item);
        self.exact.fetch_add(1, Ordering::Relaxed);
        self.repaired.fetch_add(repaired.unsigned_abs(), Ordering::Relaxed);
    }

    pub(super) fn count_failed(&self, item: &ItemId, drift: Option<i64>) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        if let Some(drift) = drift {
            self.drift.lock().insert(item.clone(), drift.unsigned_abs());
        }
    }
}
