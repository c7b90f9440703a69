//! The lease of this process run: proof that it lives, by the Redis server's own clock.
//!
//! Correctness never hangs on it; a claim only leaves out writers that were absent for hours.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::Shared;
use crate::protocol::WriterId;
use crate::store::hot::contract::HotError;

/// Whose lease, and how long one lasts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    pub writer: WriterId,
    pub lease: Duration,
}

/// Takes it for another term.
pub(super) async fn renew(shared: &Shared, term: Term) -> Result<(), HotError> {
    shared.ask(shared.requests.lease(term)).await.map(drop)
}

/// Keeps it until the task is ended. A renewal that fails is made up for by the next: three fall into one term.
pub(super) async fn keep(shared: Arc<Shared>, term: Term) {
    let mut times = interval(term.lease / 3);
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        times.tick().await;
        if let Err(failure) = renew(&shared, term).await {
            tracing::warn!(%failure, "the writer's lease was not renewed");
        }
    }
}
