//! The bounded decoder of one client's frames.
//!
//! Owned by one socket. The caller reads into a buffer that its worker's sockets share, hands over what was read, and
//! takes the messages out; nothing of the buffer is needed afterwards. What it does not do: read, write, answer pings,
//! keep time, or limit how many frames a client may send.

use std::borrow::Cow;
use std::mem;

use super::Violation;
use super::head::{Frame, Opcode};
use super::partial::{Message, Partial};

/// Empty fragments that one message may have besides its last. They carry nothing and so escape the message's bound; an
/// honest client has one or two (RFC 6455 allows them, streaming senders flush with them). One more closes 1002.
pub const EMPTY_FRAGMENTS_MAX: u32 = 32;

/// What a client said: a whole message or a control frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming<'a> {
    /// A whole text message.
    Text(Cow<'a, str>),
    /// A whole binary message; only after [`Decoder::accept_binary`].
    Binary(Cow<'a, [u8]>),
    /// To be answered by a pong with the same payload (at most 125 bytes).
    Ping(Cow<'a, [u8]>),
    /// An answer to a ping, or a sign of life of its own.
    Pong,
    /// The client closes, with this code if it gave one. Nothing follows: later bytes are ignored (RFC 6455, 5.5.1).
    Close(Option<u16>),
}

/// Decodes what one client sends; 24 bytes, and no allocation while nothing is incomplete.
#[derive(Debug)]
pub struct Decoder {
    partial: Option<Box<Partial>>,
    max_bytes: usize,
    accept_binary: bool,
    /// A close or a violation was told; whatever follows is ignored.
    ended: bool,
}

impl Decoder {
    /// A decoder that refuses a frame, and a whole message, of more than `max_bytes` of payload.
    pub const fn new(max_bytes: usize) -> Self {
        Self { partial: None, max_bytes, accept_binary: false, ended: false }
    }

    /// Takes binary messages too. Without this they are [`Violation::Binary`].
    #[must_use]
    pub const fn accept_binary(mut self) -> Self {
        self.accept_binary = true;
        self
    }

    /// Decodes what was read from the socket. `input` is unmasked in place and lent out.
    ///
    /// Run the iterator to its end: it keeps an incomplete tail when it reaches it, and what is left of `input` when
    /// it is dropped earlier is lost, which only a socket that is being closed can bear. It ends after a violation.
    pub fn feed<'a>(&'a mut self, input: &'a mut [u8]) -> Frames<'a> {
        Frames { decoder: self, input }
    }

    /// Memory that the client's incomplete frame or message takes; 0 when there is none.
    pub fn held_bytes(&self) -> usize {
        self.partial.as_ref().map_or(0, |partial| partial.held_bytes())
    }

    /// Whether nothing is incomplete, and so nothing is allocated.
    pub const fn is_idle(&self) -> bool {
        self.partial.is_none()
    }

    /// The next message that is complete, or `None` when `input` is used up.
    fn advance<'a>(&mut self, input: &mut &'a mut [u8]) -> Result<Option<Incoming<'a>>, Violation> {
        while !input.is_empty() {
            let Some(frame) = self.frame(input)? else { break };
            let incoming = self.payload(frame, input)?;
            if self.partial.as_ref().is_some_and(|partial| partial.is_empty()) {
                self.partial = None;
            }
            if incoming.is_some() {
                return Ok(incoming);
            }
        }
        Ok(None)
    }

    /// The frame whose payload comes next in `input`; `None` if `input` ends within its header.
    fn frame(&mut self, input: &mut &mut [u8]) -> Result<Option<Frame>, Violation> {
        if let Some(frame) = self.partial.as_mut().and_then(|partial| partial.frame.take()) {
            return Ok(Some(frame));
        }
        let parsed = match &mut self.partial {
            Some(partial) => partial.parse(input)?,
            None => match Frame::parse(input)? {
                Some((frame, head_bytes)) => (Some(frame), head_bytes),
                None => self.partial_mut().parse(input)?,
            },
        };
        let (frame, head_bytes) = parsed;
        split_off(input, head_bytes);
        if let Some(frame) = &frame {
            self.admit(frame)?;
        }
        Ok(frame)
    }

    /// Checks a new frame against the message under way, before any of its payload is taken.
    fn admit(&self, frame: &Frame) -> Result<(), Violation> {
        let message = self.partial.as_ref().and_then(|partial| partial.message.as_ref());
        match (frame.opcode, message) {
            // A control frame may come between fragments, and its length was checked with its header.
            (Opcode::Close | Opcode::Ping | Opcode::Pong, _) => return Ok(()),
            (Opcode::Continuation, None) | (Opcode::Text | Opcode::Binary, Some(_)) => return Err(Violation::Sequence),
            (Opcode::Binary, None) if !self.accept_binary => return Err(Violation::Binary),
            (Opcode::Continuation, Some(_)) | (Opcode::Text | Opcode::Binary, None) => {}
        }
        let held_bytes = message.map_or(0, |message| message.bytes.len());
        let free_bytes = self.max_bytes.saturating_sub(held_bytes) as u64;
        if frame.remaining_bytes > free_bytes { Err(Violation::TooBig) } else { Ok(()) }
    }

    /// Takes what `input` has of the frame's payload.
    fn payload<'a>(&mut self, mut frame: Frame, input: &mut &'a mut [u8]) -> Result<Option<Incoming<'a>>, Violation> {
        let wanted = usize::try_from(frame.remaining_bytes).unwrap_or(usize::MAX);
        let payload = split_off(input, wanted);
        frame.unmask(payload);
        let fresh = self.partial.as_ref().is_none_or(|partial| partial.message.is_none());
        if frame.opcode.is_control() {
            self.control(frame, payload)
        } else if fresh && frame.fin && frame.remaining_bytes == 0 {
            whole(frame.opcode == Opcode::Binary, Cow::Borrowed(payload)).map(Some)
        } else {
            self.piece(frame, payload)
        }
    }

    fn control<'a>(&mut self, frame: Frame, payload: &'a [u8]) -> Result<Option<Incoming<'a>>, Violation> {
        let begun = self.partial.as_ref().is_some_and(|partial| !partial.control.is_empty());
        if frame.remaining_bytes == 0 && !begun {
            return control(frame.opcode, Cow::Borrowed(payload)).map(Some);
        }
        let partial = self.partial_mut();
        partial.control.extend_from_slice(payload);
        if frame.remaining_bytes > 0 {
            partial.frame = Some(frame);
            return Ok(None);
        }
        control(frame.opcode, Cow::Owned(mem::take(&mut partial.control))).map(Some)
    }

    /// Takes a piece of a message that is not here whole.
    fn piece(&mut self, frame: Frame, payload: &[u8]) -> Result<Option<Incoming<'static>>, Violation> {
        let max_bytes = self.max_bytes;
        let partial = self.partial_mut();
        let message = partial.message.get_or_insert_with(|| Message::new(frame.opcode == Opcode::Binary));
        message.append(payload, max_bytes)?;
        if frame.remaining_bytes > 0 {
            partial.frame = Some(frame);
            return Ok(None);
        }
        if !frame.fin {
            return if payload.is_empty() { message.count_empty_fragment().map(|()| None) } else { Ok(None) };
        }
        partial.message.take().map(|message| whole(message.binary, Cow::Owned(message.bytes))).transpose()
    }

    fn partial_mut(&mut self) -> &mut Partial {
        self.partial.get_or_insert_with(Box::default)
    }

    fn end(&mut self) {
        self.partial = None;
        self.ended = true;
    }
}

/// The messages in one read, in order; made by [`Decoder::feed`].
#[derive(Debug)]
#[must_use = "nothing is decoded until the iterator is run"]
pub struct Frames<'a> {
    decoder: &'a mut Decoder,
    input: &'a mut [u8],
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Incoming<'a>, Violation>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.decoder.ended {
            return None;
        }
        let outcome = self.decoder.advance(&mut self.input).transpose()?;
        if matches!(outcome, Err(_) | Ok(Incoming::Close(_))) {
            self.decoder.end();
        }
        Some(outcome)
    }
}

/// Takes up to `count` bytes off the front of `input`.
fn split_off<'a>(input: &mut &'a mut [u8], count: usize) -> &'a mut [u8] {
    let all = mem::take(input);
    let (front, rest) = all.split_at_mut(count.min(all.len()));
    *input = rest;
    front
}

fn whole(binary: bool, payload: Cow<'_, [u8]>) -> Result<Incoming<'_>, Violation> {
    if binary {
        return Ok(Incoming::Binary(payload));
    }
    let text = match payload {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    };
    text.map(Incoming::Text).ok_or(Violation::InvalidUtf8)
}

fn control(opcode: Opcode, payload: Cow<'_, [u8]>) -> Result<Incoming<'_>, Violation> {
    match opcode {
        Opcode::Ping => Ok(Incoming::Ping(payload)),
        Opcode::Close => close(&payload).map(Incoming::Close),
        _ => Ok(Incoming::Pong),
    }
}

/// Reads a close frame's payload: nothing, or a code and a reason (RFC 6455, 5.5.1).
fn close(payload: &[u8]) -> Result<Option<u16>, Violation> {
    let Some((code, reason)) = payload.split_first_chunk::<2>() else {
        return if payload.is_empty() { Ok(None) } else { Err(Violation::ClosePayload) };
    };
    let code = u16::from_be_bytes(*code);
    // 7.4: 1004-1006 and 1015 are never sent, 1012-1014 were registered later, the rest below 3000 is not given out.
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(Violation::ClosePayload);
    }
    std::str::from_utf8(reason).map(|_| Some(code)).map_err(|_| Violation::InvalidUtf8)
}
