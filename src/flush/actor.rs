//! The flush actor: keeps the interval, takes demands. All work happens in futures beside the mailbox, so that a demand
//! never queues behind an interval's batch.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::{Actor, ActorFutureExt, AsyncContext, Context, Handler, Message, ResponseFuture, WrapFuture};

use super::carry::{Carry, Drained, FlushError};
use super::stats::FlushStats;
use crate::protocol::ItemId;
use crate::store::durable::DurableStore;
use crate::store::hot::HotStore;

/// Flush this item until nothing of it is dirty. For when it ends, and whenever somebody has to be sure.
#[derive(Message, Debug, Clone)]
#[rtype(result = "Result<(), FlushError>")]
pub struct FlushItem(pub ItemId);

/// Flush everything until nothing is dirty: the stop sequence, when nothing contributes any more. Intervals end with it.
#[derive(Message, Debug, Clone)]
#[rtype(result = "Drained")]
pub struct FlushAll {
    /// When to give up and report what is left.
    pub deadline: Instant,
}

/// See the module. One per node.
pub struct FlushActor {
    carry: Arc<Carry>,
    interval: Duration,
    /// An interval's sweep is under way: the next one waits for a later interval.
    sweeping: bool,
    draining: bool,
}

impl FlushActor {
    /// Over these stores, at this interval; figures go to `stats`.
    pub fn new(
        hot: Arc<dyn HotStore>,
        durable: Arc<dyn DurableStore>,
        interval: Duration,
        stats: Arc<FlushStats>,
    ) -> Self {
        let carry = Arc::new(Carry::new(hot, durable, interval, stats));
        Self { carry, interval, sweeping: false, draining: false }
    }

    fn tick(&mut self, ctx: &mut Context<Self>) {
        self.carry.refresh_stats();
        if self.sweeping || self.draining {
            return;
        }
        self.sweeping = true;
        let carry = Arc::clone(&self.carry);
        let sweep = async move { carry.sweep(false).await }.into_actor(self);
        ctx.spawn(sweep.map(|result, actor, _| {
            actor.sweeping = false;
            if let Err(error) = result {
                tracing::warn!(error, "an interval's flush was broken off; the next one carries on");
            }
        }));
    }
}

impl Actor for FlushActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.run_interval(self.interval, Self::tick);
    }
}

impl Handler<FlushItem> for FlushActor {
    type Result = ResponseFuture<Result<(), FlushError>>;

    fn handle(&mut self, FlushItem(item): FlushItem, _: &mut Self::Context) -> Self::Result {
        let carry = Arc::clone(&self.carry);
        Box::pin(async move { carry.item_to_empty(item).await })
    }
}

impl Handler<FlushAll> for FlushActor {
    type Result = ResponseFuture<Drained>;

    fn handle(&mut self, FlushAll { deadline }: FlushAll, _: &mut Self::Context) -> Self::Result {
        self.draining = true;
        let carry = Arc::clone(&self.carry);
        Box::pin(async move { carry.all_to_empty(deadline).await })
    }
}
