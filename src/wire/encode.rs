//! Server frames: whole, unmasked (RFC 6455, 5.1), encoded once and shared by reference count.

use bytes::{BufMut, Bytes, BytesMut};

use super::head::{CONTROL_MAX_BYTES, FIN, LENGTH_16, LENGTH_64, Opcode};
use crate::protocol::CloseCode;

/// The longest header of a server's frame: two bytes and a 64-bit length.
const HEAD_MAX_BYTES: usize = 10;

/// A whole text message.
pub fn text(payload: &str) -> Bytes {
    frame(Opcode::Text, payload.as_bytes())
}

/// A whole binary message, for peers that speak binary.
pub fn binary(payload: &[u8]) -> Bytes {
    frame(Opcode::Binary, payload)
}

/// A ping. A control frame carries at most 125 bytes; what is longer is cut.
pub fn ping(payload: &[u8]) -> Bytes {
    control(Opcode::Ping, payload)
}

/// The answer to a ping, with that ping's payload.
pub fn pong(payload: &[u8]) -> Bytes {
    control(Opcode::Pong, payload)
}

/// A close with its code and the code's reason.
pub fn close(code: CloseCode) -> Bytes {
    let mut payload = Vec::with_capacity(CONTROL_MAX_BYTES);
    payload.extend_from_slice(&code.as_u16().to_be_bytes());
    payload.extend_from_slice(code.reason().as_bytes());
    control(Opcode::Close, &payload)
}

/// The answer to a client's close: the code that it gave, if it gave one (RFC 6455, 5.5.1).
pub fn close_echo(code: Option<u16>) -> Bytes {
    match code {
        Some(code) => control(Opcode::Close, &code.to_be_bytes()),
        None => control(Opcode::Close, &[]),
    }
}

fn control(opcode: Opcode, payload: &[u8]) -> Bytes {
    frame(opcode, payload.get(..CONTROL_MAX_BYTES).unwrap_or(payload))
}

fn frame(opcode: Opcode, payload: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(HEAD_MAX_BYTES + payload.len());
    out.put_u8(FIN | opcode as u8);
    match payload.len() {
        length @ 0..=CONTROL_MAX_BYTES => out.put_u8(length as u8),
        length if length <= usize::from(u16::MAX) => {
            out.put_u8(LENGTH_16);
            out.put_u16(length as u16);
        }
        length => {
            out.put_u8(LENGTH_64);
            out.put_u64(length as u64);
        }
    }
    out.extend_from_slice(payload);
    out.freeze()
}
