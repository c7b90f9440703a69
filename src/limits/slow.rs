//! Slow mode: the least time between two comments of one viewer in one item. The time is the item's and may change while it runs.

use std::time::Duration;

use governor::clock::{Clock, Reference};

use super::bounded::Bounded;
use crate::protocol::{ItemId, UserId};

/// Who commented where, and when.
pub(super) struct SlowMode<C: Clock> {
    last: Bounded<(ItemId, UserId), Last<C::Instant>>,
    clock: C,
}

#[derive(Clone, Copy)]
struct Last<I> {
    at: I,
    interval: Duration,
}

impl<C: Clock> SlowMode<C> {
    pub fn new(people_max: usize, clock: C) -> Self {
        Self { last: Bounded::new(people_max), clock }
    }

    /// Whether so much time has gone by; else how many milliseconds are left.
    pub fn check(&self, key: &(ItemId, UserId), interval: Duration) -> Result<(), u64> {
        if interval.is_zero() {
            return Ok(());
        }
        let now = self.clock.now();
        let gone = self.last.change(key, |last| (last.map(|last| Duration::from(now.duration_since(last.at))), None));
        match gone.flatten().and_then(|gone| interval.checked_sub(gone)) {
            None | Some(Duration::ZERO) => Ok(()),
            Some(left) => Err(u64::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)),
        }
    }

    /// Remembers a comment.
    pub fn record(&self, key: (ItemId, UserId), interval: Duration) {
        if !interval.is_zero() {
            let at = self.clock.now();
            self.last.change(&key, |_| ((), Some(Last { at, interval })));
        }
    }

    pub fn shrink(&self) {
        let now = self.clock.now();
        self.last.retain(|last| Duration::from(now.duration_since(last.at)) < last.interval);
    }

    pub fn remembered(&self) -> usize {
        self.last.len()
    }
}
