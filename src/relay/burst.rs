//! One run of bytes to many sockets.
//!
//! This is the seam of the fan-out: everything that a room's frame costs per viewer happens in [`burst`]. Its body is a
//! plain loop of non-blocking writes; another one may submit them as a batch, as long as each target's result is known when
//! it returns.

use std::io::ErrorKind;

use tokio::net::TcpStream;

/// What one socket took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrote {
    /// So many bytes, from none (its buffer is full) to all.
    Bytes(usize),
    /// The peer is gone.
    Failed,
}

/// Writes `bytes` to each target without waiting for any; the results are in the targets' order.
pub fn burst(bytes: &[u8], targets: &[&TcpStream]) -> Vec<Wrote> {
    targets.iter().map(|target| write(target, bytes)).collect()
}

/// The same for one socket.
pub fn write(target: &TcpStream, bytes: &[u8]) -> Wrote {
    wrote(target.try_write(bytes))
}

/// What the answer of a non-blocking write means.
pub fn wrote(answer: std::io::Result<usize>) -> Wrote {
    match answer {
        Ok(count) => Wrote::Bytes(count),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Wrote::Bytes(0),
        Err(_) => Wrote::Failed,
    }
}
