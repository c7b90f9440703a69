//! The end of an item: acts are refused, the last contribution goes in, everything is folded, then the final counts are stored
//! and told, and the sockets are closed. Each stage starts when the one before has shown its effect, so a failed one is simply tried again.

use std::sync::Arc;

use actix::{ActorFutureExt, AsyncContext, Context, WrapFuture};
use tokio::sync::oneshot;

use super::actor::{Life, Room};
use crate::clock;
use crate::protocol::{ApiError, Code, Counts, ItemState, RoomEvent};
use crate::store::durable::{DurableError, ItemChange};

impl Room {
    /// Begins the end, or joins those who wait for it.
    pub(super) fn end(&mut self, ctx: &mut Context<Self>) -> oneshot::Receiver<Result<Arc<Counts>, ApiError>> {
        let (tell, told) = oneshot::channel();
        match &mut self.life {
            Life::Ended(counts) => drop(tell.send(Ok(counts.clone()))),
            Life::Ending { waiting, .. } => waiting.push(tell),
            Life::Live => {
                self.life = Life::Ending { waiting: vec![tell], folding: false };
                self.events_out.push(RoomEvent::Ending {});
            }
        }
        self.wake(ctx);
        told
    }

    /// When everything that came in before the end is in the hot store: fold it, and store the final counts.
    pub(super) fn end_if_drained(&mut self, ctx: &mut Context<Self>) {
        let drained = !self.stepping && self.events_out.is_empty() && !self.intake.is_unsettled();
        let Life::Ending { waiting, folding } = &mut self.life else { return };
        if !drained || *folding || waiting.is_empty() {
            return;
        }
        *folding = true;
        let (deps, item) = (self.deps.clone(), self.view.item.clone());
        let ended = async move {
            deps.fold.fold_now(&item).await?;
            let totals = deps.durable.document(&item).await.map_err(unavailable)?.totals;
            let change = ItemChange::End(item.clone(), clock::wall(), totals);
            let (view, _) = deps.durable.change_item(change).await.map_err(unavailable)?.ok_or_else(gone)?;
            let totals = deps.durable.final_totals(&item).await.map_err(unavailable)?.ok_or_else(gone)?;
            Ok((view, totals))
        };
        ctx.spawn(ended.into_actor(self).map(|ended, room, ctx| {
            match ended {
                Ok((view, totals)) => {
                    room.view = Arc::new(view);
                    room.events_out.push(RoomEvent::Ended { totals });
                }
                Err(error) => room.end_failed(&error),
            }
            room.wake(ctx);
        }));
    }

    /// Whoever waits is told; the item stays in its ending, and the next call goes on with it.
    fn end_failed(&mut self, error: &ApiError) {
        if let Life::Ending { waiting, folding } = &mut self.life {
            *folding = false;
            for tell in waiting.drain(..) {
                drop(tell.send(Err(error.clone())));
            }
        }
    }

    /// The final counts are known.
    pub(super) fn finish(&mut self, counts: Counts) {
        let counts = Arc::new(counts);
        if let Life::Ending { waiting, .. } = &mut self.life {
            for tell in waiting.drain(..) {
                drop(tell.send(Ok(counts.clone())));
            }
        }
        self.life = Life::Ended(counts);
        let mut view = self.view.as_ref().clone();
        view.state = ItemState::Ended;
        view.ended_at = view.ended_at.or_else(|| Some(clock::wall()));
        self.view = Arc::new(view);
    }
}

/// The refusal while the durable store does not answer.
pub(super) fn unavailable(error: DurableError) -> ApiError {
    ApiError::new(Code::Unavailable, error.to_string()).retry_after(1_000)
}

/// The refusal when the item's record has been erased.
pub(super) fn gone() -> ApiError {
    ApiError::new(Code::NotFound, "the item is gone")
}
