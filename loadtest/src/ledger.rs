//! The books of a run: how much the server must have counted, from what was sent and what was answered.
//!
//! A tap with an `id` is counted as its `ack` says. A tap without one is counted unless the server told it as refused. Where a
//! socket was cut, or an answer says `outcome: "unknown"`, the truth lies in a range; without such accidents the range is a point.

use std::ops::RangeInclusive;

/// What one socket sent and was told, in taps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SocketBooks {
    /// Sent with an `id`.
    pub asked: u64,
    /// Sent without an `id`.
    pub blind: u64,
    /// Of `asked`: in messages that were answered, whatever the answer.
    pub answered: u64,
    /// Of `answered`: accepted, by the acks.
    pub accepted: u64,
    /// Of `answered`: the server could not say (`outcome: "unknown"`).
    pub unknown: u64,
    /// Of `blind`: told as refused.
    pub refused_blind: u64,
    /// The connection broke before the end.
    pub cut: bool,
}

/// The sum of all sockets' books.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Taps sent, with or without `id`.
    pub sent: u64,
    /// Taps that were certainly counted.
    pub certain: u64,
    /// Taps that may or may not have been counted.
    pub unsure: u64,
    /// Taps that the server refused, and said so.
    pub refused: u64,
    /// Taps with an `id` that nothing has answered yet.
    pub unanswered: u64,
}

impl Ledger {
    /// Adds one socket.
    pub const fn add(&mut self, books: &SocketBooks) {
        let pending = books.asked.saturating_sub(books.answered);
        let blind = books.blind.saturating_sub(books.refused_blind);
        let (blind_certain, blind_unsure) = if books.cut { (0, blind) } else { (blind, 0) };
        self.sent += books.asked + books.blind;
        self.certain += books.accepted + blind_certain;
        self.unsure += books.unknown + pending + blind_unsure;
        self.unanswered += pending;
        self.refused += books.answered.saturating_sub(books.accepted + books.unknown) + books.refused_blind;
    }

    /// What the counter must stand at, if it stood at `start` before the run.
    pub const fn expected(&self, start: i64) -> RangeInclusive<i64> {
        let low = start.saturating_add_unsigned(self.certain);
        low..=low.saturating_add_unsigned(self.unsure)
    }

    /// Compares with the server's total.
    ///
    /// # Errors
    /// The total is outside of what was expected: taps were lost or doubled; says how many.
    pub fn check(&self, start: i64, total: i64) -> Result<(), String> {
        let expected = self.expected(start);
        if expected.contains(&total) {
            return Ok(());
        }
        let (low, high) = (*expected.start(), *expected.end());
        let what = if total < low { format!("{} lost", low - total) } else { format!("{} too many", total - high) };
        Err(format!("ledger: {what}: total {total}, expected {low} to {high} (start {start}, {self:?})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_lost_or_doubled_tap_shows() {
        let mut ledger = Ledger::default();
        ledger.add(&SocketBooks {
            asked: 50,
            answered: 50,
            accepted: 40,
            blind: 30,
            refused_blind: 5,
            ..Default::default()
        });
        assert_eq!((ledger.certain, ledger.unsure, ledger.refused), (65, 0, 15));
        assert!(ledger.check(100, 165).is_ok());
        assert!(ledger.check(100, 164).is_err_and(|e| e.contains("1 lost")));
        assert!(ledger.check(100, 166).is_err_and(|e| e.contains("1 too many")));
    }

    #[test]
    fn a_cut_socket_makes_a_range_of_what_was_not_answered() {
        let mut ledger = Ledger::default();
        ledger.add(&SocketBooks { asked: 10, answered: 6, accepted: 6, blind: 4, cut: true, ..Default::default() });
        assert_eq!(ledger.expected(0), 6..=14);
        assert!(ledger.check(0, 5).is_err() && ledger.check(0, 6).is_ok() && ledger.check(0, 15).is_err());
    }
}
