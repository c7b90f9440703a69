//! One frame's header, and the mask that its payload carries (RFC 6455, 5.2 and 5.3).
//!
//! Everything that can be told from a header alone is refused here, as early as its bytes arrive. What needs to know
//! the message under way (order, bound, binary) is the decoder's.

use super::Violation;

/// The longest header: two bytes, a 64-bit length, a mask.
pub(super) const HEAD_MAX_BYTES: usize = 14;
/// The longest payload of a control frame (5.5).
pub(super) const CONTROL_MAX_BYTES: usize = 125;

pub(super) const FIN: u8 = 0x80;
const RESERVED: u8 = 0x70;
const OPCODE: u8 = 0x0f;
const MASKED: u8 = 0x80;
/// In the 7-bit length: the length is in the next 2 bytes.
pub(super) const LENGTH_16: u8 = 126;
/// In the 7-bit length: the length is in the next 8 bytes.
pub(super) const LENGTH_64: u8 = 127;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Opcode {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

impl Opcode {
    fn of(first_byte: u8) -> Result<Self, Violation> {
        Ok(match first_byte & OPCODE {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return Err(Violation::ReservedOpcode),
        })
    }

    pub(super) const fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

/// A frame whose header is known and whose payload is arriving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub opcode: Opcode,
    pub fin: bool,
    /// Payload that has not arrived yet.
    pub remaining_bytes: u64,
    /// The mask, turned so that its lowest byte is the next one to be used.
    mask: u32,
}

impl Frame {
    /// Reads a client's header. `None` while it is incomplete; else the frame and the header's length.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Violation> {
        let Some((&first, rest)) = bytes.split_first() else { return Ok(None) };
        if first & RESERVED != 0 {
            return Err(Violation::ReservedBits);
        }
        let opcode = Opcode::of(first)?;
        let fin = first & FIN != 0;
        let Some((&second, rest)) = rest.split_first() else { return Ok(None) };
        if second & MASKED == 0 {
            return Err(Violation::Unmasked);
        }
        let short = second & !MASKED;
        if opcode.is_control() && (!fin || usize::from(short) > CONTROL_MAX_BYTES) {
            return Err(Violation::Control);
        }
        let Some((remaining_bytes, rest)) = length(short, rest)? else { return Ok(None) };
        let Some((mask, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let frame = Self { opcode, fin, remaining_bytes, mask: u32::from_le_bytes(*mask) };
        Ok(Some((frame, bytes.len() - rest.len())))
    }

    /// Unmasks the next stretch of payload where it lies.
    pub(super) fn unmask(&mut self, payload: &mut [u8]) {
        let key = (u64::from(self.mask) << 32) | u64::from(self.mask);
        let (words, tail) = payload.as_chunks_mut::<8>();
        for word in words {
            *word = (u64::from_le_bytes(*word) ^ key).to_le_bytes();
        }
        for (byte, key) in tail.iter_mut().zip(key.to_le_bytes()) {
            *byte ^= key;
        }
        // The mask repeats every 4 bytes, so only the tail's length turns it.
        self.mask = self.mask.rotate_right(8 * (tail.len() as u32 % 4));
        self.remaining_bytes = self.remaining_bytes.saturating_sub(payload.len() as u64);
    }
}

/// The payload's length, and what follows it; `None` while its bytes are incomplete.
fn length(short: u8, rest: &[u8]) -> Result<Option<(u64, &[u8])>, Violation> {
    let (length, rest, shortest) = match short {
        LENGTH_16 => {
            let Some((bytes, rest)) = rest.split_first_chunk::<2>() else { return Ok(None) };
            (u64::from(u16::from_be_bytes(*bytes)), rest, u64::from(LENGTH_16))
        }
        LENGTH_64 => {
            let Some((bytes, rest)) = rest.split_first_chunk::<8>() else { return Ok(None) };
            (u64::from_be_bytes(*bytes), rest, u64::from(u16::MAX) + 1)
        }
        short => (u64::from(short), rest, 0),
    };
    if length < shortest || length > i64::MAX as u64 {
        return Err(Violation::LengthEncoding);
    }
    Ok(Some((length, rest)))
}
