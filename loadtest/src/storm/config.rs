//! What a storm is asked to do, and the bounds on it.

use std::time::Duration;

use super::asks::Intent;
use crate::schedule::Plan;
use crate::target::{NotAllowed, Target, allow};

/// Sockets of one storm, at most: two processes' worth of memory stays within what a developer's machine has.
const SOCKETS_MAX: usize = 100_000;
/// Messages a second, at most: past what one generator can send on time.
const MESSAGES_PER_S_MAX: f64 = 1e6;
/// The longest storm.
const LENGTH_MAX: Duration = Duration::from_secs(3_600);
/// Taps in one message, by the wire contract.
const N_MAX: u32 = 100;

/// What to do.
#[derive(Debug, Clone)]
pub struct StormConfig {
    /// Which server.
    pub target: Target,
    /// Which item; made if unknown.
    pub item: String,
    /// How many sockets.
    pub sockets: usize,
    /// Taps per second of all sockets together (not messages: those are `taps_per_s / n`).
    pub taps_per_s: f64,
    /// Taps in one message.
    pub n: u32,
    /// The fraction of tap messages that carry an `id` and so are acknowledged.
    pub with_id: f64,
    /// Comments per second of all sockets together; any makes every socket a viewer with a token, else all are anonymous.
    pub comments_per_s: f64,
    /// How long to tap.
    pub length: Duration,
    /// How long to wait for the server to have everything, flushed. Above the flush interval.
    pub settle_max: Duration,
    /// Whether connections may break (the server is killed on purpose): then the ledger is checked as a range.
    pub may_be_cut: bool,
    /// No progress bar.
    pub is_quiet: bool,
}

impl StormConfig {
    /// A small storm: 10 sockets, 100 taps a second, half of them with `id`, for two seconds.
    pub fn new(target: Target, item: &str) -> Self {
        Self {
            target,
            item: item.to_owned(),
            sockets: 10,
            taps_per_s: 100.0,
            n: 1,
            with_id: 0.5,
            comments_per_s: 0.0,
            length: Duration::from_secs(2),
            settle_max: Duration::from_secs(20),
            may_be_cut: false,
            is_quiet: true,
        }
    }

    /// Whether the bounds are kept.
    ///
    /// # Errors
    /// Names the value that is out of bounds.
    pub fn check(&self) -> Result<(), NotAllowed> {
        let messages_per_s = self.taps_per_s / f64::from(self.n) + self.comments_per_s;
        allow((1..=SOCKETS_MAX).contains(&self.sockets), format!("sockets: 1 to {SOCKETS_MAX}"))?;
        allow((1..=N_MAX).contains(&self.n), format!("n: 1 to {N_MAX}"))?;
        allow((0.0..=1.0).contains(&self.with_id), "ids: 0 to 1")?;
        allow(self.taps_per_s >= 0.0 && self.comments_per_s >= 0.0, "rates cannot be negative")?;
        allow(messages_per_s <= MESSAGES_PER_S_MAX, format!("rates: {MESSAGES_PER_S_MAX} messages a second at most"))?;
        allow(self.length <= LENGTH_MAX, format!("seconds: {} at most", LENGTH_MAX.as_secs()))?;
        allow(self.settle_max <= LENGTH_MAX, format!("settle-s: {} at most", LENGTH_MAX.as_secs()))
    }

    /// The part of one socket.
    pub fn intent_of(&self, index: usize) -> Intent {
        let messages_per_s = self.taps_per_s / f64::from(self.n);
        Intent {
            taps: Plan::shared(index, self.sockets, messages_per_s, self.length),
            n: self.n,
            with_id: self.with_id,
            comments: Plan::shared(index, self.sockets, self.comments_per_s, self.length),
        }
    }
}
