//! The real memory core as a store that can lose state: emptied, set back to any earlier state, cold items let go; and with
//! one guard taken out if asked.

use async_trait::async_trait;
use futures_util::FutureExt;
use heartline::protocol::{Comment, Counters, ItemId, WriterId};
use heartline::store::durable::Document;
use heartline::store::hot::memory::{MemoryCore, recover};
use heartline::store::hot::{Add, Aligned, Audit, Flight, Standing, Step, Stood};
use heartline::store::log::{ContributionLog, LogError, LogRow};
use parking_lot::Mutex;
use uuid::Uuid;

use crate::durable::{Durable, SharedDurable};
use crate::guards::Guard;

/// Who takes the rest off the delta where settling resets it ([`Guard::Decrement`]). Contributes nothing that anybody sent.
pub const RESETTER: WriterId = WriterId(Uuid::from_u128(u128::MAX));

pub struct Hot {
    item: ItemId,
    core: MemoryCore,
    past: Option<Vec<MemoryCore>>,
    without: Option<Guard>,
    /// How often it was set back: seeds the randomness of what follows.
    set_back: u64,
}

impl Hot {
    pub fn new(item: ItemId, seed: u64, keeps_past: bool, without: Option<Guard>) -> Self {
        Self { item, core: MemoryCore::new(seed), past: keeps_past.then(Vec::new), without, set_back: seed }
    }

    fn keep(&mut self) {
        if let Some(past) = &mut self.past {
            past.push(self.core.clone());
        }
    }

    /// Lets go of all earlier states.
    pub fn keep_no_more(&mut self) {
        self.past = None;
    }

    pub fn step(&mut self, step: &Step) -> Standing {
        let standing = self.core.step(step).expect("the simulation stays within 64 bits");
        if step.add.is_some() {
            self.keep();
        }
        standing
    }

    pub fn claim(&mut self, gone: &[WriterId]) -> Option<Flight> {
        let audit = self.core.audit(&self.item);
        let cancels_out = audit.is_some_and(|audit| audit.flight.is_none() && audit.delta.is_empty());
        if self.without == Some(Guard::Vector) && cancels_out {
            return None;
        }
        let flight = self.core.claim(&self.item, gone);
        if flight.is_some() {
            self.keep();
        }
        flight
    }

    pub fn align(&mut self, document: &Document) -> Aligned {
        let before = self.core.audit(&self.item);
        let aligned = match (&before, self.without) {
            (Some(audit), Some(Guard::Identity)) if audit.flight.is_some() && audit.fold + 1 == document.fold => {
                let named = self.core.claim(&self.item, &[]).expect("a flight");
                self.core.align(&self.item, &Document { folded: named.w, ..document.clone() })
            }
            _ => self.core.align(&self.item, document),
        };
        if let (Some(before), Aligned::Settled, Some(Guard::Decrement)) = (before, aligned, self.without) {
            self.reset(&before.delta.minus(&before.flight.unwrap()).unwrap());
        }
        if matches!(aligned, Aligned::Settled | Aligned::LaidAnew) {
            self.keep();
        }
        aligned
    }

    fn reset(&mut self, rest: &Counters) {
        let prev = self.stood(&RESETTER).map_or(0, |stood| stood.at);
        let increments = Counters::default().minus(rest).unwrap();
        let add = Add { writer: RESETTER, prev, op: prev + 1, increments, comments: Vec::new() };
        let step = Step { item: self.item.clone(), add: Some(add), events: Vec::new(), after: None, watching: None };
        self.core.step(&step).unwrap();
    }

    /// How the item stands with a writer, by an add that cannot be taken.
    pub fn stood(&mut self, writer: &WriterId) -> Option<Stood> {
        let add = Add { writer: *writer, prev: u64::MAX, op: 0, increments: Counters::default(), comments: Vec::new() };
        let after = None;
        match self.core.step(&Step {
            item: self.item.clone(),
            add: Some(add),
            events: Vec::new(),
            after,
            watching: None,
        }) {
            Ok(Standing::At(stood)) => Some(stood),
            _ => None,
        }
    }

    /// Takes a writer that is folded off the document, where the guard against that is out ([`Guard::Prune`]).
    pub fn prunes_alone(&mut self, writer: &WriterId, durable: &mut Durable) -> bool {
        let at = self.stood(writer).map_or(0, |stood| stood.at);
        let folded = durable.primary(&self.item).document.folded.get(writer).copied();
        let prunes = self.without == Some(Guard::Prune) && at != 0 && folded == Some(at);
        if prunes {
            durable.prune_alone(&self.item, writer);
        }
        prunes
    }

    pub fn dirty(&mut self, limit: usize) -> Vec<ItemId> {
        self.core.dirty(limit)
    }

    pub fn audit(&self) -> Option<Audit> {
        self.core.audit(&self.item)
    }

    pub fn unflushed_comments(&self) -> Vec<Comment> {
        self.core.unflushed_comments(&self.item)
    }

    pub fn let_go(&mut self) -> bool {
        self.core.let_go(&self.item)
    }

    /// An empty store, with randomness of its own.
    fn fresh(&mut self) -> MemoryCore {
        self.set_back = self.set_back.wrapping_add(1);
        MemoryCore::new(self.set_back)
    }

    pub fn lose(&mut self) {
        self.core = self.fresh();
    }

    /// The embedded start: what the real recovery makes of the log. Answers how many rows do not join on to what is folded:
    /// a row of unknown outcome is one if a late arrival was taken instead; whether anything of it was promised is judged
    /// like everything else.
    pub fn recover(&mut self, durable: Durable, rows: Vec<LogRow>) -> usize {
        self.core = self.fresh();
        let durable = SharedDurable { state: Mutex::new(durable), ..SharedDurable::default() };
        let recovered = recover(&mut self.core, &Rows(rows), &durable).now_or_never();
        recovered.expect("stores in memory answer at once").unwrap().unreachable
    }

    /// How many earlier states there are.
    pub fn past(&self) -> usize {
        self.past.as_ref().map_or(0, Vec::len)
    }

    pub fn set_back(&mut self, steps: usize) {
        if let Some(past) = &self.past {
            self.core = past[past.len() - steps].clone();
            self.set_back = self.set_back.wrapping_add(1);
            self.core.reseed(self.set_back);
        }
    }
}

/// The log as the next process finds it.
struct Rows(Vec<LogRow>);

#[async_trait]
impl ContributionLog for Rows {
    async fn append(&self, _: Vec<LogRow>) -> Result<(), LogError> {
        Err(LogError("a recovery appends nothing".to_owned()))
    }

    async fn read(&self) -> Result<Vec<LogRow>, LogError> {
        Ok(self.0.clone())
    }
}
