//! The hot store over Redis: all keys of an item in one slot, each step of the contract one atomic script.
//!
//! Steps that arrive within a tick share one pipeline, which is this store's round trip. What an item is stands in Redis alone; this
//! side holds one connection, the steps that wait, and where the last listing stopped. All IO runs on the runtime that the store was
//! opened with. Every wait is bounded: what is not answered in time is [`HotError::Unavailable`], outcome unknown, and the journals
//! offer it again. A Redis Cluster is not spoken to yet; keys are laid out for it.

mod batch;
mod fence;
mod inspect;
mod keys;
mod lease;
mod link;
mod listing;
mod readers;
mod reply;
mod request;
mod scripts;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ::redis::{Cmd, Value};
use async_trait::async_trait;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::protocol::{Comment, Counters, ItemId, WriterId};
use crate::store::durable::Document;
use crate::store::hot::contract::{Aligned, Audit, Flight, HotError, HotStore, Standing, Step};
use crate::store::hot::readers::FILTERED_FROM;

use batch::Waiting;
pub use inspect::{OpenError, Persistence};
use keys::Space;
use link::Link;
use listing::Listing;
use readers::Filters;
use request::{Node, Requests};

/// Steps that may wait for a pipeline; the next caller waits for a place. More than the rooms of a busy node.
const WAITING_MAX: usize = 16_384;

/// What the store needs to know.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `redis://[user][:password]@host[:port][/db]`; `rediss://` for TLS, trusted as the system trusts (or `SSL_CERT_FILE` says).
    pub url: String,
    /// What all keys begin with, for several installations on one Redis; no braces. Empty: nothing.
    pub space: String,
    /// This process run, whose lease is held while the store is open.
    pub writer: WriterId,
    /// One pipeline per this interval, for all that ticks.
    pub tick: Duration,
    /// How long a lease lasts without being renewed; it is renewed three times as often.
    pub lease: Duration,
    /// How long what this node told of its people lasts without being told again.
    pub presence: Duration,
    /// From how many likes on an item has a filter.
    pub filtered_from: i64,
    /// How long to wait for a connection.
    pub connect_timeout: Duration,
    /// How long to wait for the answers to one pipeline.
    pub response_timeout: Duration,
}

impl Settings {
    /// The settings of a server; every bound can be set otherwise.
    pub fn new(url: impl Into<String>, writer: WriterId, tick: Duration) -> Self {
        Self {
            url: url.into(),
            space: String::new(),
            writer,
            tick,
            // Twenty times what a busy machine takes to get round to a task, and soon enough for a reader of `living`.
            lease: Duration::from_secs(10),
            // A dead node's viewers leave the count within 15 s: this, a second until others look, and what a broadcast takes.
            presence: Duration::from_secs(12),
            filtered_from: FILTERED_FROM,
            // A local network answers in a millisecond; three retransmitted SYNs fit in.
            connect_timeout: Duration::from_secs(3),
            // A pipeline of a full node takes some 100 ms; a fork for a dump may stall Redis for longer than that.
            response_timeout: Duration::from_secs(3),
        }
    }
}

/// See the module.
pub struct RedisHot {
    shared: Arc<Shared>,
    steps: mpsc::Sender<Waiting>,
    listing: parking_lot::Mutex<Listing>,
    renewal: AbortHandle,
    persistence: Persistence,
    filtered_from: i64,
    filters: parking_lot::Mutex<Filters>,
}

/// What callers, pipelines and the lease share.
struct Shared {
    link: Link,
    requests: Requests,
    round_trips: AtomicU64,
}

impl RedisHot {
    /// Connects, looks at how the server is set up, takes the first lease; then takes steps. Bounded by the timeouts.
    pub async fn open(settings: Settings, runtime: Handle) -> Result<Self, OpenError> {
        let space = Space::new(&settings.space).ok_or(OpenError::Space)?;
        let node = Node { name: settings.writer.to_string(), presence: settings.presence };
        let requests = Requests::new(space, node);
        let link = Link::new(&settings, requests.loading(), runtime.clone())?;
        let persistence = inspect::inspect(&link).await?;
        let shared = Arc::new(Shared { link, requests, round_trips: AtomicU64::new(0) });
        let term = lease::Term { writer: settings.writer, lease: settings.lease };
        lease::renew(&shared, term).await.map_err(|failure| OpenError::Unusable(failure.to_string()))?;
        let (steps, waiting) = mpsc::channel(WAITING_MAX);
        runtime.spawn(batch::run(shared.clone(), waiting, settings.tick));
        let renewal = runtime.spawn(lease::keep(shared.clone(), term)).abort_handle();
        let (listing, filters) = (parking_lot::Mutex::default(), parking_lot::Mutex::default());
        Ok(Self { shared, steps, listing, renewal, persistence, filtered_from: settings.filtered_from, filters })
    }

    /// What this Redis keeps when it is stopped or lost, to be told at the start.
    pub fn persistence(&self) -> &Persistence {
        &self.persistence
    }

    /// Pipelines of steps so far: `heartline_hot_round_trips_total`. A pipeline that was sent again in part counts once.
    pub fn round_trips(&self) -> u64 {
        self.shared.round_trips.load(Ordering::Relaxed)
    }

    /// Connections made so far; every one after the first was a reconnection.
    pub fn connections(&self) -> u64 {
        self.shared.link.connections()
    }

    /// Pipelines and requests that were not answered: `heartline_store_failures_total`.
    pub fn failures(&self) -> u64 {
        self.shared.link.failures()
    }

    /// Bytes of the filters that this process came by: `heartline_filter_bytes`.
    pub fn filter_bytes(&self) -> u64 {
        self.filters.lock().bytes()
    }

    async fn ask(&self, request: Cmd) -> Result<Value, HotError> {
        self.shared.ask(request).await
    }
}

impl Drop for RedisHot {
    fn drop(&mut self) {
        // The lease runs out by itself: whoever looks at it waits for hours anyway. Pipelines end with the channel.
        self.renewal.abort();
    }
}

impl Shared {
    async fn ask(&self, request: Cmd) -> Result<Value, HotError> {
        let answers = self.link.send(vec![request]).await?;
        reply::accepted(answers.into_iter().next().unwrap_or_default())
    }
}

#[async_trait]
impl HotStore for RedisHot {
    async fn step(&self, step: Step) -> Result<Standing, HotError> {
        let stopped = || HotError::Unavailable("the store has stopped".to_owned());
        let (answer, answered) = oneshot::channel();
        let request = self.shared.requests.step(&step)?;
        if step.add.is_none() && step.events.is_empty() && step.after.is_none() {
            // A room that begins: no part of a tick, and not to be counted with its round trips.
            return reply::standing(self.ask(request).await?);
        }
        self.steps.send(Waiting { request, since: Instant::now(), answer }).await.map_err(|_| stopped())?;
        let reply = answered.await.map_err(|_| stopped())??;
        reply::standing(reply::accepted(reply)?)
    }

    async fn claim(&self, item: &ItemId, gone: &[WriterId]) -> Result<Option<Flight>, HotError> {
        reply::flight(item, self.ask(self.shared.requests.claim(item, gone)).await?)
    }

    async fn align(&self, item: &ItemId, document: &Document) -> Result<Aligned, HotError> {
        reply::aligned(self.ask(self.shared.requests.align(item, document)).await?)
    }

    async fn dirty(&self, limit: usize) -> Result<Vec<ItemId>, HotError> {
        let answers = self.shared.link.send(self.shared.requests.dirty(limit)).await?;
        let listed = reply::items(answers)?;
        Ok(self.listing.lock().turn(listed, limit))
    }

    async fn totals(&self, items: &[ItemId]) -> Result<Vec<Option<Counters>>, HotError> {
        let answers = self.shared.link.send(items.iter().map(|item| self.shared.requests.item(item)).collect()).await?;
        answers.into_iter().map(|answer| reply::totals(reply::accepted(answer)?)).collect()
    }

    async fn unflushed_comments(&self, item: &ItemId) -> Result<Vec<Comment>, HotError> {
        reply::write_ahead(self.ask(self.shared.requests.comments(item)).await?)
    }

    async fn audit(&self, item: &ItemId) -> Result<Option<Audit>, HotError> {
        reply::audit(self.ask(self.shared.requests.item(item)).await?)
    }

    async fn base(&self, item: &ItemId) -> Result<Option<Document>, HotError> {
        reply::base(self.ask(self.shared.requests.item(item)).await?)
    }

    fn shared(&self) -> bool {
        true
    }

    async fn viewers(&self, item: &ItemId) -> Result<u64, HotError> {
        reply::viewers(self.shared.link.send(self.shared.requests.presence(item)).await?)
    }

    async fn let_go(&self, item: &ItemId) -> Result<bool, HotError> {
        reply::is_one(&self.ask(self.shared.requests.let_go(item)).await?)
    }

    async fn living(&self) -> Result<Vec<WriterId>, HotError> {
        reply::writers(self.ask(self.shared.requests.living()).await?)
    }
}
