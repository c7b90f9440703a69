//! Everything a person can do and read, the same for REST and WebSocket: rights and rates are checked here and nowhere else.
//!
//! One enum [`Act`] in, one [`Outcome`] or coded error out. A new kind of act is one variant here, one service, and its row in each
//! door's table. Nothing here knows a status code or a socket.

mod audit;
pub mod cache;
pub mod forward;
mod likes;
pub mod page;
mod perform;
mod reads;
mod rights;

#[cfg(test)]
pub mod bench;
pub mod door;

use std::sync::Arc;

use parking_lot::Mutex;

pub use audit::{AuditCounter, AuditView};
pub use likes::Recounter;
pub use reads::ListPage;

use cache::CountCache;

use crate::comments::Comments;
use crate::likes::{LikeReads, Liked, Likes};
use crate::limits::Limits;
use crate::protocol::client::{NewComment, Tap};
use crate::protocol::{CommentId, Counts, ItemPatch, ItemView, Millis};
use crate::room::Registry;
use crate::store::durable::{DurableStore, LikeStore};
use crate::store::hot::HotStore;

/// One thing that a person does to an item.
#[derive(Debug, Clone)]
pub enum Act {
    /// Taps that are answered.
    Tap(Tap),
    /// A comment.
    Comment(NewComment),
    /// Like it, or take the like back.
    Like(bool),
    /// Create the item, or change some of its settings.
    PutItem(ItemPatch),
    /// End the item.
    EndItem,
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
    /// The like, as it now is.
    Liked(Liked),
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

/// The acts of one node.
pub struct Acts {
    registry: Arc<Registry>,
    hot: Arc<dyn HotStore>,
    durable: Arc<dyn DurableStore>,
    comments: Comments,
    likes: Likes,
    facts: Arc<dyn LikeStore>,
    reads: LikeReads,
    recounter: Recounter,
    limits: Arc<Limits>,
    cache: Mutex<CountCache>,
}

/// What acts stand on.
pub struct Grounds {
    /// The node's rooms.
    pub registry: Arc<Registry>,
    /// Counters and what is not yet flushed.
    pub hot: Arc<dyn HotStore>,
    /// Records, documents, comments.
    pub durable: Arc<dyn DurableStore>,
    /// Who likes what.
    pub facts: Arc<dyn LikeStore>,
    /// Answers before them where it can.
    pub reads: LikeReads,
    /// Writes likes.
    pub likes: Likes,
    /// Takes recounts on demand.
    pub recounter: Recounter,
    /// Rates.
    pub limits: Arc<Limits>,
}

impl Acts {
    /// Over the node's rooms and stores.
    pub fn new(grounds: Grounds) -> Self {
        let Grounds { registry, hot, durable, facts, reads, likes, recounter, limits } = grounds;
        let comments = Comments::new(hot.clone(), durable.clone());
        Self { registry, hot, durable, comments, likes, facts, reads, recounter, limits, cache: Mutex::default() }
    }
}
