//! A whole Redis set back under everybody: killed, and started from an older dump.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use heartline::store::durable::DurableStore;
use heartline::store::durable::mongodb::MongoStore;
use heartline::store::hot::HotStore;
use heartline::store::hot::redis::RedisHot;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use tokio::sync::watch;
use tokio::time::{interval, timeout};

use super::{dump, durable};
use crate::contract::redis::{open, settings};
use crate::contract::support::item;
use crate::histories::{History, Pair, Told};
use crate::support::PATIENCE;
use crate::support::redis::RedisServer;
use crate::support::soak::rounds;

/// Roll-backs of an ordinary run, which is the issue's own figure, and of a soak.
const ROUNDS: (u32, u32) = (10, 100);
/// Histories at a time, each of an item of its own.
const ITEMS: u64 = 4;
/// Between two moves of a history, as between two ticks: a room does not spin while its store is away.
const TICK: Duration = Duration::from_millis(2);
/// Moves of all histories together before the dump, at most; and from there to the kill.
const MOVES: u64 = 100;
/// Moves of each history after Redis is back, before the faults end.
const MOVES_AFTER: u64 = 20;

/// Stores that something else befalls than the history itself.
struct Served<'a> {
    hot: &'a RedisHot,
    durable: &'a MongoStore,
}

impl Pair for Served<'_> {
    fn hot(&self) -> &dyn HotStore {
        self.hot
    }

    fn durable(&self) -> &dyn DurableStore {
        self.durable
    }

    async fn set_back(&mut self, _: usize) -> bool {
        false
    }

    async fn empty(&mut self) -> bool {
        false
    }
}

/// Moves on until Redis has been set back, and somewhat longer.
async fn live(served: Served<'_>, seed: u64, moved: &watch::Sender<u64>, is_back: watch::Receiver<bool>) {
    let mut history = History::new(served, item(&format!("rolled-back-{seed}")), seed, true);
    let mut tick = interval(TICK);
    let mut after = 0;
    while after < MOVES_AFTER {
        tick.tick().await;
        history.move_on().await;
        moved.send_modify(|moved| *moved += 1);
        after += u64::from(*is_back.borrow());
    }
    history.hot_lost = true;
    let Told { faults, log, .. } = history.end().await;
    assert!(faults.is_empty(), "{}\nseed {seed}: {faults:?}", log.unwrap_or_default().join("\n"));
}

/// Dumps, kills and starts anew, each at its own number of moves; what was done in between is gone.
async fn set_back(
    mut server: RedisServer,
    rng: &mut Xoshiro256PlusPlus,
    mut moved: watch::Receiver<u64>,
    is_back: watch::Sender<bool>,
) -> RedisServer {
    let dump_at = rng.random_range(1..MOVES);
    let kill_at = dump_at + rng.random_range(MOVES / 4..MOVES);
    moved.wait_for(|moved| *moved >= dump_at).await.unwrap();
    server = tokio::task::spawn_blocking(move || {
        server.set_aside();
        server
    })
    .await
    .unwrap();
    let aside = dump(&mut server.raw());
    moved.wait_for(|moved| *moved >= kill_at).await.unwrap();
    assert_ne!(dump(&mut server.raw()), aside, "there was nothing to lose");
    server = tokio::task::spawn_blocking(move || {
        server.kill();
        server.put_back();
        server.start_again();
        server
    })
    .await
    .unwrap();
    is_back.send_replace(true);
    server
}

/// Scenario: four items with three writers each and two flushers that stand between any two steps, when Redis is killed and comes back
/// from an older dump; ten times. Method: the model's verdict at rest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_comes_back_from_an_older_dump_loses_and_doubles_nothing() {
    let (durable, mut rng) = (durable().await, Xoshiro256PlusPlus::seed_from_u64(20_261_130));
    let mut server = RedisServer::start(&[]);
    let hot = open(settings(&server, 1)).await;
    let (rounds, began) = (rounds(ROUNDS.0, ROUNDS.1), Instant::now());
    for round in 0..rounds {
        let ((moved, moves), (back, is_back)) = (watch::channel(0), watch::channel(false));
        let seeds = (0..ITEMS).map(|n| u64::from(round) * ITEMS + n);
        let served = || Served { hot: &hot, durable: &durable };
        let histories = seeds.map(|seed| live(served(), seed, &moved, is_back.clone()));
        let striking = set_back(server, &mut rng, moves, back);
        let both = async { tokio::join!(striking, join_all(histories)).0 };
        server = timeout(PATIENCE * 3, both).await.unwrap_or_else(|_| panic!("round {round} does not come to rest"));
    }
    println!("{rounds} roll-backs under {ITEMS} histories each, {:?}", began.elapsed());
    durable.close().await;
}
