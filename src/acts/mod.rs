//! Everything a person can do and read, the same for REST and WebSocket: rights and rates are checked here and nowhere else.

use std::sync::Arc;

use serde::Serialize;

use crate::auth::Caller;
use crate::protocol::client::{NewComment, Tap};
use crate::protocol::{
    ApiError, Code, Comment, CommentId, CommentsMode, Counts, ItemId, ItemState, ItemView, Kind, Millis,
};
use crate::room::RoomHandle;

/// One thing that a person does to an item.
#[derive(Debug, Clone)]
pub enum Act {
    /// Taps that are answered.
    Tap(Tap),
    /// A comment.
    Comment(NewComment),
    /// Create the item, or change some of its settings.
    PutItem(ItemPatch),
    /// End the item.
    EndItem,
}

/// The settings that a host sends; absent ones stay (or are the defaults of a new item).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemPatch {
    /// Normalised.
    pub title: Option<String>,
    /// 1 to 8, no two alike.
    pub reactions: Option<Vec<Kind>>,
    /// Whether viewers may comment.
    pub comments_mode: Option<CommentsMode>,
    /// Slow mode; milliseconds.
    pub slow_mode_ms: Option<u32>,
}

/// What an act came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// So many of the taps were taken; over the rate fewer than were sent.
    Tapped {
        /// How many.
        accepted: u32,
        /// Counts with them in it.
        counts: Arc<Counts>,
    },
    /// The comment, new or as its key had made it.
    Commented {
        /// The server's id.
        id: CommentId,
        /// When it was taken.
        at: Millis,
        /// Whether this call made it.
        created: bool,
    },
    /// The item as it now is.
    ItemPut {
        /// Its record.
        item: ItemView,
        /// Whether this call made it.
        created: bool,
    },
    /// The final counts.
    Ended {
        /// Final.
        counts: Arc<Counts>,
    },
}

/// How many taps of a message pass the rate, for the relay's short way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admitted {
    /// 0 to what was sent.
    pub accepted: u32,
    /// If fewer than sent: when one more passes. Milliseconds.
    pub retry_after_ms: u64,
}

/// `GET …/audit`: for each counter `durable + unflushed = total`, at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditView {
    /// By the counter's name, `taps.heart`, `likes`, `comments`.
    pub counters: std::collections::BTreeMap<String, AuditCounter>,
    /// Recounted facts.
    pub facts: AuditLikes,
    /// How far counters are from the facts.
    pub drift: AuditLikes,
}

/// One counter's ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AuditCounter {
    /// What the durable store holds.
    pub durable: i64,
    /// What it does not hold yet.
    pub unflushed: i64,
    /// What viewers see.
    pub total: i64,
}

/// Likes are the only counter that has facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AuditLikes {
    /// Likes.
    pub likes: i64,
}

/// The acts of one node.
pub struct Acts {}

impl Acts {
    /// Does one thing, or refuses it with a code.
    pub async fn perform(&self, _caller: &Caller, _item: &ItemId, _act: Act) -> Result<Outcome, ApiError> {
        Err(ApiError::new(Code::Unavailable, "not yet"))
    }

    /// The rights and the rate of taps that get no answer of their own. `Err`: none may pass.
    pub fn admit_taps(&self, _caller: &Caller, _item: &ItemId, _n: u32) -> Result<Admitted, ApiError> {
        Err(ApiError::new(Code::Unavailable, "not yet"))
    }

    /// The room of an item, started if need be, for a socket that opens. `not_found` where the item is unknown and may not be made.
    pub async fn open(&self, _item: &ItemId) -> Result<RoomHandle, ApiError> {
        Err(ApiError::new(Code::Unavailable, "not yet"))
    }

    /// An item and its counts.
    pub async fn item(&self, _item: &ItemId) -> Result<(Arc<ItemView>, Arc<Counts>), ApiError> {
        Err(ApiError::new(Code::Unavailable, "not yet"))
    }

    /// A page of items and the cursor of the next.
    pub async fn items(
        &self,
        _state: Option<ItemState>,
        _cursor: Option<&str>,
        _limit: usize,
    ) -> Result<(Vec<ItemView>, Option<String>), ApiError> {
        Err(ApiError::new(Code::Unavailable, "not yet"))
    }

    /// A page of comments, going back in time, oldest first within the page; flushed and not yet flushed.
    pub async fn comments(
        &self,
        _item: &ItemId,
        _cursor: Option<&str>,
        _limit: usize,
    ) -> Result<(Vec<Comment>, Option<String>), ApiError> {
        Err(ApiError::new(Code::Unavailable, "not yet"))
    }

    /// The item's ledger.
    pub async fn audit(&self, _caller: &Caller, _item: &ItemId) -> Result<AuditView, ApiError> {
        Err(ApiError::new(Code::Unavailable, "not yet"))
    }
}
