//! The design's model of the write-behind protocol as a driver of real stores: random histories of one item over a pair of a
//! hot and a durable store, through their traits alone, with the real journal and the real rounds.
//!
//! Three writers contribute increments of both signs, and comments; two flushers take the steps of a round one at a time, so that
//! anything may happen between claim, insert, apply, read and align: replies are lost, a flusher stands still over an old
//! claim or document, or is gone; writers die for good and are left out by claims; cold items are let go; the hot store is
//! emptied or set back to any earlier state; the durable store fails over to what a majority has. Moves and chances are the
//! model's. Then the faults end, everything comes to rest, and what is durable is held against what was contributed.
//!
//! It owns no store: a [`Pair`] brings two and everything that can befall them. The simulation in `tests/sim` has its own, richer
//! moves over stores in memory; this one is small because it has to run over servers too.

mod flush;
mod judge;
pub mod record;
mod write;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use heartline::flush::round::Round;
use heartline::protocol::{ItemId, WriterId};
use heartline::store::durable::DurableStore;
use heartline::store::hot::HotStore;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use uuid::Uuid;

use write::Writer;

/// The longest time between two moves: with three writers, each is due to offer again every few of its turns.
const MOVE_MAX_MS: u64 = 1_500;
/// Rounds of everybody after the last fault, by which everything must have come to rest.
const ROUNDS_TO_REST: usize = 80;

/// Two stores with one item's history, and what can befall them. What a pair cannot do it leaves undone.
pub trait Pair {
    fn hot(&self) -> &dyn HotStore;
    fn durable(&self) -> &dyn DurableStore;

    /// Keeps the item as the hot store has it now, to be set back to it.
    async fn keep(&mut self) {}

    /// Sets the item back to how it was `steps` changes ago, or to the oldest that is kept. Answers whether it did.
    async fn set_back(&mut self, steps: usize) -> bool;

    /// Empties the hot store. Answers whether it did.
    async fn empty(&mut self) -> bool;

    /// There will be no more faults: nothing has to be kept.
    fn rests(&mut self) {}

    /// A majority has every write of the durable store.
    fn replicate(&mut self) {}

    /// The durable store is what a majority has. Answers whether that lost something.
    fn fail_over(&mut self) -> bool {
        false
    }

    /// Takes these writers off the document, which only a claim may do: the mistake that the guard `prune` is against.
    async fn prune_alone(&mut self, _: &[WriterId]) {}
}

/// One item's history.
pub struct History<P> {
    pub pair: P,
    item: ItemId,
    rng: Xoshiro256PlusPlus,
    now: Instant,
    writers: Vec<Writer>,
    flushers: [Option<Round>; 2],
    /// The hot store lost state: the dead cannot give again what it lost of them.
    pub hot_lost: bool,
    /// The last comment's id.
    comment: u128,
    told: Told,
}

/// What is told of a history.
#[derive(Debug, Default)]
pub struct Told {
    pub faults: Vec<String>,
    /// How often each thing happened that histories must be able to come to.
    pub seen: BTreeMap<&'static str, u64>,
    /// The history in words, if it is asked for.
    pub log: Option<Vec<String>>,
}

/// Writes a line of the history, if anybody wants it.
macro_rules! note {
    ($history:expr, $($arg:tt)*) => {
        if let Some(log) = &mut $history.told.log { log.push(format!($($arg)*)); }
    };
}
use note;

impl Told {
    pub fn see(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }
}

impl<P: Pair> History<P> {
    /// The seed decides everything; `in_words`: the log is wanted. The item must be new to both stores.
    pub fn new(pair: P, item: ItemId, seed: u64, in_words: bool) -> Self {
        Self {
            pair,
            item,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            now: Instant::now(),
            writers: (1..=3).map(|n| Writer::new(WriterId(Uuid::from_u128(n)))).collect(),
            flushers: [None, None],
            hot_lost: false,
            // Ids of comments are unique over all items of a store.
            comment: u128::from(seed) << 64,
            told: Told { log: in_words.then(Vec::new), ..Told::default() },
        }
    }

    /// So many moves, rest, and the verdict.
    pub async fn run(mut self, moves: u64) -> Told {
        for _ in 0..moves {
            self.move_on().await;
            if !self.told.faults.is_empty() {
                return self.told;
            }
        }
        self.end().await
    }

    /// No more faults: rest, and the verdict.
    pub async fn end(mut self) -> Told {
        self.come_to_rest().await;
        self.judge().await;
        self.told
    }

    /// One move of the model.
    pub async fn move_on(&mut self) {
        self.now += Duration::from_millis(self.rng.random_range(0..MOVE_MAX_MS));
        let (writer, flusher) = (self.rng.random_range(0..3), self.rng.random_range(0..2));
        let is_lost = self.rng.random_bool(0.2);
        let gone = if self.rng.random_bool(0.3) { self.dead() } else { Vec::new() };
        match self.rng.random_range(0..1_000) {
            0..300 => {
                self.contribute(writer);
                self.offer(writer, is_lost).await;
            }
            300..420 => self.offer(writer, is_lost).await,
            420..800 => drop(self.flush(flusher, is_lost, &gone).await),
            800..840 => self.flusher_is_gone(flusher),
            840..900 => self.pair.replicate(),
            900..920 => self.fail_over(),
            920..940 => self.let_go().await,
            940..960 => self.set_back().await,
            960..970 => self.empty().await,
            970..980 if writer > 0 => self.die(writer),
            980..985 => self.pair.prune_alone(&gone).await,
            _ => {}
        }
    }

    fn dead(&self) -> Vec<WriterId> {
        self.writers.iter().filter(|writer| !writer.alive).map(|writer| writer.id).collect()
    }

    fn fail_over(&mut self) {
        if self.pair.fail_over() {
            self.told.see("a fail-over lost a fold");
            note!(self, "FAIL-OVER");
        }
    }

    async fn let_go(&mut self) {
        if let Ok(true) = self.pair.hot().let_go(&self.item).await {
            self.told.see("a cold item let go");
            note!(self, "let go");
        }
    }

    async fn set_back(&mut self) {
        let most = [2, 5, 20, 200][self.rng.random_range(0..4)];
        let steps = self.rng.random_range(1..=most);
        if self.pair.set_back(steps).await {
            self.hot_lost = true;
            self.told.see("the item set back");
            note!(self, "SET BACK by {steps} changes");
        }
    }

    async fn empty(&mut self) {
        if self.pair.empty().await {
            self.hot_lost = true;
            self.told.see("the hot store emptied");
            note!(self, "EMPTIED");
        }
    }

    fn die(&mut self, writer: usize) {
        if std::mem::take(&mut self.writers[writer].alive) {
            self.told.see("a writer died");
            note!(self, "{} DIES", name(self.writers[writer].id));
        }
    }

    async fn come_to_rest(&mut self) {
        self.pair.rests();
        for _ in 0..ROUNDS_TO_REST {
            self.now += write::BOUNDS.reoffer;
            for writer in 0..self.writers.len() {
                self.offer(writer, false).await;
            }
            let was_clean = self.flush_whole().await;
            self.pair.replicate();
            if was_clean && self.writers.iter().all(Writer::is_at_rest) {
                break;
            }
        }
        // What a live room asks for that reads a lower fold than before.
        self.align().await;
    }
}

/// A short name for the log.
fn name(id: WriterId) -> String {
    format!("w{}", id.0.as_u128())
}
