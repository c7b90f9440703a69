//! Where the last listing of dirty items stopped, so that none waits for ever behind a limit. Pure.

use std::collections::BTreeSet;
use std::ops::Bound;

use crate::protocol::ItemId;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Listing {
    last: Option<ItemId>,
}

impl Listing {
    /// At most `limit` of what is there, beginning after the one that was listed last, and round.
    pub fn turn(&mut self, there: Vec<ItemId>, limit: usize) -> Vec<ItemId> {
        let there: BTreeSet<_> = there.into_iter().collect();
        let from = self.last.take().map_or(Bound::Unbounded, Bound::Excluded);
        let later = there.range((from.clone(), Bound::Unbounded)).count();
        let round = there.iter().cycle().skip(there.len() - later);
        let listed: Vec<_> = round.take(limit.min(there.len())).cloned().collect();
        self.last = listed.last().cloned();
        listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_go_round_and_list_none_twice() {
        let items: Vec<_> = ["a", "b", "c"].map(|id| ItemId::parse(id).unwrap()).to_vec();
        let mut listing = Listing::default();
        let mut ids = |there: &[ItemId], limit| {
            let listed = listing.turn(there.to_vec(), limit);
            listed.iter().map(|item| item.as_str().to_owned()).collect::<String>()
        };
        assert_eq!([ids(&items, 2), ids(&items, 2), ids(&items, 9)], ["ab", "ca", "bca"]);
        assert_eq!([ids(&items[2..], 2), ids(&[], 2), ids(&items, 1)], ["c", "", "a"]);
    }
}
