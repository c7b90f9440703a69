//! When batches begin: soon after their first step, at most one per tick, and in phase with whoever ticks.
//!
//! A batch that began late must not make all later ones late: steps come at a steady rate, so whoever only keeps a distance
//! of a tick never catches up. So a batch that waited for its turn although nobody came any more brings the next one forward,
//! by a quarter of a tick at most. A straggler that waits together with the next tick's steps does not. Pure: times come in.

use std::time::Duration;

use tokio::time::Instant;

/// How long the first step of a batch waits for others: rooms tick in phase, so a node's steps come within a millisecond or
/// two; longer would show as latency of every ack.
const GATHER: Duration = Duration::from_millis(2);

/// See the module.
#[derive(Debug)]
pub(in crate::store::hot) struct Pace {
    tick: Duration,
    not_before: Instant,
}

impl Pace {
    pub fn new(tick: Duration, now: Instant) -> Self {
        Self { tick, not_before: now }
    }

    /// When the batch begins whose first step came at this time.
    pub fn begin(&self, first: Instant) -> Instant {
        self.not_before.max(first + self.gather())
    }

    /// A batch has begun: when it was to, when it did, and when its last step had come.
    pub fn begun(&mut self, planned: Instant, actual: Instant, last: Instant) {
        let idle = planned.saturating_duration_since(last + self.gather());
        let forward = idle.min(self.tick / 4);
        self.not_before = (planned + self.tick - forward).max(actual + self.tick * 3 / 4);
    }

    fn gather(&self) -> Duration {
        GATHER.min(self.tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK_MS: u64 = 100;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// Batches for steps that come at these times, each beginning up to so late; when each begins.
    fn begins(arrivals_ms: &[u64], late_ms: impl Fn(usize) -> u64) -> Vec<u64> {
        let origin = Instant::now();
        let mut pace = Pace::new(ms(TICK_MS), origin);
        let mut waiting = arrivals_ms.iter().copied().peekable();
        let mut begins = Vec::new();
        while let Some(first) = waiting.next() {
            let planned = pace.begin(origin + ms(first));
            let actual = planned + ms(late_ms(begins.len()));
            let mut last = first;
            while let Some(next) = waiting.next_if(|at| origin + ms(*at) <= actual) {
                last = next;
            }
            pace.begun(planned, actual, origin + ms(last));
            begins.push(u64::try_from((actual - origin).as_millis()).unwrap());
        }
        begins
    }

    fn ticks(n: u64) -> Vec<u64> {
        (0..n).map(|k| k * TICK_MS).collect()
    }

    #[test]
    fn steps_in_phase_wait_only_for_each_other() {
        assert_eq!(begins(&ticks(4), |_| 0), [2, 102, 202, 302]);
    }

    #[test]
    fn a_late_tick_does_not_make_all_later_ones_late() {
        assert_eq!(begins(&[0, 100, 260, 300, 400, 500, 600], |_| 0), [2, 102, 262, 362, 437, 512, 602]);
    }

    #[test]
    fn a_batch_that_began_late_does_not_make_all_later_ones_late() {
        assert_eq!(begins(&ticks(6), |batch| if batch == 1 { 90 } else { 0 }), [2, 192, 267, 342, 417, 502]);
    }

    #[test]
    fn stragglers_go_with_the_next_tick_and_do_not_shift_it() {
        assert_eq!(begins(&[0, 5, 100, 130, 199, 200, 300], |_| 0), [2, 102, 202, 302]);
    }

    #[test]
    fn a_flood_of_steps_is_never_more_than_a_batch_per_three_quarters_of_a_tick() {
        let begins = begins(&(0..2_000).collect::<Vec<_>>(), |batch| (batch as u64 * 37) % 60);
        assert!(begins.windows(2).all(|pair| pair[1] - pair[0] >= TICK_MS * 3 / 4), "{begins:?}");
        assert!(begins.len() as u64 <= 2_000 / TICK_MS + 1, "on the whole one per tick: {}", begins.len());
    }
}
