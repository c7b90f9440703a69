//! Sockets: how many, how long, how much each may hold.

use std::time::Duration;

use super::bounds::{Bound, count};
use super::ms;

/// Every bound of a socket, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketConfig {
    /// Open sockets of one node; one more is answered 503 with `Retry-After`.
    pub sockets_max: usize,
    /// How often the server pings. Balancers cut silent connections at 60 s, some at 30: at most 25 s.
    pub ping: Duration,
    /// Payload of one frame and of one whole message, bytes; one more closes 1009.
    pub message_max_bytes: usize,
    /// Events that wait for one slow socket; past it `dropped`, then 4001.
    pub outbox_events_max: usize,
    /// Bytes that wait for one slow socket; likewise.
    pub outbox_bytes_max: usize,
    /// How long a socket that was told 4001 has to read it.
    pub slow_grace: Duration,
    /// How long sent bytes may stay unacknowledged by a peer that vanished (`TCP_USER_TIMEOUT`).
    pub user_timeout: Duration,
    /// Reconnects after a shutdown are spread over this long.
    pub reconnect_spread: Duration,
    /// Acts with an answer that one socket may have under way; one more is `rate_limited`.
    pub acts_in_flight_max: usize,
}

/// Bounds that the file can set.
pub(super) const BOUNDS: &[Bound<SocketConfig>] = &[
    Bound { key: "sockets_max", least: 1, most: 10_000_000, set: |c, n| c.sockets_max = count(n) },
    Bound { key: "ping_ms", least: 100, most: 25_000, set: |c, n| c.ping = ms(n) },
    Bound { key: "message_max_bytes", least: 1_024, most: 1 << 20, set: |c, n| c.message_max_bytes = count(n) },
    Bound { key: "outbox_events_max", least: 1, most: 1_000_000, set: |c, n| c.outbox_events_max = count(n) },
    Bound { key: "outbox_bytes_max", least: 4_096, most: 1 << 30, set: |c, n| c.outbox_bytes_max = count(n) },
    Bound { key: "slow_grace_ms", least: 10, most: 120_000, set: |c, n| c.slow_grace = ms(n) },
    Bound { key: "user_timeout_ms", least: 100, most: 600_000, set: |c, n| c.user_timeout = ms(n) },
    Bound { key: "reconnect_spread_ms", least: 0, most: 600_000, set: |c, n| c.reconnect_spread = ms(n) },
    Bound { key: "acts_in_flight_max", least: 1, most: 10_000, set: |c, n| c.acts_in_flight_max = count(n) },
];

impl SocketConfig {
    /// How long a socket may be silent: 2.5 pings, so that one lost ping does not end it.
    pub fn idle(&self) -> Duration {
        self.ping * 5 / 2
    }
}

impl Default for SocketConfig {
    fn default() -> Self {
        Self {
            sockets_max: 100_000,
            ping: Duration::from_secs(20),
            message_max_bytes: 8 * 1024,
            outbox_events_max: 256,
            outbox_bytes_max: 256 * 1024,
            slow_grace: Duration::from_secs(10),
            user_timeout: Duration::from_secs(30),
            reconnect_spread: Duration::from_secs(10),
            acts_in_flight_max: 64,
        }
    }
}
