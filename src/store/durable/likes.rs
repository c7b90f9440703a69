//! Likes as facts: what every durable store promises of them. One suite runs against each implementation.
//!
//! A fact is that a person likes an item; there is at most one per person and item, and it is written before the counter moves (I5).
//! The store decides what a command changed; counters, recounts and order between batches are others' part. Batches of one item
//! are given one after the other by one writer, and at the same time by several.

use async_trait::async_trait;

use super::contract::DurableError;
use crate::protocol::{ItemId, Millis, UserId, WriterId};

/// One item's commands that are written together, in one unordered bulk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikeBatch {
    /// Which item.
    pub item: ItemId,
    /// Who writes, and its own number of this batch: rising, never given twice.
    pub by: BatchId,
    /// When the facts became so.
    pub at: Millis,
    /// At most one per person: the last one wins before it comes here.
    pub commands: Vec<LikeCommand>,
}

/// Tells a batch from every other one, so that a repeat is known for what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchId {
    /// The process run.
    pub writer: WriterId,
    /// Its number.
    pub number: u64,
}

/// What a person wants to be so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikeCommand {
    /// Who.
    pub user: UserId,
    /// Whether they like it.
    pub liked: bool,
}

/// Somebody who likes an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Liker {
    /// Who.
    pub user: UserId,
    /// Since when.
    pub at: Millis,
}

/// An item that somebody likes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Liking {
    /// Which.
    pub item: ItemId,
    /// Since when.
    pub at: Millis,
}

/// The facts. All methods may be called from any thread at the same time; what one has answered, later reads see.
#[async_trait]
pub trait LikeStore: Send + Sync + 'static {
    /// Makes each fact as its command says and answers, in their order, which commands changed something. Durable (majority) when
    /// answered. After an error it is unknown which of them are made: the same batch again makes the rest and answers for each
    /// command whether this batch changed it, as far as the store can tell; the caller recounts in any case.
    async fn like(&self, batch: &LikeBatch) -> Result<Vec<bool>, DurableError>;

    /// The counter has the batch's net, or a recount will find it: an embedded store need not remember that it might not.
    async fn settled(&self, item: &ItemId, batch: BatchId);

    /// Items whose counter may lack a batch of an earlier run, for the start of the process; a store whose hot store
    /// remembers that itself answers none.
    async fn unsettled(&self) -> Result<Vec<ItemId>, DurableError>;

    /// The counter equals what [`LikeStore::count_likes`] answered after [`LikeStore::unsettled`] had named the item: what an earlier
    /// run left of it is settled. For a store that names none there is nothing to do.
    async fn recounted(&self, _item: &ItemId) {}

    /// How many people like the item, read with majority. For a recount: exact, not cheap.
    async fn count_likes(&self, item: &ItemId) -> Result<u64, DurableError>;

    /// Who likes the item: newest first, after `before` in the order of (`at`, `user`), at most `limit`.
    async fn likers(&self, item: &ItemId, before: Option<&Liker>, limit: usize) -> Result<Vec<Liker>, DurableError>;

    /// Which of these people like the item, in the order asked.
    async fn likers_among(&self, item: &ItemId, users: &[UserId]) -> Result<Vec<UserId>, DurableError>;

    /// What somebody likes: newest first, after `before` in the order of (`at`, `item`), at most `limit`.
    async fn likings(&self, user: &UserId, before: Option<&Liking>, limit: usize) -> Result<Vec<Liking>, DurableError>;

    /// Which of these items somebody likes, in the order asked; one query.
    async fn liked_among(&self, user: &UserId, items: &[ItemId]) -> Result<Vec<ItemId>, DurableError>;
}
