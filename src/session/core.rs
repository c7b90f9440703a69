//! The session: what one client's messages, answers and the clock come to.

use std::time::{Duration, Instant};

use super::effect::{Deed, Effect, Input, Now};
use super::refusals::{Refusals, over_rate};
use super::words;
use crate::auth::Caller;
use crate::config::SocketConfig;
use crate::protocol::client::{Envelope, RequestId};
use crate::protocol::server::AckBody;
use crate::protocol::{ApiError, ClientIn, CloseCode, Code, ItemId, ServerOut};
use crate::wire::encode;

/// What a session is handled with: the same for all sessions of a door, so that none keeps it.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// Bounds and intervals.
    pub config: &'a SocketConfig,
    /// The items that the client is with: a viewer's one, a host's several. Effects name them by index.
    pub items: &'a [ItemId],
    /// When.
    pub now: Now,
}

/// One client.
#[derive(Debug)]
pub struct Session {
    caller: Caller,
    last_inbound: Instant,
    next_ping: Instant,
    refusals: Refusals,
    in_flight: u32,
    /// A close is out: whatever still comes in is ignored.
    closing: bool,
}

impl Session {
    /// A client that was let in. `phase`, 0 to 1, says where in the ping interval its pings fall: sockets that came in at
    /// once are spread over it.
    pub fn new(caller: Caller, config: &SocketConfig, phase: f32, now: Instant) -> Self {
        Self {
            caller,
            last_inbound: now,
            next_ping: now + config.ping.mul_f32(phase.clamp(0.0, 1.0)),
            refusals: Refusals::default(),
            in_flight: 0,
            closing: false,
        }
    }

    /// Who the client is, by its latest token.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Takes one input; what is to be done is added to `effects`. Plain taps allocate nothing here.
    pub fn handle(&mut self, input: Input<'_>, setting: &Setting<'_>, effects: &mut Vec<Effect>) {
        if self.closing {
            return;
        }
        match input {
            Input::Clock => return self.clock(setting, effects),
            Input::Violation(code) => return self.close(code, effects),
            Input::Close(code) => {
                self.closing = true;
                return effects.push(Effect::EchoClose(code));
            }
            Input::Text(_) | Input::Ping(_) | Input::Pong => self.last_inbound = setting.now.at,
        }
        // A client that sends without pause must not outlive its token because the sweep is late.
        if self.token_ended(setting.now, effects) {
            return;
        }
        match input {
            Input::Text(text) => {
                text.split('\n').filter(|line| !line.trim_ascii().is_empty()).for_each(|json| {
                    self.message(json, setting, effects);
                });
            }
            Input::Ping(payload) => effects.push(Effect::Control(encode::pong(payload))),
            _ => {}
        }
    }

    /// What came of a [`Effect::Perform`]. Without an `id` only refusals are told.
    pub fn answered(
        &mut self,
        id: Option<&RequestId>,
        act: &'static str,
        result: Result<AckBody<'_>, &ApiError>,
        effects: &mut Vec<Effect>,
    ) {
        self.in_flight = self.in_flight.saturating_sub(1);
        match (result, id) {
            (Ok(outcome), Some(id)) => effects.push(Effect::Send(words::frame(&ServerOut::Ack { id, outcome }))),
            (Ok(_), None) => {}
            (Err(error), id) => effects.push(Effect::Send(words::error(id, Some(act), error, None))),
        }
    }

    /// Who the token of a [`Effect::Renew`] names: the same person, or the connection is over.
    pub fn renewed(&mut self, id: Option<&RequestId>, verified: Result<Caller, ApiError>, effects: &mut Vec<Effect>) {
        let same_person = verified.and_then(|caller| {
            let same = caller.user == self.caller.user;
            if same { Ok(caller) } else { Err(ApiError::new(Code::Unauthorized, "token: of another sub")) }
        });
        match same_person {
            Ok(caller) => {
                self.caller = caller;
                if let Some(id) = id {
                    effects.push(Effect::Send(words::frame(&ServerOut::Ack { id, outcome: AckBody::Done {} })));
                }
            }
            Err(error) => {
                effects.push(Effect::Send(words::error(id, Some("auth"), &error, None)));
                self.close(CloseCode::BadToken, effects);
            }
        }
    }

    /// Of taps that took the short way, `n` were over the rate.
    pub fn taps_over_rate(&mut self, n: u32, retry_after_ms: u64, now: Now, effects: &mut Vec<Effect>) {
        self.taps_refused(n, over_rate(retry_after_ms), now, effects);
    }

    /// `n` taps that took the short way were refused; told at once, or with the next notice.
    pub fn taps_refused(&mut self, n: u32, error: ApiError, now: Now, effects: &mut Vec<Effect>) {
        self.refusals.add(n, error);
        self.tell_refusals(now.at, effects);
    }

    fn message(&mut self, json: &str, setting: &Setting<'_>, effects: &mut Vec<Effect>) {
        let envelope = match Envelope::parse(json) {
            Ok(envelope) => envelope,
            Err(refused) => {
                let told = words::error(refused.id.as_ref(), refused.act, &refused.error, None);
                return effects.push(Effect::Send(told));
            }
        };
        match envelope.message {
            ClientIn::Ping => effects.push(Effect::Send(words::frame(&ServerOut::Pong {}))),
            ClientIn::Auth { token } => effects.push(Effect::Renew { id: envelope.id, token }),
            ClientIn::Tap(tap) => match (envelope.id, room_of(envelope.item.as_ref(), setting.items)) {
                (None, Ok(room)) => effects.push(Effect::Tap { room, tap }),
                (id, room) => self.perform(id, room, Deed::Tap(tap), setting, effects),
            },
            ClientIn::Like(liked) => {
                let room = room_of(envelope.item.as_ref(), setting.items);
                self.perform(envelope.id, room, Deed::Like(liked), setting, effects);
            }
            ClientIn::Comment(comment) => {
                let room = room_of(envelope.item.as_ref(), setting.items);
                self.perform(envelope.id, room, Deed::Comment(comment), setting, effects);
            }
        }
    }

    fn perform(
        &mut self,
        id: Option<RequestId>,
        room: Result<usize, ApiError>,
        deed: Deed,
        setting: &Setting<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let free = usize::try_from(self.in_flight).is_ok_and(|n| n < setting.config.acts_in_flight_max);
        let room = room.and_then(|room| if free { Ok(room) } else { Err(too_many_in_flight()) });
        match room {
            Ok(room) => {
                self.in_flight += 1;
                effects.push(Effect::Perform { room, id, deed });
            }
            Err(error) => effects.push(Effect::Send(words::error(id.as_ref(), Some(deed.name()), &error, None))),
        }
    }

    fn clock(&mut self, setting: &Setting<'_>, effects: &mut Vec<Effect>) {
        if self.token_ended(setting.now, effects) {
            return;
        }
        let now = setting.now.at;
        if now.saturating_duration_since(self.last_inbound) >= setting.config.idle() {
            return self.close(CloseCode::Idle, effects);
        }
        self.tell_refusals(now, effects);
        if self.next_ping <= now {
            effects.push(Effect::Control(encode::ping(&[])));
            self.next_ping = next_in_phase(self.next_ping, setting.config.ping, now);
        }
    }

    fn token_ended(&mut self, now: Now, effects: &mut Vec<Effect>) -> bool {
        let ended = self.caller.expired(now.wall);
        if ended {
            let error = ApiError::new(Code::Unauthorized, "token: expired");
            effects.push(Effect::Send(words::error(None, Some("auth"), &error, None)));
            self.close(CloseCode::BadToken, effects);
        }
        ended
    }

    fn tell_refusals(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        if let Some((refused, error)) = self.refusals.due(now) {
            effects.push(Effect::Send(words::error(None, Some("tap"), &error, Some(refused))));
        }
    }

    fn close(&mut self, code: CloseCode, effects: &mut Vec<Effect>) {
        self.closing = true;
        effects.push(Effect::Close(code));
    }
}

/// Which of the session's items a message is for. A viewer's socket has one, whatever its messages say.
fn room_of(named: Option<&ItemId>, items: &[ItemId]) -> Result<usize, ApiError> {
    match (named, items) {
        (_, [_]) => Ok(0),
        (None, _) => Err(ApiError::new(Code::BadRequest, "item is missing")),
        (Some(item), _) => items
            .iter()
            .position(|mine| mine == item)
            .ok_or_else(|| ApiError::new(Code::NotFound, "item is not one of this socket's")),
    }
}

fn too_many_in_flight() -> ApiError {
    ApiError::new(Code::RateLimited, "too many acts of this socket are under way").retry_after(1_000)
}

/// The first moment after `now` that is a whole number of intervals after `last`; pings that were slept through are not
/// made up for.
fn next_in_phase(last: Instant, every: Duration, now: Instant) -> Instant {
    let next = last + every;
    if next > now { next } else { now + every }
}
