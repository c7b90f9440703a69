//! Counters of the socket doors: plain atomics that relays and studio sessions add to and `telemetry/` reads.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// Close codes that are counted by themselves; 1005: closed without a code, 1006: gone without a close. The last place
/// of the counters is for any other code that a client gave.
pub const COUNTED_CODES: [u16; 16] =
    [1000, 1001, 1002, 1003, 1005, 1006, 1007, 1009, 4000, 4001, 4002, 4003, 4500, 4501, 4502, 4504];

/// The code of a connection that ended without a close frame (RFC 6455, 7.1.5).
pub const ABNORMAL: u16 = 1006;
/// The code of a close frame that gave none.
pub const NO_CODE: u16 = 1005;

/// One of it per node.
#[derive(Debug, Default)]
pub struct SocketStats {
    sockets: AtomicI64,
    deliveries: AtomicU64,
    dropped_frames: AtomicU64,
    dropped_comments: AtomicU64,
    dropped_taps: AtomicU64,
    closed: [AtomicU64; COUNTED_CODES.len() + 1],
}

/// What has been dropped since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped {
    /// Frames that a slow socket did not get.
    pub frames: u64,
    /// Comments in them.
    pub comments: u64,
    /// Taps that no room took any more.
    pub taps: u64,
}

impl SocketStats {
    /// A socket came in.
    pub fn opened(&self) {
        self.sockets.fetch_add(1, Relaxed);
    }

    /// A socket has gone, with this code.
    pub fn closed(&self, code: u16) {
        self.sockets.fetch_sub(1, Relaxed);
        let place = COUNTED_CODES.iter().position(|known| *known == code).unwrap_or(COUNTED_CODES.len());
        if let Some(counter) = self.closed.get(place) {
            counter.fetch_add(1, Relaxed);
        }
    }

    /// So many frames were written whole.
    pub fn delivered(&self, frames: usize) {
        self.deliveries.fetch_add(frames as u64, Relaxed);
    }

    /// A slow socket lost frames, with comments in them.
    pub fn lost(&self, frames: usize, comments: u64) {
        self.dropped_frames.fetch_add(frames as u64, Relaxed);
        self.dropped_comments.fetch_add(comments, Relaxed);
    }

    /// Taps that were admitted reached no room.
    pub fn lost_taps(&self, taps: u64) {
        self.dropped_taps.fetch_add(taps, Relaxed);
    }

    /// Open sockets.
    pub fn sockets(&self) -> u64 {
        u64::try_from(self.sockets.load(Relaxed)).unwrap_or(0)
    }

    /// Frames written whole since the start.
    pub fn deliveries(&self) -> u64 {
        self.deliveries.load(Relaxed)
    }

    /// What has been dropped since the start.
    pub fn dropped(&self) -> Dropped {
        Dropped {
            frames: self.dropped_frames.load(Relaxed),
            comments: self.dropped_comments.load(Relaxed),
            taps: self.dropped_taps.load(Relaxed),
        }
    }

    /// Closed connections by code; `None`: any code that is not in [`COUNTED_CODES`].
    pub fn closed_by_code(&self) -> impl Iterator<Item = (Option<u16>, u64)> + '_ {
        let codes = COUNTED_CODES.iter().copied().map(Some).chain([None]);
        codes.zip(self.closed.iter().map(|counter| counter.load(Relaxed)))
    }
}
