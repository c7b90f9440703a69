//! Rooms, ticks and flushes.

use std::time::Duration;

use super::bounds::{Bound, count};
use super::error::ConfigError;
use super::ms;

/// The tick that people still see as at once, and the one below which a room only makes work. Milliseconds.
const TICK_MS: std::ops::RangeInclusive<u64> = 10..=1_000;
/// The flush interval; ten minutes would be a journal that is full before it is folded. Milliseconds.
const FLUSH_MS: std::ops::RangeInclusive<u64> = 10..=600_000;

/// Every bound of a room, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomConfig {
    /// How often a room applies what it buffered and broadcasts. 100 ms: below what people see as lag (Nielsen).
    pub tick: Duration,
    /// How often deltas are folded into the durable store. 5 s: the trickle that the database is meant to see.
    pub flush: Duration,
    /// Rooms of one node; one more is refused as `unavailable`. Bounds memory to about 1 GiB of idle rooms.
    pub rooms_max: usize,
    /// Messages that may wait for one room; one more is refused as `unavailable`.
    pub mailbox_max: usize,
    /// Acts with an answer that may wait in one room for the hot store; one more is refused as `unavailable`.
    pub waiting_acts_max: usize,
    /// Events that a room keeps for resuming sockets; an older resume is answered with a snapshot.
    pub history_events: usize,
    /// Events that a room keeps for one relay that has not yet taken the last ones; past it the loss is declared.
    pub relay_events_max: usize,
    /// Numbers of one item's journal; near it a writer contributes more rarely.
    pub journal_numbers_max: usize,
    /// How long an act waits for its contribution; then its outcome is unknown to the caller.
    pub act_timeout: Duration,
    /// Past this age of the oldest unanswered contribution, acts with an answer are refused before they enter.
    pub stalled_after: Duration,
    /// How long a room with no sockets and nothing to fold stays in memory.
    pub linger: Duration,
    /// How long what a node told of its viewers lasts; told again three times as often. 12 s: with a second until the others look, a dead
    /// node's viewers are out of the count within 15.
    pub presence: Duration,
    /// Whether an unknown item is made by whoever first opens a socket to it or acts on it.
    pub auto_create: bool,
}

/// Bounds that the file can set.
pub(super) const BOUNDS: &[Bound<RoomConfig>] = &[
    Bound { key: "rooms_max", least: 1, most: 10_000_000, set: |c, n| c.rooms_max = count(n) },
    Bound { key: "mailbox_max", least: 16, most: 1_000_000, set: |c, n| c.mailbox_max = count(n) },
    Bound { key: "waiting_acts_max", least: 1, most: 1_000_000, set: |c, n| c.waiting_acts_max = count(n) },
    Bound { key: "history_events", least: 1, most: 1_000_000, set: |c, n| c.history_events = count(n) },
    Bound { key: "relay_events_max", least: 1, most: 100_000, set: |c, n| c.relay_events_max = count(n) },
    Bound { key: "journal_numbers_max", least: 64, most: 1_000_000, set: |c, n| c.journal_numbers_max = count(n) },
    Bound { key: "act_timeout_ms", least: 100, most: 300_000, set: |c, n| c.act_timeout = ms(n) },
    Bound { key: "stalled_after_ms", least: 100, most: 300_000, set: |c, n| c.stalled_after = ms(n) },
    Bound { key: "linger_ms", least: 0, most: 86_400_000, set: |c, n| c.linger = ms(n) },
    Bound { key: "presence_ms", least: 300, most: 12_000, set: |c, n| c.presence = ms(n) },
];

impl RoomConfig {
    pub(super) fn set_intervals(&mut self, tick_ms: Option<u64>, flush_ms: Option<u64>) -> Result<(), ConfigError> {
        let within = |field: &str, value: u64, range: std::ops::RangeInclusive<u64>| {
            let why = || format!("{value} is not {} to {}", range.start(), range.end());
            if range.contains(&value) { Ok(ms(value)) } else { Err(ConfigError::bad(field, why())) }
        };
        if let Some(value) = tick_ms {
            self.tick = within("tick_ms", value, TICK_MS)?;
        }
        if let Some(value) = flush_ms {
            self.flush = within("flush_ms", value, FLUSH_MS)?;
        }
        if self.flush < self.tick {
            let why = format!("{} ms is below the tick of {} ms", self.flush.as_millis(), self.tick.as_millis());
            return Err(ConfigError::bad("flush_ms", why));
        }
        Ok(())
    }
}

impl Default for RoomConfig {
    fn default() -> Self {
        Self {
            tick: Duration::from_millis(100),
            flush: Duration::from_secs(5),
            rooms_max: 100_000,
            mailbox_max: 16_384,
            waiting_acts_max: 8_192,
            history_events: 1_024,
            relay_events_max: 256,
            journal_numbers_max: 4_096,
            act_timeout: Duration::from_secs(30),
            stalled_after: Duration::from_secs(5),
            linger: Duration::from_secs(60),
            presence: Duration::from_secs(12),
            auto_create: false,
        }
    }
}
