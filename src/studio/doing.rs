//! What a host's session does: inputs to its core, and the effects carried out.

use actix::fut;
use actix::{ActorFutureExt, AsyncContext, WrapFuture};
use actix_web_actors::ws::WebsocketContext;

use super::rooms::StudioRoom;
use super::session::StudioSession;
use crate::acts::door::{CLOSE_WAIT, ack_of, act_of, now};
use crate::protocol::client::{RequestId, Tap};
use crate::protocol::{ApiError, Code};
use crate::room::TapSums;
use crate::session::stats::NO_CODE;
use crate::session::{Deed, Effect, Input, Now, Session, Setting};
use crate::wire::encode;

type Context = WebsocketContext<StudioSession>;

impl StudioSession {
    /// Gives the session an input and carries out what it answers.
    pub(super) fn drive(&mut self, ctx: &mut Context, input: Input<'_>) {
        let (now, items) = (now(), std::mem::take(&mut self.items));
        let config = self.door.config.clone();
        let mut effects = Vec::new();
        if let Some(session) = &mut self.session {
            session.handle(input, &Setting { config: &config, items: &items, now }, &mut effects);
        }
        self.items = items;
        self.carry_out(ctx, effects, now);
    }

    fn carry_out(&mut self, ctx: &mut Context, effects: Vec<Effect>, now: Now) {
        for effect in effects {
            match effect {
                Effect::Send(frame) => self.answer(ctx, frame),
                Effect::Control(frame) => self.control(ctx, frame),
                Effect::Tap { room, tap } => self.tap(ctx, room, tap, now),
                Effect::Perform { room, id, deed } => self.perform(ctx, room, id, deed),
                Effect::Renew { id, token } => self.renew(ctx, id.as_ref(), &token, now),
                Effect::Close(code) => self.close(ctx, code),
                Effect::EchoClose(code) => {
                    self.echoing = true;
                    let echo = vec![encode::close_echo(code)];
                    self.farewell(ctx, code.unwrap_or(NO_CODE), CLOSE_WAIT, echo);
                }
            }
        }
    }

    /// Has the session say what is to be done, and does it.
    fn ask(&mut self, ctx: &mut Context, now: Now, ask: impl FnOnce(&mut Session, &mut Vec<Effect>)) {
        let mut effects = Vec::new();
        if let Some(session) = &mut self.session {
            ask(session, &mut effects);
        }
        self.carry_out(ctx, effects, now);
    }

    fn renew(&mut self, ctx: &mut Context, id: Option<&RequestId>, token: &str, now: Now) {
        let verified = (self.door.verify)(token, now.wall).and_then(|caller| {
            let hosts_all = self.items.iter().all(|item| caller.hosts(item));
            if hosts_all { Ok(caller) } else { Err(ApiError::new(Code::Forbidden, "token: not a host's of all items")) }
        });
        self.ask(ctx, now, |session, effects| session.renewed(id, verified, effects));
    }

    fn tap(&mut self, ctx: &mut Context, index: usize, tap: Tap, now: Now) {
        let (Some(session), Some(item), Some(room)) = (&self.session, self.items.get(index), self.rooms.get_mut(index))
        else {
            return;
        };
        let admitted = room.takes(tap.kind).and_then(|()| self.door.acts.admit_taps(session.caller(), item, tap.n));
        match admitted {
            Ok(admitted) => {
                let accepted = admitted.accepted.min(tap.n);
                if accepted > 0 {
                    room.sum(tap, accepted);
                    self.tell(ctx, index);
                }
                if accepted < tap.n {
                    self.ask(ctx, now, |session, effects| {
                        session.taps_over_rate(tap.n - accepted, admitted.retry_after_ms, now, effects);
                    });
                }
            }
            Err(error) => self.ask(ctx, now, |session, effects| session.taps_refused(tap.n, error, now, effects)),
        }
    }

    /// Tells a room what was tapped since it last answered.
    fn tell(&mut self, ctx: &mut Context, index: usize) {
        let Some((room, sums)) = self.rooms.get_mut(index).and_then(StudioRoom::take_sums) else { return };
        let taps = sums.iter().map(|(_, n)| n).sum();
        let answer = room.taps.send(TapSums { sums }).into_actor(self).map(move |answer, session, ctx| {
            if answer.is_err() {
                session.door.stats.lost_taps(taps);
            }
            if let Some(room) = session.rooms.get_mut(index) {
                room.told();
            }
            session.tell(ctx, index);
        });
        ctx.spawn(answer);
    }

    fn perform(&mut self, ctx: &mut Context, index: usize, id: Option<RequestId>, deed: Deed) {
        let (Some(session), Some(item)) = (&self.session, self.items.get(index).cloned()) else { return };
        let (acts, caller, act) = (self.door.acts.clone(), session.caller().clone(), deed.name());
        let performed = async move { acts.perform(&caller, &item, act_of(deed)).await };
        let told = performed.into_actor(self).then(move |result, session: &mut Self, ctx| {
            session.ask(ctx, now(), |session, effects| {
                session.answered(id.as_ref(), act, result.as_ref().map(ack_of), effects);
            });
            fut::ready(())
        });
        ctx.spawn(told);
    }
}
