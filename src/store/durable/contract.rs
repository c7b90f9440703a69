//! What every durable store promises. One suite runs against each implementation.
//!
//! The store is the truth about folded counts: an item's [`Document`] holds its totals, how often it was folded, and how far
//! each writer's contributions are in it. What was answered survives `kill -9` and power loss.

use async_trait::async_trait;

use crate::protocol::{Comment, CommentId, Counters, ItemId, ItemState, ItemView, Millis};
use crate::store::hot::Flight;
use crate::store::hot::contract::Vector;

/// An item's folded counts. An item that was never folded has the default one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// Folded totals.
    pub totals: Counters,
    /// How many flights were applied.
    pub fold: u64,
    /// How far each writer's contributions are in `totals`; equal to the last applied flight's `w`.
    pub folded: Vector,
}

/// What became of one flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// The document stood at the flight's fold: totals incremented, `folded` replaced, fold raised.
    Done,
    /// It did not: somebody applied this flight, or the hot store is behind. Align tells.
    NoMatch,
}

/// What an unordered insert of comments did; the ones not named here are durable, by this insert or an earlier one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inserted {
    /// How many were new.
    pub new: usize,
    /// The ones that the store refused for what they are; set aside, never in the way of the others.
    pub rejected: Vec<Rejected>,
}

/// A comment that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Which one.
    pub id: CommentId,
    /// What the store said.
    pub reason: String,
}

/// Where a page of comments ends: comments are ordered by (`at`, `id`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommentCursor {
    /// The comment's time.
    pub at: Millis,
    /// Its id.
    pub id: CommentId,
}

impl From<&Comment> for CommentCursor {
    fn from(comment: &Comment) -> Self {
        Self { at: comment.at, id: comment.id }
    }
}

/// One change of an item's record; conditional on what it says, atomic. Equal settings, a second creation and a second end
/// change nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemChange {
    /// Insert it unless it is there.
    Create(ItemView),
    /// Replace the settings of a live item.
    Configure(ItemView),
    /// Live → ended at this time, with the final totals. Ended is final: a second one changes nothing.
    End(ItemId, Millis, Counters),
}

/// A page of items in ascending order of their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemPage {
    /// At most `limit`.
    pub items: Vec<ItemView>,
    /// Ask again after this one.
    pub next: Option<ItemId>,
}

/// Why there is no answer. Whether a write was applied is unknown.
#[derive(Debug, Clone, thiserror::Error)]
#[error("durable store unavailable: {0}")]
pub struct DurableError(pub String);

/// The durable store. All methods may be called from any thread at the same time.
#[async_trait]
pub trait DurableStore: Send + Sync + 'static {
    /// Makes one conditional change and answers the record as it then is, with whether this call changed it; `None`: no such item.
    async fn change_item(&self, change: ItemChange) -> Result<Option<(ItemView, bool)>, DurableError>;

    /// An item's record.
    async fn item(&self, item: &ItemId) -> Result<Option<ItemView>, DurableError>;

    /// The records of these items, in any order; unknown ones are left out. One query, where the store can.
    async fn items_named(&self, items: &[ItemId]) -> Result<Vec<ItemView>, DurableError> {
        let mut named = Vec::new();
        for item in items {
            named.extend(self.item(item).await?);
        }
        Ok(named)
    }

    /// The final totals that [`ItemChange::End`] stored; `None` unless ended.
    async fn final_totals(&self, item: &ItemId) -> Result<Option<Counters>, DurableError>;

    /// Items in one state (`None`: in any), after `cursor`, at most `limit`.
    async fn items(
        &self,
        state: Option<ItemState>,
        cursor: Option<&ItemId>,
        limit: usize,
    ) -> Result<ItemPage, DurableError>;

    /// The item's folded counts, read with majority; the default one if it was never folded.
    async fn document(&self, item: &ItemId) -> Result<Document, DurableError>;

    /// Each item's folded counts, in the order asked, as [`DurableStore::document`] answers one. One query, where the store can.
    async fn documents(&self, items: &[ItemId]) -> Result<Vec<Document>, DurableError> {
        let mut documents = Vec::new();
        for item in items {
            documents.push(self.document(item).await?);
        }
        Ok(documents)
    }

    /// Inserts comments of one item by their own ids, unordered: one that is there already is a success, one that the store refuses
    /// is set aside. One statement, durable when answered.
    async fn insert_comments(&self, item: &ItemId, comments: &[Comment]) -> Result<Inserted, DurableError>;

    /// Applies flights, each only where its document stands at the flight's fold; one statement per flight, one bulk, majority.
    /// One that cannot be applied fails the call, but not the others: asked again, those do not match.
    async fn apply(&self, flights: &[Flight]) -> Result<Vec<Applied>, DurableError>;

    /// Puts a document in the place of the one that stands at `fold` (0: of none), whatever that one holds; one statement, majority. Answers
    /// whether it did. Only for an operator's decision about a document that was put back (`heartline realign`): everybody else
    /// adds to documents and takes nothing back.
    async fn replace_document(&self, item: &ItemId, fold: u64, with: &Document) -> Result<bool, DurableError>;

    /// Comments before `before` (or the newest), newest first, at most `limit`.
    async fn comments(
        &self,
        item: &ItemId,
        before: Option<CommentCursor>,
        limit: usize,
    ) -> Result<Vec<Comment>, DurableError>;

    /// One comment.
    async fn comment(&self, item: &ItemId, id: CommentId) -> Result<Option<Comment>, DurableError>;

    /// Stops taking work, finishes what was taken, closes files and connections.
    async fn close(&self);
}
