//! When what is to be sent: plain arithmetic, so that the plan cannot be slowed down by the answers.
//!
//! Messages of all senders together are evenly spaced; the senders take turns. The planned moment of a message follows from
//! its sender and its number alone, so whoever reads an answer can tell how late it is without shared state.

use std::time::Duration;

/// The plan of one sender: its `j`-th message goes out at `first + j × interval` after the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    first_ns: u64,
    interval_ns: u64,
    /// How many messages there are.
    pub messages: u64,
}

impl Plan {
    /// Sender `index` of `senders` that together send `per_second` messages for `length`. Messages per second; none: no messages.
    pub fn shared(index: usize, senders: usize, per_second: f64, length: Duration) -> Self {
        let gap_ns = 1e9 / per_second;
        if !gap_ns.is_finite() || per_second <= 0.0 || senders == 0 {
            return Self { first_ns: 0, interval_ns: 0, messages: 0 };
        }
        let interval_ns = gap_ns * senders as f64;
        let first_ns = gap_ns * index as f64;
        let left_ns = length.as_nanos() as f64 - first_ns;
        let messages = if left_ns <= 0.0 { 0.0 } else { (left_ns / interval_ns).ceil() };
        Self { first_ns: first_ns as u64, interval_ns: interval_ns as u64, messages: messages as u64 }
    }

    /// When message `j` is to go out, from the start.
    pub const fn at(&self, j: u64) -> Duration {
        Duration::from_nanos(self.first_ns + j * self.interval_ns)
    }
}

/// Whether the `j`-th message is one of the given fraction: evenly spread, exact over time.
pub fn is_in_fraction(j: u64, fraction: f64) -> bool {
    let up_to = |count: u64| (count as f64 * fraction.clamp(0.0, 1.0) + 1e-9).floor();
    up_to(j + 1) > up_to(j)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_together_keep_the_rate_and_take_turns() {
        let length = Duration::from_secs(10);
        let plans: Vec<Plan> = (0..7).map(|i| Plan::shared(i, 7, 100.0, length)).collect();
        assert_eq!(plans.iter().map(|p| p.messages).sum::<u64>(), 1_000);
        let mut moments: Vec<Duration> = plans.iter().flat_map(|p| (0..p.messages).map(|j| p.at(j))).collect();
        moments.sort();
        assert!(moments.windows(2).all(|w| matches!(w, [a, b] if (*b - *a).as_micros().abs_diff(10_000) <= 1)));
        assert!(moments.last().is_some_and(|last| *last < length));
    }

    #[test]
    fn no_rate_is_no_messages() {
        assert_eq!(Plan::shared(0, 5, 0.0, Duration::from_secs(1)).messages, 0);
        assert_eq!(Plan::shared(4, 5, 1.0, Duration::from_secs(1)).messages, 0);
    }

    #[test]
    fn a_fraction_is_exact_over_time() {
        for (fraction, expected) in [(0.0, 0), (0.1, 100), (0.5, 500), (1.0, 1_000)] {
            assert_eq!((0..1_000).filter(|j| is_in_fraction(*j, fraction)).count(), expected, "{fraction}");
        }
    }
}
