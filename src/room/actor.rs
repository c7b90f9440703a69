//! The actor of one item on this node. It carries out what the pure parts decide and owns nothing that must survive it: what is
//! acknowledged stands in the hot store and in the node's journal.
//!
//! Invariants kept here: I1 (answers leave only after the store's), I4 (through [`Shown`]), I7 (through the outlets), I9 (numbers are the
//! store's). It never waits inside a message: every store call is a future of the actor.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::{Actor, ActorContext, ActorFutureExt, AsyncContext, Context, WrapFuture};
use parking_lot::RwLock;
use tokio::sync::oneshot;

use super::audience::Audience;
use super::broadcast::Broadcast;
use super::deps::RoomDeps;
use super::history::History;
use super::intake::Intake;
use super::messages::{Frame, Frames, HandOver, RoomHandle, Seen, SubscriberId};
use super::neighbours::Neighbours;
use super::pacing;
use super::schedule::Schedule;
use super::shown::Shown;
use super::ticker::Tick;
use crate::clock;
use crate::protocol::{ApiError, CloseCode, Counts, ItemState, ItemView, RoomEvent};

/// Who waits for the hot store, and what they are told.
pub(super) type Waiter = oneshot::Sender<Result<(), ApiError>>;

/// Where an item is in its life.
pub(super) enum Life {
    /// Acts are taken.
    Live,
    /// The end has begun: who waits for it, and whether its last step is under way.
    Ending { waiting: Vec<oneshot::Sender<Result<Arc<Counts>, ApiError>>>, folding: bool },
    /// Final.
    Ended(Arc<Counts>),
}

/// See the module.
pub struct Room {
    pub(super) deps: Arc<RoomDeps>,
    pub(super) seen: Arc<RwLock<Arc<Seen>>>,
    pub(super) view: Arc<ItemView>,
    pub(super) intake: Intake<Waiter>,
    pub(super) history: History,
    pub(super) shown: Shown,
    pub(super) audience: Audience,
    /// Other nodes, if the hot store is theirs too.
    pub(super) neighbours: Option<Neighbours>,
    pub(super) broadcast: Broadcast,
    pub(super) snapshot: Option<bytes::Bytes>,
    pub(super) events_out: Vec<RoomEvent>,
    pub(super) life: Life,
    pub(super) configuring: Arc<tokio::sync::Mutex<()>>,
    pub(super) stepping: bool,
    /// Flights settled, as last read.
    pub(super) fold: u64,
    /// How often the hot store has not answered in a row, and when it is asked again.
    pub(super) failures: u32,
    pub(super) again_at: Option<Instant>,
    /// The hot store had lost state, and is being given again what this process has.
    pub(super) regains: bool,
    schedule: Schedule,
    told_at: u64,
    told_tick: Duration,
    active_at: Instant,
    /// Takes the room's place out of the registry.
    pub(super) retire: Box<dyn Fn() + Send>,
    orderly: bool,
}

/// What [`Room::new`] is made from, as loaded.
pub(super) struct Loaded {
    pub view: ItemView,
    pub intake: Intake<Waiter>,
    pub history: History,
    pub shown: Shown,
    pub final_counts: Option<Counts>,
}

impl Room {
    pub(super) fn new(deps: Arc<RoomDeps>, loaded: Loaded, retire: Box<dyn Fn() + Send>) -> Self {
        let Loaded { view, intake, history, shown, final_counts } = loaded;
        let counts = final_counts.clone().unwrap_or_else(|| Counts::all(&view.reactions, shown.totals(), 0));
        let view = Arc::new(view);
        let (tick, presence, now) = (deps.config.tick, deps.config.presence, clock::monotonic());
        let seen = Seen { item: view.clone(), counts: Arc::new(counts.clone()) };
        Self {
            seen: Arc::new(RwLock::new(Arc::new(seen))),
            intake,
            history,
            shown,
            audience: Audience::default(),
            neighbours: deps.hot.shared().then(|| Neighbours::new(tick, presence, now)),
            broadcast: Broadcast::new(view.item.clone(), counts, deps.config.relay_events_max),
            snapshot: None,
            events_out: Vec::new(),
            life: final_counts.map_or(Life::Live, |counts| Life::Ended(Arc::new(counts))),
            configuring: Arc::default(),
            stepping: false,
            fold: 0,
            failures: 0,
            again_at: None,
            regains: false,
            schedule: Schedule::default(),
            told_at: 0,
            told_tick: deps.config.tick,
            active_at: now,
            retire,
            orderly: false,
            view,
            deps,
        }
    }

    /// How to reach the room that runs at this address.
    pub(super) fn handle(address: &actix::Addr<Self>, seen: Arc<RwLock<Arc<Seen>>>) -> RoomHandle {
        RoomHandle {
            join: address.clone().recipient(),
            leave: address.clone().recipient(),
            taps: address.clone().recipient(),
            contribute: address.clone().recipient(),
            knows: address.clone().recipient(),
            configure: address.clone().recipient(),
            end: address.clone().recipient(),
            hand_over: address.clone().recipient::<HandOver>(),
            seen,
        }
    }

    /// Something came in: the next tick is this room's.
    pub(super) fn wake(&mut self, ctx: &mut Context<Self>) {
        self.active_at = clock::monotonic();
        self.wake_in(1, ctx);
    }

    pub(super) fn wake_in(&mut self, ticks: u64, ctx: &mut Context<Self>) {
        let at = self.deps.ticker.ticks() + ticks;
        if self.schedule.want(at) {
            self.deps.ticker.wake(ctx.address().recipient::<Tick>(), at);
        }
    }

    /// The counts as viewers are to see them now.
    pub(super) fn counts(&self) -> Counts {
        match &self.life {
            Life::Ended(counts) => Counts::clone(counts),
            _ => {
                let elsewhere = self.neighbours.as_ref().map_or(0, Neighbours::elsewhere);
                let viewers = self.audience.viewers().saturating_add(elsewhere);
                Counts::all(&self.view.reactions, self.shown.totals(), viewers)
            }
        }
    }

    /// What readers see is replaced as a whole.
    pub(super) fn publish(&mut self) {
        self.snapshot = None;
        let seen = Seen { item: self.view.clone(), counts: Arc::new(self.counts()) };
        *self.seen.write() = Arc::new(seen);
    }

    pub(super) fn on_tick(&mut self, tick: u64, ctx: &mut Context<Self>) {
        self.schedule.had(tick);
        let stepped = self.step(ctx);
        if !stepped {
            self.tell(ctx);
        }
        self.end_if_drained(ctx);
        self.ask_for_next_turn(ctx);
    }

    /// Broadcasts, if the room's own interval has passed since it last did and anything moved.
    pub(super) fn tell(&mut self, ctx: &mut Context<Self>) {
        let now_tick = self.deps.ticker.ticks();
        let interval = u64::from(pacing::ticks_between(self.deps.config.tick, self.audience.sockets()));
        if now_tick < self.told_at + interval {
            return;
        }
        self.told_at = now_tick;
        self.tell_pace(interval);
        let counts = self.counts();
        if self.broadcast.update(counts, self.history.seq()) {
            self.publish();
        }
        let everybody: Vec<SubscriberId> = self.broadcast.subscribers().map(|(id, _)| id).collect();
        everybody.into_iter().for_each(|id| self.give(id, ctx));
    }

    fn tell_pace(&mut self, interval: u64) {
        let tick = self.deps.config.tick * u32::try_from(interval).unwrap_or(u32::MAX);
        if tick == self.told_tick {
            return;
        }
        self.told_tick = tick;
        let seq = self.history.seq();
        let bytes = super::encode::frame(&crate::protocol::ServerOut::Pace {
            item: &self.view.item,
            seq,
            tick_ms: self.tick_ms(),
        });
        self.broadcast.push(&Frame::Notice { bytes, seq }, clock::monotonic());
    }

    /// The interval that was told last. Milliseconds.
    pub(super) fn tick_ms(&self) -> u64 {
        u64::try_from(self.told_tick.as_millis()).unwrap_or(u64::MAX)
    }

    /// Gives one subscriber what waits for it, if it is free; asks again when it has answered.
    pub(super) fn give(&mut self, id: SubscriberId, ctx: &mut Context<Self>) {
        let now = clock::monotonic();
        let Some((recipient, frames, lost)) = self.broadcast.take(id, self.history.seq(), now) else { return };
        self.deps.stats.comments_dropped.fetch_add(lost, std::sync::atomic::Ordering::Relaxed);
        let written = recipient.send(frames).into_actor(self).map(move |answer, room, ctx| {
            match answer {
                Ok(()) => room.broadcast.answered(id),
                // The relay's thread is gone; its sockets went with it.
                Err(_) => drop(room.broadcast.remove(id)),
            }
            room.wake(ctx);
        });
        ctx.spawn(written);
    }

    /// All subscribers close their sockets of this room, after what was queued for them.
    pub(super) fn close_sockets(&mut self, code: CloseCode) {
        self.broadcast.push(&Frame::Close(code), clock::monotonic());
    }

    fn ask_for_next_turn(&mut self, ctx: &mut Context<Self>) {
        let busy = self.stepping || self.intake.is_unsettled() || !self.events_out.is_empty();
        let untold = self.broadcast.is_behind(&self.counts());
        if busy || untold {
            return self.wake_in(1, ctx);
        }
        let (journal_empty, watched) = (self.intake.is_empty(), self.audience.sockets() > 0);
        let lingers = self.deps.config.linger.saturating_sub(self.active_at.elapsed());
        if journal_empty && !watched && lingers.is_zero() {
            self.orderly = true;
            (self.retire)();
            return ctx.stop();
        }
        let neighbours = self.neighbours.as_ref().filter(|_| !matches!(self.life, Life::Ended(_)));
        let waits = [
            // Offer the last contribution again once per flush, until it is read that it is folded.
            (!journal_empty).then_some(self.deps.config.flush),
            neighbours.map(|neighbours| neighbours.next_in(clock::monotonic())),
            (journal_empty && !watched).then_some(lingers),
        ];
        // None: there is nothing to do until something comes in.
        if let Some(soonest) = waits.into_iter().flatten().min() {
            self.wake_in(self.ticks_in(soonest), ctx);
        }
    }

    fn ticks_in(&self, time: Duration) -> u64 {
        u64::try_from(time.as_nanos() / self.deps.config.tick.as_nanos().max(1)).unwrap_or(u64::MAX).max(1)
    }

    /// Whether the item takes acts.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.life, Life::Live) && self.view.state == ItemState::Live
    }
}

impl Actor for Room {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(self.deps.config.mailbox_max);
        self.wake(ctx);
    }
}

/// A room that ends in any other way than by itself has panicked: its sockets are told to come back, and it leaves the registry.
impl Drop for Room {
    fn drop(&mut self) {
        if self.orderly {
            return;
        }
        (self.retire)();
        for (_, subscriber) in self.broadcast.subscribers() {
            let list = vec![Frame::Close(CloseCode::RoomRestart)];
            subscriber.frames.do_send(Frames { item: self.view.item.clone(), list });
        }
    }
}
