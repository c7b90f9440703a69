//! The messages of a room, each a few lines: check, hand to the pure parts, wake.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use actix::{ActorFutureExt, Context, Handler, ResponseActFuture, ResponseFuture, WrapFuture};
use bytes::Bytes;
use tokio::sync::oneshot;

use super::actor::{Life, Room, Waiter};
use super::encode;
use super::ending::{gone, unavailable};
use super::messages::{Configure, Contribute, Contributed, End, HandOver, Join, Joined, Knows, Leave, TapSums};
use super::ticker::Tick;
use crate::clock;
use crate::protocol::client::Tap;
use crate::protocol::server::ServerOut;
use crate::protocol::{ApiError, Code, Comment, Counter, Counts, Epoch, ItemView, Kind, Millis, RoomEvent};
use crate::store::durable::ItemChange;

impl Handler<Tick> for Room {
    type Result = ();

    fn handle(&mut self, tick: Tick, ctx: &mut Context<Self>) {
        self.on_tick(tick.0, ctx);
    }
}

impl Handler<Join> for Room {
    type Result = Result<Joined, ApiError>;

    fn handle(&mut self, join: Join, ctx: &mut Context<Self>) -> Self::Result {
        let ended = matches!(self.life, Life::Ended(_));
        if !ended {
            self.broadcast.enter(join.subscriber, join.frames);
            self.audience.join(&join.user, join.counted);
            if self.audience.viewers() == 1 {
                // The first to come must not read that nobody is there; for the others a tick's age will do.
                self.snapshot = None;
            }
            self.wake(ctx);
        }
        let mut frames = match join.resume {
            None => vec![self.snapshot()],
            Some((epoch, seq)) => self.resume(epoch, seq),
        };
        if ended {
            let (item, seq, counts) = (&self.view.item, self.history.seq(), &self.counts());
            frames.push(encode::frame(&ServerOut::Ended { item, seq, counts }));
        }
        let (_, version) = self.broadcast.told();
        let (seq, counts, tick_ms) = (self.history.seq(), self.seen.read().counts.clone(), self.tick_ms());
        let reactions: Arc<[Kind]> = self.view.reactions.as_slice().into();
        Ok(Joined { frames, seq, counts, version, reactions, tick_ms, ended })
    }
}

impl Room {
    /// The whole room as one frame, encoded once for all who come in before it changes.
    pub(super) fn snapshot(&mut self) -> Bytes {
        if let Some(bytes) = &self.snapshot {
            return bytes.clone();
        }
        let counts = self.counts();
        let (epoch, seq) = (self.history.epoch(), self.history.seq());
        let bytes = encode::frame(&ServerOut::Snapshot {
            epoch,
            seq,
            item: &self.view,
            counts: &counts,
            comments: self.history.comments(),
            polls: [],
            giveaways: [],
            auctions: [],
            pinned: None,
        });
        self.snapshot = Some(bytes.clone());
        bytes
    }

    /// `resumed`, then what was missed and all counts; or a snapshot where that cannot be proved.
    fn resume(&mut self, epoch: Epoch, from: u64) -> Vec<Bytes> {
        let (current, seq) = (self.history.epoch(), self.history.seq());
        let missed: Option<Vec<Bytes>> = self.history.after(epoch, from).map(|events| events.cloned().collect());
        let (item, recovered) = (&self.view.item, missed.is_some());
        let mut frames = vec![encode::frame(&ServerOut::Resumed { item, epoch: current, recovered, seq })];
        match missed {
            Some(events) => {
                frames.extend(events);
                let counts = &self.counts();
                frames.push(encode::frame(&ServerOut::Counts { item: &self.view.item, seq, counts }));
            }
            None => frames.push(self.snapshot()),
        }
        frames
    }
}

impl Handler<Leave> for Room {
    type Result = ();

    fn handle(&mut self, leave: Leave, ctx: &mut Context<Self>) {
        self.broadcast.exit(leave.subscriber);
        self.audience.leave(&leave.user, leave.counted);
        self.wake(ctx);
    }
}

impl Handler<TapSums> for Room {
    type Result = ();

    fn handle(&mut self, taps: TapSums, ctx: &mut Context<Self>) {
        for (kind, n) in taps.sums {
            let taken = i64::try_from(n).ok().filter(|_| self.is_live() && self.view.reactions.contains(&kind));
            let stats = &self.deps.stats;
            match taken.and_then(|n| self.intake.add(Counter::Taps(kind), n)) {
                Some(()) => stats.taps_accepted.fetch_add(n, Ordering::Relaxed),
                None => stats.taps_dropped.fetch_add(n, Ordering::Relaxed),
            };
        }
        self.wake(ctx);
    }
}

impl Handler<Contribute> for Room {
    type Result = ResponseActFuture<Self, Result<Contributed, ApiError>>;

    fn handle(&mut self, what: Contribute, ctx: &mut Context<Self>) -> Self::Result {
        let entered = self.enter(&what);
        self.wake(ctx);
        let waited = match entered {
            Ok(entered) => {
                let (tell, told) = oneshot::channel();
                self.intake.wait(tell);
                Ok((entered, told))
            }
            Err(refused) => Err(refused),
        };
        let timeout = self.deps.config.act_timeout;
        let settled = async move {
            let (entered, told) = waited?;
            settle(told, timeout).await.map(|()| entered)
        };
        Box::pin(settled.into_actor(self).map(|settled, room, _| settled.map(|entered| room.outcome(entered))))
    }
}

/// What entered the buffer.
enum Entered {
    Taps,
    Likes,
    Comment(Millis),
    Known(Millis),
}

impl Room {
    /// Buffers it, or refuses it; refused means that nothing of it is or will be applied.
    fn enter(&mut self, what: &Contribute) -> Result<Entered, ApiError> {
        match what {
            Contribute::Taps(tap) => self.takes_acts().and_then(|()| self.enter_taps(*tap)),
            Contribute::Comment(comment) => self.takes_acts().and_then(|()| self.enter_comment(comment)),
            Contribute::Likes(n) => self.enter_likes(*n),
        }
    }

    fn takes_acts(&self) -> Result<(), ApiError> {
        if self.is_live() { self.refuse_stalled() } else { Err(ended()) }
    }

    /// Its facts are durable: neither the beginning of the end nor a store that is slow keeps it out.
    fn enter_likes(&mut self, n: i64) -> Result<Entered, ApiError> {
        if matches!(self.life, Life::Ended(_)) {
            return Err(ended());
        }
        self.intake.add(Counter::Likes, n).ok_or_else(overflow)?;
        Ok(Entered::Likes)
    }

    fn enter_comment(&mut self, comment: &Comment) -> Result<Entered, ApiError> {
        if let Some(known) = self.intake.known(comment.id) {
            let same = known.text == comment.text;
            return if same { Ok(Entered::Known(known.at)) } else { Err(key_reused()) };
        }
        let at = self.intake.comment_time(clock::wall())?;
        self.intake.add(Counter::Comments, 1).ok_or_else(overflow)?;
        self.intake.comment(Comment { at, ..comment.clone() });
        Ok(Entered::Comment(at))
    }

    fn enter_taps(&mut self, tap: Tap) -> Result<Entered, ApiError> {
        if !self.view.reactions.contains(&tap.kind) {
            return Err(ApiError::new(Code::Unprocessable, "the item does not take this kind of tap"));
        }
        self.intake.add(Counter::Taps(tap.kind), i64::from(tap.n)).ok_or_else(overflow)?;
        self.deps.stats.taps_accepted.fetch_add(u64::from(tap.n), Ordering::Relaxed);
        Ok(Entered::Taps)
    }

    fn outcome(&self, entered: Entered) -> Contributed {
        match entered {
            Entered::Taps => Contributed::Taps(self.seen.read().counts.clone()),
            Entered::Likes => Contributed::Likes(self.seen.read().counts.clone()),
            Entered::Comment(at) => Contributed::Comment { at, created: true },
            Entered::Known(at) => Contributed::Comment { at, created: false },
        }
    }
}

/// The refusal of a key that stands for another comment.
pub fn key_reused() -> ApiError {
    ApiError::new(Code::Unprocessable, "this key was used for another text")
}

fn ended() -> ApiError {
    ApiError::new(Code::Gone, "the item has ended")
}

fn overflow() -> ApiError {
    ApiError::new(Code::Unprocessable, "the counter is full")
}

/// Waits until the contribution is in. Past the deadline, or when the room died meanwhile, its fate is not known to the caller.
async fn settle(told: oneshot::Receiver<Result<(), ApiError>>, timeout: std::time::Duration) -> Result<(), ApiError> {
    match tokio::time::timeout(timeout, told).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Err(ApiError::outcome_unknown("the room restarted")),
        Err(_) => Err(ApiError::outcome_unknown("the hot store did not answer in time")),
    }
}

impl Handler<Knows> for Room {
    type Result = bool;

    fn handle(&mut self, Knows(id): Knows, _: &mut Context<Self>) -> bool {
        self.intake.known(id).is_some()
    }
}

impl Handler<Configure> for Room {
    type Result = ResponseActFuture<Self, Result<ItemView, ApiError>>;

    /// One change at a time, each upon the one before, so that two hosts do not undo each other's.
    fn handle(&mut self, configure: Configure, _: &mut Context<Self>) -> Self::Result {
        let turn = self.configuring.clone().lock_owned();
        let changed = turn.into_actor(self).then(|turn, room, _| {
            let wanted = room.view.with(configure.patch.apply(room.view.settings()));
            let (live, durable) = (room.is_live(), room.deps.durable.clone());
            let change = async move {
                if !live {
                    return Err(ApiError::new(Code::Gone, "the item has ended"));
                }
                let changed = durable.change_item(ItemChange::Configure(wanted)).await.map_err(unavailable)?;
                changed.map(|(view, _)| view).ok_or_else(gone)
            };
            change.into_actor(room).map(|changed, room, ctx| {
                let view = changed?;
                room.view = Arc::new(view.clone());
                room.events_out.push(RoomEvent::Item(view.clone()));
                room.publish();
                room.wake(ctx);
                drop(turn);
                Ok(view)
            })
        });
        Box::pin(changed)
    }
}

impl Handler<End> for Room {
    type Result = ResponseFuture<Result<Arc<Counts>, ApiError>>;

    fn handle(&mut self, _: End, ctx: &mut Context<Self>) -> Self::Result {
        let (told, timeout) = (self.end(ctx), self.deps.config.act_timeout);
        Box::pin(async move {
            match tokio::time::timeout(timeout, told).await {
                Ok(Ok(answer)) => answer,
                _ => Err(ApiError::outcome_unknown("the end is still under way")),
            }
        })
    }
}

impl Handler<HandOver> for Room {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: HandOver, ctx: &mut Context<Self>) -> Self::Result {
        let (tell, told) = oneshot::channel::<Result<(), ApiError>>();
        let waiter: Waiter = tell;
        self.intake.wait(waiter);
        self.wake(ctx);
        Box::pin(async move {
            // Either way there is nothing more to wait for: the flush reports what is left.
            let _ = told.await;
        })
    }
}
