//! When recounts are due that nobody asked for: everything once a day, what changed every few minutes. Pure.

use std::time::{Duration, Instant};

use crate::protocol::Millis;

/// How often items whose likes changed on this node are recounted: often enough that a fault is hours younger than a night, seldom
/// enough to cost nothing.
pub const CHANGED_EVERY: Duration = Duration::from_secs(600);

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
const MINUTE_MS: i64 = 60 * 1_000;

/// See the module.
#[derive(Debug)]
pub struct Schedule {
    at_min: Option<u16>,
    /// The last day whose time has come.
    day: i64,
    changed_at: Instant,
}

impl Schedule {
    /// `at_min`: minutes after midnight, UTC; `None`: never. A time that has passed today comes tomorrow.
    pub fn new(at_min: Option<u16>, wall: Millis, now: Instant) -> Self {
        Self { at_min, day: day(at_min, wall), changed_at: now }
    }

    /// Whether everything is due; once a day.
    pub fn everything(&mut self, wall: Millis) -> bool {
        let today = day(self.at_min, wall);
        let due = self.at_min.is_some() && today > self.day;
        self.day = today.max(self.day);
        due
    }

    /// Whether what changed is due; every [`CHANGED_EVERY`].
    pub fn changed(&mut self, now: Instant) -> bool {
        let due = now.saturating_duration_since(self.changed_at) >= CHANGED_EVERY;
        if due {
            self.changed_at = now;
        }
        due
    }
}

/// Days begin at the time of day that is asked for.
fn day(at_min: Option<u16>, wall: Millis) -> i64 {
    (wall.0 - i64::from(at_min.unwrap_or(0)) * MINUTE_MS).div_euclid(DAY_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: i64 = 60 * MINUTE_MS;

    #[test]
    fn everything_is_due_once_a_day_at_its_time_and_not_at_the_start() {
        let at = |hours| Millis(20_000 * DAY_MS + hours * HOUR_MS);
        let mut schedule = Schedule::new(Some(4 * 60), at(6), Instant::now());
        let due: Vec<i64> = (6..80).filter(|hours| schedule.everything(at(*hours))).collect();
        assert_eq!(due, [28, 52, 76]);
        assert!(!schedule.everything(at(30)), "a clock that is set back brings no second night");
        let mut never = Schedule::new(None, at(0), Instant::now());
        assert!((0..100).all(|hours| !never.everything(at(hours))));
    }

    #[test]
    fn what_changed_is_due_every_few_minutes() {
        let start = Instant::now();
        let mut schedule = Schedule::new(None, Millis(0), start);
        let due: Vec<u64> =
            (0..31).filter(|minute| schedule.changed(start + Duration::from_secs(minute * 60))).collect();
        assert_eq!(due, [10, 20, 30]);
    }
}
