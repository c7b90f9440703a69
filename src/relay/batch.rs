//! What a room gives at once, laid out so that a socket with a clear path takes it in one write.

use bytes::{Bytes, BytesMut};

use crate::protocol::CloseCode;
use crate::room::Frame;
use crate::session::{Class, Held, Outbox, Outgoing, Piece};

/// A room's frames in one run of bytes.
#[derive(Debug)]
pub struct Batch {
    /// All of them, one after the other.
    pub bytes: Bytes,
    /// Each with where it ends.
    frames: Vec<(usize, Frame)>,
    /// The room's sockets are to be closed after them.
    pub close: Option<CloseCode>,
}

impl Batch {
    /// Lays the frames out; a single one is shared as it is.
    pub fn new(list: Vec<Frame>) -> Self {
        let mut close = None;
        let mut frames = Vec::with_capacity(list.len());
        let mut end = 0;
        for frame in list {
            match bytes_of(&frame) {
                Some(bytes) => {
                    end += bytes.len();
                    frames.push((end, frame));
                }
                None => close = close_of(&frame).or(close),
            }
        }
        Self { bytes: joined(&frames, end), frames, close }
    }

    /// How many frames are whole in the first `written` bytes.
    pub fn whole_in(&self, written: usize) -> usize {
        self.frames.iter().take_while(|(end, _)| *end <= written).count()
    }

    /// What a socket does not have after `written` bytes: each frame as it waits in an outbox.
    pub fn rest(&self, written: usize) -> impl Iterator<Item = Rest> + '_ {
        let starts = std::iter::once(0).chain(self.frames.iter().map(|(end, _)| *end));
        self.frames.iter().zip(starts).filter(move |((end, _), _)| *end > written).map(move |((end, frame), start)| {
            if start < written {
                return Rest::Begun(self.bytes.slice(written..*end));
            }
            match outgoing(frame) {
                Some(outgoing) => Rest::Piece(Piece { bytes: outgoing.bytes, room: 0, class: outgoing.class }),
                None => Rest::Counts,
            }
        })
    }

    /// Keeps everything for a socket whose place is not yet known. `false`: it does not fit.
    #[must_use]
    pub fn hold(&self, held: &mut Held, max: usize) -> bool {
        if let Some(code) = self.close {
            held.close(code);
        }
        self.frames.iter().all(|(_, frame)| match (frame, outgoing(frame)) {
            (_, Some(outgoing)) => held.frame(outgoing, max),
            (Frame::Counts { version, .. }, None) => {
                held.counts(*version);
                true
            }
            _ => true,
        })
    }
}

/// How a frame waits.
#[derive(Debug)]
pub enum Rest {
    /// Its head is out.
    Begun(Bytes),
    /// An event or a notice.
    Piece(Piece),
    /// Counts: the latest will do.
    Counts,
}

/// Puts an outbox's start together for a socket that a batch went to in part.
pub fn begin(outbox: &mut Outbox, bytes: Bytes) {
    outbox.push_begun(Piece { bytes, room: 0, class: Class::Exempt });
}

fn joined(frames: &[(usize, Frame)], total_bytes: usize) -> Bytes {
    let mut parts = frames.iter().filter_map(|(_, frame)| bytes_of(frame));
    match (parts.next(), frames.len()) {
        (Some(only), 1) => only.clone(),
        (first, _) => {
            let mut all = BytesMut::with_capacity(total_bytes);
            first.into_iter().chain(parts).for_each(|part| all.extend_from_slice(part));
            all.freeze()
        }
    }
}

const fn bytes_of(frame: &Frame) -> Option<&Bytes> {
    match frame {
        Frame::Counts { bytes, .. } | Frame::Event { bytes, .. } | Frame::Notice { bytes, .. } => Some(bytes),
        Frame::Close(_) => None,
    }
}

const fn close_of(frame: &Frame) -> Option<CloseCode> {
    if let Frame::Close(code) = frame { Some(*code) } else { None }
}

fn outgoing(frame: &Frame) -> Option<Outgoing> {
    match frame {
        Frame::Event { bytes, seq, comments } => {
            Some(Outgoing { bytes: bytes.clone(), seq: *seq, class: Class::Event { comments: *comments } })
        }
        Frame::Notice { bytes, seq } => Some(Outgoing { bytes: bytes.clone(), seq: *seq, class: Class::Plain }),
        Frame::Counts { .. } | Frame::Close(_) => None,
    }
}
