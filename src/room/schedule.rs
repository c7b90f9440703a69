//! When a room wants its next turn: at most a handful of requests to the ticker stand at a time. Pure.

use std::collections::BTreeSet;

/// The ticks that the room has asked for and not yet had.
#[derive(Debug, Default)]
pub struct Schedule(BTreeSet<u64>);

impl Schedule {
    /// Whether a turn at `tick` has to be asked for: not if one comes sooner anyway, since each turn decides about the next.
    #[must_use]
    pub fn want(&mut self, tick: u64) -> bool {
        let sooner = self.0.first().is_some_and(|first| *first <= tick);
        !sooner && self.0.insert(tick)
    }

    /// The turn of `tick` is here.
    pub fn had(&mut self, tick: u64) {
        self.0 = self.0.split_off(&(tick + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_room_does_not_pile_up_requests() {
        let mut schedule = Schedule::default();
        for now in 0..1_000 {
            schedule.had(now);
            let _ = schedule.want(now + 50);
            let _ = schedule.want(now + 1);
        }
        assert!(schedule.0.len() <= 3, "{schedule:?}");
    }
}
