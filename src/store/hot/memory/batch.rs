//! Gathers the steps of a tick, makes their rows durable in one commit, then applies and answers them.
//!
//! Steps of one item keep their order. Nothing of a batch whose commit failed is applied: its writers offer it again.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::Shared;
use super::core::Admitted;
use crate::store::hot::contract::{HotError, Standing, Step};
use crate::store::hot::pace::Pace;
use crate::store::log::LogRow;

/// Steps of one batch: bounds how long a commit takes (a SQLite log takes 20,000 rows a second and more) and what it holds in
/// memory. The rest go with the next.
const BATCH_MAX: usize = 8_192;

/// A step, when it came, and who waits for it.
pub(super) struct Waiting {
    pub step: Step,
    pub since: Instant,
    pub answer: oneshot::Sender<Result<Standing, HotError>>,
}

/// Runs until the store is dropped. Who comes too late for a batch goes with the next.
pub(super) async fn run(shared: Arc<Shared>, mut waiting: mpsc::Receiver<Waiting>, tick: Duration) {
    let mut pace = Pace::new(tick, Instant::now());
    while let Some(first) = waiting.recv().await {
        let planned = pace.begin(first.since);
        sleep_until(planned).await;
        let mut batch = vec![first];
        while batch.len() < BATCH_MAX
            && let Ok(next) = waiting.try_recv()
        {
            batch.push(next);
        }
        let last = batch.iter().map(|waiting| waiting.since).max();
        pace.begun(planned, Instant::now(), last.unwrap_or(planned));
        commit(&shared, batch).await;
    }
}

async fn commit(shared: &Shared, batch: Vec<Waiting>) {
    let _gate = shared.gate.lock().await;
    shared.round_trips.fetch_add(1, Ordering::Relaxed);
    let rows = rows(shared, &batch);
    if !rows.is_empty()
        && let Err(failure) = shared.log.append(rows).await
    {
        for Waiting { answer, .. } in batch {
            // Who waited may have given up; the outcome is unknown to them either way.
            let _ = answer.send(Err(HotError::Unavailable(failure.to_string())));
        }
        return;
    }
    let mut core = shared.core.lock();
    for Waiting { step, answer, .. } in batch {
        let _ = answer.send(core.step(&step));
    }
}

/// The rows of those adds that will be applied. One that would not be, or would overflow, is found out again when it is applied.
fn rows(shared: &Shared, batch: &[Waiting]) -> Vec<LogRow> {
    let core = shared.core.lock();
    let mut admitted = Admitted::default();
    let adds = batch.iter().filter_map(|waiting| Some((&waiting.step.item, waiting.step.add.as_ref()?)));
    let taken = adds.filter(|(item, add)| matches!(core.admit(&mut admitted, item, add), Ok(true)));
    taken.map(|(item, add)| LogRow { item: item.clone(), add: add.clone() }).collect()
}
