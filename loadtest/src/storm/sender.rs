//! The two tasks of one socket: one writes by the clock, one reads and checks. Neither waits for the other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::tungstenite::protocol::Message;

use super::asks::{Ask, Asks, Intent, Measures};
use crate::client::Socket;
use crate::inbound::Inbound;
use crate::order::Order;
use crate::text::line_text;
use crate::watch::Watch;

/// Code points and bytes of a storm's comments.
const COMMENT_LENGTH: (usize, usize) = (40, 60);

/// What all sockets of a storm share.
#[derive(Debug)]
pub struct Shared {
    /// Latencies.
    pub measures: Measures,
    /// The order of comments.
    pub order: Mutex<Order>,
    /// The moment that plans count from.
    pub start: Instant,
}

/// One socket's checks and books, written by both of its tasks. The lock is held for one message, never across a wait.
#[derive(Debug)]
pub struct Seat {
    /// What it was shown.
    pub watch: Watch,
    /// What it asked and was answered.
    pub asks: Asks,
}

/// A seat that two tasks and the run's end look at.
pub type SharedSeat = Arc<Mutex<Seat>>;

/// Locks a seat. A task that panicked has left whole values behind: every change is one assignment.
pub fn lock(seat: &Mutex<Seat>) -> MutexGuard<'_, Seat> {
    seat.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seat {
    /// Takes one frame.
    pub fn take(&mut self, frame: &str, shared: &Shared) {
        let now = shared.start.elapsed();
        for message in Inbound::of_frame(frame) {
            match message {
                Ok(message) if matches!(&*message.t, "ack" | "error") => {
                    let outcome = self.asks.answer(&message, now, &shared.measures);
                    self.watch.broken(outcome);
                }
                Ok(message) => {
                    self.watch.take(&message, now, &shared.order);
                    if message.t == "counts" {
                        self.asks.see_total(self.watch.taps_shown(), now, &shared.measures);
                    }
                }
                Err(unreadable) => self.watch.broken(Err(unreadable)),
            }
        }
    }
}

/// Writes the plan, each message at its moment; gives the sink back to be closed. `index` makes comments differ.
pub async fn write(
    mut sink: SplitSink<Socket, Message>,
    seat: SharedSeat,
    shared: Arc<Shared>,
    index: usize,
) -> SplitSink<Socket, Message> {
    let intent = lock(&seat).asks.intent;
    let (mut taps, mut comments) = (0, 0);
    while let Some((ask, due)) = intent.next(taps, comments) {
        match ask {
            Ask::Tap(_) => taps += 1,
            Ask::Comment(_) => comments += 1,
        }
        let due = shared.start + due;
        sleep_until(due).await;
        {
            let mut seat = lock(&seat);
            if seat.asks.books.cut {
                break;
            }
            seat.asks.sending(ask);
        }
        shared.measures.late.record(due.elapsed());
        if sink.send(Message::text(encode(&intent, ask, index))).await.is_err() {
            lock(&seat).asks.books.cut = true;
            break;
        }
    }
    sink
}

fn encode(intent: &Intent, ask: Ask, index: usize) -> String {
    match (ask, intent.id_of(ask)) {
        (Ask::Tap(_), Some(id)) => format!(r#"{{"t":"tap","n":{},"id":{id}}}"#, intent.n),
        (Ask::Tap(_), None) => format!(r#"{{"t":"tap","n":{}}}"#, intent.n),
        (Ask::Comment(j), id) => {
            let line = (index as u64) * 1_000_000 + j;
            json!({"t": "comment", "id": id, "text": line_text(line, COMMENT_LENGTH.0, COMMENT_LENGTH.1)}).to_string()
        }
    }
}

/// Reads until told to stop; a connection that ends before has been cut.
pub async fn read(
    mut stream: SplitStream<Socket>,
    seat: SharedSeat,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) {
    loop {
        let received = tokio::select! {
            received = stream.next() => received,
            _ = stop.wait_for(|stop| *stop) => return,
        };
        match received {
            Some(Ok(Message::Text(text))) => lock(&seat).take(text.as_str(), &shared),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            _ => {
                lock(&seat).asks.books.cut = true;
                return;
            }
        }
    }
}
