//! Gathers the steps of a tick and sends them in one pipeline, at most one per tick; steps of one item keep their order.
//!
//! One pipeline at a time: the next waits for the answers of the last, so a slow Redis makes pipelines larger and not more.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ::redis::{Cmd, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::Shared;
use crate::store::hot::contract::HotError;
use crate::store::hot::pace::Pace;

/// Steps of one pipeline: bounds how long Redis serves nobody else's tick. The rest go with the next.
const BATCH_MAX: usize = 8_192;

/// A step as it is sent, when it came, and who waits for the answer.
pub(super) struct Waiting {
    pub request: Cmd,
    pub since: Instant,
    pub answer: oneshot::Sender<Result<Value, HotError>>,
}

/// Runs until the store is dropped. Who comes too late for a pipeline goes with the next.
pub(super) async fn run(shared: Arc<Shared>, mut waiting: mpsc::Receiver<Waiting>, tick: Duration) {
    let mut pace = Pace::new(tick, Instant::now());
    while let Some(first) = waiting.recv().await {
        let planned = pace.begin(first.since);
        sleep_until(planned).await;
        let mut last = first.since;
        let (mut requests, mut answers) = (vec![first.request], vec![first.answer]);
        while requests.len() < BATCH_MAX
            && let Ok(next) = waiting.try_recv()
        {
            last = last.max(next.since);
            requests.push(next.request);
            answers.push(next.answer);
        }
        pace.begun(planned, Instant::now(), last);
        send(&shared, requests, answers).await;
    }
}

async fn send(shared: &Shared, requests: Vec<Cmd>, answers: Vec<oneshot::Sender<Result<Value, HotError>>>) {
    shared.round_trips.fetch_add(1, Ordering::Relaxed);
    // Who waited may have given up; the outcome is unknown to them either way.
    match shared.link.send(requests).await {
        Ok(replies) => {
            for (answer, reply) in answers.into_iter().zip(replies) {
                let _ = answer.send(Ok(reply));
            }
        }
        Err(failure) => {
            for answer in answers {
                let _ = answer.send(Err(failure.clone()));
            }
        }
    }
}
