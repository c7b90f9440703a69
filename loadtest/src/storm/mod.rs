//! The storm: many sockets tap (and comment) by the clock; then every number the server ever showed must fit the books.
//!
//! Owns nothing of the server's. Invariants checked: every act with an `id` is answered once; counts never go down on any socket and
//! all end at the same number; events have no gap; the ledger stands at what was accepted, and is flushed in the end.
//! It does not compare comments with the history: that is `replay`.

pub mod asks;
pub mod sender;

mod config;
mod report;
mod settle;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::protocol::Message;

pub use config::StormConfig;
pub use report::StormReport;

use crate::api::{self, Api, Audit};
use crate::client::{self, Joined, Socket};
use crate::http::Http;
use crate::ledger::Ledger;
use crate::order::Order;
use crate::watch::Watch;
use asks::{Asks, Measures};
use sender::{Seat, Shared, SharedSeat, lock};

/// The kind of tap that a storm taps.
pub const KIND: &str = "heart";
/// From the last join to the first message: all tasks stand ready by then.
const START_DELAY: Duration = Duration::from_millis(100);
/// A writer may be behind its plan for so long before the run gives up on it.
const WRITERS_LATE_MAX: Duration = Duration::from_secs(60);
/// A closing handshake is not waited for longer.
const CLOSE_MAX: Duration = Duration::from_millis(500);

/// Runs a whole storm: joins, taps, settles, checks.
///
/// # Errors
/// The configuration is not allowed, or the server could not be reached. Broken promises are no error but the report's violations.
pub async fn run(config: StormConfig) -> Result<StormReport> {
    let mut storm = Storm::open(config).await?;
    storm.load().await;
    storm.settle().await?;
    storm.close().await;
    Ok(storm.report())
}

/// A storm in steps, for tests that do something to the server in between.
#[derive(Debug)]
pub struct Storm {
    config: StormConfig,
    api: Api,
    start_audit: Audit,
    end_audit: Option<Audit>,
    shared: Arc<Shared>,
    seats: Vec<SharedSeat>,
    writers: Vec<JoinHandle<SplitSink<Socket, Message>>>,
    readers: Vec<JoinHandle<()>>,
    sinks: Vec<SplitSink<Socket, Message>>,
    stop: watch::Sender<bool>,
    cpu_before: Duration,
    took: Duration,
}

impl Storm {
    /// Joins with all sockets and starts the clock.
    pub async fn open(config: StormConfig) -> Result<Self> {
        config.check()?;
        crate::usage::allow_sockets(config.sockets)?;
        let mut api = Api::open(&config.target, &config.item).await?;
        let start_audit = api.audit().await?;
        let tokens = tokens(&config).await?;
        let joined = client::join_all(&config.target, &config.item, tokens).await?;
        let start = Instant::now() + START_DELAY;
        let shared = Arc::new(Shared { measures: Measures::default(), order: Mutex::new(Order::default()), start });
        let mut storm = Self {
            api,
            start_audit,
            end_audit: None,
            shared,
            seats: Vec::new(),
            writers: Vec::new(),
            readers: Vec::new(),
            sinks: Vec::new(),
            stop: watch::channel(false).0,
            cpu_before: crate::usage::own_cpu(),
            took: Duration::ZERO,
            config,
        };
        joined.into_iter().enumerate().for_each(|(index, joined)| storm.seat(index, joined));
        Ok(storm)
    }

    fn seat(&mut self, index: usize, joined: Joined) {
        let watch = Watch::new(format!("socket {index}"), KIND);
        let mut seat = Seat { watch, asks: Asks::new(self.config.intent_of(index)) };
        joined.frames.iter().for_each(|frame| seat.take(frame, &self.shared));
        let seat = Arc::new(Mutex::new(seat));
        let (sink, stream) = joined.socket.split();
        self.writers.push(tokio::spawn(sender::write(sink, Arc::clone(&seat), Arc::clone(&self.shared), index)));
        let stop = self.stop.subscribe();
        self.readers.push(tokio::spawn(sender::read(stream, Arc::clone(&seat), Arc::clone(&self.shared), stop)));
        self.seats.push(seat);
    }

    /// Lets the plan run out (or every socket be cut).
    pub async fn load(&mut self) {
        let bar = crate::progress::bar(self.config.length.as_secs(), "s", self.config.is_quiet);
        let deadline = self.shared.start + self.config.length + WRITERS_LATE_MAX;
        let shared = Arc::clone(&self.shared);
        let show = async {
            loop {
                tokio::time::sleep(Duration::from_millis(200)).await;
                bar.set_position(shared.start.elapsed().as_secs());
            }
        };
        let writers = std::mem::take(&mut self.writers);
        let finish = async {
            let mut sinks = Vec::with_capacity(writers.len());
            for mut writer in writers {
                match tokio::time::timeout_at(deadline, &mut writer).await {
                    Ok(Ok(sink)) => sinks.push(sink),
                    _ => writer.abort(),
                }
            }
            sinks
        };
        self.sinks = tokio::select! { sinks = finish => sinks, () = show => Vec::new() };
        self.took = self.shared.start.elapsed();
        bar.finish_and_clear();
    }

    /// The books so far, of all sockets.
    pub fn ledger(&self) -> Ledger {
        let mut ledger = Ledger::default();
        self.seats.iter().for_each(|seat| ledger.add(&lock(seat).asks.books));
        ledger
    }

    /// Where the counter of taps stood before the storm.
    pub fn taps_before(&self) -> i64 {
        self.start_audit.counter(&format!("taps.{KIND}")).total
    }

    /// Ids of all acknowledged comments, as JSON tokens.
    pub fn comments_acked(&self) -> Vec<Box<str>> {
        self.seats.iter().flat_map(|seat| lock(seat).asks.comments_acked.clone()).collect()
    }

    /// Ends the readers and says goodbye.
    pub async fn close(&mut self) {
        // Without receivers the readers have ended already, which is just as well.
        let _ = self.stop.send(true);
        for reader in std::mem::take(&mut self.readers) {
            // A reader that panicked has shown it on standard error; its seat is checked like any other.
            let _ = reader.await;
        }
        let closing = self.sinks.iter_mut().map(|sink| tokio::time::timeout(CLOSE_MAX, sink.close()));
        futures_util::future::join_all(closing).await;
    }
}

/// A viewer's token for each socket if the storm comments; anonymous sockets tap as well.
async fn tokens(config: &StormConfig) -> Result<Vec<Option<String>>> {
    if config.comments_per_s <= 0.0 {
        return Ok(vec![None; config.sockets]);
    }
    let mut http = Http::new(config.target.clone());
    let mut tokens = Vec::with_capacity(config.sockets);
    for index in 0..config.sockets {
        let token = api::token(&mut http, &format!("storm-{index}"), "viewer").await;
        tokens.push(Some(token.context("a viewer's token")?));
    }
    Ok(tokens)
}
