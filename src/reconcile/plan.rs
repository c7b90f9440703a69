//! Which items are to be recounted now. Pure.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use crate::protocol::{ItemId, WriterId};

/// After a recount that was given up its item is left alone for so long, doubling up to the last: one that a stalled writer holds
/// up must not fence its likes all the time.
pub const AGAIN_AFTER: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// See the module.
#[derive(Debug, Default)]
pub struct Plan {
    under_way: BTreeSet<ItemId>,
    failed: HashMap<ItemId, (u32, Instant)>,
}

impl Plan {
    /// Of the items that were asked for, and those where a dead writer left an entry, the ones to be taken on now; they are under way
    /// from here on.
    pub fn due(
        &mut self,
        asked: &[ItemId],
        entries: Vec<(ItemId, BTreeSet<WriterId>)>,
        living: &BTreeSet<WriterId>,
        now: Instant,
    ) -> Vec<ItemId> {
        let abandoned = entries.into_iter().filter(|(_, whose)| !whose.is_subset(living)).map(|(item, _)| item);
        let wanted: BTreeSet<ItemId> = asked.iter().cloned().chain(abandoned).collect();
        self.failed.retain(|item, _| wanted.contains(item));
        let due: Vec<ItemId> = wanted.into_iter().filter(|item| self.is_free(item, now)).collect();
        self.under_way.extend(due.iter().cloned());
        due
    }

    /// Takes an item on whatever came of it before; `false`: it is under way already.
    pub fn take(&mut self, item: &ItemId) -> bool {
        self.under_way.insert(item.clone())
    }

    /// A recount is over.
    pub fn ended(&mut self, item: &ItemId, exact: bool, now: Instant) {
        self.under_way.remove(item);
        if exact {
            self.failed.remove(item);
            return;
        }
        let failures = self.failed.get(item).map_or(0, |(failures, _)| *failures);
        let wait = AGAIN_AFTER.0.saturating_mul(2_u32.saturating_pow(failures)).min(AGAIN_AFTER.1);
        self.failed.insert(item.clone(), (failures + 1, now + wait));
    }

    fn is_free(&self, item: &ItemId, now: Instant) -> bool {
        !self.under_way.contains(item) && self.failed.get(item).is_none_or(|(_, again_at)| *again_at <= now)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn item(name: &str) -> ItemId {
        ItemId::parse(name).unwrap()
    }

    fn writers(of: &[u128]) -> BTreeSet<WriterId> {
        of.iter().map(|n| WriterId(Uuid::from_u128(*n))).collect()
    }

    #[test]
    fn what_a_dead_writer_left_is_recounted_and_what_a_living_one_has_under_way_is_not() {
        let entries = vec![(item("a"), writers(&[1])), (item("b"), writers(&[1, 2])), (item("c"), writers(&[2]))];
        let due = Plan::default().due(&[item("d")], entries, &writers(&[1]), Instant::now());
        assert_eq!(due, [item("b"), item("c"), item("d")]);
    }

    #[test]
    fn an_item_is_recounted_once_at_a_time_and_more_and_more_rarely_while_it_fails() {
        let (mut plan, start) = (Plan::default(), Instant::now());
        let due = |plan: &mut Plan, after| plan.due(&[item("a")], vec![], &writers(&[]), start + after).len();
        let mut at = Duration::ZERO;
        for wait_s in [1, 2, 4, 8, 16, 32, 60, 60] {
            assert_eq!((due(&mut plan, at), due(&mut plan, at)), (1, 0), "once at a time");
            plan.ended(&item("a"), false, start + at);
            assert_eq!(due(&mut plan, at + Duration::from_millis(wait_s * 1_000 - 1)), 0);
            at += Duration::from_secs(wait_s);
        }
        assert_eq!(due(&mut plan, at), 1);
        plan.ended(&item("a"), true, start + at);
        assert_eq!(due(&mut plan, at), 1, "asked for anew");
    }
}
