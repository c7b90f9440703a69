//! The design's model over Redis and MongoDB. Histories run side by side, since most of their time is MongoDB's; each of them has a
//! Redis of its own, so that it may be emptied, and rolled back, as a whole.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Instant;

use futures_util::future::join_all;
use heartline::store::durable::DurableStore;
use heartline::store::durable::mongodb::MongoStore;
use heartline::store::hot::HotStore;
use heartline::store::hot::redis::RedisHot;
use redis::Connection;

use super::{Dumps, dump, durable, restore};
use crate::contract::redis::{open, settings};
use crate::contract::support::item;
use crate::histories::{History, Pair, Told};
use crate::support::redis::RedisServer;
use crate::support::soak::rounds;

/// Histories of an ordinary run and of a soak: the issue's own figures.
const HISTORIES: (u32, u32) = (200, 2_000);
/// Histories at a time, and as many servers: enough to keep MongoDB busy.
const LANES: usize = 8;
/// Earlier states that are kept: the model goes back no further.
const KEPT_MAX: usize = 200;
/// What the histories must come to between them: a fault that never happens proves nothing.
const MUST_BE_SEEN: [&str; 9] = [
    "settled",
    "laid anew",
    "nothing to align",
    "no match",
    "a durable write's reply lost",
    "a dead writer left out",
    "a cold item let go",
    "the item set back",
    "the hot store emptied",
];

/// A Redis with one item, and the MongoDB.
struct RealPair<'a> {
    hot: &'a RedisHot,
    raw: &'a mut Connection,
    durable: &'a MongoStore,
    /// Earlier states of the item's keys; `None` when there will be no more faults.
    past: Option<Vec<Dumps>>,
}

impl Pair for RealPair<'_> {
    fn hot(&self) -> &dyn HotStore {
        self.hot
    }

    fn durable(&self) -> &dyn DurableStore {
        self.durable
    }

    async fn keep(&mut self) {
        let Some(past) = &mut self.past else { return };
        let now = dump(self.raw);
        if past.last() != Some(&now) {
            past.push(now);
            past.drain(..past.len().saturating_sub(KEPT_MAX));
        }
    }

    async fn set_back(&mut self, steps: usize) -> bool {
        let past = self.past.as_deref().unwrap_or_default();
        let earlier = past.get(past.len().saturating_sub(steps));
        earlier.inspect(|earlier| restore(self.raw, earlier)).is_some()
    }

    async fn empty(&mut self) -> bool {
        redis::cmd("FLUSHALL").query::<()>(self.raw).unwrap();
        true
    }

    fn rests(&mut self) {
        self.past = None;
    }
}

type Seen = BTreeMap<&'static str, u64>;

/// Lives through histories, one after the other, until all are taken.
async fn lane(durable: &MongoStore, next: &Cell<u32>, histories: u32) -> Seen {
    let server = RedisServer::start(&[]);
    let (hot, mut raw) = (open(settings(&server, 1)).await, server.raw());
    let mut all = Seen::new();
    loop {
        let seed = next.replace(next.get() + 1);
        if seed >= histories {
            return all;
        }
        redis::cmd("FLUSHALL").query::<()>(&mut raw).unwrap();
        let pair = RealPair { hot: &hot, raw: &mut raw, durable, past: Some(Vec::new()) };
        let history = History::new(pair, item(&format!("history-{seed}")), seed.into(), true);
        // Shorter than in memory; still, each flusher gets through some rounds of six steps.
        let Told { faults, seen, log } = history.run(50 + u64::from(seed) % 80).await;
        assert!(faults.is_empty(), "{}\nseed {seed}: {faults:?}", log.unwrap_or_default().join("\n"));
        seen.into_iter().for_each(|(what, times)| *all.entry(what).or_default() += times);
    }
}

/// Scenario: the model's histories over Redis and MongoDB: FLUSHALL, and the item's keys rolled back by DUMP and RESTORE. Method: the
/// model's verdict at rest, and comments; every kind of fault must have happened.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_history_of_the_model_loses_or_doubles_anything_on_redis_and_mongodb() {
    let (histories, began) = (rounds(HISTORIES.0, HISTORIES.1), Instant::now());
    let (durable, next) = (durable().await, Cell::new(0));
    let lanes = join_all((0..LANES).map(|_| lane(&durable, &next, histories))).await;
    let mut seen = Seen::new();
    lanes.into_iter().flatten().for_each(|(what, times)| *seen.entry(what).or_default() += times);
    println!("{histories} histories, {:?}: {seen:?}", began.elapsed());
    for what in MUST_BE_SEEN {
        assert!(seen.contains_key(what), "no history came to this: {what}");
    }
    durable.close().await;
}
