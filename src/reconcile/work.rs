//! Carries the plan out: one look at the list, one item on demand.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::join;
use futures_util::stream::iter;
use parking_lot::Mutex;

use super::plan::Plan;
use super::recount::{RecountError, Recounted, Recounts};
use super::stats::ReconcileStats;
use crate::clock;
use crate::protocol::ItemId;
use crate::store::hot::HotError;

/// Items that one look takes on, and recounts at once: a count of facts reads an index from end to end.
pub const LISTED_MAX: usize = 256;
/// See [`LISTED_MAX`].
pub const AT_ONCE_MAX: usize = 4;

/// See the module.
pub struct Work {
    recounts: Recounts,
    plan: Mutex<Plan>,
    stats: Arc<ReconcileStats>,
}

impl Work {
    /// Figures go to `stats`.
    pub fn new(recounts: Recounts, stats: Arc<ReconcileStats>) -> Self {
        Self { recounts, plan: Mutex::default(), stats }
    }

    /// Recounts what is on the list, and what a dead writer left between fact and counter.
    pub async fn look(&self) -> Result<(), HotError> {
        let recounts = &self.recounts;
        let asked = recounts.hot.recounts(LISTED_MAX).await?;
        let entries = recounts.hot.entries(LISTED_MAX).await?;
        let living: BTreeSet<_> = recounts.hot.living().await?.into_iter().collect();
        let due = self.plan.lock().due(&asked, entries, &living, clock::monotonic());
        // Left alone for a while by this node, but another may be at it, and waits for this one.
        let others: Vec<ItemId> = asked.into_iter().filter(|item| !due.contains(item)).collect();
        // What goes wrong is counted and logged, one by one.
        let mine = iter(due).map(|item| async move { drop(self.one(&item).await) }).buffer_unordered(AT_ONCE_MAX);
        let quiet = iter(others).map(|item| async move { drop(recounts.be_quiet(&item).await) });
        join(mine.count(), quiet.buffer_unordered(LISTED_MAX).count()).await;
        Ok(())
    }

    /// Recounts one item, whatever came of it before.
    pub async fn on_demand(&self, item: &ItemId) -> Result<Recounted, RecountError> {
        if !self.plan.lock().take(item) {
            return Err(RecountError::Busy);
        }
        self.one(item).await
    }

    /// One item that the plan has under way.
    async fn one(&self, item: &ItemId) -> Result<Recounted, RecountError> {
        let result = self.recounts.recount(item).await;
        if matches!(result, Err((RecountError::Busy, _))) {
            // Whoever is at it waits for this node.
            let quiet = self.recounts.be_quiet(item).await;
            self.plan.lock().ended(item, true, clock::monotonic());
            return quiet.and(Err(RecountError::Busy));
        }
        self.plan.lock().ended(item, result.is_ok(), clock::monotonic());
        match result {
            Ok(recounted) => {
                self.stats.count_exact(item, recounted.repaired);
                tracing::info!(%item, likes = recounted.likes, repaired = recounted.repaired, "recounted");
                Ok(recounted)
            }
            Err((error, drift)) => {
                self.stats.count_failed(item, drift);
                tracing::warn!(%item, %error, "a recount was given up; the item stays on the list");
                Err(error)
            }
        }
    }
}
