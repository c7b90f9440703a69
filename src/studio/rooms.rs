//! One of a host's rooms, as its session knows it.

use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use tokio::time::timeout;

use super::session::{Placed, StudioSession};
use crate::acts::door::Door;
use crate::protocol::client::Tap;
use crate::protocol::{ApiError, Code, Counts, ItemId, Kind, UserId};
use crate::room::messages::unreachable_room;
use crate::room::{Frame, Join, Joined, Leave, RoomHandle, SubscriberId};
use crate::session::opening::Resume;
use crate::session::{Class, Held, Outgoing};

/// How long a room may take to be found and to answer a join; then the client is asked to come again.
const OPEN_WAIT: Duration = Duration::from_secs(10);

/// See the module.
pub(super) struct StudioRoom {
    pub handle: Option<RoomHandle>,
    /// Until the session's place in it is known: what it sent meanwhile.
    pub held: Option<Held>,
    pub seq: u64,
    pub counts: Arc<Counts>,
    /// It has ended: nothing more comes.
    pub ended: bool,
    sums: Vec<(Kind, u64)>,
    telling: bool,
}

impl Default for StudioRoom {
    fn default() -> Self {
        let held = Some(Held::default());
        Self { handle: None, held, seq: 0, counts: Arc::default(), ended: false, sums: Vec::new(), telling: false }
    }
}

impl StudioRoom {
    /// Takes note of where the room stands by this frame.
    pub fn note(&mut self, frame: &Frame) {
        match frame {
            Frame::Counts { seq, all, .. } => {
                self.seq = *seq;
                self.counts = all.clone();
            }
            Frame::Event { seq, .. } | Frame::Notice { seq, .. } => self.seq = *seq,
            Frame::Close(_) => {}
        }
    }

    /// Whether the item takes this kind, by the latest counts: they name every kind of the item.
    pub fn takes(&self, kind: Kind) -> Result<(), ApiError> {
        let known = self.counts.taps.iter().any(|(known, _)| *known == kind);
        if known { Ok(()) } else { Err(ApiError::new(Code::Unprocessable, "kind is not one of the item's")) }
    }

    /// Adds admitted taps.
    pub fn sum(&mut self, tap: Tap, accepted: u32) {
        match self.sums.iter_mut().find(|(kind, _)| *kind == tap.kind) {
            Some((_, n)) => *n = n.saturating_add(accepted.into()),
            None => self.sums.push((tap.kind, accepted.into())),
        }
    }

    /// What is to be told the room now: one message at a time.
    pub fn take_sums(&mut self) -> Option<(RoomHandle, Vec<(Kind, u64)>)> {
        if self.telling || self.sums.is_empty() {
            return None;
        }
        let room = self.handle.clone()?;
        self.telling = true;
        Some((room, std::mem::take(&mut self.sums)))
    }

    /// The last sums are answered.
    pub fn told(&mut self) {
        self.telling = false;
    }
}

/// An event or a notice as it is held or queued; `None` for counts and closes.
pub(super) fn outgoing(frame: &Frame) -> Option<Outgoing> {
    match frame {
        Frame::Event { bytes, seq, comments } => {
            Some(Outgoing { bytes: bytes.clone(), seq: *seq, class: Class::Event { comments: *comments } })
        }
        Frame::Notice { bytes, seq } => Some(Outgoing { bytes: bytes.clone(), seq: *seq, class: Class::Plain }),
        Frame::Counts { .. } | Frame::Close(_) => None,
    }
}

/// What a session asks a room for.
pub(super) struct Entry {
    pub index: usize,
    pub item: ItemId,
    pub user: UserId,
    pub subscriber: SubscriberId,
    pub resume: Option<Resume>,
}

/// A room that a session has come into.
pub(super) struct Entered {
    pub handle: RoomHandle,
    pub joined: Joined,
    /// Whether the host likes the item.
    pub liked: bool,
}

/// Finds and joins a room in a task of its own, so that neither a slow room nor a session that ends leaves a join behind that
/// nobody takes back. The answer goes through the session's mailbox: frames that the room sent before it are there already.
pub(super) fn enter(door: Door, session: Addr<StudioSession>, entry: Entry) {
    actix_rt::spawn(async move {
        let (index, item) = (entry.index, entry.item.clone());
        let leave = Leave { subscriber: entry.subscriber, user: entry.user.clone(), counted: false };
        let liked = door.liked(entry.user.clone(), item.clone());
        let tell = |result: Result<Entered, ApiError>| {
            let result = result.map_err(|error| named(error, &item));
            session.do_send(Placed { index, result });
        };
        let room = match timeout(OPEN_WAIT, door.acts.open(&item)).await {
            Ok(Ok(room)) => room,
            Ok(Err(error)) => return tell(Err(error)),
            Err(_) => return tell(Err(too_slow())),
        };
        let frames = session.clone().recipient();
        let Entry { subscriber, user, resume, .. } = entry;
        let mut answer = Box::pin(room.join.send(Join { subscriber, frames, user, counted: false, resume }));
        let in_time = timeout(OPEN_WAIT, &mut answer).await;
        if in_time.is_err() {
            tell(Err(too_slow()));
        }
        let kept = in_time.is_ok() && session.connected();
        let joined = match in_time {
            Ok(joined) => joined,
            Err(_) => answer.await,
        };
        match joined.map_err(unreachable_room).and_then(|joined| joined) {
            Ok(joined) if kept => tell(Ok(Entered { handle: room, joined, liked: liked.await })),
            Ok(joined) if !joined.ended => room.leave.do_send(leave),
            Ok(_) => {}
            Err(error) if kept => tell(Err(error)),
            Err(_) => {}
        }
    });
}

fn too_slow() -> ApiError {
    ApiError::new(Code::Unavailable, "no answer in time").retry_after(1_000)
}

/// A host has several items: the refusal says which.
fn named(error: ApiError, item: &ItemId) -> ApiError {
    ApiError { message: format!("{item}: {}", error.message).into(), ..error }
}
