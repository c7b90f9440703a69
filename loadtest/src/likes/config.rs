//! What a run of likes is asked to do, and the bounds on it.

use std::time::Duration;

use crate::target::{NotAllowed, Target, allow};

/// Acts of one batch, by the wire contract.
const BATCH_MAX: usize = 1_000;
/// Sockets, connections, acts under way on a socket.
const SOCKETS_MAX: usize = 20_000;
const CONNECTIONS_MAX: usize = 256;
const WINDOW_MAX: usize = 60;
/// People and items: what the books of one process hold.
const PEOPLE_MAX: usize = 5_000_000;
const ITEMS_MAX: usize = 100_000;
const LENGTH_MAX: Duration = Duration::from_secs(3_600);

/// How likes are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Way {
    /// By a service, in batches over REST.
    Batch,
    /// By as many viewers as there are sockets, each with acks.
    Sockets,
}

/// What to do.
#[derive(Debug, Clone)]
pub struct LikesConfig {
    /// Which server.
    pub target: Target,
    /// What the items' names begin with.
    pub prefix: String,
    /// See [`Way`].
    pub way: Way,
    /// How many items.
    pub items: usize,
    /// How many people (over sockets: the sockets).
    pub people: usize,
    /// Acts of one batch.
    pub batch: usize,
    /// HTTP connections, each with one batch under way.
    pub connections: usize,
    /// Viewer sockets.
    pub sockets: usize,
    /// Acts under way on one socket.
    pub window: usize,
    /// How long.
    pub length: Duration,
    /// The same seed sends the same.
    pub seed: u64,
}

impl LikesConfig {
    /// Whether the bounds are kept.
    ///
    /// # Errors
    /// Names the value that is out of bounds.
    pub fn check(&self) -> Result<(), NotAllowed> {
        let within =
            |name: &str, value: usize, most: usize| allow((1..=most).contains(&value), format!("{name}: 1 to {most}"));
        within("items", self.items, ITEMS_MAX)?;
        within("people", self.people, PEOPLE_MAX)?;
        within("batch", self.batch, BATCH_MAX)?;
        within("connections", self.connections, CONNECTIONS_MAX)?;
        within("sockets", self.sockets, SOCKETS_MAX)?;
        within("window", self.window, WINDOW_MAX)?;
        allow(self.people >= self.connections, "people: at least one for each connection")?;
        allow(self.way == Way::Batch || self.items == 1, "items: one, over sockets")?;
        allow(self.length <= LENGTH_MAX, format!("seconds: {} at most", LENGTH_MAX.as_secs()))
    }

    /// The name of an item.
    pub fn item(&self, n: usize) -> String {
        format!("{}-{n}", self.prefix)
    }

    /// How many send.
    pub const fn senders(&self) -> usize {
        match self.way {
            Way::Batch => self.connections,
            Way::Sockets => self.sockets,
        }
    }
}
