//! The actor of one host's dashboard.

use std::rc::Rc;
use std::time::{Duration, Instant};

use actix::{Actor, ActorContext, AsyncContext, Handler, Message, StreamHandler};
use actix_web_actors::ws::{self, WebsocketContext};

use super::pump::Transit;
use super::rooms::{Entered, Entry, StudioRoom, enter};
use super::studios::Ending;
use crate::acts::door::{Door, now};
use crate::protocol::{ApiError, CloseCode, Code, ItemId};
use crate::room::{Frames, Leave, SubscriberId};
use crate::session::opening::{Resume, fresh_id};
use crate::session::{Input, Outbox, Session, words};

/// How often deadlines are looked at; they are also looked at when frames come, since a full mailbox starves timers.
const SWEEP: Duration = Duration::from_secs(1);

type Context = WebsocketContext<StudioSession>;

/// The pump has room again.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct Drained;

/// The client violated the WebSocket protocol.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct Violated(pub CloseCode);

/// A room has answered.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct Placed {
    pub index: usize,
    pub result: Result<Entered, ApiError>,
}

/// Close with this code; with a spread, the host is told a time to return that is drawn from it.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct CloseWith {
    pub code: CloseCode,
    pub spread_ms: u64,
}

/// End at once.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct Cut;

/// See the module.
pub(super) struct StudioSession {
    pub door: Door,
    pub items: Vec<ItemId>,
    pub rooms: Vec<StudioRoom>,
    pub outbox: Option<Outbox>,
    pub transit: Rc<Transit>,
    /// Since the farewell: when the peer's time is over.
    pub deadline: Option<Instant>,
    /// The client closed first: nothing is waited for once the answer is out.
    pub echoing: bool,
    /// With what the connection ended, for the counters.
    pub ending: Ending,
    pub session: Option<Session>,
    subscriber: SubscriberId,
    token: Option<String>,
    resumes: Vec<Option<Resume>>,
    spread_ms: u64,
    swept: Instant,
}

impl StudioSession {
    pub fn new(
        door: Door,
        items: Vec<ItemId>,
        token: Option<String>,
        resumes: Vec<Option<Resume>>,
        transit: Rc<Transit>,
        ending: Ending,
    ) -> Self {
        let spread_ms = u64::try_from(door.config.reconnect_spread.as_millis()).unwrap_or(u64::MAX);
        let rooms = items.iter().map(|_| StudioRoom::default()).collect();
        Self {
            door,
            items,
            rooms,
            outbox: None,
            transit,
            deadline: None,
            echoing: false,
            ending,
            session: None,
            subscriber: SubscriberId(fresh_id()),
            token,
            resumes,
            spread_ms,
            swept: crate::clock::monotonic(),
        }
    }

    pub fn closing(&self) -> bool {
        self.deadline.is_some()
    }

    /// A time to come back after, drawn evenly from the spread.
    pub fn draw_delay_ms(&self) -> u64 {
        rand::random_range(0..=self.spread_ms)
    }

    /// Ends the actor; what it said is still written.
    pub fn stop(&self, ctx: &mut Context) {
        ctx.stop();
    }

    /// Who it is, `hello`, and the rooms. The token is not kept.
    fn greet(&mut self, ctx: &mut Context) -> Result<(), ApiError> {
        let now = now();
        let token = self.token.take();
        let token = token.ok_or_else(|| ApiError::new(Code::Unauthorized, "token: missing"))?;
        let caller = (self.door.verify)(&token, now.wall)?;
        if let Some(item) = self.items.iter().find(|item| !caller.hosts(item)) {
            return Err(ApiError::new(Code::Forbidden, format!("{item}: not a host of it")));
        }
        let hello = words::hello(&format!("{}-1", self.subscriber.0), &caller, &self.door.hello, None);
        self.answer(ctx, hello);
        let resumes = std::mem::take(&mut self.resumes);
        for (index, item) in self.items.iter().cloned().enumerate() {
            let (user, subscriber) = (caller.user.clone(), self.subscriber);
            let resume = resumes.get(index).copied().flatten();
            enter(self.door.clone(), ctx.address(), Entry { index, item, user, subscriber, resume });
        }
        self.session = Some(Session::new(caller, &self.door.config, rand::random(), now.at));
        Ok(())
    }

    fn sweep(&mut self, ctx: &mut Context) {
        let now = crate::clock::monotonic();
        self.swept = now;
        match self.deadline {
            Some(deadline) if deadline <= now => {
                self.transit.cut.set(true);
                self.stop(ctx);
            }
            Some(_) => {}
            None => {
                let gone =
                    |room: &StudioRoom| !room.ended && room.handle.as_ref().is_some_and(|room| !room.leave.connected());
                if self.rooms.iter().any(gone) {
                    return self.close(ctx, CloseCode::RoomRestart);
                }
                self.drive(ctx, Input::Clock);
            }
        }
    }

    fn sweep_if_due(&mut self, ctx: &mut Context) {
        if self.swept.elapsed() > SWEEP {
            self.sweep(ctx);
        }
    }
}

impl Actor for StudioSession {
    type Context = Context;

    fn started(&mut self, ctx: &mut Context) {
        ctx.run_interval(SWEEP, Self::sweep);
        if let Err(error) = self.greet(ctx) {
            self.answer(ctx, words::error(None, None, &error, None));
            self.close(ctx, CloseCode::BadToken);
        }
    }

    fn stopped(&mut self, _: &mut Context) {
        let Some(session) = &self.session else { return };
        for room in self.rooms.iter().filter_map(|room| room.handle.as_ref()) {
            let user = session.caller().user.clone();
            room.leave.do_send(Leave { subscriber: self.subscriber, user, counted: false });
        }
    }
}

impl StreamHandler<Result<ws::Message, ws::ProtocolError>> for StudioSession {
    fn handle(&mut self, message: Result<ws::Message, ws::ProtocolError>, ctx: &mut Context) {
        self.sweep_if_due(ctx);
        if self.closing() {
            if matches!(message, Ok(ws::Message::Close(_)) | Err(_)) {
                // The answer to our close: the handshake is complete.
                self.stop(ctx);
            }
            return;
        }
        match message {
            Ok(ws::Message::Text(text)) => self.drive(ctx, Input::Text(&text)),
            Ok(ws::Message::Ping(payload)) => self.drive(ctx, Input::Ping(&payload)),
            Ok(ws::Message::Pong(_)) => self.drive(ctx, Input::Pong),
            Ok(ws::Message::Close(reason)) => {
                self.drive(ctx, Input::Close(reason.map(|reason| reason.code.into())));
            }
            // The guard lets nothing else through.
            Ok(_) | Err(_) => self.drive(ctx, Input::Violation(CloseCode::Protocol)),
        }
    }
}

impl Handler<Frames> for StudioSession {
    type Result = ();

    fn handle(&mut self, frames: Frames, ctx: &mut Context) {
        self.sweep_if_due(ctx);
        if let Some(index) = self.items.iter().position(|item| *item == frames.item) {
            frames.list.into_iter().for_each(|frame| self.frame(ctx, index, frame));
        }
    }
}

impl Handler<Placed> for StudioSession {
    type Result = ();

    fn handle(&mut self, placed: Placed, ctx: &mut Context) {
        match placed.result {
            Ok(entered) => self.place(ctx, placed.index, entered),
            Err(error) => {
                self.answer(ctx, words::error(None, None, &error, None));
                self.close(ctx, words::close_code_of(&error));
            }
        }
    }
}

impl Handler<Drained> for StudioSession {
    type Result = ();

    fn handle(&mut self, _: Drained, ctx: &mut Context) {
        self.drain(ctx);
    }
}

impl Handler<Violated> for StudioSession {
    type Result = ();

    fn handle(&mut self, Violated(code): Violated, ctx: &mut Context) {
        self.drive(ctx, Input::Violation(code));
    }
}

impl Handler<CloseWith> for StudioSession {
    type Result = ();

    fn handle(&mut self, close: CloseWith, ctx: &mut Context) {
        self.spread_ms = close.spread_ms;
        self.close(ctx, close.code);
    }
}

impl Handler<Cut> for StudioSession {
    type Result = ();

    fn handle(&mut self, _: Cut, ctx: &mut Context) {
        self.transit.cut.set(true);
        self.stop(ctx);
    }
}
