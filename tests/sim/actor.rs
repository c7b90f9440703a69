//! The flush actor over the simulation's stores: what it promises about statements, demands, stops and alarms.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use actix::{Actor, Addr};
use async_trait::async_trait;
use heartline::flush::{FlushActor, FlushAll, FlushError, FlushItem, FlushStats};
use heartline::protocol::{Comment, Counter, Counters, ItemId, Kind, WriterId};
use heartline::store::durable::sqlite::SqliteStore;
use heartline::store::durable::{Document, DurableStore};
use heartline::store::hot::memory::{MemoryCore, MemoryHot, Settings};
use heartline::store::hot::{Add, Aligned, Audit, Flight, HotError, HotStore, Standing, Step};
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::durable::{MALFORMED, SharedDurable};
use crate::writer::{comment, hearts};

/// No test waits longer for anything.
const PATIENCE: Duration = Duration::from_secs(20);
const WRITER: WriterId = WriterId(Uuid::from_u128(1));

/// The memory core behind the trait.
struct SharedHot {
    core: Mutex<MemoryCore>,
    /// Contributes to an item again whenever it is claimed, so that it is never clean.
    restless: bool,
    /// Sweeps so far: each looks for writers once.
    looks: AtomicU64,
    /// Claims wait for a permit each.
    claims: Semaphore,
    claimed: AtomicU64,
}

impl SharedHot {
    fn new(restless: bool) -> Arc<Self> {
        let (core, claims) = (Mutex::new(MemoryCore::new(7)), Semaphore::new(Semaphore::MAX_PERMITS));
        Arc::new(Self { core, restless, looks: AtomicU64::new(0), claims, claimed: AtomicU64::new(0) })
    }

    fn contribute(&self, item: &ItemId, n: i64, comments: Vec<Comment>) {
        let mut core = self.core.lock();
        core.align(item, &Document::default());
        let look = Add { writer: WRITER, prev: u64::MAX, op: 0, increments: Counters::default(), comments: Vec::new() };
        let step = |add| Step { item: item.clone(), add: Some(add), events: Vec::new(), after: None, watching: None };
        let Ok(Standing::At(stood)) = core.step(&step(look)) else { panic!("no item") };
        let op = stood.at + 1;
        let increments = [hearts(n), (Counter::Comments, comments.len() as i64)].into_iter().collect();
        let comments = comments.into_iter().map(|comment| (op, comment)).collect();
        core.step(&step(Add { writer: WRITER, prev: stood.at, op, increments, comments })).unwrap();
    }
}

#[async_trait]
impl HotStore for SharedHot {
    async fn step(&self, step: Step) -> Result<Standing, HotError> {
        self.core.lock().step(&step)
    }

    async fn claim(&self, item: &ItemId, gone: &[WriterId]) -> Result<Option<Flight>, HotError> {
        self.claims.acquire().await.unwrap().forget();
        self.claims.add_permits(1);
        self.claimed.fetch_add(1, Ordering::SeqCst);
        let flight = self.core.lock().claim(item, gone);
        if self.restless && flight.is_some() {
            let id = u128::from(self.claimed.load(Ordering::SeqCst)) << 64;
            self.contribute(item, 1, vec![comment(id, "again")]);
        }
        Ok(flight)
    }

    async fn align(&self, item: &ItemId, document: &Document) -> Result<Aligned, HotError> {
        Ok(self.core.lock().align(item, document))
    }

    async fn dirty(&self, limit: usize) -> Result<Vec<ItemId>, HotError> {
        Ok(self.core.lock().dirty(limit))
    }

    async fn totals(&self, items: &[ItemId]) -> Result<Vec<Option<Counters>>, HotError> {
        let core = self.core.lock();
        Ok(items.iter().map(|item| core.totals(item)).collect())
    }

    async fn unflushed_comments(&self, item: &ItemId) -> Result<Vec<Comment>, HotError> {
        Ok(self.core.lock().unflushed_comments(item))
    }

    async fn audit(&self, item: &ItemId) -> Result<Option<Audit>, HotError> {
        Ok(self.core.lock().audit(item))
    }

    async fn base(&self, item: &ItemId) -> Result<Option<Document>, HotError> {
        Ok(self.core.lock().base(item))
    }

    async fn let_go(&self, item: &ItemId) -> Result<bool, HotError> {
        Ok(self.core.lock().let_go(item))
    }

    async fn living(&self) -> Result<Vec<WriterId>, HotError> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        Ok(vec![WRITER])
    }
}

struct Bench {
    hot: Arc<SharedHot>,
    durable: Arc<SharedDurable>,
    stats: Arc<FlushStats>,
    flush: Addr<FlushActor>,
}

/// An actor with `interval`; `HOUR` for tests in which only demands act.
fn bench(interval: Duration, restless: bool) -> Bench {
    let (hot, durable, stats) = (SharedHot::new(restless), Arc::new(SharedDurable::default()), Arc::default());
    let flush = FlushActor::new(
        Arc::clone(&hot) as Arc<dyn HotStore>,
        Arc::clone(&durable) as Arc<dyn DurableStore>,
        interval,
        Arc::clone(&stats),
    );
    Bench { hot, durable, stats, flush: flush.start() }
}

const HOUR: Duration = Duration::from_secs(60 * 60);

impl Bench {
    fn hearts_of(&self, item: &ItemId) -> i64 {
        self.durable.state.lock().primary(item).document.totals.get(Counter::Taps(Kind::HEART))
    }

    fn statements(&self, item: &ItemId, kind: &'static str) -> u64 {
        self.durable.state.lock().statements.get(&(item.clone(), kind)).copied().unwrap_or(0)
    }
}

fn items(count: usize) -> Vec<ItemId> {
    (0..count).map(|n| ItemId::parse(&format!("i{n}")).unwrap()).collect()
}

/// Waits for a condition with a deadline.
async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// 700 items, more than two batches, each dirty again as soon as it is claimed, under a fast interval: the statements of each
/// item are held against the number of intervals.
#[actix_rt::test]
async fn an_item_that_is_always_dirty_costs_one_fold_and_one_insert_an_interval() {
    let (bench, items) = (bench(Duration::from_millis(20), true), items(700));
    for (n, item) in items.iter().enumerate() {
        bench.hot.contribute(item, 1, vec![comment(n as u128, "hi")]);
    }
    until("five intervals", || bench.hot.looks.load(Ordering::SeqCst) >= 6).await;
    let counted = bench.durable.state.lock().statements.clone();
    let sweeps = bench.hot.looks.load(Ordering::SeqCst);
    for item in &items {
        for kind in ["fold", "comments"] {
            let statements = counted.get(&(item.clone(), kind)).copied().unwrap_or(0);
            assert!((5..=sweeps).contains(&statements), "{item}: {statements} of kind {kind} in {sweeps} intervals");
        }
    }
}

/// An interval's batch hangs in the hot store. One item of it and one item outside are flushed on demand.
#[actix_rt::test]
async fn a_demand_is_not_queued_behind_an_intervals_batch() {
    let bench = bench(Duration::from_millis(20), false);
    let (inside, outside) = (&items(1)[0], ItemId::parse("outside").unwrap());
    bench.hot.contribute(inside, 5, Vec::new());
    let all = u32::try_from(bench.hot.claims.available_permits().min(1 << 20)).unwrap();
    bench.hot.claims.forget_permits(usize::MAX);
    until("the interval's batch hangs", || bench.stats.round_trips() > 0).await;
    bench.hot.contribute(&outside, 3, Vec::new());
    let demand_inside = bench.flush.send(FlushItem(inside.clone()));
    let demand_outside = tokio::spawn(bench.flush.send(FlushItem(outside.clone())));
    until("the demand's claim is under way", || bench.stats.round_trips() == 2).await;
    assert_eq!(bench.hot.claimed.load(Ordering::SeqCst), 0);
    bench.hot.claims.add_permits(all as usize);
    assert_eq!(demand_outside.await.unwrap().unwrap(), Ok(()));
    assert_eq!(demand_inside.await.unwrap(), Ok(()));
    assert_eq!((bench.hearts_of(inside), bench.hearts_of(&outside)), (5, 3));
    assert_eq!(bench.statements(inside, "fold"), 1, "the demand waited for the interval's round and found it folded");
}

/// The durable store is down during a stop, then comes back for a second try.
#[actix_rt::test]
async fn a_stop_reports_what_stays_unflushed() {
    let (bench, items) = (bench(HOUR, false), items(300));
    items.iter().for_each(|item| bench.hot.contribute(item, 2, Vec::new()));
    bench.durable.down.store(true, Ordering::SeqCst);
    let drained = bench.flush.send(FlushAll { deadline: Instant::now() + Duration::from_secs(2) }).await.unwrap();
    assert_eq!((drained.items_left, drained.left.len(), drained.is_empty()), (300, 20, false));
    assert!(drained.trouble.is_some_and(|trouble| trouble.contains("down")));
    bench.durable.down.store(false, Ordering::SeqCst);
    let drained = bench.flush.send(FlushAll { deadline: Instant::now() + PATIENCE }).await.unwrap();
    assert!(drained.is_empty(), "{drained:?}");
    assert!(items.iter().all(|item| bench.hearts_of(item) == 2));
}

/// The durable store is down for some intervals; nobody demands anything.
#[actix_rt::test]
async fn a_store_that_was_down_is_caught_up_with_by_a_later_interval() {
    let (bench, item) = (bench(Duration::from_millis(20), false), &items(1)[0]);
    bench.durable.down.store(true, Ordering::SeqCst);
    bench.hot.contribute(item, 4, vec![comment(1, "hi")]);
    until("some failures", || bench.stats.failed() >= 3).await;
    until("the lag shows", || bench.stats.lag() >= Duration::from_millis(60)).await;
    assert_eq!(bench.hot.audit(item).await.unwrap().unwrap().delta.get(Counter::Taps(Kind::HEART)), 4);
    bench.durable.down.store(false, Ordering::SeqCst);
    until("it is folded", || bench.hearts_of(item) == 4).await;
    until("nothing waits", || bench.stats.lag() == Duration::ZERO && bench.stats.waiting() == 0).await;
}

/// One of three comments is one that the store refuses for what it is.
#[actix_rt::test]
async fn a_refused_comment_does_not_take_its_batch_down() {
    let (bench, item) = (bench(HOUR, false), &items(1)[0]);
    bench.hot.contribute(item, 1, vec![comment(1, "a"), comment(2, MALFORMED), comment(3, "c")]);
    assert_eq!(bench.flush.send(FlushItem(item.clone())).await.unwrap(), Ok(()));
    let stored = bench.durable.state.lock().primary(item);
    let ids: BTreeSet<u128> = stored.comments.keys().map(|id| id.0.as_u128()).collect();
    assert_eq!((ids, stored.document.fold), (BTreeSet::from([1, 3]), 1));
    assert_eq!((bench.stats.rejected(), bench.statements(item, "comments")), (1, 1));
}

/// Somebody empties the durable store under a live item: an alarm, told at once, and the item keeps what it has.
#[actix_rt::test]
async fn a_restored_backup_is_told_and_changes_nothing() {
    let (bench, item) = (bench(HOUR, false), &items(1)[0]);
    bench.hot.contribute(item, 3, Vec::new());
    assert_eq!(bench.flush.send(FlushItem(item.clone())).await.unwrap(), Ok(()));
    *bench.durable.state.lock() = Default::default();
    bench.hot.contribute(item, 2, Vec::new());
    assert_eq!(bench.flush.send(FlushItem(item.clone())).await.unwrap(), Err(FlushError::DurableBehind));
    assert_eq!(bench.stats.behind(), 1);
    let audit = bench.hot.audit(item).await.unwrap().unwrap();
    let of = |counters: &Counters| counters.get(Counter::Taps(Kind::HEART));
    assert_eq!((audit.fold, of(&audit.base), of(&audit.delta)), (1, 3, 2));
}

/// The real embedded stores: contributions go in by the log, the process dies without a flush, the next one stops in order.
#[actix_rt::test]
async fn what_a_dead_process_left_in_the_log_is_flushed_by_the_next_one() {
    let (folder, items) = (tempfile::tempdir().unwrap(), items(40));
    let settings =
        |writer| Settings { writer: WriterId(Uuid::from_u128(writer)), tick: Duration::from_millis(1), seed: 7 };
    {
        let store = Arc::new(SqliteStore::open(folder.path()).unwrap());
        let (hot, _) = MemoryHot::recover(store.clone(), store.as_ref(), settings(1)).await.unwrap();
        for (n, item) in items.iter().enumerate() {
            hot.align(item, &Document::default()).await.unwrap();
            let increments = [hearts(5), (Counter::Comments, 1)].into_iter().collect();
            let comments = vec![(3, comment(n as u128, "hi"))];
            let add = Add { writer: WriterId(Uuid::from_u128(1)), prev: 0, op: 3, increments, comments };
            let step = Step { item: item.clone(), add: Some(add), events: Vec::new(), after: None, watching: None };
            assert!(matches!(hot.step(step).await, Ok(Standing::At(stood)) if stood.at == 3));
        }
        store.close().await;
    }
    let store = Arc::new(SqliteStore::open(folder.path()).unwrap());
    let (hot, _) = MemoryHot::recover(store.clone(), store.as_ref(), settings(2)).await.unwrap();
    let flush = FlushActor::new(Arc::new(hot), store.clone(), HOUR, Arc::default()).start();
    let drained = flush.send(FlushAll { deadline: Instant::now() + PATIENCE }).await.unwrap();
    assert!(drained.is_empty(), "{drained:?}");
    for item in &items {
        let document = store.document(item).await.unwrap();
        assert_eq!((document.totals.get(Counter::Taps(Kind::HEART)), document.fold), (5, 1));
        assert_eq!(store.comments(item, None, 10).await.unwrap().len(), 1);
    }
    assert_eq!((store.counts().fold(), store.counts().comments()), (40, 40));
    store.close().await;
}
