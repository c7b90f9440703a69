//! A writer's numbers and sums for one item: what it contributed and has not yet read as folded into the durable store.
//!
//! The node owns one per item and process run (not the room: a room that is started anew finds it). It is the second
//! place, beside the hot store, where an acknowledged contribution stands until the durable store has it; what the hot
//! store lost is given to it again from here. Invariant: an [`Add`] holds exactly the contributions `prev + 1 ..= op`, for
//! numbers that are kept, so that whatever arrives, repeats or gets lost, the item's sums fit its number.
//!
//! Pure: no IO, no clock. It does not send, does not read documents, and expects one outstanding offer at a time: an
//! answer to an older one is harmless, but may cause an align for nothing.

mod entry;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::protocol::{Counters, WriterId};
use crate::store::hot::contract::{Add, Standing, Stood};

pub use entry::{Contribution, Refusal, Refused};
use entry::{Entry, Gross};

/// How long a standing that leads across a gap may last before it is an alarm: six flushes of the default interval, far
/// longer than any durable store takes to show a majority what it has confirmed.
pub const STALE_ALARM: Duration = Duration::from_secs(30);
/// How long to wait before the document is asked for again after it proved stale: a majority is some milliseconds late,
/// seldom more, and a read per tick and item would burden a store that is in trouble.
pub const STALE_WAIT: Duration = Duration::from_millis(250);

/// What to do after an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// What was offered is in: everything up to [`Journal::acked`] may be acknowledged.
    Settled,
    /// Part of it was in before. Send this; everything up to [`Journal::acked`] may be acknowledged meanwhile.
    Send(Add),
    /// The hot store lost something. Read the document with majority, align the item with it, then offer again.
    Align,
    /// The item stands at a number that is no longer kept, though it was aligned: the document was stale. Offer again later.
    Wait,
}

/// One writer's contributions to one item.
#[derive(Debug, Clone)]
pub struct Journal {
    writer: WriterId,
    bounds: Bounds,
    /// The highest number that is known to be folded; the contributions above it are in `entries`, one each, in order.
    base: u64,
    entries: VecDeque<Entry>,
    gross: Gross,
    /// Where the hot store stood at the last answer that made sense. Falls when the store lost state.
    acked: u64,
    /// The highest `acked` ever: what people were told does not become untold.
    answered: u64,
    /// `op` of the last offer, and when it was made.
    sent: u64,
    offered_at: Option<Instant>,
    /// The item was aligned since the last answer: a lower standing is news now and no reason to align again.
    aligned: bool,
    stale: Option<Stale>,
}

#[derive(Debug, Clone, Copy)]
struct Stale {
    since: Instant,
    again_at: Instant,
}

/// The bounds of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Numbers that may be kept; one more is refused, and the caller sums on: it contributes more rarely.
    pub numbers_max: usize,
    /// How often the last contribution is offered again while something is not folded: the flush interval.
    pub reoffer: Duration,
}

impl Journal {
    /// An empty one. `folded` is the number that the durable store has of this writer: 0 for a fresh writer; for one whose journal
    /// of the item had been dropped as empty, what a majority read of the document says, so that no number is given twice.
    pub fn new(writer: WriterId, folded: u64, bounds: Bounds) -> Self {
        Self {
            writer,
            bounds,
            base: folded,
            entries: VecDeque::new(),
            gross: Gross::default(),
            acked: folded,
            answered: folded,
            sent: 0,
            offered_at: None,
            aligned: false,
            stale: None,
        }
    }

    /// Gives a contribution the next number and answers it. A refused one comes back whole: the caller sums on.
    pub fn contribute(&mut self, contribution: Contribution, now: Instant) -> Result<u64, Refused> {
        if self.entries.len() >= self.bounds.numbers_max {
            return Err(Refused { contribution, why: Refusal::Full });
        }
        if self.gross.add(&contribution.increments).is_none() {
            return Err(Refused { contribution, why: Refusal::Overflow });
        }
        self.entries.push_back(Entry { contribution, at: now });
        Ok(self.op())
    }

    /// What to send now, if anything: all that the hot store has not taken; else, once per flush interval while something
    /// is not folded, the last contribution again, so that a store that lost state is found out.
    pub fn offer(&mut self, now: Instant) -> Option<Add> {
        if self.is_empty() || self.stale.is_some_and(|stale| now < stale.again_at) {
            return None;
        }
        let due = self.offered_at.is_none_or(|at| now.saturating_duration_since(at) >= self.bounds.reoffer);
        if self.acked >= self.op() && !self.aligned && !due {
            return None;
        }
        let prev = if self.aligned { self.base } else { self.acked.min(self.op() - 1) };
        self.offered_at = Some(now);
        Some(self.add_since(prev))
    }

    /// Takes in where the item stood after an offer. Without an answer there is nothing to call: offer again.
    pub fn answer(&mut self, standing: &Standing, now: Instant) -> Next {
        let Standing::At(stood) = standing else {
            return self.align();
        };
        let aligned = std::mem::take(&mut self.aligned);
        let kept = (self.base..=self.op()).contains(&stood.at);
        if !kept && aligned {
            let since = self.stale.map_or(now, |stale| stale.since);
            self.stale = Some(Stale { since, again_at: now + STALE_WAIT });
            return Next::Wait;
        }
        if !kept || (stood.at < self.acked && !aligned) {
            return self.align();
        }
        self.stale = None;
        self.acked = stood.at;
        self.answered = self.answered.max(stood.at);
        self.forget_folded(stood);
        if self.acked >= self.sent { Next::Settled } else { Next::Send(self.add_since(self.acked)) }
    }

    /// The number that the hot store is known to stand at. Falls when the store lost state; what was acknowledged stays so.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// The highest number that is known to be folded.
    pub fn folded(&self) -> u64 {
        self.base
    }

    /// The last number given.
    pub fn op(&self) -> u64 {
        self.base + self.entries.len() as u64
    }

    /// Whether everything is folded: only then may a room end, or the journal be dropped.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many more numbers it can take.
    pub fn spare(&self) -> usize {
        self.bounds.numbers_max.saturating_sub(self.entries.len())
    }

    /// What is contributed and not known to be folded.
    pub fn unfolded(&self) -> Counters {
        entry::sum(self.entries.iter())
    }

    /// The age of the oldest contribution that was never answered.
    pub fn oldest_unanswered(&self, now: Instant) -> Option<Duration> {
        let first = usize::try_from(self.answered.saturating_sub(self.base)).ok()?;
        self.entries.get(first).map(|entry| now.saturating_duration_since(entry.at))
    }

    /// Since when the item stands across a gap, if it does: after [`STALE_ALARM`] somebody must look.
    pub fn stale_since(&self) -> Option<Instant> {
        self.stale.map(|stale| stale.since)
    }

    /// Whether the item has stood across a gap for longer than [`STALE_ALARM`].
    pub fn is_stuck(&self, now: Instant) -> bool {
        self.stale_since().is_some_and(|since| now.saturating_duration_since(since) > STALE_ALARM)
    }

    fn align(&mut self) -> Next {
        self.aligned = true;
        self.sent = 0;
        Next::Align
    }

    /// Everything after `prev`, which is kept: at least `base`.
    fn add_since(&mut self, prev: u64) -> Add {
        let skipped = usize::try_from(prev.saturating_sub(self.base)).unwrap_or(usize::MAX);
        self.sent = self.op();
        let rest = || self.entries.iter().skip(skipped);
        let comments = (prev + 1..).zip(rest()).flat_map(|(number, entry)| {
            entry.contribution.comments.iter().map(move |comment| (number, comment.clone()))
        });
        Add { writer: self.writer, prev, op: self.op(), increments: entry::sum(rest()), comments: comments.collect() }
    }

    /// Lets go of what is folded. The item never stands lower than what it has folded, so `at` bounds it.
    fn forget_folded(&mut self, stood: &Stood) {
        let folded = stood.folded.min(stood.at);
        while self.base < folded {
            if let Some(entry) = self.entries.pop_front() {
                self.gross.take(&entry.contribution.increments);
            }
            self.base += 1;
        }
    }
}
