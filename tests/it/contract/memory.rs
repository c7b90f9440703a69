//! What only the embedded hot store promises: nothing is visible or answered before it is in the log, and the log brings it back.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::join_all;
use heartline::protocol::WriterId;
use heartline::store::durable::sqlite::SqliteStore;
use heartline::store::durable::{Applied, DurableStore};
use heartline::store::hot::memory::{MemoryHot, Recovered, Settings};
use heartline::store::hot::{Aligned, HotError, HotStore};
use heartline::store::{ContributionLog, LogError, LogRow};
use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::sync::{Notify, Semaphore};

use super::HotFactory;
use super::hot::hot_suite;
use super::support::*;

/// Long enough that a batch that does not wait for it would be seen.
const TICK: Duration = Duration::from_millis(50);

fn settings(by: u128, tick: Duration) -> Settings {
    Settings { writer: writer(by), tick, seed: 1 }
}

/// The production pair: memory over SQLite, with a tick that does not slow the suite down.
struct MemoryFactory {
    hot: Arc<MemoryHot>,
    _folder: TempDir,
}

#[async_trait]
impl HotFactory for MemoryFactory {
    async fn fresh() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sqlite = Arc::new(SqliteStore::open(folder.path()).unwrap());
        let (hot, recovered) =
            MemoryHot::recover(sqlite.clone(), &*sqlite, settings(1, Duration::from_millis(1))).await.unwrap();
        assert_eq!(recovered, Recovered::default());
        Self { hot: Arc::new(hot), _folder: folder }
    }

    fn store(&self) -> Arc<dyn HotStore> {
        self.hot.clone()
    }
}

hot_suite!(MemoryFactory);

/// A log in memory whose appends wait for a permit and fail when told so.
struct TestLog {
    rows: Mutex<Vec<LogRow>>,
    appends: Semaphore,
    asked: Notify,
    fates: Mutex<VecDeque<Result<(), LogError>>>,
}

impl TestLog {
    fn new(appends: usize) -> Arc<Self> {
        let (rows, fates) = (Mutex::default(), Mutex::default());
        Arc::new(Self { rows, appends: Semaphore::new(appends), asked: Notify::new(), fates })
    }
}

#[async_trait]
impl ContributionLog for TestLog {
    async fn append(&self, rows: Vec<LogRow>) -> Result<(), LogError> {
        self.asked.notify_one();
        self.appends.acquire().await.unwrap().forget();
        self.fates.lock().pop_front().unwrap_or(Ok(()))?;
        self.rows.lock().extend(rows);
        Ok(())
    }

    async fn read(&self) -> Result<Vec<LogRow>, LogError> {
        Ok(self.rows.lock().clone())
    }
}

struct World {
    hot: MemoryHot,
    log: Arc<TestLog>,
    _durable: SqliteStore,
    _folder: TempDir,
}

async fn world(appends: usize) -> World {
    let folder = tempfile::tempdir().unwrap();
    let durable = SqliteStore::open(folder.path()).unwrap();
    let log = TestLog::new(appends);
    let (hot, _) = MemoryHot::recover(log.clone(), &durable, settings(1, TICK)).await.unwrap();
    World { hot, log, _durable: durable, _folder: folder }
}

/// The log's append is held up: readers look meanwhile, and a flush comes by.
#[tokio::test]
async fn a_contribution_that_is_not_in_the_log_is_neither_seen_nor_answered_nor_claimed() {
    let world = world(0).await;
    let a = laid(&world.hot, "a").await;
    let mut step = std::pin::pin!(world.hot.step(step(&a, say(1, 0, 1, &[(1, 10)]))));
    tokio::select! {
        _ = &mut step => panic!("answered before its row was durable"),
        () = world.log.asked.notified() => {}
    }
    assert_eq!(stood(&world.hot, read(&a)).await.seq, 0);
    assert_eq!(world.hot.unflushed_comments(&a).await.unwrap(), []);
    assert_eq!(world.hot.dirty(9).await.unwrap(), []);
    assert!(world.hot.claim(&a, &[]).now_or_never().is_none(), "it waits, so that the numbers stay what they were");
    world.log.appends.add_permits(1);
    step.await.unwrap();
    assert_eq!(ids(&world.hot.unflushed_comments(&a).await.unwrap()), [10]);
}

/// One append fails, while steps of two items, one of them twice, share it; then everything is offered again.
#[tokio::test]
async fn a_failing_log_applies_nothing_and_what_is_offered_again_counts_once() {
    let world = world(9).await;
    let (a, b) = (laid(&world.hot, "a").await, laid(&world.hot, "b").await);
    world.log.fates.lock().push_back(Err(LogError("disk full".into())));
    let steps = || [step(&a, add(1, 0, 1, 1)), step(&b, add(1, 0, 1, 10)), step(&a, add(1, 0, 2, 3))];
    for answer in join_all(steps().map(|step| world.hot.step(step))).await {
        assert!(matches!(answer, Err(HotError::Unavailable(why)) if why.contains("disk full")));
    }
    assert_eq!(stood(&world.hot, read(&a)).await.totals, hearts(0));
    let again = join_all(steps().map(|step| stood(&world.hot, step))).await;
    assert_eq!(again.iter().map(|answer| answer.at).collect::<Vec<_>>(), [1, 1, 1], "the third builds on 0");
    assert_eq!((again[1].totals.clone(), again[2].totals.clone()), (hearts(10), hearts(1)));
    assert_eq!(world.log.rows.lock().len(), 2);
}

/// Fifty rooms tick at once, thrice; one step comes late.
#[tokio::test]
async fn steps_of_one_tick_share_one_round_trip_and_a_straggler_waits_for_the_next() {
    let world = world(9).await;
    let mut items = Vec::new();
    for n in 0..50 {
        items.push(laid(&world.hot, &format!("i{n}")).await);
    }
    let began = Instant::now();
    for op in 1..=3 {
        join_all(items.iter().map(|item| stood(&world.hot, step(item, add(1, op - 1, op, 1))))).await;
        assert_eq!(world.hot.round_trips(), op);
    }
    stood(&world.hot, step(&items[0], add(1, 3, 4, 1))).await;
    assert!(began.elapsed() >= TICK * 9 / 4, "three quarters of a tick between two batches at least");
    assert_eq!((world.hot.round_trips(), world.log.rows.lock().len()), (4, 151));
}

/// Reads while a batch waits for its tick.
#[tokio::test]
async fn a_read_waits_for_no_tick_and_is_no_round_trip() {
    let world = world(9).await;
    let a = laid(&world.hot, "a").await;
    for _ in 0..100 {
        assert!(world.hot.step(read(&a)).now_or_never().is_some(), "it is answered at once");
    }
    assert_eq!(world.hot.round_trips(), 0);
}

/// Adds that are refused or repeated.
#[tokio::test]
async fn only_what_is_applied_enters_the_log() {
    let world = world(9).await;
    let a = laid(&world.hot, "a").await;
    let adds = [add(1, 0, 1, i64::MAX), add(1, 1, 2, 1), add(1, 0, 1, i64::MAX), add(1, 4, 5, 1), add(1, 1, 3, -1)];
    let answers = join_all(adds.map(|add| world.hot.step(step(&a, add)))).await;
    assert!(matches!(answers[1], Err(HotError::Overflow)));
    let rows: Vec<_> = world.log.rows.lock().iter().map(|row| (row.add.prev, row.add.op)).collect();
    assert_eq!(rows, [(0, 1), (1, 3)]);
    assert_eq!(world.hot.living().await.unwrap(), [writer(1)]);
}

/// One process contributes and flushes half, ; another starts on the same folder.
#[tokio::test]
async fn after_a_restart_an_item_is_its_document_and_the_rows_above_the_folded_number() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Arc::new(SqliteStore::open(folder.path()).unwrap());
    let (a, b) = (item("a"), item("b"));
    let start = |sqlite: Arc<SqliteStore>, by: u128| async move {
        MemoryHot::recover(sqlite.clone(), &*sqlite, settings(by, Duration::from_millis(1))).await.unwrap()
    };
    let (hot, _) = start(sqlite.clone(), 1).await;
    for name in ["a", "b"] {
        laid(&hot, name).await;
    }
    stood(&hot, step(&a, say(1, 0, 1, &[(1, 10)]))).await;
    stood(&hot, step(&b, add(1, 0, 2, 5))).await;
    let flight = hot.claim(&a, &[]).await.unwrap().unwrap();
    sqlite.insert_comments(&a, &flight.comments).await.unwrap();
    assert_eq!(sqlite.apply(&[flight]).await.unwrap(), [Applied::Done], "and no align: it dies before");
    stood(&hot, step(&a, say(1, 1, 3, &[(2, 11), (3, 12)]))).await;
    sqlite.close().await;
    drop(hot);

    let sqlite = Arc::new(SqliteStore::open(folder.path()).unwrap());
    let (hot, recovered) = start(sqlite.clone(), 2).await;
    assert_eq!(recovered, Recovered { items: 2, rows: 2, unreachable: 0 });
    let stands = stood(&hot, step(&a, add(1, 0, 1, 1))).await;
    assert_eq!((stands.at, stands.folded, stands.fold), (3, 1, 1));
    assert_eq!(ids(&hot.unflushed_comments(&a).await.unwrap()), [11, 12]);
    assert_eq!(hot.totals(std::slice::from_ref(&b)).await.unwrap(), [Some(hearts(5))]);
    let mut dirty = hot.dirty(9).await.unwrap();
    dirty.sort();
    assert_eq!(dirty, [a.clone(), b.clone()], "what the dead writer left is folded by the next flush");
    for item in [&a, &b] {
        let flight = hot.claim(item, &[]).await.unwrap().unwrap();
        assert_eq!(sqlite.apply(&[flight]).await.unwrap(), [Applied::Done]);
        let document = sqlite.document(item).await.unwrap();
        assert_eq!(hot.align(item, &document).await.unwrap(), Aligned::Settled);
    }
    assert_eq!(sqlite.read().await.unwrap(), []);
    assert_eq!(sqlite.document(&a).await.unwrap().folded[&WriterId(writer(1).0)], 3);
}
