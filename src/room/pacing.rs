//! How often a room broadcasts, by its size. Pure.
//!
//! Contributions keep the node's tick, so that acks stay quick; only the fan-out is paced, which is what grows with the
//! audience. The interval is told to clients as `pace`, so that they can spread hearts over it.

use std::time::Duration;

/// The share of a room's interval per socket. A delivery costs 5-8 µs of CPU on the machines of `docs/benchmarks.md`; at 20 µs of
/// interval for each, one room's fan-out stays under 40 % of one core however many are watching.
const INTERVAL_PER_SOCKET: Duration = Duration::from_micros(20);

/// The slowest broadcast: a count that moves once a second still looks alive.
const INTERVAL_MAX: Duration = Duration::from_secs(1);

/// How many ticks lie between two broadcasts to so many sockets; at least 1.
pub fn ticks_between(tick: Duration, sockets: usize) -> u32 {
    let sockets = u32::try_from(sockets).unwrap_or(u32::MAX);
    let wanted = INTERVAL_PER_SOCKET.saturating_mul(sockets).min(INTERVAL_MAX);
    let ticks = wanted.as_nanos().div_ceil(tick.as_nanos().max(1));
    u32::try_from(ticks).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_room_cannot_take_the_whole_machine() {
        let tick = Duration::from_millis(100);
        assert_eq!(ticks_between(tick, 0), 1);
        assert_eq!(ticks_between(tick, 5_000), 1);
        assert_eq!(ticks_between(tick, 5_001), 2);
        assert_eq!(ticks_between(tick, 50_000), 10);
        assert_eq!(ticks_between(tick, usize::MAX), 10);
        assert_eq!(ticks_between(Duration::from_secs(2), 1_000_000), 1);
    }
}
