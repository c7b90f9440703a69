//! What a room does because other nodes serve the same item over one hot store: it looks at what they did, and tells how many people it
//! has. Pure. A room whose store is its own has no neighbours.
//!
//! A look is a step without a contribution, in the tick's own round trip. While nothing changes a room looks more and more rarely.

use std::time::{Duration, Instant};

/// The longest time between two looks: what happens elsewhere is seen within it and a broadcast. A quiet room costs one read a second.
const LOOK_MAX: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Debug)]
pub struct Neighbours {
    tick: Duration,
    presence: Duration,
    /// What was told last of this node's people, and when.
    told: Option<(u64, Instant)>,
    elsewhere: u64,
    wait: Duration,
    look_at: Instant,
}

impl Neighbours {
    /// Nothing is known of them yet. `presence`: how long what is told lasts.
    pub fn new(tick: Duration, presence: Duration, now: Instant) -> Self {
        Self { tick, presence, told: None, elsewhere: 0, wait: tick, look_at: now }
    }

    /// People on the other nodes.
    pub fn elsewhere(&self) -> i64 {
        i64::try_from(self.elsewhere).unwrap_or(i64::MAX)
    }

    /// Whether it is time to look.
    pub fn is_due(&self, now: Instant) -> bool {
        self.look_at <= now
    }

    /// What is to be told of this node's people: a change, or the same before it runs out.
    pub fn to_tell(&self, here: u64, now: Instant) -> Option<u64> {
        let told = self.told.map_or(0, |(told, _)| told);
        (told != here || (here > 0 && self.tell_at().is_some_and(|at| at <= now))).then_some(here)
    }

    /// A step was answered: what it told, how many people are elsewhere, and whether anything had changed.
    pub fn answered(&mut self, told: Option<u64>, elsewhere: u64, news: bool, now: Instant) {
        self.told = told.map(|told| (told, now)).or(self.told);
        let still = !news && elsewhere == self.elsewhere;
        self.elsewhere = elsewhere;
        self.wait = if still { (self.wait * 2).min(LOOK_MAX) } else { self.tick };
        self.look_at = now + self.wait;
    }

    /// How long until it is time to look or to tell.
    pub fn next_in(&self, now: Instant) -> Duration {
        let at = self.tell_at().map_or(self.look_at, |tell_at| tell_at.min(self.look_at));
        at.saturating_duration_since(now)
    }

    fn tell_at(&self) -> Option<Instant> {
        self.told.filter(|(told, _)| *told > 0).map(|(_, at)| at + self.presence / 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(100);

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn a_quiet_room_looks_more_and_more_rarely_and_never_less_than_once_a_second() {
        let mut now = Instant::now();
        let mut neighbours = Neighbours::new(TICK, ms(12_000), now);
        let mut waits = Vec::new();
        for news in [true, false, false, false, false, false, true, false] {
            assert!(neighbours.is_due(now));
            neighbours.answered(None, 0, news, now);
            waits.push(neighbours.next_in(now).as_millis());
            now += neighbours.next_in(now);
        }
        assert_eq!(waits, [100, 200, 400, 800, 1_000, 1_000, 100, 200]);
        neighbours.answered(None, 7, false, now);
        assert_eq!((neighbours.next_in(now), neighbours.elsewhere()), (TICK, 7), "people coming and going are news");
    }

    #[test]
    fn people_are_told_when_they_change_and_again_before_it_runs_out() {
        let start = Instant::now();
        let mut neighbours = Neighbours::new(TICK, ms(900), start);
        assert_eq!(neighbours.to_tell(0, start), None, "nobody need not be told");
        assert_eq!(neighbours.to_tell(2, start), Some(2));
        neighbours.answered(Some(2), 0, true, start);
        assert_eq!(neighbours.to_tell(2, start + ms(299)), None);
        assert_eq!(neighbours.to_tell(2, start + ms(300)), Some(2), "a third of the time");
        assert_eq!(neighbours.to_tell(3, start + ms(10)), Some(3));
        neighbours.answered(None, 0, false, start);
        assert!(neighbours.next_in(start) <= ms(300), "it looks in time to tell again");
        assert_eq!(neighbours.to_tell(0, start), Some(0));
        neighbours.answered(Some(0), 0, true, start);
        assert_eq!(neighbours.to_tell(0, start + ms(9_000)), None);
    }

    #[test]
    fn what_was_not_answered_was_not_told() {
        let start = Instant::now();
        let neighbours = Neighbours::new(TICK, ms(900), start);
        assert_eq!(neighbours.to_tell(2, start), Some(2));
        assert_eq!(neighbours.to_tell(2, start + TICK), Some(2));
    }
}
