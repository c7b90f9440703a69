//! One viewer's socket: its state, its task, and what it does with what comes in.
//!
//! The task waits for the socket to be readable, and to be writable while there is something to write; it reads into the
//! worker's one buffer. Whatever others do to the socket (frames, closes, the sweep) they do at once and then wake the task,
//! which alone ends it: so a socket leaves exactly once.

use std::cell::{Cell, RefCell};
use std::io::ErrorKind;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use tokio::io::Interest;
use tokio::net::TcpStream;

use super::audience::Audience;
use super::hub::Hub;
use super::outgo::Outgo;
use crate::acts::door::{ack_of, act_of, now};
use crate::protocol::client::{RequestId, Tap};
use crate::session::{Deed, Effect, Input, Now, Session, Setting};
use crate::wire::{Decoder, Incoming};

/// Reads of one socket before the others of its worker have their turn.
const READS_PER_TURN: usize = 8;

/// The life of a socket that has joined no room.
pub(super) const NO_LIFE: u32 = 0;

/// Where a socket is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its place in the room is not yet known: frames are held.
    Opening,
    /// Frames are written as they come.
    Clear,
    /// It did not take all that was written: frames are queued.
    Behind,
    /// The farewell is out or queued; nothing follows it.
    Closing,
    /// Over; the task takes it out.
    Gone,
}

/// See the module.
pub(super) struct Socket {
    stream: TcpStream,
    pub audience: Rc<Audience>,
    /// Where it stands among the audience's sockets.
    pub place: Cell<usize>,
    pub stage: Cell<Stage>,
    /// The room's life that it has joined, or [`NO_LIFE`].
    life: Cell<u32>,
    /// Whether its person counts as a viewer.
    pub counted: bool,
    /// With what the connection ended, for the counters.
    pub code: Cell<u16>,
    pub session: RefCell<Option<Session>>,
    decoder: RefCell<Decoder>,
    pub outgo: RefCell<Outgo>,
    waker: RefCell<Option<Waker>>,
}

/// The task of a socket: `opening` brings it into its room, then it is served until it is gone.
pub(super) async fn serve(hub: Rc<Hub>, socket: Rc<Socket>, opening: Pin<Box<dyn Future<Output = ()>>>) {
    opening.await;
    std::future::poll_fn(|cx| socket.poll(&hub, cx)).await;
    hub.remove(&socket);
}

impl Socket {
    pub fn new(stream: TcpStream, audience: Rc<Audience>, counted: bool, message_max_bytes: usize) -> Self {
        Self {
            stream,
            audience,
            place: Cell::new(0),
            stage: Cell::new(Stage::Opening),
            life: Cell::new(NO_LIFE),
            counted,
            code: Cell::new(crate::session::stats::ABNORMAL),
            session: RefCell::default(),
            decoder: RefCell::new(Decoder::new(message_max_bytes)),
            outgo: RefCell::default(),
            waker: RefCell::default(),
        }
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    pub fn stage(&self) -> Stage {
        self.stage.get()
    }

    pub fn life(&self) -> u32 {
        self.life.get()
    }

    pub fn set_life(&self, life: u32) {
        self.life.set(life);
    }

    /// The peer is gone, or has been given enough time.
    pub fn fail(&self) {
        self.stage.set(Stage::Gone);
        self.wake();
    }

    /// The task is to look at the socket again.
    pub fn wake(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }

    /// Serves what the socket has, both ways, until it is gone.
    fn poll(self: &Rc<Self>, hub: &Rc<Hub>, cx: &mut Context<'_>) -> Poll<()> {
        self.keep_waker(cx);
        let mut reads = 0;
        while self.stage() != Stage::Gone {
            if self.outgo.borrow().waits() {
                match self.stream.poll_write_ready(cx) {
                    Poll::Ready(Ok(())) if self.flush(hub) => {}
                    Poll::Ready(Ok(())) => continue,
                    Poll::Ready(Err(_)) => self.fail(),
                    Poll::Pending => {}
                }
            }
            if self.stage() == Stage::Gone {
                break;
            }
            if reads == READS_PER_TURN {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            match ready!(self.stream.poll_read_ready(cx)) {
                Ok(()) => self.read(hub),
                Err(_) => self.fail(),
            }
            reads += 1;
        }
        Poll::Ready(())
    }

    fn keep_waker(&self, cx: &Context<'_>) {
        let mut kept = self.waker.borrow_mut();
        if !kept.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            *kept = Some(cx.waker().clone());
        }
    }

    fn read(self: &Rc<Self>, hub: &Rc<Hub>) {
        let mut buffer = hub.read_buffer.borrow_mut();
        match self.stream.try_read(&mut buffer) {
            Ok(0) => self.fail(),
            Ok(count) => {
                if count < buffer.len() {
                    // A short read has emptied the socket: saying so saves the read that would only find that out. Events come
                    // in on this very thread, so none can have come in since.
                    let _ = self.stream.try_io(Interest::READABLE, || Err::<(), _>(ErrorKind::WouldBlock.into()));
                }
                if let Some(input) = buffer.get_mut(..count) {
                    self.take(hub, input);
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.fail(),
        }
    }

    /// Takes what the client has sent.
    pub fn take(self: &Rc<Self>, hub: &Rc<Hub>, input: &mut [u8]) {
        let now = now();
        let mut decoder = self.decoder.borrow_mut();
        for incoming in decoder.feed(input) {
            let closing = matches!(self.stage(), Stage::Closing | Stage::Gone);
            match incoming {
                // The answer to our close: the handshake is complete.
                Ok(Incoming::Close(_)) if closing => self.fail(),
                _ if closing => {}
                Ok(Incoming::Text(text)) => self.drive(hub, Input::Text(&text), now),
                Ok(Incoming::Ping(payload)) => self.drive(hub, Input::Ping(&payload), now),
                Ok(Incoming::Pong) => self.drive(hub, Input::Pong, now),
                Ok(Incoming::Close(code)) => self.drive(hub, Input::Close(code), now),
                // Not accepted by this decoder, so never here.
                Ok(Incoming::Binary(_)) => {}
                Err(violation) => self.drive(hub, Input::Violation(violation.close_code()), now),
            }
        }
    }

    /// Gives the session an input and carries out what it answers.
    pub fn drive(self: &Rc<Self>, hub: &Rc<Hub>, input: Input<'_>, now: Now) {
        let setting = Setting { config: &hub.door.config, items: self.audience.items(), now };
        self.with_session(hub, now, |session, effects| session.handle(input, &setting, effects));
    }

    /// Has the session say what is to be done, and does it. The list of effects is the worker's, used again and again.
    fn with_session(self: &Rc<Self>, hub: &Rc<Hub>, now: Now, ask: impl FnOnce(&mut Session, &mut Vec<Effect>)) {
        let mut effects = hub.effects.take();
        if let Some(session) = &mut *self.session.borrow_mut() {
            ask(session, &mut effects);
        }
        for effect in effects.drain(..) {
            self.carry_out(hub, effect, now);
        }
        hub.effects.replace(effects);
    }

    fn carry_out(self: &Rc<Self>, hub: &Rc<Hub>, effect: Effect, now: Now) {
        match effect {
            Effect::Send(frame) => self.answer(hub, frame),
            Effect::Control(frame) => self.control(hub, frame),
            Effect::Tap { tap, .. } => self.tap(hub, tap, now),
            Effect::Perform { id, deed, .. } => self.perform(hub, id, deed),
            Effect::Renew { id, token } => {
                let verified = (hub.door.verify)(&token, now.wall);
                self.with_session(hub, now, |session, effects| session.renewed(id.as_ref(), verified, effects));
            }
            Effect::Close(code) => self.close(hub, code),
            Effect::EchoClose(code) => self.echo_close(hub, code),
        }
    }

    /// The short way of taps: checked, summed, not answered.
    fn tap(self: &Rc<Self>, hub: &Rc<Hub>, tap: Tap, now: Now) {
        let admitted = {
            let session = self.session.borrow();
            let (Some(session), Some(item)) = (&*session, self.audience.item()) else { return };
            self.audience.takes(tap.kind).and_then(|()| hub.door.acts.admit_taps(session.caller(), item, tap.n))
        };
        match admitted {
            Ok(admitted) => {
                let accepted = admitted.accepted.min(tap.n);
                if accepted > 0 && self.audience.sum(tap, accepted) {
                    hub.moved.borrow_mut().push(self.audience.clone());
                }
                let refused = tap.n - accepted;
                if refused > 0 {
                    self.with_session(hub, now, |session, effects| {
                        session.taps_over_rate(refused, admitted.retry_after_ms, now, effects);
                    });
                }
            }
            Err(error) => {
                self.with_session(hub, now, |session, effects| session.taps_refused(tap.n, error, now, effects));
            }
        }
    }

    /// An act with an answer: it waits in a task of its own, so that the socket goes on.
    fn perform(self: &Rc<Self>, hub: &Rc<Hub>, id: Option<RequestId>, deed: Deed) {
        let caller = self.session.borrow().as_ref().map(|session| session.caller().clone());
        let (Some(caller), Some(item)) = (caller, self.audience.item().cloned()) else { return };
        let (socket, hub) = (self.clone(), hub.clone());
        actix_rt::spawn(async move {
            let act = deed.name();
            let result = hub.door.acts.perform(&caller, &item, act_of(deed)).await;
            socket.with_session(&hub, now(), |session, effects| {
                session.answered(id.as_ref(), act, result.as_ref().map(ack_of), effects);
            });
        });
    }

    fn answer(&self, hub: &Hub, frame: Bytes) {
        self.send(hub, frame, crate::session::Class::Plain);
    }
}
