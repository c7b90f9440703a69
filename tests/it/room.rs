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
use heartline::store::durable::sqlite::SqliteStore;
use heartline::store::hot::HotStore;
use heartline::store::hot::memory::{MemoryHot, Settings};

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

async fn node(folder: &std::path::Path) -> (Arc<MemoryHot>, Registry) {
    let sqlite = Arc::new(SqliteStore::open(folder).unwrap());
    let (writer, tick) = (WriterId(Uuid::now_v7()), Duration::from_millis(10));
    let settings = Settings { writer, tick, seed: 1 };
    let (hot, _) = MemoryHot::recover(sqlite.clone(), sqlite.as_ref(), settings).await.unwrap();
    let hot = Arc::new(hot);
    let ticker = Ticker::default();
    actix_rt::spawn(ticker.clone().run(tick));
    let config = RoomConfig { tick, auto_create: true, ..RoomConfig::default() };
    let deps = RoomDeps {
        hot: hot.clone(),
        durable: sqlite,
        fold: Arc::new(Fault),
        ticker,
        writer,
        config,
        stats: Arc::default(),
    };
    (hot, Registry::new(Arc::new(deps), vec![actix_rt::Arbiter::current()]))
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
