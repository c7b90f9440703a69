//! The way to the driver: on its own runtime, in bounded number, in bounded time.
//!
//! A client of the driver belongs to the runtime that made it, while rooms and doors ask from threads of their own. What was
//! begun is carried on when the asker goes away: a write that is cut off half way would only cost the connection.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::store::durable::contract::DurableError;

/// How long a caller waits for its turn, and then for its answer. Above the selection of a server and a majority that is slow to
/// acknowledge, below what people wait for a page; after it the outcome is unknown, and asking again is harmless.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

pub(super) struct Gate {
    runtime: Handle,
    /// One per piece of work under way; closed with the store.
    permits: Arc<Semaphore>,
    all: u32,
    failures: AtomicU64,
}

impl Gate {
    /// For as many pieces of work at once as there are connections: more would only wait inside the driver.
    pub fn on_this_runtime(all: u32) -> Self {
        Self {
            runtime: Handle::current(),
            permits: Arc::new(Semaphore::new(all as usize)),
            all,
            failures: AtomicU64::new(0),
        }
    }

    /// Work that came to no outcome so far.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Has the work done on the driver's runtime.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, DurableError>> + Send + 'static,
    ) -> Result<T, DurableError> {
        let outcome = self.run_uncounted(work).await;
        if outcome.is_err() {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
        outcome
    }

    async fn run_uncounted<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, DurableError>> + Send + 'static,
    ) -> Result<T, DurableError> {
        let turn = timeout(ANSWER_TIMEOUT, self.permits.clone().acquire_owned()).await;
        let permit = turn.map_err(|_| too_late("turn"))?.map_err(|_| DurableError("the store is closed".to_owned()))?;
        let working = self.runtime.spawn(async move {
            let outcome = timeout(ANSWER_TIMEOUT, work).await;
            drop(permit);
            outcome.unwrap_or_else(|_| Err(too_late("answer")))
        });
        working.await.map_err(|stopped| DurableError(stopped.to_string()))?
    }

    /// Takes no more work and waits for what is under way.
    pub async fn close(&self) {
        if let Ok(_all) = self.permits.acquire_many(self.all).await {
            self.permits.close();
        }
    }
}

fn too_late(what: &str) -> DurableError {
    DurableError(format!("no {what} within {} s", ANSWER_TIMEOUT.as_secs()))
}
