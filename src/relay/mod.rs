//! Viewers: one relay per worker thread holds that thread's sockets.
//!
//! Up, it sums the taps of a room and tells the room once a tick; down, it writes each frame that the room encoded once to
//! every socket of the room with as many bare writes, and keeps an outbox only for those that fell behind. It owns the
//! sockets and everything about them; nothing of it leaves the thread. The invariants: no socket is waited for (I7), every
//! wait and every buffer is bounded (I8), no socket misses a number or sees one twice without being told (I9).
//!
//! An idle socket is a task of a few words, a session and a decoder that holds nothing: no timer (one sweep a second serves
//! all), no read buffer (one is shared by the worker), no token.
//!
//! Deliberately not here: what a message means (`session/`), what people may (`acts/`), how frames look (`wire/`), the
//! handshake and which door a socket goes to (`app/upgrade`).

mod actor;
mod audience;
mod batch;
mod burst;
mod hub;
mod opening;
mod outgo;
mod socket;
#[cfg(test)]
mod tests;

pub use actor::{Relay, RelayHandle, start};
pub use opening::Opening;
