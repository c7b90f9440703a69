//! One socket's eyes: everything that a server may not show to a viewer, checked as it arrives.
//!
//! Pure: messages and times in, violations out. Each socket has its own `Watch`; the one thing shared is the [`Order`] of comments.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::inbound::Inbound;
use crate::order::{Follower, Order};
use crate::report::Violations;
use crate::rising::{Numbered, Rising};

/// What one socket has been shown.
#[derive(Debug)]
pub struct Watch {
    /// Names the socket in violations.
    name: String,
    kind: String,
    taps: Rising,
    comments: Rising,
    numbered: Numbered,
    follower: Follower,
    has_snapshot: bool,
    /// Promises broken towards this socket.
    pub violations: Violations,
}

impl Watch {
    /// A socket that has seen nothing yet and looks at one kind of tap.
    pub fn new(name: String, kind: &str) -> Self {
        Self {
            name,
            kind: kind.to_owned(),
            taps: Rising::default(),
            comments: Rising::default(),
            numbered: Numbered::default(),
            follower: Follower::default(),
            has_snapshot: false,
            violations: Violations::default(),
        }
    }

    /// The total of taps shown last; a room that has shown none is at 0.
    pub fn taps_shown(&self) -> i64 {
        self.taps.last().unwrap_or(0)
    }

    /// The total of comments shown last.
    pub fn comments_shown(&self) -> i64 {
        self.comments.last().unwrap_or(0)
    }

    /// Comments received since the snapshot.
    pub const fn comments_seen(&self) -> usize {
        self.follower.seen
    }

    /// Takes one message. `now` counts from the start of the run.
    pub fn take(&mut self, message: &Inbound<'_>, now: Duration, order: &Mutex<Order>) {
        match &*message.t {
            "snapshot" => self.snapshot(message),
            "counts" => {
                self.state(message);
                self.totals(message);
            }
            "comments" => {
                self.event(message);
                self.comments(message, now, order);
            }
            "dropped" => {
                let lost = message.comments.map_or("?", |raw| raw.get());
                self.broken(Err(format!("the server declares {lost} comments dropped for this socket")));
                self.numbered.restart(message.seq.unwrap_or(0));
            }
            "pace" => self.state(message),
            _ if message.seq.is_some() => self.event(message),
            _ => {}
        }
    }

    /// Notes the outcome of a check.
    pub fn broken(&mut self, outcome: Result<(), String>) {
        self.violations.check(&self.name, outcome);
    }

    fn snapshot(&mut self, message: &Inbound<'_>) {
        if self.has_snapshot {
            self.broken(Err("a second snapshot: the numbering broke off under an open socket".to_owned()));
        }
        self.has_snapshot = true;
        self.numbered.restart(message.seq.unwrap_or(0));
        self.totals(message);
    }

    fn totals(&mut self, message: &Inbound<'_>) {
        if let Some(total) = message.taps_of(&self.kind) {
            let outcome = self.taps.see(total).map_err(|e| format!("taps {e}"));
            self.broken(outcome);
        }
        if let Some(total) = message.comments_total() {
            let outcome = self.comments.see(total).map_err(|e| format!("comments {e}"));
            self.broken(outcome);
        }
    }

    fn state(&mut self, message: &Inbound<'_>) {
        let outcome = message.seq.map_or_else(|| missing(message), |seq| self.numbered.state(seq));
        self.broken(outcome);
    }

    fn event(&mut self, message: &Inbound<'_>) {
        let outcome = message.seq.map_or_else(|| missing(message), |seq| self.numbered.event(seq));
        self.broken(outcome);
    }

    fn comments(&mut self, message: &Inbound<'_>, now: Duration, order: &Mutex<Order>) {
        let mut order = order.lock().unwrap_or_else(PoisonError::into_inner);
        for comment in &message.list {
            let outcome = order.see(&mut self.follower, comment.id.get(), now);
            self.violations.check(&self.name, outcome);
        }
    }
}

fn missing(message: &Inbound<'_>) -> Result<(), String> {
    Err(format!("{} without seq", message.t))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(frames: &[&str]) -> Vec<String> {
        let mut watch = Watch::new("socket 0".to_owned(), "heart");
        let order = Mutex::new(Order::default());
        for frame in frames {
            for message in Inbound::of_frame(frame) {
                watch.take(&message.unwrap_or_else(|_| unreachable!()), Duration::ZERO, &order);
            }
        }
        watch.violations.first
    }

    const SNAPSHOT: &str = r#"{"t":"snapshot","seq":4,"counts":{"taps":{"heart":7},"comments":1},"comments":[]}"#;
    const COUNTS: &str = r#"{"t":"counts","seq":4,"taps":{"heart":8}}"#;
    const COMMENTS: &str = r#"{"t":"comments","seq":5,"list":[{"id":"a","user":"u","text":"x"}]}"#;

    #[test]
    fn an_orderly_room_breaks_nothing() {
        let after = r#"{"t":"counts","seq":5,"comments":2}"#;
        assert_eq!(violations(&[SNAPSHOT, COUNTS, COMMENTS, after]), [""; 0]);
    }

    #[test]
    fn every_kind_of_disorder_is_told() {
        let dip = r#"{"t":"counts","seq":4,"taps":{"heart":6}}"#;
        assert!(violations(&[SNAPSHOT, dip]).first().is_some_and(|v| v.contains("went down from 7 to 6")));
        assert!(violations(&[SNAPSHOT, COMMENTS, COMMENTS]).len() == 2, "a repeated number and a doubled comment");
        let gap = COMMENTS.replace("\"seq\":5", "\"seq\":6");
        assert_eq!(violations(&[SNAPSHOT, &gap]).len(), 1);
        assert_eq!(violations(&[SNAPSHOT, SNAPSHOT]).len(), 1);
        let dropped = r#"{"t":"dropped","seq":9,"comments":3,"since_ms":10}"#;
        assert!(violations(&[SNAPSHOT, dropped]).first().is_some_and(|v| v.contains("3 comments dropped")));
    }
}
