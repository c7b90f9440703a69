//! What a room keeps for one subscriber that has not yet taken the last frames. Pure.
//!
//! A subscriber is given frames only when it has answered the ones before, so a slow one costs a bounded list and never a growing
//! mailbox (I7, I8). Counts are conflated: one that missed some gets all of them. Events wait up to a bound; past it their loss is
//! counted and declared with the next frames.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use super::messages::Frame;
use crate::protocol::Counts;

/// The counts of one broadcast: what moved, and everything, for those who missed what moved before.
#[derive(Debug, Clone)]
pub struct CountsFrames {
    /// What moved since the broadcast before, encoded.
    pub moved: Bytes,
    /// All counts, encoded.
    pub all_encoded: Bytes,
    /// All counts.
    pub all: Arc<Counts>,
    /// Rises with every broadcast.
    pub version: u64,
}

/// Loss that has not been declared yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// The last lost event's number: the declaration covers the gap up to it.
    pub seq: u64,
    /// Comments in the lost events.
    pub comments: u64,
    /// When the first of them was lost.
    pub since: Instant,
}

/// One subscriber's outlet.
#[derive(Debug)]
pub struct Outlet {
    busy: bool,
    frames: VecDeque<Frame>,
    frames_max: usize,
    seen_version: u64,
    loss: Option<Loss>,
}

impl Outlet {
    /// Nothing waits; `version` is the last broadcast of counts, which the subscriber's sockets have in their snapshots.
    pub fn new(frames_max: usize, version: u64) -> Self {
        Self { busy: false, frames: VecDeque::new(), frames_max, seen_version: version, loss: None }
    }

    /// Keeps an event or notice for the next turn. Past the bound the oldest event goes: it can still be had by a resume.
    pub fn push(&mut self, frame: Frame, now: Instant) {
        self.frames.push_back(frame);
        while self.frames.len() > self.frames_max {
            if let Some(Frame::Event { comments, seq, .. }) = self.frames.pop_front() {
                let loss = self.loss.get_or_insert(Loss { seq, comments: 0, since: now });
                (loss.seq, loss.comments) = (seq, loss.comments + comments);
            }
        }
    }

    /// The subscriber has written or queued what it was given.
    pub fn answered(&mut self) {
        self.busy = false;
    }

    /// Whether something waits and the subscriber could take it; `version` is the last broadcast's.
    pub fn is_ready(&self, version: u64) -> bool {
        !self.busy && (!self.frames.is_empty() || self.seen_version < version)
    }

    /// What the subscriber is to be given now, if it is free and there is anything: a declaration of loss, events, counts.
    ///
    /// `declare` encodes a [`Loss`]. `seq` is the room's current number.
    pub fn take(
        &mut self,
        counts: Option<&CountsFrames>,
        seq: u64,
        declare: impl FnOnce(Loss) -> Bytes,
    ) -> Option<Vec<Frame>> {
        if self.busy {
            return None;
        }
        let mut list = Vec::with_capacity(self.frames.len() + 2);
        if let Some(loss) = self.loss.take() {
            list.push(Frame::Notice { bytes: declare(loss), seq: loss.seq });
        }
        list.extend(self.frames.drain(..));
        if let Some(counts) = counts.filter(|counts| counts.version > self.seen_version) {
            let missed_none = counts.version == self.seen_version + 1;
            let bytes = if missed_none { &counts.moved } else { &counts.all_encoded };
            let (bytes, all, version) = (bytes.clone(), counts.all.clone(), counts.version);
            list.push(Frame::Counts { bytes, seq, all, version });
            self.seen_version = version;
        }
        self.busy = !list.is_empty();
        self.busy.then_some(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(version: u64) -> CountsFrames {
        CountsFrames {
            moved: Bytes::from_static(b"moved"),
            all_encoded: Bytes::from_static(b"all"),
            all: Arc::default(),
            version,
        }
    }

    fn event(seq: u64) -> Frame {
        Frame::Event { bytes: Bytes::new(), seq, comments: 2 }
    }

    fn numbers(list: Option<Vec<Frame>>) -> Vec<u64> {
        let number = |frame| match frame {
            Frame::Event { seq, .. } => seq,
            _ => 0,
        };
        list.unwrap_or_default().into_iter().map(number).collect()
    }

    #[test]
    fn a_subscriber_that_does_not_answer_is_given_nothing_more() {
        let mut outlet = Outlet::new(4, 0);
        assert!(outlet.take(Some(&counts(1)), 0, |_| Bytes::new()).is_some());
        outlet.push(event(1), Instant::now());
        assert!(outlet.take(Some(&counts(2)), 1, |_| Bytes::new()).is_none());
        outlet.answered();
        assert_eq!(numbers(outlet.take(None, 1, |_| Bytes::new())), [1]);
    }

    #[test]
    fn a_subscriber_that_missed_counts_gets_all_of_them() {
        let mut outlet = Outlet::new(4, 0);
        let bytes = |list: Option<Vec<Frame>>| match list.as_deref() {
            Some([Frame::Counts { bytes, .. }]) => bytes.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(bytes(outlet.take(Some(&counts(1)), 0, |_| Bytes::new())), "moved");
        outlet.answered();
        assert_eq!(bytes(outlet.take(Some(&counts(3)), 0, |_| Bytes::new())), "all");
        outlet.answered();
        assert!(outlet.take(Some(&counts(3)), 0, |_| Bytes::new()).is_none(), "already seen");
    }

    #[test]
    fn loss_past_the_bound_is_counted_and_declared_first() {
        let mut outlet = Outlet::new(2, 0);
        let now = Instant::now();
        (1..=5).for_each(|seq| outlet.push(event(seq), now));
        let mut declared = None;
        let list = outlet.take(None, 5, |loss| {
            declared = Some(loss);
            Bytes::new()
        });
        assert_eq!(declared, Some(Loss { seq: 3, comments: 6, since: now }));
        assert_eq!(numbers(list), [0, 4, 5]);
    }
}
