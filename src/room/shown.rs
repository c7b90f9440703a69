//! What viewers are shown, which never goes backwards while only taps arrive (I4). Pure.
//!
//! Totals come from the hot store. If that loses state it answers less for a moment, until the nodes have given again what they
//! keep; a room then goes on showing what it showed, until the total has passed it or the hold has run out.

use std::time::{Duration, Instant};

use crate::protocol::{Counter, Counters, Epoch};

/// Flush intervals that a room holds its numbers after a loss: by then every journal has been given again and folded.
const HOLD_FLUSHES: u32 = 3;

/// The totals that a room shows.
#[derive(Debug)]
pub struct Shown {
    totals: Counters,
    epoch: Epoch,
    held: Option<(Counters, Instant)>,
    hold_for: Duration,
}

impl Shown {
    /// What the store says when the room starts.
    pub fn new(totals: Counters, epoch: Epoch, flush: Duration) -> Self {
        Self { totals, epoch, held: None, hold_for: flush * HOLD_FLUSHES }
    }

    /// The totals to show.
    pub fn totals(&self) -> &Counters {
        &self.totals
    }

    /// Takes what the store answered. Another epoch means that it laid the item anew: what was shown is held.
    pub fn read(&mut self, totals: Counters, epoch: Epoch, now: Instant) {
        if epoch != self.epoch {
            self.epoch = epoch;
            self.held = Some((self.totals.clone(), now + self.hold_for));
        }
        if self.held.as_ref().is_some_and(|(held, until)| *until <= now || covers(&totals, held)) {
            self.held = None;
        }
        self.totals = match &self.held {
            Some((held, _)) => higher(&totals, held),
            None => totals,
        };
    }
}

/// Only counters that can only rise are held; likes may go down by themselves.
fn held_counters(held: &Counters) -> impl Iterator<Item = (Counter, i64)> + '_ {
    held.iter().filter(|(counter, _)| *counter != Counter::Likes)
}

fn covers(totals: &Counters, held: &Counters) -> bool {
    held_counters(held).all(|(counter, n)| totals.get(counter) >= n)
}

fn higher(totals: &Counters, held: &Counters) -> Counters {
    let all = totals.iter().chain(held_counters(held).map(|(counter, _)| (counter, 0)));
    all.map(|(counter, _)| {
        (counter, totals.get(counter).max(if counter == Counter::Likes { i64::MIN } else { held.get(counter) }))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Kind;
    use uuid::Uuid;

    const HEART: Counter = Counter::Taps(Kind::HEART);

    fn totals(taps: i64, likes: i64) -> Counters {
        [(HEART, taps), (Counter::Likes, likes)].into_iter().collect()
    }

    #[test]
    fn a_store_that_lost_state_does_not_make_numbers_fall() {
        let (old, new) = (Epoch(Uuid::from_u128(1)), Epoch(Uuid::from_u128(2)));
        let start = Instant::now();
        let mut shown = Shown::new(totals(100, 9), old, Duration::from_secs(5));
        shown.read(totals(40, 7), new, start);
        assert_eq!(shown.totals(), &totals(100, 7), "taps are held, likes are not");
        shown.read(totals(120, 7), new, start);
        assert_eq!(shown.totals(), &totals(120, 7));
        shown.read(totals(119, 7), new, start);
        assert_eq!(shown.totals(), &totals(119, 7), "the hold has ended when the total had passed it");
    }

    #[test]
    fn a_hold_ends_after_three_flushes() {
        let (old, new) = (Epoch(Uuid::from_u128(1)), Epoch(Uuid::from_u128(2)));
        let start = Instant::now();
        let mut shown = Shown::new(totals(100, 0), old, Duration::from_secs(5));
        shown.read(totals(40, 0), new, start);
        shown.read(totals(41, 0), new, start + Duration::from_secs(14));
        assert_eq!(shown.totals(), &totals(100, 0));
        shown.read(totals(42, 0), new, start + Duration::from_secs(15));
        assert_eq!(shown.totals(), &totals(42, 0));
    }
}
