//! What the flush takes on next: order, batches, back-off, and who is being flushed by whom. Pure; time is an argument.
//!
//! Owns what a flusher remembers between rounds, all of which may be lost. Invariants: an item is in at most one round of
//! this flusher at a time ([`Plan::take`]); the longest waiting due item comes first, and everything listed in an interval
//! gets its turn in it, so that none starves. It does not know how a round goes: that is [`super::round`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use super::absence::Absence;
use super::round::{Findings, Outcome};
use crate::protocol::{ItemId, WriterId};

/// Items of one round: one bulk of so many flights. Past it a bulk wins nothing and holds its first item up.
pub const BATCH_MAX: usize = 256;
/// Dirty items asked for at once beyond those that the interval has already served; the rest is asked for after them.
pub const LISTED_MAX: usize = 10_000;
/// The longest time for which an item with failures is left alone; so long it may take to notice that a store is back.
pub const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// By so many powers of two a batch shrinks with each failure of its items: 256, 64, 16, 4, 1. An item that spoils its bulk
/// is alone after four intervals and holds up nobody else.
const BATCH_SHRINKS_BITS: u32 = 2;

/// An item with something to fold.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    /// Since when, at the latest: when it was first listed, or when what was folded last was claimed.
    since: Instant,
    failures: u32,
    /// Not before this time, because of failures.
    not_before: Instant,
}

/// A flusher's memory.
#[derive(Debug)]
pub struct Plan {
    interval: Duration,
    waiting: BTreeMap<ItemId, Waiting>,
    busy: BTreeSet<ItemId>,
    behind: BTreeSet<ItemId>,
    /// Items that were not what their documents said, by how much; those that fit are not in it.
    drift: BTreeMap<ItemId, u64>,
    absence: Absence,
}

impl Plan {
    /// For a flusher that folds at this interval.
    pub fn new(interval: Duration) -> Self {
        Self {
            interval,
            waiting: BTreeMap::new(),
            busy: BTreeSet::new(),
            behind: BTreeSet::new(),
            drift: BTreeMap::new(),
            absence: Absence::default(),
        }
    }

    /// The leases of writers as they are now.
    pub fn living(&mut self, living: impl IntoIterator<Item = WriterId>, now: Instant) {
        self.absence.look(living, now);
    }

    /// Writers that claims may leave out.
    pub fn gone(&self, now: Instant) -> Vec<WriterId> {
        self.absence.gone(now)
    }

    /// Takes in what the hot store lists as dirty; `all`: it lists everything, so that others are not.
    pub fn listed(&mut self, dirty: &[ItemId], all: bool, now: Instant) {
        if all {
            let dirty: BTreeSet<_> = dirty.iter().collect();
            self.waiting.retain(|item, _| dirty.contains(item) || self.busy.contains(item));
            self.behind.retain(|item| dirty.contains(item));
        }
        for item in dirty {
            let new = Waiting { since: now, failures: 0, not_before: now };
            self.waiting.entry(item.clone()).or_insert(new);
        }
    }

    /// The order in which listed items come up, longest waiting first, cut into batches. Left out: what was served in this
    /// interval, what another round has, and, unless it is `urgent`, what is left alone because of failures.
    pub fn batches(&self, dirty: &[ItemId], served: &BTreeSet<ItemId>, urgent: bool, now: Instant) -> VecDeque<Batch> {
        let mut due: Vec<_> = dirty
            .iter()
            .filter(|item| !served.contains(item) && !self.busy.contains(item))
            .filter_map(|item| self.waiting.get(item).map(|waiting| (item, waiting)))
            .filter(|(_, waiting)| urgent || waiting.not_before <= now)
            .collect();
        due.sort_by_key(|(item, waiting)| (waiting.since, *item));
        let mut batches: VecDeque<Batch> = VecDeque::new();
        for (item, waiting) in due {
            let most = (BATCH_MAX >> waiting.failures.saturating_mul(BATCH_SHRINKS_BITS).min(BATCH_MAX.ilog2())).max(1);
            match batches.iter_mut().rev().find(|batch| batch.most == most) {
                Some(batch) if batch.items.len() < most => batch.items.push(item.clone()),
                _ => batches.push_back(Batch { most, items: vec![item.clone()] }),
            }
        }
        batches
    }

    /// Marks those of the items that no round has as being in one, and answers them.
    pub fn take(&mut self, items: impl IntoIterator<Item = ItemId>) -> Vec<ItemId> {
        items.into_iter().filter(|item| self.busy.insert(item.clone())).collect()
    }

    /// The round that had taken them is over, or was broken off.
    pub fn release(&mut self, items: &[ItemId]) {
        items.iter().for_each(|item| {
            self.busy.remove(item);
        });
    }

    /// Takes in how a round went that began at `begun`.
    pub fn ended(&mut self, outcomes: &BTreeMap<ItemId, Outcome>, findings: &Findings, begun: Instant, now: Instant) {
        self.absence.named(findings.named.iter().copied(), now);
        self.drift.extend(findings.drift.iter().map(|(item, drift)| (item.clone(), *drift)));
        self.drift.retain(|_, drift| *drift > 0);
        for (item, outcome) in outcomes {
            match outcome {
                Outcome::Clean => self.clean(item),
                Outcome::Folded => self.folded(item, begun),
                Outcome::Failed(_) => self.failed(item, begun, now),
                Outcome::Behind => {
                    self.behind.insert(item.clone());
                    self.failed(item, begun, now);
                }
            }
        }
    }

    fn clean(&mut self, item: &ItemId) {
        self.waiting.remove(item);
        self.behind.remove(item);
    }

    /// What is left to fold, if anything, was contributed after the claim; the next listing tells.
    fn folded(&mut self, item: &ItemId, begun: Instant) {
        self.behind.remove(item);
        if let Some(waiting) = self.waiting.get_mut(item) {
            *waiting = Waiting { since: begun, failures: 0, not_before: begun };
        }
    }

    fn failed(&mut self, item: &ItemId, begun: Instant, now: Instant) {
        let fresh = Waiting { since: begun, failures: 0, not_before: now };
        let waiting = self.waiting.entry(item.clone()).or_insert(fresh);
        // The first failure waits for the next interval, which is half an interval early here so that it is not missed by
        // a hair; then twice as long each time.
        let wait = (self.interval / 2).saturating_mul(1 << waiting.failures.min(16)).min(BACKOFF_MAX);
        waiting.failures = waiting.failures.saturating_add(1);
        waiting.not_before = now + wait;
    }

    /// For how long the longest waiting item has had something to fold, as far as this flusher knows.
    pub fn lag(&self, now: Instant) -> Duration {
        let oldest = self.waiting.values().map(|waiting| waiting.since).min();
        oldest.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// Items known to be waiting.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Σ|base - durable| over items at the same fold, as of their last rounds.
    pub fn drift(&self) -> u64 {
        self.drift.values().fold(0, |sum, drift| sum.saturating_add(*drift))
    }

    /// Items whose document is behind them.
    pub fn behind(&self) -> usize {
        self.behind.len()
    }
}

/// Items for one round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    most: usize,
    /// In order.
    pub items: Vec<ItemId>,
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
