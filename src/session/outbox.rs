//! What one client could not be written yet. It exists only while there is such a thing.
//!
//! Owned by one socket. The invariants: what is queued stays within its bounds; a frame whose head is out is finished before
//! anything else; events leave in order; counts are one flag per room, whose latest value is encoded when everything queued
//! is out; past a bound everything that was not begun is thrown away together and named in the [`Overflow`], so that the
//! door declares it and closes. It does no IO and encodes nothing.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::time::{Duration, Instant};

use bytes::Bytes;

/// What an outbox may hold.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Frames.
    pub events_max: usize,
    /// Bytes of them.
    pub bytes_max: usize,
}

/// What a frame is to the bounds and to a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// What a client gets first, and its farewell: bounded by who makes them, so outside the bounds here.
    Exempt,
    /// An answer, a notice or a control frame: without a number of its own.
    Plain,
    /// A numbered event of a room.
    Event {
        /// Comments in it.
        comments: u64,
    },
}

/// One frame on its way out.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The whole frame, or what is left of one whose head is out.
    pub bytes: Bytes,
    /// The index of its room among the client's.
    pub room: u8,
    /// What it is.
    pub class: Class,
}

/// What was thrown away when a bound was passed.
#[derive(Debug, PartialEq, Eq)]
pub struct Overflow {
    /// For each room that lost something.
    pub losses: Vec<Loss>,
    /// Frames in all.
    pub frames: usize,
    /// How long the outbox had been behind.
    pub behind: Duration,
}

/// What one room's declaration has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// The index of the room.
    pub room: u8,
    /// Comments in the lost events.
    pub comments: u64,
}

#[derive(Debug)]
struct Queued {
    piece: Piece,
    /// Its head is out: it must be finished.
    begun: bool,
}

/// See the module.
#[derive(Debug)]
pub struct Outbox {
    queue: VecDeque<Queued>,
    /// Bounded frames in the queue, and their bytes.
    events: usize,
    bytes: usize,
    /// One bit per room whose counts are owed.
    counts: u64,
    behind_since: Instant,
    /// The farewell is in: nothing comes after it.
    sealed: bool,
}

impl Outbox {
    /// An outbox of a client that has just fallen behind.
    pub fn new(now: Instant) -> Self {
        Self { queue: VecDeque::new(), events: 0, bytes: 0, counts: 0, behind_since: now, sealed: false }
    }

    /// Queues a frame, or answers what had to be thrown away, the frame itself included.
    pub fn push(&mut self, piece: Piece, bounds: Bounds, now: Instant) -> Result<(), Overflow> {
        if self.sealed {
            return Ok(());
        }
        if piece.class != Class::Exempt {
            if self.events >= bounds.events_max || self.bytes + piece.bytes.len() > bounds.bytes_max {
                return Err(self.overflow(piece, now));
            }
            self.events += 1;
            self.bytes += piece.bytes.len();
        }
        self.queue.push_back(Queued { piece, begun: false });
        Ok(())
    }

    /// What is left of a frame whose head is out already: goes first, whatever the bounds say. Only for a new outbox.
    pub fn push_begun(&mut self, piece: Piece) {
        let piece = Piece { class: Class::Exempt, ..piece };
        self.queue.push_front(Queued { piece, begun: true });
    }

    /// Queues a control frame before everything that was not begun.
    pub fn push_control(&mut self, bytes: Bytes, bounds: Bounds, now: Instant) -> Result<(), Overflow> {
        self.push(Piece { bytes, room: 0, class: Class::Plain }, bounds, now)?;
        if !self.sealed
            && let Some(control) = self.queue.pop_back()
        {
            let place = usize::from(self.queue.front().is_some_and(|head| head.begun));
            self.queue.insert(place, control);
        }
        Ok(())
    }

    /// The latest counts of this room are to be encoded and sent once everything queued is out.
    pub fn owe_counts(&mut self, room: u8) {
        if !self.sealed {
            self.counts |= bit(room);
        }
    }

    /// The room whose counts can be sent now.
    pub fn take_counts(&mut self) -> Option<u8> {
        if !self.queue.is_empty() || self.counts == 0 {
            return None;
        }
        let room = self.counts.trailing_zeros();
        self.counts &= self.counts - 1;
        u8::try_from(room).ok()
    }

    /// Queues the last frames; what is pushed later is not taken.
    pub fn seal(&mut self, farewell: impl IntoIterator<Item = Bytes>) {
        if !self.sealed {
            let last = farewell.into_iter().map(|bytes| Piece { bytes, room: 0, class: Class::Exempt });
            self.queue.extend(last.map(|piece| Queued { piece, begun: false }));
            self.counts = 0;
            self.sealed = true;
        }
    }

    /// The frames to write next, in order, as many as fit; answers how many places are filled.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let filled = slices.iter_mut().zip(&self.queue);
        filled.map(|(slice, queued)| *slice = IoSlice::new(&queued.piece.bytes)).count()
    }

    /// So many bytes are out; answers how many frames that completed.
    pub fn advance(&mut self, mut written: usize) -> usize {
        let mut completed = 0;
        while let Some(head) = self.queue.front_mut() {
            let length = head.piece.bytes.len();
            if head.piece.class != Class::Exempt {
                self.bytes -= written.min(length);
            }
            if written < length {
                if written > 0 {
                    head.piece.bytes = head.piece.bytes.slice(written..);
                    head.begun = true;
                }
                break;
            }
            written -= length;
            self.events -= usize::from(head.piece.class != Class::Exempt);
            self.queue.pop_front();
            completed += 1;
        }
        completed
    }

    /// The head, for a transport that takes whole frames one by one.
    pub fn pop(&mut self) -> Option<Bytes> {
        let bytes = self.queue.front()?.piece.bytes.clone();
        self.advance(bytes.len());
        Some(bytes)
    }

    /// Whether there is nothing to write, nor counts owed.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.counts == 0
    }

    /// Frames and bytes that are held against the bounds.
    pub fn held(&self) -> (usize, usize) {
        (self.events, self.bytes)
    }

    /// Throws away all that was not begun.
    fn overflow(&mut self, refused: Piece, now: Instant) -> Overflow {
        let begun = self.queue.front().is_some_and(|head| head.begun);
        let kept = if begun { self.queue.pop_front() } else { None };
        let lost: Vec<Piece> = self.queue.drain(..).map(|queued| queued.piece).chain([refused]).collect();
        let mut losses: Vec<Loss> = Vec::new();
        for piece in &lost {
            let comments = if let Class::Event { comments } = piece.class { comments } else { 0 };
            match losses.iter_mut().find(|loss| loss.room == piece.room) {
                Some(loss) => loss.comments += comments,
                None => losses.push(Loss { room: piece.room, comments }),
            }
        }
        (self.events, self.bytes, self.counts) = (0, 0, 0);
        if let Some(mut head) = kept {
            head.piece.class = Class::Exempt;
            self.queue.push_back(head);
        }
        Overflow { losses, frames: lost.len(), behind: now.saturating_duration_since(self.behind_since) }
    }
}

const fn bit(room: u8) -> u64 {
    1 << (room & 63)
}
