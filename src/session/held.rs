//! What a room sent while a client's place in it was not yet known.
//!
//! A client is told where it stands by the answer to its join, which comes another way than the room's frames. Whoever
//! carries frames to it holds them here until all frames that the room sent before that answer have come by, and then
//! releases: events after the client's place follow it, those in it are dropped. So nothing is missed and nothing doubled.
//!
//! Counts have no numbers. Those that came by meanwhile are given unless they are known to be older: a counter that only
//! grows is lower in them. Where that cannot be told (only likes or viewers differ) they are given too: if they were the
//! older ones, the difference is something that the room has yet to broadcast, so the next counts put it right.

use std::sync::Arc;

use bytes::Bytes;

use super::outbox::Class;
use crate::protocol::{CloseCode, Counts};

/// A frame of a room, but for its counts.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// Encoded.
    pub bytes: Bytes,
    /// The room's number with it.
    pub seq: u64,
    /// An event, or a notice ([`Class::Plain`]).
    pub class: Class,
}

/// What came by.
#[derive(Debug, Default)]
pub struct Held {
    frames: Vec<Outgoing>,
    counts: Option<Arc<Counts>>,
    close: Option<CloseCode>,
}

/// What follows the frames of the answer.
#[derive(Debug)]
pub struct Released {
    /// In order.
    pub frames: Vec<Outgoing>,
    /// Counts to be told after them.
    pub counts: Option<Arc<Counts>>,
    /// The room's sockets are to be closed.
    pub close: Option<CloseCode>,
}

impl Held {
    /// Keeps an event or a notice. `false`: there are `max` already, the client has to come again.
    #[must_use]
    pub fn frame(&mut self, frame: Outgoing, max: usize) -> bool {
        let fits = self.frames.len() < max;
        if fits {
            self.frames.push(frame);
        }
        fits
    }

    /// Keeps the latest counts.
    pub fn counts(&mut self, all: Arc<Counts>) {
        self.counts = Some(all);
    }

    /// Keeps the room's wish to close.
    pub fn close(&mut self, code: CloseCode) {
        self.close = Some(code);
    }

    /// The client stands at `seq` and has been given `counts`.
    pub fn release(self, seq: u64, counts: &Counts) -> Released {
        let follows = |frame: &Outgoing| match frame.class {
            Class::Event { .. } => frame.seq > seq,
            Class::Plain | Class::Exempt => frame.seq >= seq,
        };
        Released {
            frames: self.frames.into_iter().filter(follows).collect(),
            counts: self.counts.filter(|held| **held != *counts && !is_older(held, counts)),
            close: self.close,
        }
    }
}

/// Whether a counter that only grows is lower in `these` than in `those`.
fn is_older(these: &Counts, those: &Counts) -> bool {
    let taps = |counts: &Counts, kind| counts.taps.iter().find(|(k, _)| *k == kind).map(|(_, n)| *n);
    let lower = |a: Option<i64>, b: Option<i64>| matches!((a, b), (Some(a), Some(b)) if a < b);
    lower(these.comments, those.comments) || these.taps.iter().any(|(kind, n)| lower(Some(*n), taps(those, *kind)))
}
