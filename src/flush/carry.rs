//! Carries the plan out against the stores: rounds, the interval's sweep, one item to empty, everything to empty.
//!
//! Every call of a store has a deadline, after which its outcome counts as unknown. A future of this module may be
//! dropped at any point: what it had taken is released, and a claimed flight is found by the next round. The lock on the
//! plan is never held while waiting.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{sleep, timeout, timeout_at};

use super::plan::{LISTED_MAX, Plan};
use super::round::{Answer, Ask, Findings, Outcome, Round};
use super::stats::FlushStats;
use crate::clock;
use crate::protocol::{ItemId, WriterId};
use crate::store::durable::DurableStore;
use crate::store::hot::{Flight, HotStore};

/// How long one call of a store may take; longer than any failover of theirs. Then the item waits for the next interval.
pub const STEP_TIMEOUT: Duration = Duration::from_secs(10);
/// Calls under way at once for one round: keeps a hot store's pipeline full without flooding it.
pub const STEPS_AT_ONCE_MAX: usize = 64;
/// Items that are flushed on demand at once; one more waits. Ending thousands of items at once must not starve intervals.
pub const ITEMS_AT_ONCE_MAX: usize = 64;
/// How long one item may take to be flushed to empty: a third of what a REST call waits for its outcome.
pub const ITEM_TIMEOUT: Duration = Duration::from_secs(10);
/// First and longest wait before something that is wanted on demand is tried again; doubles in between.
pub const RETRY_WAITS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));
/// Items that the report of a drain names; the others are counted.
pub const REPORTED_MAX: usize = 20;

/// Why an item could not be flushed to empty. What was not folded is still in the hot store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlushError {
    /// The deadline came first.
    #[error("the item was not flushed in time; last trouble: {0}")]
    TimedOut(String),
    /// The durable store went back behind the item; somebody has to decide which one to keep.
    #[error("the durable store is behind the item")]
    DurableBehind,
    /// The flush has stopped.
    #[error("the flush has stopped")]
    Stopped,
}

/// How the stop's flush went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drained {
    /// Items that still have something unflushed, as far as the last listing told.
    pub items_left: usize,
    /// The first [`REPORTED_MAX`] of them.
    pub left: Vec<ItemId>,
    /// What stood in the way last. With it, and nothing left, the hot store could not say what is left.
    pub trouble: Option<String>,
}

impl Drained {
    /// Whether nothing is unflushed, for certain.
    pub fn is_empty(&self) -> bool {
        self.items_left == 0 && self.trouble.is_none()
    }
}

/// A flusher's stores and memory. Cheap to share.
pub struct Carry {
    hot: Arc<dyn HotStore>,
    durable: Arc<dyn DurableStore>,
    plan: Mutex<Plan>,
    stats: Arc<FlushStats>,
    /// Told whenever items are released.
    released: Notify,
    on_demand: Semaphore,
}

impl Carry {
    /// Over these stores, at this interval.
    pub fn new(
        hot: Arc<dyn HotStore>,
        durable: Arc<dyn DurableStore>,
        interval: Duration,
        stats: Arc<FlushStats>,
    ) -> Self {
        let (plan, released) = (Mutex::new(Plan::new(interval)), Notify::new());
        Self { hot, durable, plan, stats, released, on_demand: Semaphore::new(ITEMS_AT_ONCE_MAX) }
    }

    /// One interval's work: everything that is dirty, each item once. `urgent`: items with failures do not wait.
    ///
    /// A batch of which nothing came through ends it, unless that batch is one item: a store is down, and the next interval
    /// finds out whether it is back.
    pub async fn sweep(&self, urgent: bool) -> Result<(), String> {
        self.look_for_writers().await;
        let mut served = BTreeSet::new();
        loop {
            let listed = self.list(LISTED_MAX + served.len()).await?;
            let batches = self.plan.lock().batches(&listed, &served, urgent, clock::monotonic());
            if batches.is_empty() {
                return Ok(());
            }
            for batch in batches {
                served.extend(batch.items.iter().cloned());
                let outcomes = self.round(self.take(batch.items)).await;
                if let Some(error) = all_failed(&outcomes) {
                    return Err(error);
                }
            }
        }
    }

    /// Flushes one item until nothing of it is dirty, or [`ITEM_TIMEOUT`] has passed.
    pub async fn item_to_empty(&self, item: ItemId) -> Result<(), FlushError> {
        let trouble = Mutex::new("none".to_owned());
        let rounds = self.rounds_to_empty(&item, &trouble);
        let result = timeout(ITEM_TIMEOUT, rounds).await;
        result.unwrap_or_else(|_| Err(FlushError::TimedOut(std::mem::take(&mut trouble.lock()))))
    }

    async fn rounds_to_empty(&self, item: &ItemId, trouble: &Mutex<String>) -> Result<(), FlushError> {
        let _permit = self.on_demand.acquire().await.map_err(|_| FlushError::Stopped)?;
        let mut wait = RETRY_WAITS.0;
        loop {
            let outcomes = self.round(self.take_alone(item).await).await;
            match outcomes.into_values().next() {
                Some(Outcome::Clean) => return Ok(()),
                Some(Outcome::Behind) => return Err(FlushError::DurableBehind),
                Some(Outcome::Folded) => wait = RETRY_WAITS.0,
                Some(Outcome::Failed(error)) => {
                    *trouble.lock() = error;
                    sleep(wait).await;
                    wait = longer(wait);
                }
                None => return Err(FlushError::Stopped),
            }
        }
    }

    /// Flushes everything until nothing is dirty, or the deadline has passed.
    pub async fn all_to_empty(&self, deadline: Instant) -> Drained {
        let last = Mutex::new(Drained { trouble: Some("nothing was listed in time".to_owned()), ..Drained::default() });
        let rounds = async {
            let mut wait = RETRY_WAITS.0;
            while !self.sweep_and_list(&last).await {
                // What another round still has is not worth a long wait: its end is told.
                let _ = timeout(wait, self.released.notified()).await;
                wait = longer(wait);
            }
        };
        // Either way the last listing is the report.
        let _ = timeout_at(deadline.into(), rounds).await;
        last.into_inner()
    }

    /// Whether nothing is left.
    async fn sweep_and_list(&self, last: &Mutex<Drained>) -> bool {
        let swept = self.sweep(true).await;
        let listed = self.list(LISTED_MAX).await;
        let mut last = last.lock();
        match listed {
            Ok(left) => {
                let trouble = if left.is_empty() { None } else { swept.err() };
                *last =
                    Drained { items_left: left.len(), left: left.into_iter().take(REPORTED_MAX).collect(), trouble };
                last.items_left == 0
            }
            Err(error) => {
                last.trouble = Some(error);
                false
            }
        }
    }

    /// Brings the figures of state up to now.
    pub fn refresh_stats(&self) {
        let plan = self.plan.lock();
        self.stats.stand(plan.lag(clock::monotonic()), plan.waiting(), plan.behind(), plan.drift());
    }

    async fn list(&self, limit: usize) -> Result<Vec<ItemId>, String> {
        let dirty = within(self.hot.dirty(limit)).await?;
        self.plan.lock().listed(&dirty, dirty.len() < limit, clock::monotonic());
        self.refresh_stats();
        Ok(dirty)
    }

    /// Not knowing who lives only means that nobody is left out.
    async fn look_for_writers(&self) {
        match within(self.hot.living()).await {
            Ok(living) => self.plan.lock().living(living, clock::monotonic()),
            Err(error) => tracing::warn!(error, "leases of writers could not be read"),
        }
    }

    fn take(&self, items: Vec<ItemId>) -> Taken<'_> {
        Taken { carry: self, items: self.plan.lock().take(items) }
    }

    /// Waits until no other round has the item.
    async fn take_alone(&self, item: &ItemId) -> Taken<'_> {
        loop {
            let released = self.released.notified();
            tokio::pin!(released);
            // Enabled before the look, so that a release in between is not missed.
            released.as_mut().enable();
            let taken = self.take(vec![item.clone()]);
            if !taken.items.is_empty() {
                return taken;
            }
            released.await;
        }
    }

    async fn round(&self, taken: Taken<'_>) -> BTreeMap<ItemId, Outcome> {
        let begun = clock::monotonic();
        let gone = self.plan.lock().gone(begun);
        let mut round = Round::new(taken.items.iter().cloned());
        let mut under_way = FuturesUnordered::new();
        loop {
            while under_way.len() < STEPS_AT_ONCE_MAX
                && let Some(ask) = round.ask()
            {
                under_way.push(self.step(ask, &gone));
            }
            match under_way.next().await {
                Some(answer) => round.told(answer),
                None => break,
            }
        }
        let (outcomes, findings) = round.finish();
        self.plan.lock().ended(&outcomes, &findings, begun, clock::monotonic());
        self.report(&outcomes, &findings);
        outcomes
    }

    async fn step(&self, ask: Ask, gone: &[WriterId]) -> Answer {
        match ask {
            Ask::Claim(item) => {
                self.stats.count_round_trip();
                let result = within(self.hot.claim(&item, gone)).await;
                Answer::Claimed(item, result)
            }
            Ask::Insert(item, comments) => {
                let result = within(self.durable.insert_comments(&item, &comments)).await;
                Answer::Inserted(item, result)
            }
            Ask::Apply(flights) => self.apply(flights).await,
            Ask::Read(item) => {
                let result = within(self.durable.document(&item)).await;
                Answer::Read(item, result)
            }
            Ask::Align(item, document) => {
                self.stats.count_round_trip();
                let result = within(self.hot.align(&item, &document)).await;
                Answer::Aligned(item, result)
            }
            Ask::Audit(item) => {
                self.stats.count_round_trip();
                let result = within(self.hot.audit(&item)).await;
                Answer::Audited(item, result)
            }
        }
    }

    async fn apply(&self, flights: Vec<Flight>) -> Answer {
        let result = within(self.durable.apply(&flights)).await;
        Answer::Applied(flights.into_iter().map(|flight| flight.item).collect(), result)
    }

    fn report(&self, outcomes: &BTreeMap<ItemId, Outcome>, findings: &Findings) {
        let mut failed = 0;
        for (item, outcome) in outcomes {
            match outcome {
                Outcome::Clean | Outcome::Folded => {}
                Outcome::Failed(error) => {
                    failed += 1;
                    tracing::warn!(%item, error, "not flushed; stays dirty");
                }
                Outcome::Behind => tracing::error!(%item, "the durable store is behind the item: realign it"),
            }
        }
        for (item, rejected) in &findings.rejected {
            tracing::error!(%item, comment = %rejected.id, reason = rejected.reason, "comment refused and set aside");
        }
        for (item, drift) in findings.drift.iter().filter(|(_, drift)| **drift > 0) {
            tracing::error!(%item, drift, "the hot store takes for durable what the document does not say");
        }
        for item in &findings.laid_anew {
            tracing::warn!(%item, "the hot store had lost state; laid anew from the durable store");
        }
        self.stats.count_laid_anew(findings.laid_anew.len());
        self.stats.count_round(findings.folded, findings.rejected.len(), failed);
        self.refresh_stats();
    }
}

/// Items in a round; released when it ends, however it ends.
struct Taken<'a> {
    carry: &'a Carry,
    items: Vec<ItemId>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.carry.plan.lock().release(&self.items);
        self.carry.released.notify_waiters();
    }
}

/// The error of a batch of several items of which nothing came through.
fn all_failed(outcomes: &BTreeMap<ItemId, Outcome>) -> Option<String> {
    let mut errors = outcomes.values().map(|outcome| match outcome {
        Outcome::Failed(error) => Some(error.clone()),
        Outcome::Clean | Outcome::Folded | Outcome::Behind => None,
    });
    let first = errors.next().flatten()?;
    (outcomes.len() > 1 && errors.all(|error| error.is_some())).then_some(first)
}

async fn within<T, E: std::fmt::Display>(call: impl Future<Output = Result<T, E>>) -> Result<T, String> {
    match timeout(STEP_TIMEOUT, call).await {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} s", STEP_TIMEOUT.as_secs())),
    }
}

fn longer(wait: Duration) -> Duration {
    (wait * 2).min(RETRY_WAITS.1)
}
