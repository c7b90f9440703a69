//! What every hot store promises. Rooms and the flush know only this; one suite runs against each implementation.
//!
//! Writes are *numbered contributions*: each process run is a writer and numbers what it adds to an item 1, 2, 3 …. An
//! add names the number that it builds on, so that a repeat, a lost reply or a store that fell back to an earlier state is
//! seen and mended instead of counted twice. Each method is one atomic step per item, whatever else runs at the time.
//! The model with all its guards is ported in `tests/sim`; `docs/decisions` tells why.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::protocol::{Comment, Counters, Epoch, ItemId, RoomEvent, WriterId};
use crate::store::durable::Document;

/// Writer → number of its last contribution that something holds.
pub type Vector = BTreeMap<WriterId, u64>;

/// One room's step in a tick: contribute, append, read; in this order and all or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Which item.
    pub item: ItemId,
    /// What the writer adds, if anything.
    pub add: Option<Add>,
    /// Events to number after the add's own; taken if there is no add, or if the item then stands at its `op` or higher, by this step or
    /// an earlier one: the same condition that tells that the add is in. After a lost reply they may so be numbered twice, which is
    /// harmless, since each tells a state; a comments event, which does not, comes from the add and once.
    pub events: Vec<RoomEvent>,
    /// The last event that the reader knows, by epoch and number: events after it are answered. `None`: it knows none, all
    /// that are kept are answered.
    pub after: Option<(Epoch, u64)>,
    /// How many people watch the item on this node, if that is to be told to the others. It lasts for the store's presence time, and
    /// has to be told again before that has passed; 0 takes it back.
    pub watching: Option<u64>,
}

/// What lies between two of a writer's own numbers: contributions `prev + 1 ..= op`, summed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Add {
    /// Who contributes.
    pub writer: WriterId,
    /// The number that it builds on: applied only if the item stands there with this writer.
    pub prev: u64,
    /// The number that it brings the item to.
    pub op: u64,
    /// Sums of `prev + 1 ..= op`.
    pub increments: Counters,
    /// Their comments, each with the number that it belongs to, in order.
    pub comments: Vec<(u64, Comment)>,
}

/// How the item stood when a step had been done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The store does not have the item: align it with its document, then send again.
    Missing,
    /// It does.
    At(Stood),
}

/// The answer to a step; whatever happened, it tells where the item stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stood {
    /// The writer's number that the item stands at; 0: none, or a step without an add, which names no writer. Equal to `op` if the
    /// add is in, by this step or an earlier one.
    pub at: u64,
    /// The writer's number that the durable store has, as far as the item knows.
    pub folded: u64,
    /// Flights settled so far.
    pub fold: u64,
    /// `base + delta` of every counter: what viewers see.
    pub totals: Counters,
    /// Which numbering `seq` belongs to; a new one when the item was laid anew.
    pub epoch: Epoch,
    /// Number of the last event; 0: none yet.
    pub seq: u64,
    /// Events after the reader's `after`; all that are kept if that is of another epoch or too old.
    pub events: Vec<Event>,
    /// People who watch on other nodes, as those told it and for as long as that lasts. A node that died leaves this sum by itself.
    pub elsewhere: u64,
}

/// A numbered event. The tag is random: two entries with one number but different tags prove that the store lost state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its number, without gaps within an epoch.
    pub seq: u64,
    /// Tells this entry from another one under the same number.
    pub tag: u64,
    /// What happened.
    pub event: RoomEvent,
}

/// What a claim took to be folded into the durable store. Equal `w` means equal content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flight {
    /// Which item.
    pub item: ItemId,
    /// The item's fold when it was claimed: the document must stand at the same.
    pub fold: u64,
    /// The deltas.
    pub increments: Counters,
    /// How far each writer's contributions are in it: the flight's identity.
    pub w: Vector,
    /// The unflushed comments that `w` covers, in order.
    pub comments: Vec<Comment>,
}

/// What an align did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aligned {
    /// The flight was settled: `delta -= flight`, `base += flight`.
    Settled,
    /// The item was missing or behind: laid anew from the document, in a new epoch, with no unflushed comments; the writers
    /// give again what is not in the document.
    LaidAnew,
    /// The item was not behind its document.
    Nothing,
    /// The document is behind the item: somebody restored a backup. Nothing was changed; it is an alarm.
    DurableBehind,
}

/// An item's counters at one moment: `base + delta` is the total, `base` is what the item knows to be durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// Flights settled so far.
    pub fold: u64,
    /// Folded.
    pub base: Counters,
    /// Not yet folded, a flight under way included.
    pub delta: Counters,
    /// What is claimed and not yet settled.
    pub flight: Option<Counters>,
}

/// Why a step had no outcome. Whether it was applied is unknown, except for [`HotError::Overflow`]: then it was not.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HotError {
    /// A counter would leave 64 bits; nothing of the step was applied.
    #[error("a counter would leave 64 bits")]
    Overflow,
    /// The store, or the log behind the embedded one, did not answer.
    #[error("hot store unavailable: {0}")]
    Unavailable(String),
}

/// The hot store. All methods may be called from any thread at the same time.
#[async_trait]
pub trait HotStore: Send + Sync + 'static {
    /// Does one room's step. Steps that are handed over within a tick may share one round trip; their order per item is kept.
    ///
    /// An answer with `at >= op` may be acknowledged to people: the contribution survives what the store promises to survive.
    async fn step(&self, step: Step) -> Result<Standing, HotError>;

    /// Copies what is not yet folded (`w != folded`, also when the delta is 0) into a flight, if there is none. A flight that is there
    /// is answered as it is. Writers in `gone` that are folded leave the vectors here and nowhere else.
    async fn claim(&self, item: &ItemId, gone: &[WriterId]) -> Result<Option<Flight>, HotError>;

    /// Brings the item in line with its document, which must have been read with majority: settles the flight that the document
    /// names, lays a missing or older item anew, never goes backwards.
    async fn align(&self, item: &ItemId, document: &Document) -> Result<Aligned, HotError>;

    /// Items with something to fold or a flight to settle, at most `limit`, in no particular order; repeated listings come by all.
    async fn dirty(&self, limit: usize) -> Result<Vec<ItemId>, HotError>;

    /// Totals of each item in the order asked; `None`: the store does not have it.
    async fn totals(&self, items: &[ItemId]) -> Result<Vec<Option<Counters>>, HotError>;

    /// Accepted comments that are not yet settled, in order. Some may be durable already: same ids.
    async fn unflushed_comments(&self, item: &ItemId) -> Result<Vec<Comment>, HotError>;

    /// The item's counters at one moment.
    async fn audit(&self, item: &ItemId) -> Result<Option<Audit>, HotError>;

    /// What the item takes for its document: `base`, `fold`, `folded`, at one moment; `None`: the store does not have it. A document read
    /// after it at a lower fold is one that somebody put back.
    async fn base(&self, item: &ItemId) -> Result<Option<Document>, HotError>;

    /// Whether other processes change the same items: what they did shows in the answer to a step, and in nothing else.
    fn shared(&self) -> bool {
        false
    }

    /// People who watch the item on any node: for reads of an item that has no room here.
    async fn viewers(&self, _item: &ItemId) -> Result<u64, HotError> {
        Ok(0)
    }

    /// Lets an item go if nothing of it is unfolded or in flight, and nobody is known to watch it on another node. Answers whether it is gone.
    async fn let_go(&self, item: &ItemId) -> Result<bool, HotError>;

    /// Writers that are alive, as far as leases tell.
    async fn living(&self) -> Result<Vec<WriterId>, HotError>;
}
