//! A room's steps: what it sends to the hot store in its turn, and what it does with the answer.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use actix::{ActorFutureExt, AsyncContext, Context, WrapFuture};

use super::actor::{Life, Room, Waiter};
use super::encode;
use super::messages::Frame;
use crate::clock;
use crate::protocol::{ApiError, CloseCode, Code, Counts, RoomEvent};
use crate::store::hot::journal::Next;
use crate::store::hot::{Aligned, Event, HotError, Standing, Step, Stood};

/// After the first failure a step is tried again so much later, after each further one twice as late, up to 1.6 s: soon enough for
/// acts that wait 30 s, and seldom enough for a store that has to come up under ten thousand rooms.
const RETRY_FIRST: Duration = Duration::from_millis(50);
const RETRY_DOUBLES_MAX: u32 = 5;

/// What went with a step.
struct Sent {
    op: Option<u64>,
    events: usize,
    watching: Option<u64>,
}

impl Sent {
    /// Nothing of it was anybody's act.
    fn is_a_look(&self) -> bool {
        self.op.is_none() && self.events == 0
    }
}

impl Room {
    /// Starts a step if there is anything to apply and none is under way. At most one at a time: order is kept and a tick costs at
    /// most one round trip.
    pub(super) fn step(&mut self, ctx: &mut Context<Self>) -> bool {
        let now = clock::monotonic();
        if self.stepping || self.again_at.is_some_and(|at| now < at) {
            return false;
        }
        self.intake.contribute(now);
        self.answer_waiters();
        let add = self.intake.offer(now);
        let (looks, watching) = self.for_neighbours(now);
        if add.is_none() && self.events_out.is_empty() && !looks {
            return false;
        }
        self.stepping = true;
        let events = self.events_out.clone();
        let sent = Sent { op: add.as_ref().map(|add| add.op), events: events.len(), watching };
        let after = Some((self.history.epoch(), self.history.seq()));
        let step = Step { item: self.view.item.clone(), add, events, after, watching };
        let hot = self.deps.hot.clone();
        let answer = async move { hot.step(step).await };
        ctx.spawn(answer.into_actor(self).map(move |answer, room, ctx| room.absorb(answer, sent, ctx)));
        true
    }

    /// Whether there is a look or a word due to the other nodes, and the word. Of an item that has ended there is nothing more to see.
    fn for_neighbours(&self, now: Instant) -> (bool, Option<u64>) {
        let Some(neighbours) = &self.neighbours else { return (false, None) };
        let watching = neighbours.to_tell(u64::try_from(self.audience.viewers()).unwrap_or(0), now);
        let looks = neighbours.is_due(now) && !matches!(self.life, Life::Ended(_));
        (looks || watching.is_some(), watching)
    }

    fn absorb(&mut self, answer: Result<Standing, HotError>, sent: Sent, ctx: &mut Context<Self>) {
        self.stepping = false;
        let now = clock::monotonic();
        match answer {
            Ok(standing) => {
                self.answers_again();
                self.take_standing(standing, sent, now, ctx);
            }
            Err(error) => self.no_answer(&error, sent.is_a_look(), now),
        }
        self.tell(ctx);
        self.end_if_drained(ctx);
        // An answer is no activity: a room that only looks at others is to come to its end.
        self.wake_in(1, ctx);
    }

    /// The journal keeps what was sent and offers it again, more and more rarely; who waits goes on waiting, up to the act's own
    /// deadline. Told once, not with every try, and not by rooms that only looked: a store that is down is down for every room.
    fn no_answer(&mut self, error: &HotError, looked: bool, now: Instant) {
        if self.failures == 0 && !looked {
            tracing::warn!(item = %self.view.item, %error, "the hot store does not answer");
        }
        self.again_at = Some(now + (RETRY_FIRST * (1 << self.failures.min(RETRY_DOUBLES_MAX))));
        self.failures = self.failures.saturating_add(1);
    }

    fn answers_again(&mut self) {
        if std::mem::take(&mut self.failures) > 0 && self.intake.is_unsettled() {
            tracing::info!(item = %self.view.item, "the hot store answers again");
        }
        self.again_at = None;
    }

    fn take_standing(&mut self, standing: Standing, sent: Sent, now: Instant, ctx: &mut Context<Self>) {
        let Sent { op, events, watching } = sent;
        let next = match (op, &standing) {
            (Some(_), _) => self.intake.answered(&standing, now),
            (None, Standing::Missing) => Next::Align,
            // A step without an add says nothing about this writer's number.
            (None, Standing::At(_)) => Next::Settled,
        };
        if let Standing::At(stood) = standing {
            if op.is_none_or(|op| stood.at >= op) {
                self.events_out.drain(..events);
            }
            // A lower fold than before: the store fell back, and may have more of this writer than the document.
            let fell_back = stood.fold < self.fold;
            self.fold = stood.fold;
            self.hear(&stood, watching, now);
            self.read(stood, now);
            if fell_back {
                return self.align(ctx);
            }
        }
        match next {
            Next::Align => self.align(ctx),
            Next::Wait if self.intake.is_stuck(now) => {
                tracing::error!(item = %self.view.item, "the hot store stands across a gap; the durable store's document stays stale");
            }
            Next::Settled if std::mem::take(&mut self.regains) => self.ask_recount(ctx),
            // Whatever is still to be sent goes with the next turn.
            Next::Settled | Next::Send(_) | Next::Wait => {}
        }
        // Told last: what they asked for is then in the counts that they are shown.
        self.answer_waiters();
    }

    fn answer_waiters(&mut self) {
        self.intake.told().into_iter().for_each(|waiter: Waiter| drop(waiter.send(Ok(()))));
    }

    /// The hot store lost something: bring the item in line with its document, then offer again.
    fn align(&mut self, ctx: &mut Context<Self>) {
        self.stepping = true;
        let (deps, item) = (self.deps.clone(), self.view.item.clone());
        let aligned = async move {
            let document = deps.durable.document(&item).await.map_err(|e| e.to_string())?;
            let aligned = deps.hot.align(&item, &document).await.map_err(|e| e.to_string())?;
            // Whoever compared likes with their facts meanwhile saw a counter that is about to rise again. Asked for now, in case this process
            // dies, and when it has risen, in case the store falls back once more.
            deps.fence.ask_recount(&item).await.map_err(|e| e.to_string()).map(|()| aligned)
        };
        ctx.spawn(aligned.into_actor(self).map(|aligned, room, ctx| {
            (room.stepping, room.fold, room.regains) = (false, 0, true);
            if aligned == Ok(Aligned::LaidAnew) {
                room.deps.stats.laid_anew.fetch_add(1, Ordering::Relaxed);
            }
            tracing::warn!(item = %room.view.item, ?aligned, "the hot store had lost state; aligned with the durable store");
            room.wake(ctx);
        }));
    }

    fn ask_recount(&mut self, ctx: &mut Context<Self>) {
        let (fence, item) = (self.deps.fence.clone(), self.view.item.clone());
        let asked = async move { fence.ask_recount(&item).await };
        ctx.spawn(asked.into_actor(self).map(|asked, room, _| {
            if let Err(error) = asked {
                room.regains = true;
                tracing::warn!(item = %room.view.item, %error, "a recount was not noted; asked again");
            }
        }));
    }

    /// What the answer says of other nodes.
    fn hear(&mut self, stood: &Stood, watching: Option<u64>, now: Instant) {
        let stands = (stood.epoch, stood.seq) == (self.history.epoch(), self.history.seq());
        let news = !stands || stood.totals != *self.shown.totals();
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.answered(watching, stood.elsewhere, news, now);
        }
    }

    fn read(&mut self, stood: Stood, now: Instant) {
        self.shown.read(stood.totals, stood.epoch, now);
        // More happened elsewhere, while this node could not look, than the store keeps: the gap is told, not skipped.
        let gap = stood.events.first().is_some_and(|first| first.seq > self.history.seq() + 1);
        if gap || stood.epoch != self.history.epoch() {
            self.start_epoch(&stood.events, stood.epoch, stood.seq, now);
        } else {
            stood.events.into_iter().for_each(|event| self.number(event, now));
        }
        self.publish();
    }

    /// Another numbering, or a later place in this one: its events are taken, and everybody gets a snapshot of it.
    fn start_epoch(&mut self, events: &[Event], epoch: crate::protocol::Epoch, seq: u64, now: Instant) {
        self.history.restart(epoch, seq);
        for event in events {
            self.apply(&event.event);
        }
        self.snapshot = None;
        let bytes = self.snapshot();
        self.broadcast.push(&Frame::Notice { bytes, seq }, now);
        events.iter().for_each(|event| self.end_with(&event.event));
    }

    /// The next event of the same numbering.
    fn number(&mut self, event: Event, now: Instant) {
        self.apply(&event.event);
        let (bytes, comments) = encode::event(&self.view.item, &self.view, event.seq, &event.event);
        if !self.history.append(event.seq, bytes.clone()) {
            return;
        }
        self.broadcast.push(&Frame::Event { bytes, seq: event.seq, comments }, now);
        self.end_with(&event.event);
    }

    /// The end, whoever brought it about: final counts, and no more sockets.
    fn end_with(&mut self, event: &RoomEvent) {
        if let RoomEvent::Ended { totals } = event {
            let counts = Counts::all(&self.view.reactions, totals, 0);
            self.finish(counts);
            self.close_sockets(CloseCode::Ended);
        }
    }

    fn apply(&mut self, event: &RoomEvent) {
        match event {
            RoomEvent::Comments { list } => {
                list.iter().for_each(|comment| self.intake.remember(comment));
                self.history.remember_comments(list.iter().cloned());
            }
            RoomEvent::Item(view) => self.view = std::sync::Arc::new(view.clone()),
            RoomEvent::Ending {} if matches!(self.life, Life::Live) => {
                self.life = Life::Ending { waiting: Vec::new(), folding: false };
            }
            RoomEvent::Ending {} | RoomEvent::Ended { .. } => {}
        }
    }

    /// Whether acts with an answer are refused for now: what is under way has been waiting for too long.
    pub(super) fn refuse_stalled(&self) -> Result<(), ApiError> {
        let stalled =
            self.intake.oldest_unanswered(clock::monotonic()).is_some_and(|age| age > self.deps.config.stalled_after);
        if stalled {
            return Err(ApiError::new(Code::Unavailable, "the hot store does not answer").retry_after(1_000));
        }
        if self.intake.waiters() >= self.deps.config.waiting_acts_max {
            return Err(ApiError::new(Code::Unavailable, "too many acts are waiting in this room").retry_after(1_000));
        }
        Ok(())
    }
}
