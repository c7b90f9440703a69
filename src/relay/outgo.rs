//! The way out of one socket: written at once where it takes it, else queued within bounds, else declared lost and closed.

use std::io::IoSlice;
use std::net::Shutdown;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use socket2::SockRef;

use super::batch::{Batch, Rest, begin};
use super::burst::{Wrote, write, wrote};
use super::hub::Hub;
use super::socket::{Socket, Stage};
use crate::acts::door::CLOSE_WAIT;
use crate::clock;
use crate::protocol::CloseCode;
use crate::session::stats::NO_CODE;
use crate::session::{Bounds, Class, Held, Outbox, Overflow, Piece, words};
use crate::wire::encode;

/// Frames in one gathered write: more than a socket that caught up has, and a fraction of the kernel's 1,024.
const SLICES: usize = 16;

/// What a socket has besides its session; most have nothing.
#[derive(Debug, Default)]
pub(super) struct Outgo {
    outbox: Option<Box<Outbox>>,
    /// While opening: what the room sent meanwhile.
    pub held: Option<Box<Held>>,
    /// Since the farewell: when the peer's time is over.
    deadline: Option<Instant>,
    /// The client closed first: nothing is waited for once the answer is out.
    echoing: bool,
}

impl Outgo {
    /// Whether there is something to write.
    pub fn waits(&self) -> bool {
        self.outbox.is_some()
    }

    /// Whether the time after the farewell is over.
    pub fn is_over(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    fn outbox(&mut self) -> &mut Outbox {
        self.outbox.get_or_insert_with(|| Box::new(Outbox::new(clock::monotonic())))
    }
}

impl Socket {
    /// Sends one frame, behind whatever waits already.
    pub fn send(&self, hub: &Hub, bytes: Bytes, class: Class) {
        if matches!(self.stage(), Stage::Closing | Stage::Gone) {
            return;
        }
        if !self.outgo.borrow().waits() {
            match write(self.stream(), &bytes) {
                Wrote::Failed => return self.fail(),
                Wrote::Bytes(count) if count == bytes.len() => return hub.door.stats.delivered(1),
                Wrote::Bytes(0) => {}
                Wrote::Bytes(count) => {
                    begin(self.outgo.borrow_mut().outbox(), bytes.slice(count..));
                    return self.queued();
                }
            }
        }
        self.push(hub, Piece { bytes, room: 0, class });
    }

    /// Sends a control frame, before whatever was not begun.
    pub fn control(&self, hub: &Hub, bytes: Bytes) {
        if !self.outgo.borrow().waits() {
            return self.send(hub, bytes, Class::Plain);
        }
        let pushed = self.outgo.borrow_mut().outbox().push_control(bytes, bounds(hub), clock::monotonic());
        self.settle(hub, pushed);
    }

    /// Sends what a client gets first, in as few writes as it takes.
    pub fn send_first(&self, hub: &Hub, frames: impl IntoIterator<Item = Bytes>) {
        if matches!(self.stage(), Stage::Closing | Stage::Gone) {
            return;
        }
        for bytes in frames {
            self.push(hub, Piece { bytes, room: 0, class: Class::Exempt });
        }
        self.flush(hub);
    }

    /// A room's frames, for a socket whose path is not clear.
    pub fn give(&self, hub: &Hub, batch: &Batch) {
        match self.stage() {
            Stage::Opening => {
                let max = hub.door.config.outbox_events_max;
                let fits = self.outgo.borrow_mut().held.as_mut().is_none_or(|held| batch.hold(held, max));
                if !fits {
                    self.close(hub, CloseCode::RoomRestart);
                }
            }
            Stage::Clear | Stage::Behind => self.queue(hub, batch, 0),
            Stage::Closing | Stage::Gone => {}
        }
    }

    /// A room's frames of which the socket took only the first `written` bytes.
    pub fn fall_behind(&self, hub: &Hub, batch: &Batch, written: usize) {
        self.stage.set(Stage::Behind);
        self.queue(hub, batch, written);
    }

    /// What the room held for this socket is out of the way: frames go straight to it from now on.
    pub fn settle_in(&self) {
        if self.stage() == Stage::Opening {
            self.stage.set(if self.outgo.borrow().waits() { Stage::Behind } else { Stage::Clear });
        }
    }

    /// The latest counts are to follow once the socket has caught up.
    pub fn owe_counts(&self, hub: &Hub) {
        self.outgo.borrow_mut().outbox().owe_counts(0);
        self.flush(hub);
    }

    /// Closes after what was queued: `bye` where the client is to come back, then the close frame.
    pub fn close(&self, hub: &Hub, code: CloseCode) {
        let delay_ms = hub.draw_delay_ms();
        self.farewell(code.as_u16(), CLOSE_WAIT, words::farewell(code, delay_ms));
        self.flush(hub);
    }

    /// The same for a socket that is in its room; one that is opening finds out when it gets there.
    pub fn close_joined(&self, hub: &Hub, code: CloseCode) {
        if self.stage() != Stage::Opening {
            self.close(hub, code);
        }
    }

    /// Answers the client's close.
    pub fn echo_close(&self, hub: &Hub, code: Option<u16>) {
        self.outgo.borrow_mut().echoing = true;
        self.farewell(code.unwrap_or(NO_CODE), CLOSE_WAIT, vec![encode::close_echo(code)]);
        self.flush(hub);
    }

    /// Writes what waits, as far as the socket takes it. `true`: nothing waits any more.
    pub fn flush(&self, hub: &Hub) -> bool {
        loop {
            let mut outgo = self.outgo.borrow_mut();
            let Some(outbox) = &mut outgo.outbox else { break };
            if outbox.is_empty() {
                outgo.outbox = None;
                break;
            }
            if let Some(counts) = outbox.take_counts().and_then(|_| self.latest_counts()) {
                outbox.push_begun(Piece { bytes: counts, room: 0, class: Class::Exempt });
            }
            let mut slices = [IoSlice::new(&[]); SLICES];
            let filled = outbox.slices(&mut slices);
            match wrote(self.stream().try_write_vectored(slices.get(..filled).unwrap_or_default())) {
                Wrote::Failed => {
                    drop(outgo);
                    self.fail();
                    return false;
                }
                Wrote::Bytes(0) => {
                    drop(outgo);
                    self.queued();
                    return false;
                }
                Wrote::Bytes(count) => hub.door.stats.delivered(outbox.advance(count)),
            }
        }
        self.all_out();
        true
    }

    fn latest_counts(&self) -> Option<Bytes> {
        let (seq, counts) = self.audience.latest();
        self.audience.item().map(|item| words::counts(item, seq, &counts))
    }

    fn all_out(&self) {
        match self.stage() {
            Stage::Behind => self.stage.set(Stage::Clear),
            Stage::Closing if self.outgo.borrow().echoing => self.fail(),
            Stage::Closing => {
                // Nothing follows: the peer sees the end at once, and we read on for its answer.
                let _ = SockRef::from(self.stream()).shutdown(Shutdown::Write);
            }
            Stage::Opening | Stage::Clear | Stage::Gone => {}
        }
    }

    fn queue(&self, hub: &Hub, batch: &Batch, written: usize) {
        for rest in batch.rest(written) {
            match rest {
                Rest::Begun(bytes) => begin(self.outgo.borrow_mut().outbox(), bytes),
                Rest::Piece(piece) => self.push(hub, piece),
                Rest::Counts => self.outgo.borrow_mut().outbox().owe_counts(0),
            }
        }
        self.queued();
    }

    fn push(&self, hub: &Hub, piece: Piece) {
        let pushed = self.outgo.borrow_mut().outbox().push(piece, bounds(hub), clock::monotonic());
        self.settle(hub, pushed);
    }

    /// After a push: the task is to watch for room in the socket, or the loss is declared and the socket closed.
    fn settle(&self, hub: &Hub, pushed: Result<(), Overflow>) {
        match pushed {
            Ok(()) => self.queued(),
            Err(overflow) => self.declare(hub, overflow),
        }
    }

    fn queued(&self) {
        if self.stage() == Stage::Clear {
            self.stage.set(Stage::Behind);
        }
        self.wake();
    }

    fn declare(&self, hub: &Hub, overflow: Overflow) {
        let comments = overflow.losses.iter().map(|loss| loss.comments).sum();
        hub.door.stats.lost(overflow.frames, comments);
        let behind_ms = u64::try_from(overflow.behind.as_millis()).unwrap_or(u64::MAX);
        let (seq, _) = self.audience.latest();
        let dropped = self.audience.item().map(|item| words::dropped(item, seq, comments, behind_ms));
        let farewell = words::farewell(CloseCode::Slow, hub.draw_delay_ms());
        let frames = dropped.into_iter().chain(farewell).collect();
        self.farewell(CloseCode::Slow.as_u16(), hub.door.config.slow_grace, frames);
    }

    /// Queues the last frames and sets the peer's deadline. A socket has one farewell; later ones are ignored.
    fn farewell(&self, code: u16, wait: Duration, frames: Vec<Bytes>) {
        if matches!(self.stage(), Stage::Closing | Stage::Gone) {
            return;
        }
        let mut outgo = self.outgo.borrow_mut();
        outgo.held = None;
        outgo.outbox().seal(frames);
        outgo.deadline = Some(clock::monotonic() + wait);
        drop(outgo);
        self.code.set(code);
        self.stage.set(Stage::Closing);
        self.wake();
    }

    /// Begins the stage of opening.
    pub fn hold(self: &Rc<Self>) {
        self.outgo.borrow_mut().held = Some(Box::default());
    }
}

fn bounds(hub: &Hub) -> Bounds {
    Bounds { events_max: hub.door.config.outbox_events_max, bytes_max: hub.door.config.outbox_bytes_max }
}
