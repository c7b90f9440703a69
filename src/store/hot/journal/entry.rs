//! One numbered contribution, and the sums over several.

use std::time::Instant;

use crate::protocol::{Comment, Counters};

/// What a room gathered in a tick.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contribution {
    /// By how much each counter moves.
    pub increments: Counters,
    /// Accepted comments, in order; their count is among the increments.
    pub comments: Vec<Comment>,
}

/// A contribution that got no number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// As it was given.
    pub contribution: Contribution,
    /// Why.
    pub why: Refusal,
}

/// Why a contribution got no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// As many numbers as may be are kept.
    Full,
    /// A sum over kept contributions would leave 64 bits.
    Overflow,
}

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub contribution: Contribution,
    /// When it was given its number.
    pub at: Instant,
}

/// Σ|n| of every counter over the kept contributions. While it fits 64 bits, so does the sum of any run of them, whatever
/// their signs; checked when a contribution enters, so that later sums cannot fail.
#[derive(Debug, Clone, Default)]
pub(super) struct Gross(Counters);

impl Gross {
    pub fn add(&mut self, increments: &Counters) -> Option<()> {
        let mut sum = self.0.clone();
        increments.iter().try_for_each(|(counter, n)| sum.add(counter, n.checked_abs()?))?;
        self.0 = sum;
        Some(())
    }

    pub fn take(&mut self, increments: &Counters) {
        for (counter, n) in increments.iter() {
            // Was added before, so neither can fail.
            self.0.add(counter, n.saturating_abs().saturating_neg());
        }
    }
}

/// The sum of entries that [`Gross`] has taken in.
pub(super) fn sum<'a>(entries: impl Iterator<Item = &'a Entry>) -> Counters {
    let mut sum = Counters::default();
    for (counter, n) in entries.flat_map(|entry| entry.contribution.increments.iter()) {
        sum.add(counter, n);
    }
    sum
}
