//! A room over the real embedded stores: what outlives it when it dies.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix::{Actor, Context, Handler};
use uuid::Uuid;

use heartline::clock;
use heartline::config::RoomConfig;
use heartline::protocol::client::Tap;
use heartline::protocol::{ApiError, CloseCode, Counter, ItemId, Kind, UserId, WriterId};
use heartline::room::messages::End;
use heartline::room::{
    Contribute, Contributed, FoldNow, Frame, Frames, Join, Registry, RoomDeps, SubscriberId, Ticker,
};
use heartline::store::durable::DurableStore;
use heartline::store::durable::sqlite::SqliteStore;
use heartline::store::hot::HotStore;
use heartline::store::hot::memory::{MemoryFence, MemoryHot, Settings};

/// A relay that only remembers with what it was told to close.
struct Relay(Arc<Mutex<Vec<CloseCode>>>);

impl Actor for Relay {
    type Context = Context<Self>;
}

impl Handler<Frames> for Relay {
    type Result = ();
    fn handle(&mut self, frames: Frames, _: &mut Context<Self>) {
        let codes =
            frames.list.iter().filter_map(|frame| if let Frame::Close(code) = frame { Some(*code) } else { None });
        self.0.lock().unwrap().extend(codes);
    }
}

/// A flush with a fault that takes the room down with it.
struct Fault;

#[async_trait::async_trait]
impl FoldNow for Fault {
    async fn fold_now(&self, _: &ItemId) -> Result<(), ApiError> {
        panic!("a test asked for it")
    }
}

/// How often it ticks.
const TICK: Duration = Duration::from_millis(10);

async fn node(folder: &std::path::Path) -> (Arc<MemoryHot>, Registry) {
    let (hot, _, registry) = node_with(folder, RoomConfig::default()).await;
    (hot, registry)
}

async fn node_with(folder: &std::path::Path, config: RoomConfig) -> (Arc<MemoryHot>, Arc<SqliteStore>, Registry) {
    let sqlite = Arc::new(SqliteStore::open(folder).unwrap());
    let (writer, tick) = (WriterId(Uuid::now_v7()), TICK);
    let settings = Settings { writer, tick, seed: 1 };
    let (hot, _) = MemoryHot::recover(sqlite.clone(), sqlite.as_ref(), settings).await.unwrap();
    let hot = Arc::new(hot);
    let ticker = Ticker::default();
    actix_rt::spawn(ticker.clone().run(tick));
    let config = RoomConfig { tick, auto_create: true, ..config };
    let deps = RoomDeps {
        hot: hot.clone(),
        fence: Arc::new(MemoryFence::new(writer)),
        durable: sqlite.clone(),
        fold: Arc::new(Fault),
        ticker,
        writer,
        config,
        stats: Arc::default(),
    };
    (hot, sqlite, Registry::new(Arc::new(deps), vec![actix_rt::Arbiter::current()]))
}

/// Scenario: a room dies of a fault of ours with taps in it that nothing has folded. Method: its sockets are told 4003, the sweep
/// starts another one, which goes on with the same numbers: no tap is lost and none is counted twice.
#[actix_rt::test]
async fn a_room_that_panicked_is_started_anew_and_goes_on_counting() {
    let folder = tempfile::tempdir().unwrap();
    let (hot, registry) = node(folder.path()).await;
    let item = ItemId::parse("show").unwrap();
    let room = registry.open(&item, true).await.unwrap();
    let told = Arc::default();
    let relay = Relay(Arc::clone(&told)).start();
    let join = Join {
        subscriber: SubscriberId(1),
        frames: relay.recipient(),
        user: UserId::parse("ann").unwrap(),
        counted: true,
        resume: None,
    };
    room.join.send(join).await.unwrap().unwrap();
    let tap = |n| Contribute::Taps(Tap { kind: Kind::HEART, n });
    assert!(matches!(room.contribute.send(tap(7)).await.unwrap(), Ok(Contributed::Taps(_))));

    assert!(room.end.send(End).await.unwrap().is_err(), "the room dies while it ends");
    assert!(registry.find(&item).is_none());
    registry.sweep(clock::monotonic()).await;
    let successor = registry.find(&item).expect("the sweep starts it anew");
    assert!(matches!(successor.contribute.send(tap(5)).await.unwrap(), Ok(Contributed::Taps(_))));
    let audit = hot.audit(&item).await.unwrap().unwrap();
    assert_eq!(audit.delta.get(Counter::Taps(Kind::HEART)), 12);
    assert_eq!(*told.lock().unwrap(), [CloseCode::RoomRestart]);
}

/// Scenario: everything is folded twice, the room ends and its journal is dropped; the document of the first fold is put back, and the room is
/// opened again. Method: what is tapped then is taken, under numbers that were not given before.
#[actix_rt::test]
async fn a_room_that_is_opened_over_a_document_that_was_put_back_gives_no_number_twice() {
    let folder = tempfile::tempdir().unwrap();
    let config = RoomConfig { flush: TICK * 3, linger: Duration::ZERO, ..RoomConfig::default() };
    let (hot, durable, registry) = node_with(folder.path(), config).await;
    let item = ItemId::parse("show").unwrap();
    let tap = |n| Contribute::Taps(Tap { kind: Kind::HEART, n });
    let mut documents = Vec::new();
    for n in [7, 5] {
        let room = registry.open(&item, true).await.unwrap();
        room.contribute.send(tap(n)).await.unwrap().unwrap();
        let flight = hot.claim(&item, &[]).await.unwrap().unwrap();
        durable.apply(&[flight]).await.unwrap();
        documents.push(durable.document(&item).await.unwrap());
        hot.align(&item, documents.last().unwrap()).await.unwrap();
        while room.is_open() {
            actix_rt::time::sleep(TICK).await;
        }
        registry.sweep(clock::monotonic()).await;
    }
    assert!(durable.replace_document(&item, 2, &documents[0]).await.unwrap());
    let room = registry.open(&item, true).await.unwrap();
    let taken = actix_rt::time::timeout(crate::support::PATIENCE, room.contribute.send(tap(3))).await;
    assert!(matches!(taken, Ok(Ok(Ok(Contributed::Taps(_))))), "{taken:?}");
    let audit = hot.audit(&item).await.unwrap().unwrap();
    assert_eq!(audit.delta.get(Counter::Taps(Kind::HEART)), 3);
}
