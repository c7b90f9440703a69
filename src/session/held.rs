//! What a room sent while a client's place in it was not yet known.
//!
//! A client is told where it stands by the answer to its join, which comes another way than the room's frames. Whoever
//! carries frames to it holds them here until all frames that the room sent before that answer have come by, and then
//! releases: events after the client's place follow it, those in it are dropped. So nothing is missed and nothing doubled.
//!
//! Counts take no number, but each broadcast of them has a version: those that are in the answer already are not given again,
//! so that no number on a screen goes back (I4).

use bytes::Bytes;

use super::outbox::Class;
use crate::protocol::CloseCode;

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
    counts: Option<u64>,
    close: Option<CloseCode>,
}

/// What follows the frames of the answer.
#[derive(Debug)]
pub struct Released {
    /// In order.
    pub frames: Vec<Outgoing>,
    /// Whether the latest counts are to be told after them.
    pub counts: bool,
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

    /// Keeps in mind that counts of this version came by; whoever holds them has the latest anyway.
    pub fn counts(&mut self, version: u64) {
        self.counts = Some(version);
    }

    /// Keeps the room's wish to close.
    pub fn close(&mut self, code: CloseCode) {
        self.close = Some(code);
    }

    /// The client stands at `seq` and has been given the counts of `version`.
    pub fn release(self, seq: u64, version: u64) -> Released {
        let follows = |frame: &Outgoing| match frame.class {
            Class::Event { .. } => frame.seq > seq,
            Class::Plain | Class::Exempt => frame.seq >= seq,
        };
        Released {
            frames: self.frames.into_iter().filter(follows).collect(),
            counts: self.counts.is_some_and(|held| held > version),
            close: self.close,
        }
    }
}
