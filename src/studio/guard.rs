//! What a client sent, checked and bounded by this server's own decoder before the actor's transport sees it.
//!
//! Whole messages and control frames come out, each as one client frame with an all-zero mask, which its parser takes as it
//! is. So fragments, lengths, UTF-8 and close payloads are judged in one place for both doors, and nothing is buffered there
//! that was not already bounded here.

use bytes::{BufMut, Bytes, BytesMut};

use crate::protocol::CloseCode;
use crate::wire::{Decoder, Incoming};

/// FIN and the opcode.
const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const PONG: u8 = 0x8A;

/// See the module.
pub(super) struct Guard {
    decoder: Decoder,
}

impl Guard {
    pub fn new(message_max_bytes: usize) -> Self {
        Self { decoder: Decoder::new(message_max_bytes) }
    }

    /// The frames to hand on, and the code of a violation that came after them.
    pub fn check(&mut self, input: &mut [u8]) -> (Bytes, Option<CloseCode>) {
        let mut passed = BytesMut::new();
        for incoming in self.decoder.feed(input) {
            match incoming {
                Ok(Incoming::Text(text)) => put(&mut passed, TEXT, text.as_bytes()),
                Ok(Incoming::Ping(payload)) => put(&mut passed, PING, &payload),
                Ok(Incoming::Pong) => put(&mut passed, PONG, &[]),
                Ok(Incoming::Close(code)) => {
                    let payload = code.map(u16::to_be_bytes);
                    put(&mut passed, CLOSE, payload.as_ref().map_or(&[], |code| code.as_slice()));
                }
                // Not accepted by this decoder, so never here.
                Ok(Incoming::Binary(_)) => {}
                Err(violation) => return (passed.freeze(), Some(violation.close_code())),
            }
        }
        (passed.freeze(), None)
    }
}

fn put(out: &mut BytesMut, first: u8, payload: &[u8]) {
    const MASKED: u8 = 0x80;
    out.put_u8(first);
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(length @ 0..=125), _) => out.put_u8(MASKED | length),
        (_, Ok(length)) => {
            out.put_u8(MASKED | 126);
            out.put_u16(length);
        }
        // Beyond 64 KiB, which the decoder's bound keeps far away.
        _ => {
            out.put_u8(MASKED | 127);
            out.put_u64(payload.len() as u64);
        }
    }
    out.put_u32(0);
    out.extend_from_slice(payload);
}
