//! Rooms, ticks and flushes.

use std::time::Duration;

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
    /// Whether an unknown item is made by whoever first opens a socket to it or acts on it.
    pub auto_create: bool,
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
            auto_create: false,
        }
    }
}
