//! Counting a server's frames without looking into them: header, length, skip.
//!
//! Pure, a few bytes of state for each socket, so that reading costs next to nothing beside the kernel's part.

/// The longest header of an unmasked frame (RFC 6455, 5.2).
const HEADER_MAX: usize = 10;
const OPCODE: u8 = 0x0F;
const FIN: u8 = 0x80;
const PING: u8 = 0x9;

/// Where one socket's stream of frames stands.
#[derive(Debug, Clone, Copy, Default)]
pub struct Frames {
    header: [u8; HEADER_MAX],
    have: usize,
    skip: u64,
}

/// What some bytes held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Messages: last frames of text or binary whose header was read.
    pub messages: u64,
    /// Pings, which want an answer.
    pub pings: u64,
}

impl Frames {
    /// Takes the next bytes of the stream.
    pub fn take(&mut self, mut bytes: &[u8]) -> Seen {
        let mut seen = Seen::default();
        loop {
            let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
            self.skip -= skipped as u64;
            bytes = bytes.get(skipped..).unwrap_or_default();
            let Some((first, rest)) = bytes.split_first() else { return seen };
            if let Some(slot) = self.header.get_mut(self.have) {
                *slot = *first;
            }
            self.have += 1;
            bytes = rest;
            if let Some(length) = self.length() {
                self.finish(length, &mut seen);
            }
        }
    }

    /// The payload's length, once the header is whole.
    fn length(&self) -> Option<u64> {
        let [_, short, extended @ ..] = self.header;
        let wide = |n: usize| extended.iter().take(n).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
        match (short, self.have) {
            (126, 4) => Some(wide(2)),
            (127, 10) => Some(wide(8)),
            (126 | 127, _) => None,
            (short, 2) => Some(u64::from(short)),
            _ => None,
        }
    }

    fn finish(&mut self, length: u64, seen: &mut Seen) {
        let [first, ..] = self.header;
        match first & OPCODE {
            PING => seen.pings += 1,
            0..=2 if first & FIN != 0 => seen.messages += 1,
            _ => {}
        }
        self.have = 0;
        self.skip = length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Vec<u8> {
        let mut bytes = vec![0x81, 3, b'a', b'b', b'c', 0x89, 0, 0x81, 126, 1, 44];
        bytes.extend([b'x'; 300]);
        bytes.extend([0x01, 1, b'y', 0x80, 0, 0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
        bytes.extend([b'z'; 65_536]);
        bytes.extend([0x88, 2, 3, 232]);
        bytes
    }

    #[test]
    fn frames_are_counted_however_the_stream_is_cut() {
        let bytes = stream();
        for size in [1, 2, 3, 7, 100, 4_096, bytes.len()] {
            let (mut frames, mut all) = (Frames::default(), Seen::default());
            for part in bytes.chunks(size) {
                let seen = frames.take(part);
                all.messages += seen.messages;
                all.pings += seen.pings;
            }
            assert_eq!((all, frames.skip, frames.have), (Seen { messages: 4, pings: 1 }, 0, 0), "in pieces of {size}");
        }
    }
}
