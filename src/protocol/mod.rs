//! The wire contract as types: names, messages, counts, text, error and close codes. No IO, no clock.
//!
//! `docs/protocol.md` is the contract in prose; the vectors in `vectors.rs` hold these types to it byte for byte.

pub mod client;
pub mod close;
pub mod counts;
pub mod error;
pub mod event;
pub mod ids;
pub mod item;
pub mod role;
pub mod server;
pub mod text;

pub use client::ClientIn;
pub use close::CloseCode;
pub use counts::{Counter, Counters, Counts};
pub use error::{ApiError, Code};
pub use event::RoomEvent;
pub use ids::{CommentId, Epoch, ItemId, Kind, UserId, WriterId};
pub use item::{Comment, CommentsMode, ItemPatch, ItemSettings, ItemState, ItemView, Millis};
pub use role::Role;
pub use server::ServerOut;
