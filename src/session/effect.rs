//! What goes into a session and what comes out of it.

use std::time::Instant;

use bytes::Bytes;

use crate::protocol::client::{NewComment, RequestId, Tap};
use crate::protocol::{CloseCode, Millis};

/// Both clocks at one moment: deadlines are measured by the one, tokens end by the other.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// Monotonic.
    pub at: Instant,
    /// The wall clock.
    pub wall: Millis,
}

/// What happens to a session.
#[derive(Debug)]
pub enum Input<'a> {
    /// A whole text message: one JSON object, or several separated by newlines.
    Text(&'a str),
    /// A ping of the client's.
    Ping(&'a [u8]),
    /// The answer to ours.
    Pong,
    /// The client closes, with the code that it gave.
    Close(Option<u16>),
    /// The client violated the WebSocket protocol.
    Violation(CloseCode),
    /// Time has passed; due about once a second.
    Clock,
}

/// What is to be done for a session, in order.
#[derive(Debug)]
pub enum Effect {
    /// Write this frame, or queue it.
    Send(Bytes),
    /// Write this control frame before whatever is queued.
    Control(Bytes),
    /// Taps without an `id`: the short way, under the same check.
    Tap {
        /// The index of the item among the session's.
        room: usize,
        /// What was tapped.
        tap: Tap,
    },
    /// Do this, and tell the session what came of it ([`super::Session::answered`]).
    Perform {
        /// The index of the item among the session's.
        room: usize,
        /// The mark of the answer.
        id: Option<RequestId>,
        /// What is to be done.
        deed: Deed,
    },
    /// Verify this token, and tell the session who it names ([`super::Session::renewed`]).
    Renew {
        /// The mark of the answer.
        id: Option<RequestId>,
        /// As sent.
        token: String,
    },
    /// Close with this code, after what was sent before.
    Close(CloseCode),
    /// The client closes: repeat its code, then the connection is over.
    EchoClose(Option<u16>),
}

/// An act as the wire contract has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// Taps that are answered.
    Tap(Tap),
    /// A comment.
    Comment(NewComment),
    /// A like, or the taking back of one.
    Like(bool),
}

impl Deed {
    /// The `act` of an `error` that has no other mark.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Tap(_) => "tap",
            Self::Comment(_) => "comment",
            Self::Like(true) => "like",
            Self::Like(false) => "unlike",
        }
    }
}
