//! One round over a batch of items: claim → insert comments → apply → read → align, as a pure state machine.
//!
//! It is asked what to do ([`Round::asks`]) and told what came of it ([`Round::told`]). Items go their way on their own and
//! meet only at the apply, which is one bulk for the whole batch; an item that fails is out of the round, its flight stays
//! in the hot store, and a later round carries on with it. It holds no store and no clock, so that the seeded simulation
//! drives these very decisions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::protocol::{Comment, Counters, ItemId, WriterId};
use crate::store::durable::{Applied, Document, Inserted, Rejected};
use crate::store::hot::{Aligned, Audit, Flight};

/// Documents read anew for one item in a round because the last one was older than the item. Each proves that another
/// flusher folded meanwhile; so many in a row and the item is left to that one until the next interval.
pub const REREADS_MAX: u32 = 8;

/// A step that can be taken now; several may be under way at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// Claim the item's flight.
    Claim(ItemId),
    /// Insert the flight's comments, one unordered insert.
    Insert(ItemId, Vec<Comment>),
    /// Apply these flights in one bulk. Their comments are durable by now and no longer with them.
    Apply(Vec<Flight>),
    /// Read the item's document with majority.
    Read(ItemId),
    /// Align the item with its document.
    Align(ItemId, Document),
    /// Read the item's counters: what it takes for durable has to be what its document says.
    Audit(ItemId),
}

/// What came of an [`Ask`]. An error leaves open whether the step was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Of [`Ask::Claim`].
    Claimed(ItemId, Result<Option<Flight>, String>),
    /// Of [`Ask::Insert`].
    Inserted(ItemId, Result<Inserted, String>),
    /// Of [`Ask::Apply`], for these items.
    Applied(Vec<ItemId>, Result<Vec<Applied>, String>),
    /// Of [`Ask::Read`].
    Read(ItemId, Result<Document, String>),
    /// Of [`Ask::Align`].
    Aligned(ItemId, Result<Aligned, String>),
    /// Of [`Ask::Audit`].
    Audited(ItemId, Result<Option<Audit>, String>),
}

/// How an item left the round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// There was nothing to fold.
    Clean,
    /// Its flight is durable and the item aligned. It may be dirty again.
    Folded,
    /// A store did not answer: the item stays dirty.
    Failed(String),
    /// The durable store has gone back behind the item: somebody restored a backup. An alarm; nothing was changed.
    Behind,
}

/// Where an item stands in the round.
#[derive(Debug)]
enum Stage {
    Claim,
    /// Its comments are being inserted; the flight waits for them.
    Insert(Flight),
    /// Waits for the rest of the batch.
    Ready(Flight),
    Apply,
    /// `behind`: fold of the document that an align found to be older than the item.
    Read {
        behind: Option<u64>,
        rereads: u32,
    },
    Align {
        document: Document,
        rereads: u32,
    },
    Audit(Document),
    Over(Outcome),
}

/// What a round found out, beside the outcome of each item.
#[derive(Debug, Default)]
pub struct Findings {
    /// Comments that the durable store refused for what they are.
    pub rejected: Vec<(ItemId, Rejected)>,
    /// Writers that the flights named: what their absence is watched for.
    pub named: BTreeSet<WriterId>,
    /// Flights that this round's own apply folded.
    pub folded: usize,
    /// Items that the hot store had lost or set back while their flights were on the way.
    pub laid_anew: Vec<ItemId>,
    /// How far items are from their documents at the same fold: Σ|base - durable|. Items that fit are there with 0.
    pub drift: BTreeMap<ItemId, u64>,
}

/// A batch on its way.
#[derive(Debug)]
pub struct Round {
    stages: BTreeMap<ItemId, Stage>,
    asks: VecDeque<Ask>,
    /// Items that have not yet come to the apply or left the round.
    before_apply: usize,
    findings: Findings,
}

impl Round {
    /// A round over these items.
    pub fn new(items: impl IntoIterator<Item = ItemId>) -> Self {
        let stages: BTreeMap<_, _> = items.into_iter().map(|item| (item, Stage::Claim)).collect();
        let asks = stages.keys().cloned().map(Ask::Claim).collect();
        Self { before_apply: stages.len(), stages, asks, findings: Findings::default() }
    }

    /// A step that has become possible and was not handed out before; `None` until more answers are in, or at the end.
    pub fn ask(&mut self) -> Option<Ask> {
        self.asks.pop_front()
    }

    /// Whether every item has left the round.
    pub fn is_over(&self) -> bool {
        self.stages.values().all(|stage| matches!(stage, Stage::Over(_)))
    }

    /// The end of the round. An item that has not left it counts as failed: it was broken off.
    pub fn finish(self) -> (BTreeMap<ItemId, Outcome>, Findings) {
        let outcome = |stage| match stage {
            Stage::Over(outcome) => outcome,
            _ => Outcome::Failed("the round was broken off".to_owned()),
        };
        (self.stages.into_iter().map(|(item, stage)| (item, outcome(stage))).collect(), self.findings)
    }

    /// Takes an answer in. One that does not belong to the item's stage is passed over.
    pub fn told(&mut self, answer: Answer) {
        match answer {
            Answer::Claimed(item, result) => self.claimed(item, result),
            Answer::Inserted(item, result) => self.inserted(item, result),
            Answer::Applied(items, result) => self.applied(items, result),
            Answer::Read(item, result) => self.read(item, result),
            Answer::Aligned(item, result) => self.aligned(item, result),
            Answer::Audited(item, result) => self.audited(item, result),
        }
        self.apply_when_all_are_ready();
    }

    fn claimed(&mut self, item: ItemId, result: Result<Option<Flight>, String>) {
        if !matches!(self.stages.get(&item), Some(Stage::Claim)) {
            return;
        }
        match result {
            Err(error) => self.leave_before_apply(item, Outcome::Failed(error)),
            Ok(None) => self.leave_before_apply(item, Outcome::Clean),
            Ok(Some(mut flight)) => {
                self.findings.named.extend(flight.w.keys().copied());
                let comments = std::mem::take(&mut flight.comments);
                if comments.is_empty() {
                    self.ready(item, flight);
                } else {
                    self.stages.insert(item.clone(), Stage::Insert(flight));
                    self.asks.push_back(Ask::Insert(item, comments));
                }
            }
        }
    }

    /// The comments come first: once folded, `folded ≥ number` is the proof that a comment is durable.
    fn inserted(&mut self, item: ItemId, result: Result<Inserted, String>) {
        match (self.stages.remove(&item), result) {
            (Some(Stage::Insert(flight)), Ok(inserted)) => {
                self.findings.rejected.extend(inserted.rejected.into_iter().map(|rejected| (item.clone(), rejected)));
                self.ready(item, flight);
            }
            (Some(Stage::Insert(_)), Err(error)) => self.leave_before_apply(item, Outcome::Failed(error)),
            (other, _) => self.put_back(item, other),
        }
    }

    fn ready(&mut self, item: ItemId, flight: Flight) {
        self.before_apply -= 1;
        self.stages.insert(item, Stage::Ready(flight));
    }

    fn leave_before_apply(&mut self, item: ItemId, outcome: Outcome) {
        self.before_apply -= 1;
        self.stages.insert(item, Stage::Over(outcome));
    }

    fn put_back(&mut self, item: ItemId, stage: Option<Stage>) {
        if let Some(stage) = stage {
            self.stages.insert(item, stage);
        }
    }

    fn apply_when_all_are_ready(&mut self) {
        if self.before_apply > 0 {
            return;
        }
        let mut flights = Vec::new();
        for stage in self.stages.values_mut().filter(|stage| matches!(stage, Stage::Ready(_))) {
            if let Stage::Ready(flight) = std::mem::replace(stage, Stage::Apply) {
                flights.push(flight);
            }
        }
        if !flights.is_empty() {
            self.asks.push_back(Ask::Apply(flights));
        }
    }

    /// A flight that matched nothing goes on like one that did: somebody applied it, or the hot store is behind. Align tells.
    fn applied(&mut self, items: Vec<ItemId>, result: Result<Vec<Applied>, String>) {
        if let Ok(applied) = &result {
            self.findings.folded += applied.iter().filter(|applied| **applied == Applied::Done).count();
        }
        for item in items {
            if !matches!(self.stages.get(&item), Some(Stage::Apply)) {
                continue;
            }
            match &result {
                Ok(_) => self.ask_for_document(item, None, 0),
                Err(error) => self.leave(item, Outcome::Failed(error.clone())),
            }
        }
    }

    fn ask_for_document(&mut self, item: ItemId, behind: Option<u64>, rereads: u32) {
        self.stages.insert(item.clone(), Stage::Read { behind, rereads });
        self.asks.push_back(Ask::Read(item));
    }

    fn leave(&mut self, item: ItemId, outcome: Outcome) {
        self.stages.insert(item, Stage::Over(outcome));
    }

    /// An item's fold comes from a document read with majority. So after an align has found the item ahead, a fresh document
    /// is newer than the one before, or the durable store has gone back. Without this proof a flusher that slept between
    /// its read and its align would raise a false alarm.
    fn read(&mut self, item: ItemId, result: Result<Document, String>) {
        let Some(Stage::Read { behind, rereads }) = self.stages.get(&item) else { return };
        let (behind, rereads) = (*behind, *rereads);
        match result {
            Err(error) => self.leave(item, Outcome::Failed(error)),
            Ok(document) if behind.is_some_and(|fold| document.fold <= fold) => self.leave(item, Outcome::Behind),
            Ok(document) => {
                self.stages.insert(item.clone(), Stage::Align { document: document.clone(), rereads });
                self.asks.push_back(Ask::Align(item, document));
            }
        }
    }

    fn aligned(&mut self, item: ItemId, result: Result<Aligned, String>) {
        let Some(Stage::Align { document, rereads }) = self.stages.get(&item) else { return };
        let (document, rereads) = (document.clone(), *rereads);
        match result {
            Err(error) => self.leave(item, Outcome::Failed(error)),
            Ok(done @ (Aligned::Settled | Aligned::LaidAnew | Aligned::Nothing)) => {
                if done == Aligned::LaidAnew {
                    self.findings.laid_anew.push(item.clone());
                }
                self.stages.insert(item.clone(), Stage::Audit(document));
                self.asks.push_back(Ask::Audit(item));
            }
            Ok(Aligned::DurableBehind) if rereads < REREADS_MAX => {
                self.ask_for_document(item, Some(document.fold), rereads + 1);
            }
            Ok(Aligned::DurableBehind) => self.leave(item, Outcome::Failed("another flusher is faster".to_owned())),
        }
    }

    /// A pair read at different folds says nothing; the next round has another.
    fn audited(&mut self, item: ItemId, result: Result<Option<Audit>, String>) {
        let Some(Stage::Audit(document)) = self.stages.get(&item) else { return };
        if let Ok(Some(audit)) = result
            && audit.fold == document.fold
        {
            self.findings.drift.insert(item.clone(), distance(&audit.base, &document.totals));
        }
        self.leave(item, Outcome::Folded);
    }
}

/// Σ|a - b| over all counters.
fn distance(a: &Counters, b: &Counters) -> u64 {
    let counters: BTreeSet<_> = a.iter().chain(b.iter()).map(|(counter, _)| counter).collect();
    counters.into_iter().map(|counter| a.get(counter).abs_diff(b.get(counter))).fold(0, u64::saturating_add)
}

#[cfg(test)]
#[path = "round_tests.rs"]
mod tests;
