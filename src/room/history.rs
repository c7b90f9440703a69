//! What a room keeps for those who come late or come back: the last events and the last comments. Pure.
//!
//! A resume is answered from here only if it can be proved: same epoch, a number not ahead, and every event after it still here.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::protocol::server::SNAPSHOT_COMMENTS;
use crate::protocol::{Comment, Epoch};

/// The last events of a room, encoded, and the comments for its snapshot.
#[derive(Debug)]
pub struct History {
    epoch: Epoch,
    seq: u64,
    events: VecDeque<Bytes>,
    events_max: usize,
    comments: VecDeque<Comment>,
}

impl History {
    /// Nothing yet, at this point of the numbering; `comments` are the latest, oldest first.
    pub fn new(epoch: Epoch, seq: u64, events_max: usize, comments: impl IntoIterator<Item = Comment>) -> Self {
        let mut history = Self {
            epoch,
            seq,
            events: VecDeque::new(),
            events_max,
            comments: VecDeque::with_capacity(SNAPSHOT_COMMENTS),
        };
        history.remember_comments(comments);
        history
    }

    /// The numbering that the events belong to.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The number of the last event; 0: none.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The latest comments, oldest first, at most [`SNAPSHOT_COMMENTS`].
    pub fn comments(&mut self) -> &[Comment] {
        self.comments.make_contiguous()
    }

    /// Appends the event with the next number; answers `false`, changing nothing, if it is any other.
    #[must_use]
    pub fn append(&mut self, seq: u64, frame: Bytes) -> bool {
        if seq != self.seq + 1 {
            return false;
        }
        self.seq = seq;
        if self.events.len() == self.events_max {
            self.events.pop_front();
        }
        self.events.push_back(frame);
        true
    }

    /// Keeps these as the latest comments. One that is among them already stays where it is: after a loss in the hot store the nodes give
    /// again what was not yet folded, and the new numbering begins with it.
    pub fn remember_comments(&mut self, comments: impl IntoIterator<Item = Comment>) {
        for comment in comments {
            if self.comments.iter().any(|known| known.id == comment.id) {
                continue;
            }
            if self.comments.len() == SNAPSHOT_COMMENTS {
                self.comments.pop_front();
            }
            self.comments.push_back(comment);
        }
    }

    /// Goes on in a new numbering; events of the old one are of no use any more. Comments stay.
    pub fn restart(&mut self, epoch: Epoch, seq: u64) {
        self.events.clear();
        (self.epoch, self.seq) = (epoch, seq);
    }

    /// The events after `seq` of `epoch`, in order; `None` if it cannot be proved that they are all.
    pub fn after(&self, epoch: Epoch, seq: u64) -> Option<impl Iterator<Item = &Bytes>> {
        let missed = usize::try_from(self.seq.checked_sub(seq)?).ok()?;
        let known = epoch == self.epoch && missed <= self.events.len();
        known.then(|| self.events.iter().skip(self.events.len() - missed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{CommentId, Millis, UserId};
    use uuid::Uuid;

    fn history(events: u64) -> History {
        let mut history = History::new(Epoch(Uuid::from_u128(1)), 0, 3, []);
        for seq in 1..=events {
            assert!(history.append(seq, Bytes::from(seq.to_string())));
        }
        history
    }

    fn after(history: &History, epoch: u128, seq: u64) -> Option<Vec<String>> {
        let events = history.after(Epoch(Uuid::from_u128(epoch)), seq)?;
        Some(events.map(|frame| String::from_utf8(frame.to_vec()).unwrap()).collect())
    }

    #[test]
    fn a_resume_is_whole_or_refused() {
        let history = history(5);
        assert_eq!(after(&history, 1, 5), Some(vec![]));
        assert_eq!(after(&history, 1, 3), Some(vec!["4".into(), "5".into()]));
        assert_eq!(after(&history, 1, 2).map(|events| events.len()), Some(3));
        assert_eq!(after(&history, 1, 1), None, "event 2 is gone");
        assert_eq!(after(&history, 1, 6), None, "ahead of the room");
        assert_eq!(after(&history, 2, 5), None, "another epoch");
    }

    #[test]
    fn another_epochs_events_are_never_replayed() {
        let mut history = history(3);
        history.restart(Epoch(Uuid::from_u128(2)), 7);
        assert_eq!(after(&history, 1, 2), None);
        assert_eq!(after(&history, 2, 7), Some(vec![]));
        assert_eq!(after(&history, 2, 6), None);
    }

    #[test]
    fn comments_that_are_given_again_are_not_shown_twice() {
        let comment = |n: u128| Comment {
            id: CommentId(Uuid::from_u128(n)),
            user: UserId::parse("ann").unwrap(),
            text: n.to_string(),
            at: Millis(0),
            name: None,
        };
        let mut history = History::new(Epoch(Uuid::from_u128(1)), 0, 3, (0..60).map(comment));
        history.restart(Epoch(Uuid::from_u128(2)), 1);
        history.remember_comments((55..62).map(comment));
        let ids: Vec<_> = history.comments().iter().map(|comment| comment.id.0.as_u128()).collect();
        assert_eq!(ids, (12..62).collect::<Vec<_>>());
    }

    #[test]
    fn a_gap_in_the_numbers_is_not_hidden() {
        let mut history = history(1);
        assert!(!history.append(3, Bytes::new()));
        assert!(!history.append(1, Bytes::new()));
        assert_eq!(history.seq(), 1);
    }
}
