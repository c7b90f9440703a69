//! What one worker's relay owns: its audiences and the buffers that its sockets share. One thread's, by construction.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use actix::{Addr, Recipient};
use tokio::sync::{Notify, oneshot};

use super::actor::Relay;
use super::audience::Audience;
use super::socket::Socket;
use crate::acts::door::{Door, now};
use crate::protocol::{CloseCode, ItemId};
use crate::room::{Frames, Joined, Leave, SubscriberId, TapSums};
use crate::session::{Effect, Input, words};

/// The worker's one read buffer: a few of the largest messages, so that a flooding client is read in few calls.
const READ_BUFFER_BYTES: usize = 32 * 1024;
/// A sweep that comes this late says that the process was stopped, not that clients were silent: nobody is idle by it.
const SWEEP_LATE: Duration = Duration::from_secs(3);

/// A socket whose place in its room is known, on its way through the relay's mailbox.
pub(super) struct Release {
    pub socket: Rc<Socket>,
    pub joined: Joined,
    /// Whether the person likes the item.
    pub liked: bool,
    pub done: oneshot::Sender<()>,
}

/// See the module.
pub(super) struct Hub {
    pub door: Door,
    pub subscriber: SubscriberId,
    relay: Addr<Relay>,
    audiences: RefCell<HashMap<ItemId, Rc<Audience>>>,
    sockets: Cell<usize>,
    connections: Cell<u64>,
    pub read_buffer: RefCell<Box<[u8]>>,
    pub effects: RefCell<Vec<Effect>>,
    /// Audiences with taps to tell.
    pub moved: RefCell<Vec<Rc<Audience>>>,
    releases: RefCell<VecDeque<Release>>,
    /// Set by goodbye: whoever still comes in is sent away.
    pub leaving: Cell<bool>,
    spread_ms: Cell<u64>,
    /// Told when the last socket has gone.
    pub emptied: Notify,
    swept: Cell<Option<std::time::Instant>>,
    /// Sockets whose peers did not answer our close in time.
    overdue: Cell<usize>,
}

impl Hub {
    pub fn new(door: Door, subscriber: SubscriberId, relay: Addr<Relay>) -> Self {
        let spread_ms = u64::try_from(door.config.reconnect_spread.as_millis()).unwrap_or(u64::MAX);
        Self {
            door,
            subscriber,
            relay,
            audiences: RefCell::default(),
            sockets: Cell::new(0),
            connections: Cell::new(0),
            read_buffer: RefCell::new(vec![0; READ_BUFFER_BYTES].into_boxed_slice()),
            effects: RefCell::default(),
            moved: RefCell::default(),
            releases: RefCell::default(),
            leaving: Cell::new(false),
            spread_ms: Cell::new(spread_ms),
            emptied: Notify::new(),
            swept: Cell::new(None),
            overdue: Cell::new(0),
        }
    }

    /// Where rooms send frames for this worker.
    pub fn frames(&self) -> Recipient<Frames> {
        self.relay.clone().recipient()
    }

    pub fn sockets(&self) -> usize {
        self.sockets.get()
    }

    /// A number for the next connection: its name, and where its pings fall.
    pub fn next_connection(&self) -> u64 {
        let next = self.connections.get() + 1;
        self.connections.set(next);
        next
    }

    pub fn audience(&self, item: &ItemId) -> Option<Rc<Audience>> {
        self.audiences.borrow().get(item).cloned()
    }

    /// The audience of an item, new if nobody is there.
    pub fn audience_for(&self, item: &ItemId) -> Rc<Audience> {
        let mut audiences = self.audiences.borrow_mut();
        audiences.entry(item.clone()).or_insert_with(|| Rc::new(Audience::new(item.clone()))).clone()
    }

    /// A socket comes in.
    pub fn add(&self, socket: &Rc<Socket>) {
        self.sockets.set(self.sockets.get() + 1);
        self.door.stats.opened();
        socket.audience.add(socket);
    }

    /// A socket has gone: it leaves its room, and the last one of a room takes the audience along. Called by its task alone.
    pub fn remove(self: &Rc<Self>, socket: &Rc<Socket>) {
        let audience = &socket.audience;
        if audience.remove(socket) {
            self.tell(audience);
            if let Some(item) = audience.item() {
                self.audiences.borrow_mut().remove(item);
            }
        }
        if let Some((life, room)) = audience.room()
            && life == socket.life()
            && let Some(session) = &*socket.session.borrow()
        {
            let user = session.caller().user.clone();
            room.leave.do_send(Leave { subscriber: self.subscriber, user, counted: socket.counted });
        }
        self.door.stats.closed(socket.code.get());
        self.sockets.set(self.sockets.get() - 1);
        if self.sockets.get() == 0 {
            self.emptied.notify_waiters();
        }
    }

    /// Has a socket go through the mailbox once, so that frames which the room sent before its answer are handled first.
    pub fn release_in_turn(&self, release: Release) {
        self.releases.borrow_mut().push_back(release);
        self.relay.do_send(super::actor::ReleaseNext);
    }

    /// Lets the next of them in: what it gets first, then what was held, then frames as they come.
    pub fn release_next(&self) {
        let Some(Release { socket, joined, liked, done }) = self.releases.borrow_mut().pop_front() else { return };
        self.release(&socket, joined, liked);
        let _ = done.send(());
    }

    fn release(&self, socket: &Socket, joined: Joined, liked: bool) {
        let Some(item) = socket.audience.item() else { return };
        let held = socket.outgo.borrow_mut().held.take().unwrap_or_default();
        let after = held.release(joined.seq, joined.version);
        let pace = (joined.tick_ms != self.door.hello.tick_ms).then(|| words::pace(item, joined.seq, joined.tick_ms));
        let first = joined.frames.into_iter().chain([words::you(item, liked)]).chain(pace);
        socket.send_first(self, first.chain(after.frames.into_iter().map(|frame| frame.bytes)));
        socket.settle_in();
        if after.counts {
            socket.owe_counts(self);
        }
        if let Some(code) = after.close.or(joined.ended.then_some(CloseCode::Ended)) {
            socket.close(self, code);
        }
    }

    /// Tells each room what was tapped since it last answered.
    pub fn gather(self: &Rc<Self>) {
        for audience in self.moved.take() {
            self.tell(&audience);
        }
    }

    fn tell(self: &Rc<Self>, audience: &Rc<Audience>) {
        let Some((_, room)) = audience.room() else { return };
        let Some(sums) = audience.take_sums() else { return };
        let taps = sums.iter().map(|(_, n)| n).sum();
        let answer = room.taps.send(TapSums { sums });
        let (hub, audience) = (self.clone(), audience.clone());
        actix_rt::spawn(async move {
            let taken = answer.await.is_ok();
            if !taken {
                hub.door.stats.lost_taps(taps);
                audience.gone_if(&hub, &room);
            }
            if audience.told() {
                hub.moved.borrow_mut().push(audience);
            }
        });
    }

    /// Once a second: rooms that are no more, pings, silence, expired tokens, notices, and farewells that were not answered.
    pub fn sweep(self: &Rc<Self>) {
        let now = now();
        let late = self.swept.replace(Some(now.at)).is_some_and(|last| now.at - last > SWEEP_LATE);
        let audiences: Vec<_> = self.audiences.borrow().values().cloned().collect();
        for audience in audiences {
            if !audience.room_runs() {
                audience.gone(self);
            }
            audience.each(|socket| {
                if socket.outgo.borrow().is_over(now.at) {
                    self.overdue.set(self.overdue.get() + 1);
                    socket.fail();
                } else if !late {
                    socket.drive(self, Input::Clock, now);
                }
            });
        }
    }

    /// Sends everybody away, each to come back at a time of its own; answers how many that were.
    pub fn say_goodbye(&self, spread_ms: u64) -> usize {
        self.leaving.set(true);
        self.spread_ms.set(spread_ms);
        let audiences: Vec<_> = self.audiences.borrow().values().cloned().collect();
        audiences.iter().for_each(|audience| audience.each(|socket| socket.close(self, CloseCode::Shutdown)));
        audiences.iter().map(|audience| audience.len()).sum()
    }

    /// Ends what is left.
    pub fn cut(&self) {
        let audiences: Vec<_> = self.audiences.borrow().values().cloned().collect();
        audiences.iter().for_each(|audience| audience.each(|socket| socket.fail()));
        self.overdue.set(self.overdue.get() + self.sockets());
    }

    /// How many sockets were ended because their peers did not answer a close.
    pub fn overdue(&self) -> usize {
        self.overdue.get()
    }

    /// A time to come back after, drawn evenly from the spread, so that clients that left together do not return together.
    pub fn draw_delay_ms(&self) -> u64 {
        rand::random_range(0..=self.spread_ms.get())
    }
}
