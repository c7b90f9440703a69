//! The embedded hot store: a [`MemoryCore`] behind a log of contributions.
//!
//! Steps that arrive within a tick share one commit of the log, which is this store's round trip. A contribution becomes
//! visible, and is answered, only after its row is durable; so a process that dies takes nothing acknowledged with it. Reads touch
//! the core alone. Whoever builds the store is inside a Tokio runtime, on which the batches run until the store is dropped.

mod batch;
mod core;
mod fence;
mod ledger;
mod marks;
mod recovery;
mod stream;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::protocol::{Comment, Counters, ItemId, WriterId};
use crate::store::durable::{Document, DurableStore};
use crate::store::hot::contract::{Aligned, Audit, Flight, HotError, HotStore, Standing, Step};
use crate::store::log::ContributionLog;

use batch::Waiting;
pub use core::{Admitted, MemoryCore};
pub use fence::{FenceCore, MemoryFence};
pub use recovery::{RecoverError, Recovered, recover};
pub use stream::EVENTS_MAX;

/// Steps that may wait for a batch; the next caller waits for a place. More than the rooms of a busy node; the step of a room
/// without one would only wait elsewhere.
const WAITING_MAX: usize = 16_384;

/// What the store needs to know of its process.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// This process run: the only writer that lives.
    pub writer: WriterId,
    /// One commit per this interval, for all that ticks.
    pub tick: Duration,
    /// For epochs and tags.
    pub seed: u64,
}

/// See the module.
pub struct MemoryHot {
    shared: Arc<Shared>,
    steps: mpsc::Sender<Waiting>,
    writer: WriterId,
}

/// What callers and batches share.
struct Shared {
    core: parking_lot::Mutex<MemoryCore>,
    /// Held from the admission of a batch until it is applied, and by whatever else moves an item's numbers: what was found
    /// to fit must still fit when its row is durable, since a row in the log cannot be taken back.
    gate: tokio::sync::Mutex<()>,
    log: Arc<dyn ContributionLog>,
    round_trips: AtomicU64,
}

impl MemoryHot {
    /// Lays the items that the log names from their documents and their rows, then takes steps.
    pub async fn recover(
        log: Arc<dyn ContributionLog>,
        durable: &dyn DurableStore,
        settings: Settings,
    ) -> Result<(Self, Recovered), RecoverError> {
        let mut core = MemoryCore::new(settings.seed);
        let recovered = recovery::recover(&mut core, log.as_ref(), durable).await?;
        if recovered.unreachable > 0 {
            // An append whose outcome nobody learned can leave such a row; nothing in it was ever acknowledged.
            tracing::warn!(
                rows = recovered.unreachable,
                "rows of the contribution log do not join on to what is folded"
            );
        }
        Ok((Self::start(core, log, settings), recovered))
    }

    fn start(core: MemoryCore, log: Arc<dyn ContributionLog>, settings: Settings) -> Self {
        let (steps, waiting) = mpsc::channel(WAITING_MAX);
        let shared = Arc::new(Shared {
            core: parking_lot::Mutex::new(core),
            gate: tokio::sync::Mutex::new(()),
            log,
            round_trips: AtomicU64::new(0),
        });
        tokio::spawn(batch::run(shared.clone(), waiting, settings.tick));
        Self { shared, steps, writer: settings.writer }
    }

    /// Batches so far: `heartline_hot_round_trips_total`. Reads are none, they leave nothing behind.
    pub fn round_trips(&self) -> u64 {
        self.shared.round_trips.load(Ordering::Relaxed)
    }

    /// Everything that is not yet folded, over all items: `heartline_unflushed`.
    pub fn unflushed(&self) -> Counters {
        self.shared.core.lock().unflushed()
    }
}

#[async_trait]
impl HotStore for MemoryHot {
    async fn step(&self, step: Step) -> Result<Standing, HotError> {
        if step.add.is_none() && step.events.is_empty() {
            return self.shared.core.lock().step(&step);
        }
        let stopped = || HotError::Unavailable("the store has stopped".to_owned());
        let (answer, answered) = oneshot::channel();
        self.steps.send(Waiting { step, since: Instant::now(), answer }).await.map_err(|_| stopped())?;
        answered.await.map_err(|_| stopped())?
    }

    async fn claim(&self, item: &ItemId, gone: &[WriterId]) -> Result<Option<Flight>, HotError> {
        let _gate = self.shared.gate.lock().await;
        Ok(self.shared.core.lock().claim(item, gone))
    }

    async fn align(&self, item: &ItemId, document: &Document) -> Result<Aligned, HotError> {
        let _gate = self.shared.gate.lock().await;
        Ok(self.shared.core.lock().align(item, document))
    }

    async fn dirty(&self, limit: usize) -> Result<Vec<ItemId>, HotError> {
        Ok(self.shared.core.lock().dirty(limit))
    }

    async fn totals(&self, items: &[ItemId]) -> Result<Vec<Option<Counters>>, HotError> {
        let core = self.shared.core.lock();
        Ok(items.iter().map(|item| core.totals(item)).collect())
    }

    async fn unflushed_comments(&self, item: &ItemId) -> Result<Vec<Comment>, HotError> {
        Ok(self.shared.core.lock().unflushed_comments(item))
    }

    async fn audit(&self, item: &ItemId) -> Result<Option<Audit>, HotError> {
        Ok(self.shared.core.lock().audit(item))
    }

    async fn base(&self, item: &ItemId) -> Result<Option<Document>, HotError> {
        Ok(self.shared.core.lock().base(item))
    }

    async fn let_go(&self, item: &ItemId) -> Result<bool, HotError> {
        let _gate = self.shared.gate.lock().await;
        Ok(self.shared.core.lock().let_go(item))
    }

    async fn living(&self) -> Result<Vec<WriterId>, HotError> {
        Ok(vec![self.writer])
    }
}
