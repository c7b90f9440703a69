//! What a decoder keeps between two reads: an incomplete header, an incomplete control payload, a message under way.
//!
//! Owned by one [`super::Decoder`], made when a read ends inside a frame or a message and dropped when nothing is
//! left in it. The invariant: a message's memory is at most twice what has arrived, and never over its bound.

use super::Violation;
use super::decode::EMPTY_FRAGMENTS_MAX;
use super::head::{Frame, HEAD_MAX_BYTES};

/// The incomplete tail of what a client sent.
#[derive(Debug, Default)]
pub(super) struct Partial {
    head: [u8; HEAD_MAX_BYTES],
    head_bytes: usize,
    /// The frame whose payload is arriving.
    pub frame: Option<Frame>,
    /// What has arrived of a control frame's payload; it may lie between two fragments of a message.
    pub control: Vec<u8>,
    /// The message under way.
    pub message: Option<Message>,
}

impl Partial {
    /// Adds `input` to the incomplete header. Answers the frame once its header is complete, and how much of `input`
    /// the header took.
    pub(super) fn parse(&mut self, input: &[u8]) -> Result<(Option<Frame>, usize), Violation> {
        let before = self.head_bytes;
        let free = self.head.get_mut(before..).unwrap_or_default();
        let added = free.len().min(input.len());
        for (to, from) in free.iter_mut().zip(input) {
            *to = *from;
        }
        let known = self.head.get(..before + added).unwrap_or_default();
        match Frame::parse(known)? {
            Some((frame, head_bytes)) => {
                self.head_bytes = 0;
                Ok((Some(frame), head_bytes - before))
            }
            None => {
                self.head_bytes = before + added;
                Ok((None, added))
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head_bytes == 0 && self.frame.is_none() && self.control.is_empty() && self.message.is_none()
    }

    /// Memory that a client's bytes take here, spare capacity included.
    pub(super) fn held_bytes(&self) -> usize {
        let message_bytes = self.message.as_ref().map_or(0, |message| message.bytes.capacity());
        self.head_bytes + self.control.capacity() + message_bytes
    }
}

/// A message of which a part has arrived: a fragment, or a piece of a frame.
#[derive(Debug)]
pub(super) struct Message {
    pub bytes: Vec<u8>,
    pub binary: bool,
    /// How far the text is known to be whole characters.
    checked_bytes: usize,
    empty_fragments: u32,
}

impl Message {
    pub(super) fn new(binary: bool) -> Self {
        Self { bytes: Vec::new(), binary, checked_bytes: 0, empty_fragments: 0 }
    }

    /// Adds a stretch of payload. Text fails at the first byte that cannot continue it, not at the message's end.
    pub(super) fn append(&mut self, payload: &[u8], max_bytes: usize) -> Result<(), Violation> {
        let needed = self.bytes.len() + payload.len();
        if needed > self.bytes.capacity() {
            // Doubling keeps a dripped message linear; the bound keeps the doubling from passing it.
            let target = needed.max(max_bytes.min(2 * self.bytes.capacity()));
            self.bytes.reserve_exact(target - self.bytes.len());
        }
        self.bytes.extend_from_slice(payload);
        if self.binary { Ok(()) } else { self.check_text() }
    }

    pub(super) fn count_empty_fragment(&mut self) -> Result<(), Violation> {
        self.empty_fragments += 1;
        if self.empty_fragments > EMPTY_FRAGMENTS_MAX { Err(Violation::EmptyFragments) } else { Ok(()) }
    }

    fn check_text(&mut self) -> Result<(), Violation> {
        let unchecked = self.bytes.get(self.checked_bytes..).unwrap_or_default();
        match std::str::from_utf8(unchecked) {
            Ok(_) => self.checked_bytes = self.bytes.len(),
            // An error without a length is a character that may still be completed.
            Err(error) if error.error_len().is_none() => self.checked_bytes += error.valid_up_to(),
            Err(_) => return Err(Violation::InvalidUtf8),
        }
        Ok(())
    }
}
