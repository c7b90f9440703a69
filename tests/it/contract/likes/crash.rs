//! The embedded store's facts after a crash at any moment.
//!
//! Method: while batches are given, the database is copied as a crash between two commits would leave it (one consistent snapshot of
//! another connection); each copy is opened as a store. Batches of an item come in order, so what the copy says of it must be the facts
//! after one of those that were given, and not before the last one that was answered.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use heartline::protocol::{ItemId, Millis, UserId};
use heartline::store::durable::sqlite::{DATABASE_FILE, SqliteStore};
use heartline::store::durable::{DurableStore, LikeBatch, LikeCommand, LikeStore};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{all_likers, id, user};
use crate::contract::support::item;

const PEOPLE: u64 = 3_000;
const BATCH: u64 = 100;
/// Batches of each item that are given while a copy is taken.
const ROUND: u64 = 6;
/// Copies that are looked into: with facts in the log as well as in the table.
const COPIES: u32 = 12;
const PATIENCE: Duration = Duration::from_secs(120);

/// The batch of this number: a stretch of people, who like and unlike it by turns.
fn given(item: &ItemId, number: u64) -> LikeBatch {
    let person = |n: u64| {
        let user = user(&format!("u{}", (number * 131 + n) % PEOPLE));
        LikeCommand { user, liked: !(number + n).is_multiple_of(3) }
    };
    let commands = (0..BATCH).map(person).collect();
    LikeBatch { item: item.clone(), by: id(1, number), at: Millis(number as i64), commands }
}

async fn give(store: &SqliteStore, item: &ItemId, after: u64) {
    for number in after + 1..=after + ROUND {
        store.like(&given(item, number)).await.unwrap();
    }
}

/// Two items with a writer each, and copies at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_at_any_moment_loses_no_answered_like_and_makes_none_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let (a, b) = (item("a"), item("b"));
    let (since, mut answered, mut looked_into) = (Instant::now(), 0, 0);
    while looked_into < COPIES {
        assert!(since.elapsed() < PATIENCE, "{looked_into} copies");
        let from = folder.path().to_owned();
        let copying = tokio::task::spawn_blocking(move || copy(&from));
        let (copied, (), ()) = tokio::join!(copying, give(&store, &a, answered), give(&store, &b, answered));
        let (copy, is_between) = copied.unwrap();
        if is_between {
            looked_into += 1;
            for item in [&a, &b] {
                assert_one_of(copy.path(), item, answered, answered + ROUND).await;
            }
        }
        answered += ROUND;
    }
    store.close().await;
    drop(store);
    for item in [&a, &b] {
        assert_one_of(folder.path(), item, answered, answered).await;
    }
}

/// Copies the database, and tells whether facts are both in the table and in the log.
fn copy(from: &Path) -> (TempDir, bool) {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join(DATABASE_FILE);
    let source = Connection::open(from.join(DATABASE_FILE)).unwrap();
    source.execute("VACUUM INTO ?1", [to.to_str().unwrap()]).unwrap();
    let copied = Connection::open(to).unwrap();
    let are_any = |sql| copied.query_row(sql, (), |row| row.get::<_, bool>(0)).unwrap();
    let is_between =
        are_any("SELECT EXISTS (SELECT 1 FROM likes)") && are_any("SELECT EXISTS (SELECT 1 FROM like_log)");
    (folder, is_between)
}

/// The store in this folder must have the facts after one of these batches.
async fn assert_one_of(folder: &Path, item: &ItemId, first: u64, last: u64) {
    let store = SqliteStore::open(folder).unwrap();
    let likers = all_likers(&store, item, 1_000).await;
    assert_eq!(store.count_likes(item).await.unwrap(), likers.len() as u64);
    let read: BTreeMap<_, _> = likers.into_iter().map(|one| (one.user, one.at)).collect();
    let (mut facts, mut is_one) = (BTreeMap::<UserId, Millis>::new(), first == 0 && read.is_empty());
    for number in 1..=last {
        let LikeBatch { at, commands, .. } = given(item, number);
        for LikeCommand { user, liked } in commands {
            if liked {
                facts.entry(user).or_insert(at);
            } else {
                facts.remove(&user);
            }
        }
        is_one |= number >= first && facts == read;
    }
    assert!(is_one, "{item}: not the facts after any of the batches from {first} to {last}");
    assert!(store.unsettled().await.unwrap().contains(item), "nobody said that the counter has them");
    store.close().await;
}
