//! The reconciler: has the list of recounts looked at once a second, takes demands.

use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorFutureExt, AsyncContext, Context, Handler, Message, ResponseFuture, WrapFuture};
use tokio::sync::Mutex;

use super::recount::{RecountError, Recounted, Recounts};
use super::schedule::Schedule;
use super::stats::ReconcileStats;
use super::survey::{Survey, Walk};
use super::work::Work;
use crate::protocol::ItemId;

/// How often the list is looked at: what a dead process left between fact and counter is found within it.
pub const LOOK: Duration = Duration::from_secs(1);
/// Recount this item now.
#[derive(Message, Debug, Clone)]
#[rtype(result = "Result<Recounted, RecountError>")]
pub struct Recount(pub ItemId);

/// See the module. One per node.
pub struct Reconciler {
    work: Arc<Work>,
    rounds: Arc<Mutex<Rounds>>,
    looking: bool,
}

/// What nobody asked about: one turn at a time.
struct Rounds {
    survey: Survey,
    schedule: Schedule,
    walk: Walk,
}

impl Reconciler {
    /// Figures go to `stats`.
    pub fn new(recounts: Recounts, survey: Survey, schedule: Schedule, stats: Arc<ReconcileStats>) -> Self {
        let rounds = Rounds { survey, schedule, walk: Walk::default() };
        Self { work: Arc::new(Work::new(recounts, stats)), rounds: Arc::new(Mutex::new(rounds)), looking: false }
    }

    fn look(&mut self, ctx: &mut Context<Self>) {
        if std::mem::replace(&mut self.looking, true) {
            return;
        }
        let (work, rounds) = (self.work.clone(), self.rounds.clone());
        let look = async move {
            let Rounds { survey, schedule, walk } = &mut *rounds.lock().await;
            if let Err(error) = survey.turn(schedule, walk).await {
                tracing::warn!(%error, "likes could not be compared with their facts; gone on with later");
            }
            if let Err(error) = work.look().await {
                tracing::warn!(%error, "the list of recounts could not be read");
            }
        };
        ctx.spawn(look.into_actor(self).map(|(), actor, _| actor.looking = false));
    }
}

impl Actor for Reconciler {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.look(ctx);
        ctx.run_interval(LOOK, Self::look);
    }
}

impl Handler<Recount> for Reconciler {
    type Result = ResponseFuture<Result<Recounted, RecountError>>;

    fn handle(&mut self, Recount(item): Recount, _: &mut Self::Context) -> Self::Result {
        let work = self.work.clone();
        Box::pin(async move { work.on_demand(&item).await })
    }
}
