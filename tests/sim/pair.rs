//! The design's model over the memory pair: the memory core and the durable store of the simulation, behind their traits.

use std::time::Instant;

use async_trait::async_trait;
use futures_util::FutureExt;
use heartline::protocol::{Comment, Counters, ItemId, WriterId};
use heartline::store::durable::{Document, DurableStore};
use heartline::store::hot::{Aligned, Audit, Flight, HotError, HotStore, Standing, Step};
use parking_lot::Mutex;

use crate::durable::{Durable, SharedDurable};
use crate::guards::Guard;
use crate::histories::{History, Pair, Told};
use crate::hot::Hot;
use crate::{Lived, search};

/// Histories of an ordinary run.
const HISTORIES: u64 = 100_000;
/// What the histories must come to between them: a fault that never happens proves nothing.
const MUST_BE_SEEN: [&str; 11] = [
    "settled",
    "laid anew",
    "nothing to align",
    "aligned with an old document",
    "no match",
    "a durable write's reply lost",
    "a dead writer left out",
    "a cold item let go",
    "the item set back",
    "the hot store emptied",
    "a fail-over lost a fold",
];

/// The simulation's hot store, which remembers all its earlier states by itself.
struct SharedHot(Mutex<Hot>);

struct MemoryPair {
    item: ItemId,
    hot: SharedHot,
    durable: SharedDurable,
}

impl MemoryPair {
    fn new(item: ItemId, seed: u64, without: Option<Guard>) -> Self {
        let hot = SharedHot(Mutex::new(Hot::new(item.clone(), seed, true, without)));
        let durable = SharedDurable { state: Mutex::new(Durable::without(without)), lags: true, ..Default::default() };
        Self { item, hot, durable }
    }
}

impl Pair for MemoryPair {
    fn hot(&self) -> &dyn HotStore {
        &self.hot
    }

    fn durable(&self) -> &dyn DurableStore {
        &self.durable
    }

    async fn set_back(&mut self, steps: usize) -> bool {
        let hot = self.hot.0.get_mut();
        let steps = steps.min(hot.past());
        if steps > 0 {
            hot.set_back(steps);
        }
        steps > 0
    }

    async fn empty(&mut self) -> bool {
        self.hot.0.get_mut().lose();
        true
    }

    fn rests(&mut self) {
        self.hot.0.get_mut().keep_no_more();
    }

    fn replicate(&mut self) {
        self.durable.state.get_mut().replicate();
    }

    fn fail_over(&mut self) -> bool {
        let durable = self.durable.state.get_mut();
        let before = durable.primary(&self.item).document.fold;
        durable.fail_over();
        durable.primary(&self.item).document.fold < before
    }

    async fn prune_alone(&mut self, dead: &[WriterId]) {
        for writer in dead {
            self.hot.0.get_mut().prunes_alone(writer, self.durable.state.get_mut());
        }
    }
}

#[async_trait]
impl HotStore for SharedHot {
    async fn step(&self, step: Step) -> Result<Standing, HotError> {
        Ok(self.0.lock().step(&step))
    }

    async fn claim(&self, _: &ItemId, gone: &[WriterId]) -> Result<Option<Flight>, HotError> {
        Ok(self.0.lock().claim(gone))
    }

    async fn align(&self, _: &ItemId, document: &Document) -> Result<Aligned, HotError> {
        Ok(self.0.lock().align(document))
    }

    async fn dirty(&self, limit: usize) -> Result<Vec<ItemId>, HotError> {
        Ok(self.0.lock().dirty(limit))
    }

    async fn totals(&self, _: &[ItemId]) -> Result<Vec<Option<Counters>>, HotError> {
        Err(HotError::Unavailable("no history asks for totals alone".to_owned()))
    }

    async fn unflushed_comments(&self, _: &ItemId) -> Result<Vec<Comment>, HotError> {
        Ok(self.0.lock().unflushed_comments())
    }

    async fn audit(&self, _: &ItemId) -> Result<Option<Audit>, HotError> {
        Ok(self.0.lock().audit())
    }

    async fn base(&self, _: &ItemId) -> Result<Option<Document>, HotError> {
        Err(HotError::Unavailable("no history realigns".to_owned()))
    }

    async fn let_go(&self, _: &ItemId) -> Result<bool, HotError> {
        let mut hot = self.0.lock();
        Ok(hot.audit().is_some() && hot.let_go())
    }

    async fn living(&self) -> Result<Vec<WriterId>, HotError> {
        Err(HotError::Unavailable("a history knows who lives".to_owned()))
    }
}

/// The history of a seed, of the model's length.
fn live(seed: u64, without: Option<Guard>, in_words: bool) -> Told {
    let item = ItemId::parse("item").unwrap();
    let history = History::new(MemoryPair::new(item.clone(), seed, without), item, seed, in_words);
    history.run(moves(seed)).now_or_never().expect("stores in memory answer at once")
}

fn moves(seed: u64) -> u64 {
    40 + seed % 160
}

fn lived(seed: u64, without: Option<Guard>) -> Lived {
    let Told { faults, seen, .. } = live(seed, without, false);
    Lived { is_faulty: !faults.is_empty(), steps: moves(seed), seen }
}

/// Scenario: the model's histories over the memory pair. Method: the model's verdict at rest, and comments; every kind of fault
/// must have happened.
#[test]
fn no_history_of_the_model_loses_or_doubles_anything_in_memory() {
    let began = Instant::now();
    let searched = search(HISTORIES, |seed| lived(seed, None));
    println!("{HISTORIES} histories, {} moves, {:?}: {:?}", searched.steps, began.elapsed(), searched.seen);
    if let Some(seed) = searched.found {
        let told = live(seed, None, true);
        panic!("{}\nseed {seed}: {:?}", told.log.unwrap_or_default().join("\n"), told.faults);
    }
    for what in MUST_BE_SEEN {
        assert!(searched.seen.contains_key(what), "no history came to this: {what}");
    }
}

/// Scenario: one of the model's guards is out. Method: some history must have a violation.
#[test]
fn each_guard_of_the_model_is_missed_in_some_history() {
    for guard in [Guard::Vector, Guard::Identity, Guard::Majority, Guard::Prune] {
        let found = search(HISTORIES, |seed| lived(seed, Some(guard))).found;
        let seed = found.unwrap_or_else(|| panic!("{guard:?} is out, and no history shows it"));
        println!("{guard:?} out: seed {seed}: {}", live(seed, Some(guard), false).faults[0]);
    }
}
