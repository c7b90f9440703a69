//! Which writers have been gone for so long that a claim may leave them out: pure.
//!
//! A writer's entry in an item's vectors outlives its process; left there, vectors grow with every restart. Only what this
//! flusher saw with its own eyes counts: leases come from a store that may have lost them. Forgetting here is harmless, it
//! only makes an entry stay longer.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::protocol::WriterId;

/// How long a writer must have been absent. Two hours: far past any stall, partition or restore that a process outlives.
pub const ABSENT_FOR: Duration = Duration::from_secs(2 * 60 * 60);
/// The longest time between two looks; past it nobody knows what was between them, and every absence begins anew.
/// Five minutes: some dozens of flush intervals.
pub const LOOKS_APART_MAX: Duration = Duration::from_secs(5 * 60);
/// Absent writers that are remembered: a restart a minute for a week. One more is not watched until one is forgotten.
pub const WATCHED_MAX: usize = 10_080;
/// Writers that one claim is asked to leave out: bounds the script's arguments; the rest follow when no flight names these any more.
pub const GONE_PER_CLAIM_MAX: usize = 256;

#[derive(Debug, Clone, Copy)]
struct Absent {
    since: Instant,
    /// When a flight last named it. One that no flight names any more is forgotten.
    named: Instant,
}

/// What a flusher has seen of leases.
#[derive(Debug, Default)]
pub struct Absence {
    living: Option<BTreeSet<WriterId>>,
    looked: Option<Instant>,
    absent: BTreeMap<WriterId, Absent>,
}

impl Absence {
    /// The leases as they are at `now`.
    pub fn look(&mut self, living: impl IntoIterator<Item = WriterId>, now: Instant) {
        let living: BTreeSet<_> = living.into_iter().collect();
        let unbroken = self.looked.is_some_and(|at| now.saturating_duration_since(at) <= LOOKS_APART_MAX);
        self.absent.retain(|writer, absent| {
            absent.since = if unbroken { absent.since } else { now };
            let named_of_late = now.saturating_duration_since(absent.named) <= ABSENT_FOR * 2;
            named_of_late && !living.contains(writer)
        });
        self.living = Some(living);
        self.looked = Some(now);
    }

    /// Flights named these writers. The absence of one that has no lease begins when it is first named.
    pub fn named(&mut self, writers: impl IntoIterator<Item = WriterId>, now: Instant) {
        let Some(living) = &self.living else { return };
        for writer in writers.into_iter().filter(|writer| !living.contains(writer)) {
            let full = self.absent.len() >= WATCHED_MAX;
            match self.absent.entry(writer) {
                Entry::Occupied(mut absent) => absent.get_mut().named = now,
                Entry::Vacant(_) if full => {}
                Entry::Vacant(entry) => {
                    entry.insert(Absent { since: now, named: now });
                }
            }
        }
    }

    /// Writers that a claim at `now` may leave out; those that flights still name come first.
    pub fn gone(&self, now: Instant) -> Vec<WriterId> {
        let fresh = self.looked.is_some_and(|at| now.saturating_duration_since(at) <= LOOKS_APART_MAX);
        let long = |absent: &Absent| now.saturating_duration_since(absent.since) >= ABSENT_FOR;
        let mut gone: Vec<_> = self.absent.iter().filter(|(_, absent)| fresh && long(absent)).collect();
        gone.sort_by_key(|(_, absent)| (Reverse(absent.named), absent.since));
        gone.into_iter().take(GONE_PER_CLAIM_MAX).map(|(writer, _)| *writer).collect()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn writer(n: u128) -> WriterId {
        WriterId(Uuid::from_u128(n))
    }

    /// Looks once a minute, naming writer 2 each time; answers when it is first gone, in minutes.
    fn gone_after(looks: impl Fn(u32) -> Option<Vec<WriterId>>, minutes: u32) -> Option<u32> {
        let (mut absence, start) = (Absence::default(), Instant::now());
        (0..minutes).find(|minute| {
            let now = start + MINUTE * *minute;
            if let Some(living) = looks(*minute) {
                absence.look(living, now);
            }
            absence.named([writer(1), writer(2)], now);
            absence.gone(now).contains(&writer(2))
        })
    }

    #[test]
    fn a_writer_is_gone_only_after_two_hours_of_unbroken_absence() {
        assert_eq!(gone_after(|_| Some(vec![writer(1)]), 200), Some(120));
        let seen_again = |minute| Some(if minute == 100 { vec![writer(1), writer(2)] } else { vec![writer(1)] });
        assert_eq!(gone_after(seen_again, 300), Some(221));
        let blind_for_a_while = |minute| (!(50..56).contains(&minute)).then(|| vec![writer(1)]);
        assert_eq!(gone_after(blind_for_a_while, 300), Some(176));
    }

    #[test]
    fn nobody_is_gone_while_leases_cannot_be_read() {
        assert_eq!(gone_after(|_| None, 300), None);
    }

    #[test]
    fn a_living_writer_is_never_gone() {
        assert_eq!(gone_after(|_| Some(vec![writer(1), writer(2)]), 300), None);
    }

    #[test]
    fn more_absent_writers_than_one_claim_takes_are_left_out_in_turn() {
        let (mut absence, start) = (Absence::default(), Instant::now());
        let all: Vec<_> = (0..GONE_PER_CLAIM_MAX as u128 + 10).map(writer).collect();
        absence.look([], start);
        absence.named(all.iter().copied(), start);
        let mut left: BTreeSet<_> = all.into_iter().collect();
        for minute in 1..=130 {
            let now = start + MINUTE * minute;
            absence.look([], now);
            absence.named(left.iter().copied(), now);
            absence.gone(now).iter().for_each(|gone| {
                left.remove(gone);
            });
        }
        assert!(left.is_empty(), "{} stay for ever", left.len());
    }
}
