//! The fence: keeps likes out of an item while it is recounted, and remembers which batches of facts its counter may lack.
//!
//! A like's fact is durable before its counter moves (I5). In between, the batch's *entry* stands here, so that a process which dies
//! between the two leaves a trace: its item is recounted. A recount raises the fence, waits until every living writer is *quiet* (no
//! batch open, nothing of likes on the way to the counter), compares facts with the counter, and lifts the fence. Nothing here is
//! needed for a like to be right in the end: whatever is found amiss only puts the item on the list of recounts.
//!
//! `docs/decisions` tells how it departs from counting and correcting in one script.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use uuid::Uuid;

use super::contract::HotError;
use crate::protocol::{ItemId, WriterId};
use crate::store::durable::BatchId;

/// How a fence stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    /// The item's mark on the list of recounts. Every request leaves another one, so that a recount ends those that it knew of and no later
    /// one.
    pub asked: Uuid,
    /// Writers that said that they are quiet since it was raised.
    pub quiet: BTreeSet<WriterId>,
}

/// The fences of a hot store. All methods may be called from any thread at the same time; each is one atomic step.
#[async_trait]
pub trait LikeFence: Send + Sync + 'static {
    /// Enters a batch, before its facts are written. `false`: the item is fenced, nothing was entered, ask again soon.
    async fn open(&self, item: &ItemId, batch: BatchId) -> Result<bool, HotError>;

    /// The counter has the batch: its entry goes. If there is none any more, somebody took its writer for dead and counted its facts,
    /// or the store lost state: the item is put on the list, as by
    /// [`LikeFence::ask_recount`].
    async fn close(&self, item: &ItemId, batch: BatchId) -> Result<(), HotError>;

    /// Raises a fence for so long, and puts the item on the list if it is not there; `None`: somebody else's stands.
    async fn raise(&self, item: &ItemId, token: Uuid, hold: Duration) -> Result<Option<Raised>, HotError>;

    /// Keeps a fence for so long from now on; `None`: this token's does not stand any more.
    async fn hold(&self, item: &ItemId, token: Uuid, hold: Duration) -> Result<Option<Raised>, HotError>;

    /// Takes all entries away, before the facts are counted: living writers are quiet, so they are the dead's; one that was only taken for
    /// dead and wakes from here on finds its entry gone. `false`: the fence is not this token's any more.
    async fn seal(&self, item: &ItemId, token: Uuid) -> Result<bool, HotError>;

    /// The writer has nothing of the item's likes under way. Does nothing where no fence stands.
    async fn quiet(&self, item: &ItemId, writer: WriterId) -> Result<(), HotError>;

    /// Takes the fence down. `exact`: the counter fits the facts, so the place on the list goes too, unless its mark is another by now. `false`: it was not this token's any more; an exact one is then
    /// put on the list again, as by [`LikeFence::ask_recount`].
    async fn lift(&self, item: &ItemId, token: Uuid, exact: Option<Uuid>) -> Result<bool, HotError>;

    /// Puts an item on the list of those to be recounted, because its counter may not fit: its [filter](super::LikeFilter) goes with it.
    async fn ask_recount(&self, item: &ItemId) -> Result<(), HotError>;

    /// Puts an item on the list if it is not there, for nothing that would be amiss.
    async fn ask_look(&self, item: &ItemId) -> Result<(), HotError>;

    /// The list, at most `limit`, in no particular order.
    async fn recounts(&self, limit: usize) -> Result<Vec<ItemId>, HotError>;

    /// Writers that are alive, as far as leases tell.
    async fn living(&self) -> Result<Vec<WriterId>, HotError>;

    /// Items with entries and whose they are, at most `limit` items, in no particular order; repeated listings come by all.
    async fn entries(&self, limit: usize) -> Result<Vec<(ItemId, BTreeSet<WriterId>)>, HotError>;
}
