//! Items that have no room any more, and since when. Pure. After a while they are let go from the hot store, which is memory; until then
//! their counts are read there, and whoever comes back finds them warm.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use crate::protocol::ItemId;

/// How long an item stays warm. An hour: a show that is watched again is watched again soon.
const WARM: Duration = Duration::from_secs(3_600);

/// See the module.
#[derive(Debug, Default)]
pub struct Cold {
    since: HashMap<ItemId, Instant>,
    order: VecDeque<(Instant, ItemId)>,
}

impl Cold {
    /// The item has no room since now. A later note of the same item counts from then.
    pub fn note(&mut self, item: ItemId, now: Instant) {
        self.order.push_back((now, item.clone()));
        self.since.insert(item, now);
    }

    /// Items whose time is over; those that have a room again are forgotten.
    pub fn due(&mut self, now: Instant, has_room: impl Fn(&ItemId) -> bool) -> Vec<ItemId> {
        let mut due = Vec::new();
        while self.order.front().is_some_and(|(since, _)| *since + WARM <= now) {
            let Some((since, item)) = self.order.pop_front() else { break };
            if self.since.get(&item) != Some(&since) {
                continue;
            }
            self.since.remove(&item);
            if !has_room(&item) {
                due.push(item);
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_let_go_once_and_only_if_it_stayed_cold() {
        let (start, mut cold) = (Instant::now(), Cold::default());
        let item = |name| ItemId::parse(name).unwrap();
        ["a", "b", "c"].into_iter().for_each(|name| cold.note(item(name), start));
        cold.note(item("b"), start + WARM / 2);
        assert_eq!(cold.due(start + WARM / 2, |_| false), []);
        assert_eq!(cold.due(start + WARM, |i| i.as_str() == "c"), [item("a")], "b was noted again, c has a room");
        assert_eq!(cold.due(start + WARM * 2, |_| false), [item("b")]);
        assert_eq!((cold.since.len(), cold.order.len()), (0, 0));
    }
}
