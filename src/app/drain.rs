//! The stop, a sequence with a report (I12): not ready → goodbye to sockets, each with a time to come back → no more requests →
//! likes land in their counters → rooms hand over → everything folded → stores closed. Each phase has a deadline within the whole one's.

use std::fmt;
use std::future::Future;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};
use tokio::time::timeout_at;

use super::serve::Running;
use crate::acts::door::{Goodbye, GoodbyeReport};
use crate::flush::{Drained, FlushAll};

/// What a stop came to.
#[derive(Debug, Clone, Default)]
pub struct DrainReport {
    /// Sockets that were told to come back, and those that had to be cut.
    pub sockets: GoodbyeReport,
    /// Whether every like landed in its counter, and every room handed over what it had buffered.
    pub handed_over: bool,
    /// Items that stayed unflushed; `None`: it could not be found out in time.
    pub unflushed_items: Option<usize>,
    /// How long it all took.
    pub took: Duration,
}

impl DrainReport {
    /// Whether nothing is left that only memory knows.
    pub fn is_clean(&self) -> bool {
        self.handed_over && self.unflushed_items == Some(0)
    }
}

impl fmt::Display for DrainReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sockets, handed_over, unflushed_items, took } = self;
        write!(f, "{} sockets told, {} cut; ", sockets.told, sockets.cut)?;
        write!(f, "rooms handed over: {}; ", if *handed_over { "yes" } else { "no" })?;
        match unflushed_items {
            Some(0) => write!(f, "nothing unflushed; ")?,
            Some(items) => write!(f, "{items} items UNFLUSHED; ")?,
            None => write!(f, "UNFLUSHED items not known; ")?,
        }
        write!(f, "{} ms", took.as_millis())
    }
}

/// How the time of a stop is divided: the flush gets what the phases before it leave, at least a third.
const GOODBYE_SHARE: u32 = 3;

impl Running {
    /// Stops the node. What is acknowledged is durable when this answers with a clean report.
    pub async fn stop(self) -> DrainReport {
        let started = Instant::now();
        let limit = self.app.config.server.drain_timeout;
        let (goodbye_until, end) = (started + limit / GOODBYE_SHARE, started + limit);
        self.app.ready.store(false, Ordering::Relaxed);
        let mut report = DrainReport::default();
        if let Some(sockets) = within(goodbye_until, self.goodbye()).await {
            report.sockets = sockets;
        }
        within(goodbye_until + limit / GOODBYE_SHARE, self.server.stop(true)).await;
        // Before the rooms, through which likes move their counters.
        let landed = within(end, self.likes.all_landed()).await.is_some();
        report.handed_over = within(end, self.registry.hand_over()).await.is_some() && landed;
        let flushed = within(end, self.flush.send(FlushAll { deadline: end })).await;
        report.unflushed_items = flushed.and_then(Result::ok).map(|Drained { items_left, .. }| items_left);
        self.close().await;
        report.took = started.elapsed();
        report
    }

    async fn goodbye(&self) -> GoodbyeReport {
        let spread_ms = u64::try_from(self.app.config.sockets.reconnect_spread.as_millis()).unwrap_or(u64::MAX);
        let relays = self.relays.lock().clone();
        let viewers = join_all(relays.iter().map(|relay| relay.send(Goodbye { spread_ms })));
        let (viewers, hosts) = join(viewers, self.studios.goodbye(spread_ms)).await;
        viewers
            .into_iter()
            .filter_map(Result::ok)
            .fold(hosts, |sum, one| GoodbyeReport { told: sum.told + one.told, cut: sum.cut + one.cut })
    }
}

async fn within<T>(deadline: Instant, phase: impl Future<Output = T>) -> Option<T> {
    timeout_at(deadline.into(), phase).await.ok()
}
