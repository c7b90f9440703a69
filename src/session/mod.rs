//! One client's pure core, shared by the viewers' and the hosts' transport: messages in, effects out.
//!
//! [`Session`] knows who the client is, what it has under way and when it is due; [`Outbox`] what it could not be written
//! yet; [`Held`] what reached it before its place in the room was known. All of them take the time as an argument and do no
//! IO: `relay/` and `studio/` carry out what they answer. The invariant: a session's memory is bounded whatever its client
//! does, and nothing that it was to get is missing without having been declared.
//!
//! Deliberately not here: rights and rates (`acts/` knows them), frames on the wire (`wire/`), rooms and sockets.

pub mod core;
pub mod effect;
pub mod held;
pub mod opening;
pub mod outbox;
pub mod refusals;
pub mod stats;
#[cfg(test)]
mod tests;
pub mod words;

pub use self::core::{Session, Setting};
pub use effect::{Deed, Effect, Input, Now};
pub use held::{Held, Outgoing};
pub use outbox::{Bounds, Class, Outbox, Overflow, Piece};
pub use stats::SocketStats;
