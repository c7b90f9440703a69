//! Likes: who likes what, written as facts before the counter moves (I5).
//!
//! Pure [`batch`] decides what each command came to; [`service`] gathers an item's commands into batches, writes them and moves
//! the [`counter`] through the item's room. [`reading`] answers from what is nearer than the facts where that is sure: a person's [`own`]
//! likes, an item's filter. It does not recount: that is `reconcile`'s, which it only asks.

pub mod batch;
pub mod counter;
pub mod cursor;
pub mod own;
mod queues;
pub mod reading;
pub mod service;
mod writing;

pub use reading::{LikeReads, ReadStats};
pub use service::{Liked, Likes};
