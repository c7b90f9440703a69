//! Likes: who likes what, written as facts before the counter moves (I5).
//!
//! Pure [`batch`] decides what each command came to; [`service`] gathers an item's commands into batches, writes them and moves
//! the [`counter`] through the item's room. Reads go to the facts. It does not recount: that is
//! `reconcile`'s, which it only asks.

pub mod batch;
pub mod counter;
pub mod cursor;
mod queues;
pub mod service;
mod writing;

pub use service::{Liked, Likes};
