//! What every durable store promises of likes: one function per failure that must not happen. Method, unless one says otherwise:
//! an empty store; batches are given, some of them twice or at once, and everything is read back.

mod crash;
mod model;
#[cfg(test_mongodb)]
mod mongodb;
mod sqlite;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use heartline::protocol::{ItemId, Millis, UserId};
use heartline::store::durable::{BatchId, LikeBatch, LikeCommand, LikeStore, Liker, Liking};

use super::support::*;

/// Makes stores of likes. Dropping it takes down whatever it started.
#[async_trait]
pub trait LikeFactory: Send + Sync {
    /// With a store that has no facts.
    async fn fresh() -> Self;
    /// Ways to the same facts, each as another process would have it: one where only one process can.
    fn stores(&self) -> Vec<Arc<dyn LikeStore>>;
    /// Closes all of them in order, and opens them anew.
    async fn restart(&mut self);

    /// One of them.
    fn store(&self) -> Arc<dyn LikeStore> {
        self.stores().remove(0)
    }
}

pub fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

pub fn id(by: u128, number: u64) -> BatchId {
    BatchId { writer: writer(by), number }
}

pub fn batch(item: &ItemId, by: BatchId, at: i64, commands: &[(&str, bool)]) -> LikeBatch {
    let commands = commands.iter().map(|(name, liked)| LikeCommand { user: user(name), liked: *liked }).collect();
    LikeBatch { item: item.clone(), by, at: Millis(at), commands }
}

/// Everybody who likes the item, read in pages of this size.
pub async fn all_likers(store: &dyn LikeStore, item: &ItemId, limit: usize) -> Vec<Liker> {
    let mut all: Vec<Liker> = Vec::new();
    loop {
        let page = store.likers(item, all.last(), limit).await.unwrap();
        assert!(page.len() <= limit);
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

/// Everything that somebody likes, read in pages of this size.
pub async fn all_likings(store: &dyn LikeStore, user: &UserId, limit: usize) -> Vec<Liking> {
    let mut all: Vec<Liking> = Vec::new();
    loop {
        let page = store.likings(user, all.last(), limit).await.unwrap();
        assert!(page.len() <= limit);
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

fn liker(name: &str, at: i64) -> Liker {
    Liker { user: user(name), at: Millis(at) }
}

/// One person likes, likes again, unlikes twice and likes anew; another one unlikes what they never liked.
pub async fn a_command_that_changes_nothing_is_told_so<F: LikeFactory>() {
    let factory = F::fresh().await;
    let (store, a) = (factory.store(), item("a"));
    let given = [
        ("ann", true, true),
        ("ann", true, false),
        ("bob", false, false),
        ("ann", false, true),
        ("ann", false, false),
        ("bob", false, false),
        ("ann", true, true),
        ("bob", true, true),
    ];
    let mut liked = BTreeSet::new();
    for (number, (name, likes, changed)) in (1..).zip(given) {
        let given = batch(&a, id(1, number), 10 * number as i64, &[(name, likes)]);
        assert_eq!(store.like(&given).await.unwrap(), [changed], "{number}");
        if likes {
            liked.insert(name)
        } else {
            liked.remove(name)
        };
        assert_eq!(store.count_likes(&a).await.unwrap(), liked.len() as u64, "{number}");
        let asked = [user("ann"), user("bob")];
        let among = store.likers_among(&a, &asked).await.unwrap();
        assert_eq!(among.iter().map(UserId::as_str).collect::<BTreeSet<_>>(), liked, "{number}");
    }
    assert!(store.like(&batch(&a, id(1, 99), 1, &[])).await.unwrap().is_empty());
    assert_eq!(all_likers(&*store, &a, 9).await, [liker("bob", 80), liker("ann", 70)], "since when it is so again");
}

/// A like of somebody who likes it already, at a later time.
pub async fn a_like_keeps_the_time_since_when_it_is_so<F: LikeFactory>() {
    let factory = F::fresh().await;
    let (store, a) = (factory.store(), item("a"));
    store.like(&batch(&a, id(1, 1), 10, &[("ann", true)])).await.unwrap();
    store.like(&batch(&a, id(1, 2), 20, &[("ann", true), ("bob", true)])).await.unwrap();
    assert_eq!(all_likers(&*store, &a, 9).await, [liker("bob", 20), liker("ann", 10)]);
    let likings = store.likings(&user("ann"), None, 9).await.unwrap();
    assert_eq!(likings, [Liking { item: a, at: Millis(10) }]);
}

/// 600 people, every third of whom likes the item, in one batch of likes and unlikes in turn.
pub async fn each_command_of_a_large_batch_is_answered_in_its_place<F: LikeFactory>() {
    let factory = F::fresh().await;
    let (store, a) = (factory.store(), item("a"));
    let names: Vec<_> = (0..600).map(|n| format!("u{}", n * 7_919 % 600)).collect();
    let first: Vec<_> = names.iter().step_by(3).map(|name| (name.as_str(), true)).collect();
    assert!(store.like(&batch(&a, id(1, 1), 1, &first)).await.unwrap().into_iter().all(|changed| changed));
    let second: Vec<_> = names.iter().enumerate().map(|(n, name)| (name.as_str(), n % 2 == 0)).collect();
    let changed = store.like(&batch(&a, id(1, 2), 2, &second)).await.unwrap();
    let expected: Vec<_> = (0..600).map(|n| (n % 3 == 0) != (n % 2 == 0)).collect();
    assert_eq!(changed, expected);
    assert_eq!(store.count_likes(&a).await.unwrap(), 300);
    assert_eq!(store.likers(&a, None, 10_000).await.unwrap().len(), 300);
}

/// Two hundred writers at once, through every way to the facts, give the same command.
async fn changes_of_one_command_at_once<F: LikeFactory>(factory: &F, liked: bool, times: u128, at: i64) -> usize {
    let stores = factory.stores();
    let tasks = (0..times).map(|n| {
        let store = stores[n as usize % stores.len()].clone();
        let given = batch(&item("a"), id(1_000 + n, at as u64), at, &[("ann", liked)]);
        tokio::spawn(async move { store.like(&given).await.unwrap() })
    });
    join_all(tasks).await.into_iter().filter(|answer| *answer.as_ref().unwrap() == [true]).count()
}

/// 200 likes by one person at once, then 50 unlikes, then both again.
pub async fn one_person_at_once_makes_one_fact_and_no_error<F: LikeFactory>() {
    let factory = F::fresh().await;
    let (store, a) = (factory.store(), item("a"));
    for round in [1, 3] {
        assert_eq!(changes_of_one_command_at_once(&factory, true, 200, round).await, 1);
        assert_eq!(store.count_likes(&a).await.unwrap(), 1);
        assert_eq!(store.likers(&a, None, 9).await.unwrap(), [liker("ann", round)]);
        assert_eq!(store.likings(&user("ann"), None, 9).await.unwrap().len(), 1);
        assert_eq!(changes_of_one_command_at_once(&factory, false, 50, round + 1).await, 1);
        assert_eq!(store.count_likes(&a).await.unwrap(), 0);
        assert_eq!(store.likers(&a, None, 9).await.unwrap(), []);
    }
}

/// Four writers at once, each with a batch of people of whom the next writers have most too.
pub async fn batches_at_once_change_each_fact_once<F: LikeFactory>() {
    let factory = F::fresh().await;
    let stores = factory.stores();
    let tasks = (0..4_usize).map(|by| {
        let store = stores[by % stores.len()].clone();
        let names: Vec<_> = (by * 20..by * 20 + 40).map(|n| format!("u{n}")).collect();
        tokio::spawn(async move {
            let commands: Vec<_> = names.iter().map(|name| (name.as_str(), true)).collect();
            store.like(&batch(&item("a"), id(by as u128, 1), 1, &commands)).await.unwrap()
        })
    });
    let changes: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(changes.iter().flatten().filter(|changed| **changed).count(), 100);
    assert_eq!(factory.store().count_likes(&item("a")).await.unwrap(), 100);
}

/// A like and an unlike of each of fifty people at once, whom the store does not know: whichever comes first, the like changes
/// something, and the fact is what the last one made it.
pub async fn a_like_is_not_lost_to_an_unlike_at_once<F: LikeFactory>() {
    let factory = F::fresh().await;
    let (stores, a) = (factory.stores(), item("a"));
    let names: Vec<_> = (0..50).map(|n| format!("u{n}")).collect();
    let give = |by: u128, liked: bool| {
        let commands: Vec<_> = names.iter().map(|name| (name.as_str(), liked)).collect();
        let (store, given) = (stores[by as usize % stores.len()].clone(), batch(&a, id(by, 1), 1, &commands));
        tokio::spawn(async move { store.like(&given).await.unwrap() })
    };
    let (liked, unliked) = tokio::join!(give(0, true), give(1, false));
    assert_eq!(liked.unwrap(), [true; 50]);
    let asked: Vec<_> = names.iter().map(|name| user(name)).collect();
    let left = asked.iter().zip(unliked.unwrap()).filter(|(_, unliked)| !unliked).map(|(user, _)| user.clone());
    assert_eq!(stores[0].likers_among(&a, &asked).await.unwrap(), left.collect::<Vec<_>>());
}

/// A batch of every kind of command is given three times: its reply was lost.
pub async fn a_repeated_batch_is_answered_as_at_first<F: LikeFactory>() {
    let factory = F::fresh().await;
    let (store, a) = (factory.store(), item("a"));
    store.like(&batch(&a, id(1, 1), 1, &[("ann", true), ("bob", true), ("gil", true)])).await.unwrap();
    store.like(&batch(&a, id(1, 2), 2, &[("gil", false)])).await.unwrap();
    let commands = [("ann", true), ("bob", false), ("cem", true), ("dan", false), ("gil", false), ("gus", false)];
    let third = batch(&a, id(1, 3), 3, &commands);
    for _ in 0..3 {
        assert_eq!(store.like(&third).await.unwrap(), [false, true, true, false, false, false]);
        assert_eq!(all_likers(&*store, &a, 9).await, [liker("cem", 3), liker("ann", 1)]);
    }
    let other = batch(&a, id(2, 3), 4, &commands);
    assert_eq!(store.like(&other).await.unwrap(), [false; 6], "another writer's batch of the same number");
}

/// 60 likers, many of the same millisecond, some of whom unlike; read in pages of each size while newer ones arrive.
pub async fn pages_of_likers_have_no_gap_and_no_double<F: LikeFactory>() {
    let factory = F::fresh().await;
    let (store, a) = (factory.store(), item("a"));
    let mut facts = BTreeMap::new();
    for at in 0..7 {
        let names: Vec<_> = (0..60).filter(|n| n % 7 == at).map(|n| format!("u{}", n * 37 % 61)).collect();
        let commands: Vec<_> = names.iter().map(|name| (name.as_str(), true)).collect();
        store.like(&batch(&a, id(1, at), at as i64, &commands)).await.unwrap();
        facts.extend(names.into_iter().map(|name| (name, at as i64)));
    }
    facts.remove("u0");
    store.like(&batch(&a, id(1, 8), 8, &[("u0", false)])).await.unwrap();
    let mut all: Vec<_> = facts.iter().map(|(name, at)| liker(name, *at)).collect();
    all.sort_by(|a, b| (b.at, &b.user).cmp(&(a.at, &a.user)));
    for limit in [1, 7, 59, 100] {
        let first = store.likers(&a, None, limit).await.unwrap();
        let newer = format!("newer-{limit}");
        store.like(&batch(&a, id(1, 100 + limit as u64), 100, &[(&newer, true)])).await.unwrap();
        let (mut read, mut last) = (first.clone(), first.last().cloned());
        while let Some(before) = last {
            let page = store.likers(&a, Some(&before), limit).await.unwrap();
            last = page.last().cloned();
            read.extend(page);
        }
        read.retain(|one| one.at < Millis(100));
        assert_eq!(read, all, "by {limit}");
    }
    assert_eq!(store.likers(&a, None, 0).await.unwrap(), []);
    let never = liker("nobody", 3);
    let below: Vec<_> = all.iter().filter(|one| (one.at, &one.user) < (never.at, &never.user)).cloned().collect();
    assert_eq!(store.likers(&a, Some(&never), 100).await.unwrap(), below, "a cursor that is no fact, or no longer one");
}

/// Forty items of one person, several of the same millisecond, two of them unliked; others like them too.
pub async fn pages_of_likings_have_no_gap_and_no_double<F: LikeFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let mut all = Vec::new();
    for n in 0..40_i64 {
        let item = item(&format!("i{}", n * 17 % 41));
        store.like(&batch(&item, id(1, 1), n % 5, &[("ann", true), ("bob", true)])).await.unwrap();
        if n % 20 == 3 {
            store.like(&batch(&item, id(1, 2), 9, &[("ann", false)])).await.unwrap();
        } else {
            all.push(Liking { item, at: Millis(n % 5) });
        }
    }
    all.sort_by(|a, b| (b.at, &b.item).cmp(&(a.at, &a.item)));
    for limit in [1, 7, 38, 100] {
        assert_eq!(all_likings(&*store, &user("ann"), limit).await, all, "by {limit}");
    }
    assert_eq!(store.likings(&user("bob"), None, 100).await.unwrap().len(), 40);
    assert_eq!(store.likings(&user("cem"), None, 100).await.unwrap(), []);
    assert_eq!(store.likings(&user("ann"), None, 0).await.unwrap(), []);
}

/// A thousand people are asked for, of whom some like the item, some did and some never heard of it; likewise items of one person.
pub async fn who_is_among_them_is_answered_in_the_order_asked<F: LikeFactory>() {
    let factory = F::fresh().await;
    let (store, a) = (factory.store(), item("a"));
    let names: Vec<_> = (0..1_000).map(|n| format!("u{}", n * 619 % 1_000)).collect();
    let likes: Vec<_> = names.iter().step_by(2).map(|name| (name.as_str(), true)).collect();
    let unlikes: Vec<_> = names.iter().step_by(4).map(|name| (name.as_str(), false)).collect();
    store.like(&batch(&a, id(1, 1), 1, &likes)).await.unwrap();
    store.like(&batch(&a, id(1, 2), 2, &unlikes)).await.unwrap();
    let asked: Vec<_> = names.iter().map(|name| user(name)).collect();
    let expected: Vec<_> = asked.iter().enumerate().filter(|(n, _)| n % 4 == 2).map(|(_, user)| user.clone()).collect();
    assert_eq!(store.likers_among(&a, &asked).await.unwrap(), expected);
    assert_eq!(store.likers_among(&item("b"), &asked).await.unwrap(), []);
    assert_eq!(store.likers_among(&a, &[]).await.unwrap(), []);

    let items: Vec<_> = (0..100).map(|n| item(&format!("i{}", n * 61 % 100))).collect();
    for one in items.iter().step_by(3) {
        store.like(&batch(one, id(1, 1), 1, &[("ann", true)])).await.unwrap();
    }
    store.like(&batch(&items[0], id(1, 2), 1, &[("ann", false)])).await.unwrap();
    let expected: Vec<_> = items.iter().step_by(3).skip(1).cloned().collect();
    assert_eq!(store.liked_among(&user("ann"), &items).await.unwrap(), expected);
    assert_eq!(store.liked_among(&user("bob"), &items).await.unwrap(), []);
    assert_eq!(store.liked_among(&user("ann"), &[]).await.unwrap(), []);
}

/// Names that would be the same if they were joined carelessly, and names at the edges of the grammar.
pub async fn facts_of_names_that_look_alike_are_apart<F: LikeFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let longest = "x".repeat(128);
    let names =
        ["b:c", "c", ":c", "|c", "b|c", " ", "Абв 👨‍👩‍👧", "\u{7ff}\u{10ffff}", "C", "'; --", "$ne", "a.b", &longest];
    let items = [item("a"), item("a:b"), item("a:"), item("A"), item(&longest)];
    for (n, item) in items.iter().enumerate() {
        for (m, name) in names.iter().enumerate().filter(|(m, _)| (n + m) % 2 == 0) {
            let given = batch(item, id(1, m as u64), 1, &[(name, true)]);
            assert_eq!(store.like(&given).await.unwrap(), [true], "{item} {name}");
        }
    }
    for (n, item) in items.iter().enumerate() {
        let liked = names.iter().enumerate().filter(|(m, _)| (n + m) % 2 == 0).map(|(_, name)| user(name));
        let liked: BTreeSet<_> = liked.collect();
        let likers = all_likers(&*store, item, 2).await;
        assert_eq!(likers.iter().map(|one| one.user.clone()).collect::<BTreeSet<_>>(), liked);
        assert!(likers.is_sorted_by(|a, b| a.user > b.user), "by the bytes of their names");
    }
    for (m, name) in names.iter().enumerate() {
        let liked: Vec<_> = items.iter().skip(m % 2).step_by(2).cloned().collect();
        assert_eq!(store.liked_among(&user(name), &items).await.unwrap(), liked);
    }
}

/// Every promise above as one test, for one factory.
macro_rules! like_suite {
    ($factory:ty) => {
        $crate::contract::suite! { $factory: $crate::contract::likes =>
            a_command_that_changes_nothing_is_told_so,
            a_like_keeps_the_time_since_when_it_is_so,
            each_command_of_a_large_batch_is_answered_in_its_place,
            one_person_at_once_makes_one_fact_and_no_error,
            batches_at_once_change_each_fact_once,
            a_like_is_not_lost_to_an_unlike_at_once,
            a_repeated_batch_is_answered_as_at_first,
            pages_of_likers_have_no_gap_and_no_double,
            pages_of_likings_have_no_gap_and_no_double,
            who_is_among_them_is_answered_in_the_order_asked,
            facts_of_names_that_look_alike_are_apart,
        }
        $crate::contract::suite! { $factory: $crate::contract::likes::model =>
            any_interleaving_leaves_the_facts_of_a_plain_model,
        }
    };
}
pub(crate) use like_suite;
