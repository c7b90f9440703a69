//! What a room takes and gives. Relays and acts know these and a [`RoomHandle`], never the actor behind it.

use std::sync::Arc;

use actix::{MailboxError, Message, Recipient};
use bytes::Bytes;
use parking_lot::RwLock;

use crate::protocol::client::Tap;
use crate::protocol::{
    ApiError, CloseCode, Code, Comment, CommentId, Counts, Epoch, ItemId, ItemPatch, ItemView, Kind, Millis, UserId,
};

/// Who takes a room's frames: one relay, or one studio session. Unique within a process run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubscriberId(pub u64);

/// A socket comes in. Its subscriber gets the room's frames from here on, until its last socket has left.
#[derive(Message)]
#[rtype(result = "Result<Joined, ApiError>")]
pub struct Join {
    /// Through whom.
    pub subscriber: SubscriberId,
    /// Where that one takes frames.
    pub frames: Recipient<Frames>,
    /// Whose socket it is.
    pub user: UserId,
    /// Whether the person counts as a viewer (observers and hosts do not).
    pub counted: bool,
    /// The last event that the client saw, if it resumes.
    pub resume: Option<(Epoch, u64)>,
}

/// What a socket is sent first, and where the room stood then. Frames up to `seq` are in it: later ones follow it.
#[derive(Debug, Clone)]
pub struct Joined {
    /// Whole WebSocket frames in order: `snapshot`, or `resumed`, events and `counts`; then `ended` if the item has ended.
    pub frames: Vec<Bytes>,
    /// The number of the last event in them.
    pub seq: u64,
    /// The counts in them.
    pub counts: Arc<Counts>,
    /// The last broadcast that is in `counts`, as in [`Frame::Counts`].
    pub version: u64,
    /// Kinds of tap that the item takes.
    pub reactions: Arc<[Kind]>,
    /// The room's interval, for `pace`-aware senders.
    pub tick_ms: u64,
    /// Whether the item has ended: the socket is closed after these frames.
    pub ended: bool,
}

/// A socket has gone.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Leave {
    /// Through whom it had come.
    pub subscriber: SubscriberId,
    /// Whose it was.
    pub user: UserId,
    /// As told when it joined.
    pub counted: bool,
}

/// Taps that a relay has summed since its last such message; answered when the room has taken them into its buffer.
/// Nobody is told of their fate one by one: they have no `id`.
#[derive(Message)]
#[rtype(result = "()")]
pub struct TapSums {
    /// Sums by kind; kinds that the item does not take were refused before.
    pub sums: Vec<(Kind, u64)>,
}

/// An act that is answered when the hot store has it.
#[derive(Message, Debug, Clone)]
#[rtype(result = "Result<Contributed, ApiError>")]
pub enum Contribute {
    /// Taps with an `id`, or over REST.
    Taps(Tap),
    /// A comment with its id; the room gives it its time.
    Comment(Comment),
    /// By how much people who like the item became more: their facts are durable, so it is refused by nothing but the end.
    Likes(i64),
}

/// Whether the room knows the comment of this id, by an earlier call with the same key: then posting it again is a repeat, which
/// costs nothing and must stay harmless.
#[derive(Message, Debug, Clone, Copy)]
#[rtype(result = "bool")]
pub struct Knows(pub CommentId);

/// What a contribution came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contributed {
    /// Counts with these taps in them.
    Taps(Arc<Counts>),
    /// Counts with these likes in them.
    Likes(Arc<Counts>),
    /// The comment's time, and whether this call made it (a repeated key did not).
    Comment {
        /// When it was taken.
        at: Millis,
        /// Whether it is new.
        created: bool,
    },
}

/// A host changes the settings; answered when the event is in.
#[derive(Message)]
#[rtype(result = "Result<ItemView, ApiError>")]
pub struct Configure {
    /// What is to change, checked.
    pub patch: ItemPatch,
}

/// A host ends the item; answered with the final counts when they are durable. Again: the same answer.
#[derive(Message)]
#[rtype(result = "Result<Arc<Counts>, ApiError>")]
pub struct End;

/// The node stops: everything that is buffered is contributed; answered when the hot store has it.
#[derive(Message)]
#[rtype(result = "()")]
pub struct HandOver;

/// What readers see of a room without asking it: replaced as a whole, at most a tick old.
#[derive(Debug)]
pub struct Seen {
    /// The item.
    pub item: Arc<ItemView>,
    /// Its counts.
    pub counts: Arc<Counts>,
}

/// What a room gives one subscriber: answered when all of it has been written or queued for each socket.
#[derive(Message, Debug, Clone)]
#[rtype(result = "()")]
pub struct Frames {
    /// From which room.
    pub item: ItemId,
    /// In order.
    pub list: Vec<Frame>,
}

/// One encoded WebSocket frame, shared by all its receivers.
#[derive(Debug, Clone)]
pub enum Frame {
    /// `counts`: state, the latest wins. A socket that is behind gets `all` when it can take it.
    Counts {
        /// What moved, encoded.
        bytes: Bytes,
        /// The room's current number.
        seq: u64,
        /// All counts as they then are.
        all: Arc<Counts>,
        /// Rises with every broadcast; a socket whose snapshot has this one or a later one is not given it again (I4).
        version: u64,
    },
    /// A numbered event: kept in order, lost only with a declaration.
    Event {
        /// Encoded.
        bytes: Bytes,
        /// Its number.
        seq: u64,
        /// Comments in it, for the declaration.
        comments: u64,
    },
    /// A message without a number of its own that must not be lost: `snapshot` of a new epoch, `pace`, `dropped`.
    Notice {
        /// Encoded.
        bytes: Bytes,
        /// The room's current number.
        seq: u64,
    },
    /// The sockets of this room are to be closed, after what was queued.
    Close(CloseCode),
}

/// How to reach a room. Cloning is a few reference counts.
#[derive(Clone)]
pub struct RoomHandle {
    /// See [`Join`].
    pub join: Recipient<Join>,
    /// See [`Leave`].
    pub leave: Recipient<Leave>,
    /// See [`TapSums`].
    pub taps: Recipient<TapSums>,
    /// See [`Contribute`].
    pub contribute: Recipient<Contribute>,
    /// See [`Knows`].
    pub knows: Recipient<Knows>,
    /// See [`Configure`].
    pub configure: Recipient<Configure>,
    /// See [`End`].
    pub end: Recipient<End>,
    /// See [`HandOver`].
    pub hand_over: Recipient<HandOver>,
    /// See [`Seen`].
    pub seen: Arc<RwLock<Arc<Seen>>>,
}

impl RoomHandle {
    /// The item and its counts as readers see them now.
    pub fn seen(&self) -> Arc<Seen> {
        self.seen.read().clone()
    }

    /// Whether the room still takes messages.
    pub fn is_open(&self) -> bool {
        self.contribute.connected()
    }
}

/// The refusal of a room that is full or gone: nothing of what was asked has happened.
pub fn unreachable_room(error: MailboxError) -> ApiError {
    ApiError::new(Code::Unavailable, format!("room: {error}")).retry_after(1_000)
}
