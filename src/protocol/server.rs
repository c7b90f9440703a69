//! What the server sends over a socket. Encoded once, shared by every socket that it goes to.

use serde::Serialize;

use super::client::RequestId;
use super::counts::Counts;
use super::error::ApiError;
use super::ids::{CommentId, Epoch, ItemId, UserId};
use super::item::{Comment, ItemView, Millis};
use super::role::Role;

/// Comments in a snapshot, at most.
pub const SNAPSHOT_COMMENTS: usize = 50;

/// One message. Field order is wire order: what clients look at first comes first.
#[derive(Debug, Serialize)]
#[serde(tag = "t", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are the wire contract's, in docs/protocol.md")]
pub enum ServerOut<'a> {
    /// The first message of every socket.
    Hello {
        conn: &'a str,
        user: &'a UserId,
        role: Role,
        ping_ms: u64,
        tick_ms: u64,
        limits: &'a ClientLimits,
        #[serde(skip_serializing_if = "Option::is_none")]
        token: Option<&'a str>,
    },
    /// Everything of a room at one moment.
    Snapshot {
        epoch: Epoch,
        seq: u64,
        #[serde(flatten)]
        item: &'a ItemView,
        counts: &'a Counts,
        comments: &'a [Comment],
        polls: [(); 0],
        giveaways: [(); 0],
        auctions: [(); 0],
        pinned: Option<&'a Comment>,
    },
    /// What concerns this person alone.
    You { item: &'a ItemId, liked: bool, votes: NoVotes, entered: [(); 0] },
    /// The answer to `resume`.
    Resumed { item: &'a ItemId, epoch: Epoch, recovered: bool, seq: u64 },
    /// Absolute counts; only what moved.
    Counts {
        item: &'a ItemId,
        seq: u64,
        #[serde(flatten)]
        counts: &'a Counts,
    },
    /// A tick's comments under one number.
    Comments { item: &'a ItemId, seq: u64, list: &'a [Comment] },
    /// Changed settings.
    Item {
        seq: u64,
        #[serde(flatten)]
        item: &'a ItemView,
    },
    /// The end has begun.
    Ending { item: &'a ItemId, seq: u64 },
    /// The end, with the final counts.
    Ended { item: &'a ItemId, seq: u64, counts: &'a Counts },
    /// The room's interval changed.
    Pace { item: &'a ItemId, seq: u64, tick_ms: u64 },
    /// Declared loss: numbers up to `seq` that this socket missed.
    Dropped { item: &'a ItemId, seq: u64, comments: u64, since_ms: u64 },
    /// What was asked with `id` is applied.
    Ack {
        id: &'a RequestId,
        #[serde(flatten)]
        outcome: AckBody<'a>,
    },
    /// What was asked is refused.
    Error {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a RequestId>,
        #[serde(skip_serializing_if = "Option::is_none")]
        act: Option<&'static str>,
        #[serde(flatten)]
        error: &'a ApiError,
        #[serde(skip_serializing_if = "Option::is_none")]
        refused: Option<u64>,
    },
    /// The close that follows has this code; come back after so long.
    Bye { code: u16, reconnect_after_ms: u64 },
    /// The answer to `ping`.
    Pong {},
}

impl ServerOut<'_> {
    /// The JSON text. Encoding plain fields into memory cannot fail; an empty message stands for the impossible.
    pub fn encode(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// `votes: {}` until there are polls to vote in.
#[derive(Debug, Default, Serialize)]
pub struct NoVotes {}

/// The fields of an `ack`, as REST answers the same act, but for a comment's own id.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the fields are the wire contract's, in docs/protocol.md")]
pub enum AckBody<'a> {
    /// Of `tap`.
    Tapped { accepted: u32, counts: &'a Counts },
    /// Of `like` and `unlike`.
    Liked { liked: bool, changed: bool, likes: i64 },
    /// Of `comment`.
    Commented { comment: CommentId, at: Millis },
    /// Of `auth` and whatever else has nothing to tell.
    Done {},
}

/// The rates and bounds that a client paces itself by; `hello.limits` and part of `GET /limits`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "named after what they bound; docs/limits.md has the reasons")]
pub struct ClientLimits {
    pub tap_n_max: u32,
    pub tap_messages_per_s: u32,
    pub taps_per_s: u32,
    pub taps_burst: u32,
    pub comments_per_s: u32,
    pub comments_burst: u32,
    pub comment_max_graphemes: usize,
    pub comment_max_bytes: usize,
    pub message_max_bytes: usize,
}
