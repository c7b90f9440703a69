//! The sockets of one room on one worker, and what they have in common.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::batch::Batch;
use super::burst::{Wrote, burst};
use super::hub::Hub;
use super::socket::{NO_LIFE, Socket, Stage};
use crate::protocol::client::Tap;
use crate::protocol::{ApiError, CloseCode, Code, Counts, ItemId, Kind};
use crate::room::{Frame, Frames, Joined, RoomHandle};

/// See the module. It lives as long as it has a socket.
#[derive(Default)]
pub(super) struct Audience {
    /// One, as the sessions' list of items.
    items: Vec<ItemId>,
    sockets: RefCell<Vec<Rc<Socket>>>,
    room: RefCell<Option<RoomHandle>>,
    /// Which of the room's lives `room` is: a room that panicked is started anew, and sockets of the old one are closed.
    life: Cell<u32>,
    seq: Cell<u64>,
    counts: RefCell<Arc<Counts>>,
    sums: RefCell<Vec<(Kind, u64)>>,
    /// A [`crate::room::TapSums`] is on its way: the next one waits for its answer.
    telling: Cell<bool>,
}

impl Audience {
    pub fn new(item: ItemId) -> Self {
        Self { items: vec![item], ..Self::default() }
    }

    pub fn items(&self) -> &[ItemId] {
        &self.items
    }

    pub fn item(&self) -> Option<&ItemId> {
        self.items.first()
    }

    /// The number and the counts of the last frames.
    pub fn latest(&self) -> (u64, Arc<Counts>) {
        (self.seq.get(), self.counts.borrow().clone())
    }

    pub fn room(&self) -> Option<(u32, RoomHandle)> {
        self.room.borrow().clone().map(|room| (self.life.get(), room))
    }

    /// The room as it was found for a new socket. If it is another one than before, the old one's sockets have to come again.
    pub fn found(&self, hub: &Rc<Hub>, room: RoomHandle) -> u32 {
        let known = self.room.borrow().as_ref().is_some_and(|known| known.join == room.join);
        if !known {
            self.gone(hub);
            self.life.set(self.life.get().wrapping_add(1).max(1));
            self.room.replace(Some(room));
        }
        self.life.get()
    }

    /// Where the room stood when a socket came in: what is known here, until frames say more.
    pub fn joined(&self, joined: &Joined) {
        let mut counts = self.counts.borrow_mut();
        let same_kinds = counts.taps.iter().map(|(kind, _)| kind).eq(joined.reactions.iter());
        if !same_kinds {
            counts.clone_from(&joined.counts);
        }
        self.seq.set(self.seq.get().max(joined.seq));
    }

    /// The room is no more: whoever had joined it comes again.
    pub fn gone(&self, hub: &Rc<Hub>) {
        let life = self.life.get();
        self.room.replace(None);
        self.seq.set(0);
        self.counts.take();
        self.each(|socket| {
            if life != NO_LIFE && socket.life() == life {
                socket.close(hub, CloseCode::RoomRestart);
            }
        });
    }

    /// The same, if `room` is still the one that is known here.
    pub fn gone_if(&self, hub: &Rc<Hub>, room: &RoomHandle) {
        let known = self.room.borrow().as_ref().is_some_and(|known| known.join == room.join);
        if known {
            self.gone(hub);
        }
    }

    /// Whether the room's actor still runs, as far as this audience has one.
    pub fn room_runs(&self) -> bool {
        self.room.borrow().as_ref().is_none_or(|room| room.leave.connected())
    }

    pub fn add(&self, socket: &Rc<Socket>) {
        let mut sockets = self.sockets.borrow_mut();
        socket.place.set(sockets.len());
        sockets.push(socket.clone());
    }

    /// Takes a socket out; answers whether it was the last.
    pub fn remove(&self, socket: &Socket) -> bool {
        let mut sockets = self.sockets.borrow_mut();
        let place = socket.place.get();
        if place < sockets.len() {
            sockets.swap_remove(place);
            if let Some(moved) = sockets.get(place) {
                moved.place.set(place);
            }
        }
        sockets.is_empty()
    }

    /// Does something with each socket; it must not add or remove any (sockets are removed by their own tasks).
    pub fn each(&self, mut act: impl FnMut(&Rc<Socket>)) {
        self.sockets.borrow().iter().for_each(&mut act);
    }

    pub fn len(&self) -> usize {
        self.sockets.borrow().len()
    }

    /// Adds admitted taps; answers whether they are the first to be told.
    pub fn sum(&self, tap: Tap, accepted: u32) -> bool {
        let mut sums = self.sums.borrow_mut();
        let first = sums.is_empty() && !self.telling.get();
        match sums.iter_mut().find(|(kind, _)| *kind == tap.kind) {
            Some((_, n)) => *n = n.saturating_add(accepted.into()),
            None => sums.push((tap.kind, accepted.into())),
        }
        first
    }

    /// Whether the item takes this kind, by the latest counts: they name every kind of the item.
    pub fn takes(&self, kind: Kind) -> Result<(), ApiError> {
        let known = self.counts.borrow().taps.iter().any(|(known, _)| *known == kind);
        if known { Ok(()) } else { Err(ApiError::new(Code::Unprocessable, "kind is not one of the item's")) }
    }

    /// What is to be told the room now; until [`Self::told`] nothing more is.
    pub fn take_sums(&self) -> Option<Vec<(Kind, u64)>> {
        if self.telling.get() || self.sums.borrow().is_empty() {
            return None;
        }
        self.telling.set(true);
        Some(self.sums.take())
    }

    /// The last sums are answered; whether there are more by now.
    pub fn told(&self) -> bool {
        self.telling.set(false);
        !self.sums.borrow().is_empty()
    }

    /// A room's frames to every socket: written where the path is clear, queued or held elsewhere. Nobody is waited for.
    pub fn fan_out(&self, hub: &Rc<Hub>, frames: Frames) {
        self.note(&frames.list);
        let batch = Batch::new(frames.list);
        let sockets = self.sockets.borrow();
        let mut clear = Vec::with_capacity(sockets.len());
        for socket in sockets.iter() {
            if socket.stage() == Stage::Clear && !batch.bytes.is_empty() {
                clear.push(socket)
            } else {
                socket.give(hub, &batch)
            }
        }
        let targets: Vec<_> = clear.iter().map(|socket| socket.stream()).collect();
        let mut delivered = 0;
        for (socket, wrote) in clear.into_iter().zip(burst(&batch.bytes, &targets)) {
            match wrote {
                Wrote::Bytes(count) => {
                    delivered += batch.whole_in(count);
                    if count < batch.bytes.len() {
                        socket.fall_behind(hub, &batch, count);
                    }
                }
                Wrote::Failed => socket.fail(),
            }
        }
        hub.door.stats.delivered(delivered);
        drop(sockets);
        if let Some(code) = batch.close {
            self.each(|socket| socket.close_joined(hub, code));
        }
    }

    fn note(&self, list: &[Frame]) {
        for frame in list {
            match frame {
                Frame::Counts { seq, all, .. } => {
                    self.seq.set(*seq);
                    self.counts.replace(all.clone());
                }
                Frame::Event { seq, .. } | Frame::Notice { seq, .. } => self.seq.set(*seq),
                Frame::Close(_) => {}
            }
        }
    }
}
