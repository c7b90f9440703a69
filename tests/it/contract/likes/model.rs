//! Any interleaving of likes, unlikes, repeats and restarts, against a map.
//!
//! Method: histories out of a generator, each on items and people of its own, so that they can share a store; after each history
//! everything that can be read is compared. One that fails is made smaller by the generator.

use std::collections::{BTreeMap, BTreeSet};

use heartline::protocol::{ItemId, Millis, UserId};
use heartline::store::durable::{LikeBatch, LikeCommand, LikeStore, Liker, Liking};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{LikeFactory, all_likers, all_likings, id, user};
use crate::contract::support::item;

const ITEMS: u8 = 3;
const PEOPLE: u8 = 8;

#[derive(Debug, Clone)]
enum Step {
    /// A batch of one item: at most one command per person.
    Give {
        item: u8,
        at: i64,
        commands: BTreeMap<u8, bool>,
    },
    /// The reply to the item's last batch was lost.
    Repeat {
        item: u8,
    },
    /// The counter has the item's last batch.
    Settle {
        item: u8,
    },
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let commands = prop::collection::btree_map(0..PEOPLE, any::<bool>(), 1..6);
    let give = (0..ITEMS, 0..6_i64, commands).prop_map(|(item, at, commands)| Step::Give { item, at, commands });
    let step = prop_oneof![
        12 => give,
        4 => (0..ITEMS).prop_map(|item| Step::Repeat { item }),
        2 => (0..ITEMS).prop_map(|item| Step::Settle { item }),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..24)
}

/// Names of one history.
struct Names(u32);

impl Names {
    fn item(&self, n: u8) -> ItemId {
        item(&format!("h{}-i{n}", self.0))
    }

    fn user(&self, n: u8) -> UserId {
        user(&format!("h{}-u{n}", self.0))
    }
}

/// The facts, and each item's last batch with its answer.
#[derive(Default)]
struct Model {
    facts: BTreeMap<(ItemId, UserId), Millis>,
    last: BTreeMap<u8, (LikeBatch, Vec<bool>)>,
}

impl Model {
    fn give(&mut self, batch: &LikeBatch) -> Vec<bool> {
        let change = |LikeCommand { user, liked }: &LikeCommand| {
            let key = (batch.item.clone(), user.clone());
            match (*liked, self.facts.contains_key(&key)) {
                (true, false) => self.facts.insert(key, batch.at).is_none(),
                (false, true) => self.facts.remove(&key).is_some(),
                _ => false,
            }
        };
        batch.commands.iter().map(change).collect()
    }
}

/// 48 histories.
pub async fn any_interleaving_leaves_the_facts_of_a_plain_model<F: LikeFactory + 'static>() {
    let mut factory = F::fresh().await;
    let handle = tokio::runtime::Handle::current();
    let running = tokio::task::spawn_blocking(move || {
        let mut history = 0;
        let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
        let factory = std::cell::RefCell::new(&mut factory);
        let history = std::cell::RefCell::new(&mut history);
        let outcome = runner.run(&steps(), |steps| {
            **history.borrow_mut() += 1;
            let names = Names(**history.borrow());
            handle.block_on(run(&mut **factory.borrow_mut(), &names, &steps));
            Ok(())
        });
        outcome.unwrap();
    });
    running.await.unwrap();
}

async fn run<F: LikeFactory>(factory: &mut F, names: &Names, steps: &[Step]) {
    let (mut model, mut store) = (Model::default(), factory.store());
    // A process that starts again is another writer.
    let (mut run, mut number) = (u128::from(names.0) * 1_000, 0);
    for step in steps {
        match step {
            Step::Give { item, at, commands } => {
                number += 1;
                let commands = commands.iter().map(|(n, liked)| LikeCommand { user: names.user(*n), liked: *liked });
                let commands = commands.collect();
                let given = LikeBatch { item: names.item(*item), by: id(run, number), at: Millis(*at), commands };
                let changed = model.give(&given);
                assert_eq!(store.like(&given).await.unwrap(), changed, "{given:?}");
                model.last.insert(*item, (given, changed));
            }
            Step::Repeat { item } => {
                if let Some((given, changed)) = model.last.get(item) {
                    assert_eq!(store.like(given).await.unwrap(), *changed, "repeated: {given:?}");
                }
            }
            Step::Settle { item } => {
                if let Some((given, _)) = model.last.remove(item) {
                    store.settled(&given.item, given.by).await;
                }
            }
            Step::Restart => {
                drop(store);
                factory.restart().await;
                store = factory.store();
                model.last.clear();
                run += 1;
            }
        }
    }
    compare(&*store, names, &model).await;
}

async fn compare(store: &dyn LikeStore, names: &Names, model: &Model) {
    let items: Vec<_> = (0..ITEMS).map(|n| names.item(n)).collect();
    let people: Vec<_> = (0..PEOPLE).map(|n| names.user(n)).collect();
    for item in &items {
        let facts = model.facts.iter().filter(|((of, _), _)| of == item);
        let mut likers: Vec<_> = facts.map(|((_, user), at)| Liker { user: user.clone(), at: *at }).collect();
        likers.sort_by(|a, b| (b.at, &b.user).cmp(&(a.at, &a.user)));
        assert_eq!(store.count_likes(item).await.unwrap(), likers.len() as u64, "{item}");
        assert_eq!(all_likers(store, item, 3).await, likers, "{item}");
        let liking: BTreeSet<_> = likers.into_iter().map(|one| one.user).collect();
        let among: Vec<_> = people.iter().filter(|user| liking.contains(user)).cloned().collect();
        assert_eq!(store.likers_among(item, &people).await.unwrap(), among, "{item}");
    }
    for user in &people {
        let facts = model.facts.iter().filter(|((_, of), _)| of == user);
        let mut likings: Vec<_> = facts.map(|((item, _), at)| Liking { item: item.clone(), at: *at }).collect();
        let liked: BTreeSet<_> = likings.iter().map(|one| one.item.clone()).collect();
        likings.sort_by(|a, b| (b.at, &b.item).cmp(&(a.at, &a.item)));
        assert_eq!(all_likings(store, user, 2).await, likings, "{user}");
        let among: Vec<_> = items.iter().filter(|item| liked.contains(item)).cloned().collect();
        assert_eq!(store.liked_among(user, &items).await.unwrap(), among, "{user}");
    }
}
