//! The replay: a recorded (or made) show's comments are posted again, each by its viewer at its moment, while sockets watch.
//!
//! Invariants checked: every comment is acknowledged once; all watchers see the same comments in the same order, no gap, no double;
//! the history holds exactly the acknowledged ones, in that order, with the text that was sent; the ledger's `comments` agrees.
//! Posting is over REST, so that thousands of people need no socket each; the server must run with `--limits off`.

mod check;
mod post;
mod report;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::StreamExt;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::protocol::Message;

pub use report::ReplayReport;

use crate::api::{Api, Audit, OldComment};
use crate::client::{self, Joined};
use crate::inbound::Inbound;
use crate::order::Order;
use crate::report::Violations;
use crate::target::{NotAllowed, Target, allow};
use crate::trace::Line;
use crate::watch::Watch;
use post::Posted;

/// Watchers, at most.
const WATCHERS_MAX: usize = 50_000;
/// Connections that post, at most.
const CONNECTIONS_MAX: usize = 4_096;
/// The longest replay: a whole night at its own pace.
const LENGTH_MAX: Duration = Duration::from_secs(4 * 3_600);
/// Between two looks at the end state.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What to do.
#[derive(Debug, Clone)]
pub struct ReplayConfig {
    /// Which server.
    pub target: Target,
    /// Which item; made if unknown.
    pub item: String,
    /// The comments.
    pub lines: Vec<Line>,
    /// How many times faster than recorded.
    pub speed: f64,
    /// Sockets that watch.
    pub watchers: usize,
    /// HTTP connections that post; each has one request under way. Enough where `rate × speed × tick` stays below.
    pub connections: usize,
    /// How long to wait for the server to have, show and flush everything.
    pub settle_max: Duration,
    /// No progress bar.
    pub is_quiet: bool,
}

impl ReplayConfig {
    /// Lines at their own pace before ten watchers.
    pub fn new(target: Target, item: &str, lines: Vec<Line>) -> Self {
        Self {
            target,
            item: item.to_owned(),
            lines,
            speed: 1.0,
            watchers: 10,
            connections: 256,
            settle_max: Duration::from_secs(20),
            is_quiet: true,
        }
    }

    /// Whether the bounds are kept.
    ///
    /// # Errors
    /// Names the value that is out of bounds.
    pub fn check(&self) -> Result<(), NotAllowed> {
        allow(!self.lines.is_empty(), "the trace is empty")?;
        allow((0.01..=10_000.0).contains(&self.speed), "speed: 0.01 to 10000")?;
        allow((1..=WATCHERS_MAX).contains(&self.watchers), format!("watch: 1 to {WATCHERS_MAX}"))?;
        allow((1..=CONNECTIONS_MAX).contains(&self.connections), format!("connections: 1 to {CONNECTIONS_MAX}"))?;
        let last_ms = self.lines.last().map_or(0, |line| line.offset_ms);
        let length_s = last_ms as f64 / 1e3 / self.speed;
        allow(length_s <= LENGTH_MAX.as_secs_f64(), format!("{length_s:.0} s at this speed; use a higher one"))?;
        allow(self.settle_max <= LENGTH_MAX, format!("settle-s: {} at most", LENGTH_MAX.as_secs()))
    }
}

/// What everybody in a replay shares.
#[derive(Debug)]
struct Room {
    order: Mutex<Order>,
    watches: Vec<Mutex<Watch>>,
    start: Instant,
}

/// Runs a whole replay.
///
/// # Errors
/// The configuration is not allowed, or the server could not be reached. Broken promises are the report's violations.
pub async fn run(config: ReplayConfig) -> Result<ReplayReport> {
    config.check()?;
    crate::usage::allow_sockets(config.watchers + config.connections)?;
    let mut api = Api::open(&config.target, &config.item).await?;
    let before = api.audit().await?.counter("comments").total;
    let config = Arc::new(config);
    let tokens = post::tokens(&config).await.context("viewers' tokens")?;
    let joined = client::join_all(&config.target, &config.item, vec![None; config.watchers]).await?;
    let (room, stop, readers) = seat(joined);
    let cpu_before = crate::usage::own_cpu();
    let posted = post::all(&config, tokens, room.start).await;
    let took = room.start.elapsed();
    let audit = settle(&config, &mut api, &room, before, &posted).await?;
    let history = api.history().await?;
    // Without receivers the readers have ended already, which the watches know.
    let _ = stop.send(true);
    futures_util::future::join_all(readers).await;
    let cpu = crate::usage::own_cpu().saturating_sub(cpu_before);
    let violations = violations(&config, &room, before, &posted, &audit, &history);
    Ok(report::of(&config, &room, &posted, &audit, (took, cpu), history.len(), violations))
}

type Readers = Vec<tokio::task::JoinHandle<()>>;

fn seat(joined: Vec<Joined>) -> (Arc<Room>, watch::Sender<bool>, Readers) {
    let order = Mutex::new(Order::default());
    let start = Instant::now() + Duration::from_millis(100);
    let watches = (0..joined.len()).map(|i| Mutex::new(Watch::new(format!("watcher {i}"), "heart"))).collect();
    let room = Arc::new(Room { order, watches, start });
    let (stop, _) = watch::channel(false);
    let readers = joined.into_iter().enumerate();
    let readers =
        readers.map(|(i, joined)| tokio::spawn(read(joined, i, Arc::clone(&room), stop.subscribe()))).collect();
    (room, stop, readers)
}

/// One watcher: reads until told to stop.
async fn read(mut joined: Joined, index: usize, room: Arc<Room>, mut stop: watch::Receiver<bool>) {
    for frame in &joined.frames {
        room.take(index, frame);
    }
    loop {
        let received = tokio::select! {
            received = joined.socket.next() => received,
            _ = stop.wait_for(|stop| *stop) => return,
        };
        match received {
            Some(Ok(Message::Text(frame))) => room.take(index, frame.as_str()),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            end => {
                let end = end.map_or("closed".to_owned(), |end| format!("{end:?}"));
                return room.with(index, |watch| watch.broken(Err(format!("the connection ended: {end}"))));
            }
        }
    }
}

impl Room {
    fn with<T>(&self, index: usize, act: impl FnOnce(&mut Watch) -> T) -> T
    where
        T: Default,
    {
        self.watches
            .get(index)
            .map_or_else(T::default, |watch| act(&mut watch.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn take(&self, index: usize, frame: &str) {
        let now = self.start.elapsed();
        self.with(index, |watch| {
            for message in Inbound::of_frame(frame) {
                match message {
                    Ok(message) => watch.take(&message, now, &self.order),
                    Err(unreadable) => watch.broken(Err(unreadable)),
                }
            }
        });
    }

    /// Watchers that have not seen so many comments, or are shown another total.
    fn behind(&self, seen: usize, total: i64) -> Vec<String> {
        let see = |i: usize| self.with(i, |watch| (watch.comments_seen(), watch.comments_shown()));
        let differs = |(i, (has, shown)): (usize, (usize, i64))| {
            (has != seen || shown != total)
                .then(|| format!("watcher {i} has seen {has} comments of {seen}, is shown {shown} of {total}"))
        };
        (0..self.watches.len()).map(|i| (i, see(i))).filter_map(differs).collect()
    }
}

/// Level-triggered: until the ledger has every acknowledged comment, flushed, and every watcher has seen it; or the deadline.
async fn settle(config: &ReplayConfig, api: &mut Api, room: &Room, before: i64, posted: &[Posted]) -> Result<Audit> {
    let acked = posted.iter().filter(|posted| posted.outcome.is_ok()).count();
    let total = before + acked as i64;
    let deadline = Instant::now() + config.settle_max;
    loop {
        let audit = api.audit().await?;
        let counter = audit.counter("comments");
        let is_settled = counter.total == total && counter.unflushed == 0 && room.behind(acked, total).is_empty();
        if is_settled || Instant::now() >= deadline {
            return Ok(audit);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn violations(
    config: &ReplayConfig,
    room: &Room,
    before: i64,
    posted: &[Posted],
    audit: &Audit,
    history: &[OldComment],
) -> Violations {
    let mut all = Violations::default();
    (0..room.watches.len()).for_each(|i| all.merge(room.with(i, |watch| watch.violations.clone())));
    let acked = posted.iter().filter(|posted| posted.outcome.is_ok()).count();
    let counter = audit.counter("comments");
    all.check("audit", audit.check());
    if counter.total - before != acked as i64 || counter.unflushed != 0 {
        all.add(format!("ledger: {before} comments before, {acked} acknowledged, now {counter:?}"));
    }
    room.behind(acked, before + acked as i64).into_iter().for_each(|late| all.add(late));
    let order = room.order.lock().unwrap_or_else(PoisonError::into_inner);
    let added = history.get(usize::try_from(before).unwrap_or(0)..).unwrap_or_default();
    all.merge(check::compare(config.lines.as_slice(), posted, &order, added));
    all
}
