//! Likes at moments that no caller can choose: half way through a fold, with the overlay full, on a disk that is full.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::join_all;
use uuid::Uuid;

use super::overlay::Fact;
use super::*;
use crate::protocol::{Millis, WriterId};
use crate::store::durable::DurableStore;
use crate::store::durable::likes::LikeCommand;

fn item(name: &str) -> ItemId {
    ItemId::parse(name).unwrap()
}

fn user(n: u32) -> UserId {
    UserId::parse(&format!("u{n}")).unwrap()
}

fn batch(name: &str, number: u64, at: i64, people: impl Iterator<Item = u32>, liked: bool) -> LikeBatch {
    let commands = people.map(|n| LikeCommand { user: user(n), liked }).collect();
    let by = BatchId { writer: WriterId(Uuid::from_u128(1)), number };
    LikeBatch { item: item(name), by, at: Millis(at), commands }
}

/// Everything that can be read must be as these facts are.
async fn assert_reads(store: &SqliteStore, facts: &BTreeMap<u32, i64>, when: &str) {
    let a = item("a");
    let mut likers: Vec<_> = facts.iter().map(|(n, at)| Liker { user: user(*n), at: Millis(*at) }).collect();
    likers.sort_by(|a, b| (b.at, &b.user).cmp(&(a.at, &a.user)));
    assert_eq!(store.count_likes(&a).await.unwrap(), likers.len() as u64, "{when}");
    let mut read: Vec<Liker> = Vec::new();
    while let page = store.likers(&a, read.last(), 7).await.unwrap()
        && !page.is_empty()
    {
        read.extend(page);
    }
    assert_eq!(read, likers, "{when}");
    let asked: Vec<_> = (0..60).map(user).collect();
    let among: Vec<_> = (0..60).filter(|n| facts.contains_key(n)).map(user).collect();
    assert_eq!(store.likers_among(&a, &asked).await.unwrap(), among, "{when}");
    for n in 0..60 {
        let liking: Vec<_> = facts.get(&n).map(|at| Liking { item: a.clone(), at: Millis(*at) }).into_iter().collect();
        assert_eq!(store.likings(&user(n), None, 9).await.unwrap(), liking, "{when}");
        let among = store.liked_among(&user(n), &[item("b"), a.clone()]).await.unwrap();
        assert_eq!(!among.is_empty(), facts.contains_key(&n), "{when}");
    }
}

/// Makes some of the sealed facts so in the table, as a job of a fold does.
async fn write(store: &SqliteStore, facts: &[(ItemId, UserId, Fact)]) {
    let facts = facts.to_vec();
    let writing = store.writer.run(move |desk| {
        for (item, user, fact) in &facts {
            let no = table::item_no_or_new(desk.connection, item)?;
            table::set(desk.connection, no, user, *fact)?;
        }
        Ok(())
    });
    writing.await.unwrap();
}

/// Scenario: somebody reads while a fold is half done, and newer facts of the same people have come. Method: the fold's steps by
/// hand, and a restart in the middle, with all reads and further decisions between any two of them.
#[tokio::test]
async fn no_moment_of_a_fold_shows_a_fact_that_is_not_so() {
    let folder = tempfile::tempdir().unwrap();
    let (mut facts, mut number) = (BTreeMap::new(), 0);
    for round in 0..3_i64 {
        let store = SqliteStore::open(folder.path()).unwrap();
        store.likes.folder.stop();
        assert_reads(&store, &facts, "read back").await;
        let mut give = async |people: std::ops::Range<u32>, liked: bool, facts: &mut BTreeMap<u32, i64>| {
            number += 1;
            let at = 10 * round + number as i64 % 3;
            let changed = store.like(&batch("a", number, at, people.clone(), liked)).await.unwrap();
            let expected = people.map(|n| match liked {
                true if facts.contains_key(&n) => false,
                true => facts.insert(n, at).is_none(),
                false => facts.remove(&n).is_some(),
            });
            assert_eq!(changed, expected.collect::<Vec<_>>());
        };
        give(0..40, true, &mut facts).await;
        give(10..15, false, &mut facts).await;
        assert_reads(&store, &facts, "accepted").await;
        let sealed = store.likes.shared.seal().sort();
        give(12..20, false, &mut facts).await;
        assert_reads(&store, &facts, "sealed").await;
        let (first, rest) = sealed.facts.split_at(sealed.facts.len() / 2);
        write(&store, first).await;
        give(18..25, true, &mut facts).await;
        assert_reads(&store, &facts, "half written").await;
        write(&store, rest).await;
        assert_reads(&store, &facts, "written").await;
        store.likes.shared.folded();
        give(0..50, round == 1, &mut facts).await;
        assert_reads(&store, &facts, "folded").await;
        // The log still has what was folded by hand: a start reads it back, as after a crash in the middle.
        let half = store.likes.shared.seal().sort();
        write(&store, half.facts.get(..20).unwrap()).await;
        assert_reads(&store, &facts, "half written again").await;
    }
}

/// Scenario: a page takes from the table what the overlay overruled until a moment ago. Method: a fold ends while a read is under way.
#[tokio::test]
async fn no_fact_leaves_the_overlay_while_a_page_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    store.likes.folder.stop();
    store.like(&batch("a", 1, 1, 0..3, true)).await.unwrap();
    drop(store.likes.shared.seal());
    let shared = store.likes.shared.clone();
    std::thread::spawn(move || {
        let pin = shared.pins.read();
        let ending = std::thread::spawn({
            let shared = shared.clone();
            move || shared.folded()
        });
        let since = Instant::now();
        // The end of the fold waits for its turn: nobody else gets one.
        while shared.pins.try_read().is_some() {
            assert!(since.elapsed() < Duration::from_secs(30));
            std::thread::yield_now();
        }
        assert!(shared.overlay.read().is_folding());
        drop(pin);
        ending.join().unwrap();
        assert!(!shared.overlay.read().is_folding());
    })
    .join()
    .unwrap();
}

/// Scenario: facts come faster than they are folded. Method: room for four facts, the folder stopped; the next caller is let in by the
/// seal, not before; a batch that is larger than all the room, and one that fails, leave no place taken for ever.
#[tokio::test]
async fn a_full_overlay_makes_callers_wait_until_a_fold_begins() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open_with(folder.path(), 4).unwrap();
    store.likes.folder.stop();
    for round in 0..3 {
        let (a, b) = (format!("a{round}"), format!("b{round}"));
        store.like(&batch(&a, 1, 1, 0..3, true)).await.unwrap();
        let next = batch(&a, 2, 1, 10..12, true);
        let mut waiting = std::pin::pin!(store.like(&next));
        let soon = tokio::time::timeout(Duration::from_millis(100), waiting.as_mut()).await;
        assert!(soon.is_err(), "there is one place");
        drop(store.likes.shared.seal());
        assert_eq!(waiting.await.unwrap(), [true; 2]);
        store.likes.shared.folded();
        drop(store.likes.shared.seal());
        assert_eq!(store.like(&batch(&b, 1, 1, 0..20, true)).await.unwrap(), [true; 20]);
        drop(store.likes.shared.seal());
        assert_eq!(store.likes.shared.room.available_permits(), 4);
    }
}

/// Bounds the database's pages, as a full disk does.
async fn pages_max(store: &SqliteStore, more: i64) {
    let bound = move |desk: &mut super::super::writer::Desk<'_>| {
        let pages: i64 = desk.connection.query_row("PRAGMA page_count", (), |row| row.get(0))?;
        let sql = format!("PRAGMA max_page_count = {}", pages + more);
        desk.connection.query_row(&sql, (), |_| Ok(()))
    };
    store.writer.run(bound).await.unwrap();
}

async fn until(store: &SqliteStore, what: impl Fn(&Overlay) -> bool) {
    let since = Instant::now();
    while !what(&store.likes.shared.overlay.read()) {
        assert!(since.elapsed() < Duration::from_secs(30));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Scenario: the disk is full when facts are to be folded, then there is room again. Method: a bound on the database's pages; what was
/// answered stays readable throughout, and is folded in the end.
#[tokio::test]
async fn a_full_disk_holds_a_fold_up_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    store.like(&batch("a", 1, 1, 0..1, true)).await.unwrap();
    until(&store, |overlay| overlay.waiting() == 0 && !overlay.is_folding()).await;
    let all = || (0..60).chain(1_000..20_000);
    store.like(&batch("a", 2, 1, all(), true)).await.unwrap();
    pages_max(&store, 2).await;
    until(&store, Overlay::is_folding).await;
    let refused = join_all((0..3).map(|n| {
        let store = &store;
        async move { store.like(&batch("b", n, 1, 0..20_000, true)).await }
    }));
    assert!(refused.await.iter().all(Result::is_err), "it does not fit");
    assert_eq!(store.count_likes(&item("a")).await.unwrap(), 19_060);
    assert_eq!(store.count_likes(&item("b")).await.unwrap(), 0);
    assert!(store.likes.shared.overlay.read().is_folding());
    pages_max(&store, 100_000).await;
    until(&store, |overlay| overlay.waiting() == 0 && !overlay.is_folding()).await;
    assert_eq!(store.count_likes(&item("a")).await.unwrap(), 19_060);
    let rows = store
        .readers
        .run(|connection| connection.query_row("SELECT count(*) FROM like_log", (), |row| row.get::<_, i64>(0)));
    assert_eq!(rows.await.unwrap(), 0, "the log is empty");
    store.close().await;
}

/// Scenario: whoever asked is gone before the commit, and somebody else decides on what the table alone says. Method: the call is
/// dropped as soon as its job is with the writer, which is held up; then another like of the same people.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_goes_away_leaves_no_fact_that_nobody_knows() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let (start, started) = std::sync::mpsc::channel();
    let holding = store.writer.run(move |_| {
        start.send(()).unwrap();
        // Ends with the sender.
        let _ = wait.recv();
        Ok(())
    });
    let mut holding = std::pin::pin!(holding);
    assert!(holding.as_mut().now_or_never().is_none());
    let given = batch("a", 1, 1, 0..10, true);
    let handed_over = async {
        let since = Instant::now();
        while store.writer.waiting() == 0 {
            assert!(since.elapsed() < Duration::from_secs(30));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    started.recv().unwrap();
    tokio::select! {
        _ = store.like(&given) => panic!("the writer is held up"),
        () = handed_over => {}
    }
    drop(go);
    holding.await.unwrap();
    assert_eq!(store.like(&batch("a", 2, 2, 0..10, true)).await.unwrap(), [false; 10]);
    assert_eq!(store.count_likes(&item("a")).await.unwrap(), 10);
}
