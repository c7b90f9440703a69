//! How many statements a durable store was given: the numbers behind `heartline_durable_writes_total`.

use std::sync::atomic::{AtomicU64, Ordering};

/// Statements that were written since the start, per kind.
#[derive(Debug, Default)]
pub struct WriteCounts {
    fold: AtomicU64,
    comments: AtomicU64,
    likes: AtomicU64,
    log: AtomicU64,
}

impl WriteCounts {
    /// Flights: one statement each.
    pub fn fold(&self) -> u64 {
        self.fold.load(Ordering::Relaxed)
    }

    /// Inserts of one item's comments.
    pub fn comments(&self) -> u64 {
        self.comments.load(Ordering::Relaxed)
    }

    /// Batches of one item's likes; a batch that changes nothing may be none.
    pub fn likes(&self) -> u64 {
        self.likes.load(Ordering::Relaxed)
    }

    /// Appends to the log of contributions.
    pub fn log(&self) -> u64 {
        self.log.load(Ordering::Relaxed)
    }

    pub(super) fn add_fold(&self, n: usize) {
        self.fold.fetch_add(n as u64, Ordering::Relaxed);
    }

    pub(super) fn add_comments(&self) {
        self.comments.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_likes(&self) {
        self.likes.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_log(&self) {
        self.log.fetch_add(1, Ordering::Relaxed);
    }
}
