//! The facts that are accepted and not yet in the table: the last word on whom they are about. Pure.
//!
//! Two generations: *fresh* takes what is accepted; *folding* is what a fold is writing to the table, and does not change meanwhile.
//! Both are durable in the log. A fact leaves only when the table has it, so that looking here first and then in the table never
//! misses one; while a fold is half done both know it, and say the same.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use super::open_batches::RowNo;
use crate::protocol::{ItemId, Millis, UserId};
use crate::store::durable::likes::Liker;

/// Since when it is liked; `None`: it is not.
pub(super) type Fact = Option<Millis>;
type People = HashMap<UserId, Fact>;
type Facts = HashMap<ItemId, People>;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    fresh: Facts,
    waiting: usize,
    folding: Arc<Facts>,
    last_row: RowNo,
}

/// What a fold writes: by item, then by person, as the table is sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sealed {
    pub facts: Vec<(ItemId, UserId, Fact)>,
    /// The facts of all rows of the log up to this one are in it, or in the table.
    pub up_to: RowNo,
}

impl Overlay {
    /// Takes what a row of the log says; rows come in their order.
    pub fn apply(&mut self, item: &ItemId, facts: Vec<(UserId, Fact)>, row: RowNo) {
        self.waiting += facts.len();
        self.fresh.entry(item.clone()).or_default().extend(facts);
        self.last_row = row;
    }

    /// How many facts came since the last seal, each time that they did: what memory and log have of them at the most.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Whether the last sealed facts are not in the table yet.
    #[cfg(test)]
    pub fn is_folding(&self) -> bool {
        !self.folding.is_empty()
    }

    /// What is known of one item.
    pub fn of(&self, item: &ItemId) -> OfItem<'_> {
        OfItem { fresh: self.fresh.get(item), folding: self.folding.get(item) }
    }

    /// What is known of one person, over all items.
    pub fn of_user(&self, user: &UserId) -> HashMap<ItemId, Fact> {
        let of = |facts: &Facts| -> Vec<_> {
            facts.iter().filter_map(|(item, people)| Some((item.clone(), *people.get(user)?))).collect()
        };
        of(&self.folding).into_iter().chain(of(&self.fresh)).collect()
    }

    /// Makes the fresh facts those that are folding. The earlier ones must be folded.
    pub fn seal(&mut self) -> Unsorted {
        self.waiting = 0;
        self.folding = Arc::new(std::mem::take(&mut self.fresh));
        Unsorted { facts: self.folding.clone(), up_to: self.last_row }
    }

    /// The table has them. Gives them back, so that whoever holds the lock need not wait until they are taken apart.
    pub fn folded(&mut self) -> impl Send + use<> {
        std::mem::take(&mut self.folding)
    }
}

/// Sealed facts, to be put in order where nobody waits for it.
pub(super) struct Unsorted {
    facts: Arc<Facts>,
    up_to: RowNo,
}

impl Unsorted {
    pub fn sort(self) -> Sealed {
        let all = self
            .facts
            .iter()
            .flat_map(|(item, people)| people.iter().map(|(user, fact)| (item.clone(), user.clone(), *fact)));
        let mut facts: Vec<_> = all.collect();
        facts.sort_unstable_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        Sealed { facts, up_to: self.up_to }
    }
}

/// See [`Overlay::of`].
#[derive(Debug, Clone, Copy)]
pub(super) struct OfItem<'a> {
    fresh: Option<&'a People>,
    folding: Option<&'a People>,
}

impl OfItem<'_> {
    /// What is known of a person; `None`: the table knows.
    pub fn get(&self, user: &UserId) -> Option<Fact> {
        let of = |people: Option<&People>| people.and_then(|people| people.get(user).copied());
        of(self.fresh).or_else(|| of(self.folding))
    }

    /// Everybody, each once.
    pub fn all(&self) -> impl Iterator<Item = (&UserId, Fact)> {
        let fresh = self.fresh.into_iter().flatten();
        let folding = self.folding.into_iter().flatten();
        let overtaken = |user: &UserId| self.fresh.is_some_and(|fresh| fresh.contains_key(user));
        fresh.chain(folding.filter(move |(user, _)| !overtaken(user))).map(|(user, fact)| (user, *fact))
    }

    /// The newest likers before `before`, newest first, at most `limit`. Looks at every fact of the item, which are bounded.
    pub fn newest(&self, before: Option<&Liker>, limit: usize) -> Vec<Liker> {
        let mut newest = BinaryHeap::new();
        for (user, fact) in self.all() {
            let Some(at) = fact else { continue };
            let key = (at, user);
            let is_before = before.is_none_or(|before| key < (before.at, &before.user));
            if is_before && (newest.len() < limit || newest.peek().is_some_and(|Reverse(last)| key > *last)) {
                newest.push(Reverse(key));
                if newest.len() > limit {
                    newest.pop();
                }
            }
        }
        newest.into_sorted_vec().into_iter().map(|Reverse((at, user))| Liker { user: user.clone(), at }).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn item(n: u8) -> ItemId {
        ItemId::parse(&format!("i{n}")).unwrap()
    }

    fn user(n: u8) -> UserId {
        UserId::parse(&format!("u{n}")).unwrap()
    }

    #[derive(Debug, Clone)]
    enum Step {
        Apply(u8, Vec<(u8, Option<i64>)>),
        Seal,
        Folded,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let facts = prop::collection::vec((0..9_u8, prop::option::of(0..5_i64)), 1..6);
        let step = prop_oneof![
            5 => (0..3_u8, facts).prop_map(|(item, facts)| Step::Apply(item, facts)),
            1 => Just(Step::Seal),
            1 => Just(Step::Folded),
        ];
        prop::collection::vec(step, 0..30)
    }

    proptest! {
        /// Scenario: a fact is lost or outdated between the generations. Method: any history of rows and folds, in which a map stands for
        /// the table; overlay over table must be a map that took every row at once.
        #[test]
        fn overlay_over_table_is_what_was_applied(steps in steps()) {
            let (mut overlay, mut table, mut model) = (Overlay::default(), BTreeMap::new(), BTreeMap::new());
            let mut sealed: Option<Sealed> = None;
            for (row, step) in (1..).zip(steps) {
                match step {
                    Step::Apply(of, facts) => {
                        let facts: Vec<_> = facts.into_iter().map(|(n, at)| (user(n), at.map(Millis))).collect();
                        model.extend(facts.iter().map(|(user, fact)| ((item(of), user.clone()), *fact)));
                        overlay.apply(&item(of), facts, row);
                    }
                    Step::Seal if sealed.is_none() => sealed = Some(overlay.seal().sort()),
                    Step::Folded => {
                        if let Some(sealed) = sealed.take() {
                            prop_assert!(sealed.facts.is_sorted_by(|a, b| (&a.0, &a.1) < (&b.0, &b.1)));
                            table.extend(sealed.facts.into_iter().map(|(item, user, fact)| ((item, user), fact)));
                            drop(overlay.folded());
                        }
                    }
                    Step::Seal => {}
                }
                for (key, fact) in &model {
                    let known = overlay.of(&key.0).get(&key.1).or_else(|| table.get(key).copied());
                    prop_assert_eq!(known, Some(*fact));
                }
            }
            for of in (0..3).map(item) {
                let all: BTreeMap<_, _> = overlay.of(&of).all().map(|(user, fact)| (user.clone(), fact)).collect();
                prop_assert_eq!(all.len(), overlay.of(&of).all().count(), "each once");
                let mut newest: Vec<_> = all
                    .iter()
                    .filter_map(|(user, fact)| Some(Liker { user: user.clone(), at: (*fact)? }))
                    .collect();
                newest.sort_by(|a, b| (b.at, &b.user).cmp(&(a.at, &a.user)));
                for (n, before) in std::iter::once(None).chain(newest.iter().map(Some)).enumerate() {
                    let page = overlay.of(&of).newest(before, 3);
                    prop_assert_eq!(page, newest.iter().skip(n).take(3).cloned().collect::<Vec<_>>());
                }
                for (user, fact) in all {
                    prop_assert_eq!(overlay.of_user(&user).get(&of).copied(), Some(fact));
                }
            }
        }
    }

    #[test]
    fn a_seal_names_the_last_row_that_is_in_it() {
        let mut overlay = Overlay::default();
        overlay.apply(&item(1), vec![(user(1), None), (user(2), None)], 4);
        overlay.apply(&item(1), vec![(user(1), Some(Millis(1)))], 7);
        assert_eq!(overlay.waiting(), 3);
        let sealed = overlay.seal().sort();
        assert_eq!((sealed.up_to, sealed.facts.len(), overlay.waiting()), (7, 2, 0));
        assert!(overlay.is_folding());
        drop(overlay.folded());
        assert!(!overlay.is_folding());
    }
}
