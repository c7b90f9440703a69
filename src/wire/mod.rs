//! RFC 6455 frames: shared frames out, a bounded decoder in. No IO, no clock, no handshake.
//!
//! [`encode`] makes whole server frames, once, to be shared by every socket. [`decode::Decoder`] belongs to one
//! socket and takes whatever slice that socket's worker has read: complete messages are unmasked in place and
//! borrowed, only an incomplete tail is kept. The invariant: whatever a client sends, a decoder holds no more than
//! one message's bound, one header and one control payload, and an idle one holds nothing.
//!
//! Deliberately not here: the opening handshake (`actix_http::ws::handshake` is the strict one), extensions
//! (compression per socket costs more memory than it saves at these sizes), and answering: who decodes a ping sends
//! the pong.

pub mod decode;
pub mod encode;
mod head;
mod partial;
#[cfg(test)]
mod tests;
mod violation;

pub use decode::{Decoder, Frames, Incoming};
pub use violation::Violation;
