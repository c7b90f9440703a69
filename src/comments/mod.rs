//! Comments: posting one, harmless to repeat, and the pages of an item's history, flushed and not yet flushed.

pub mod page;
pub mod service;

pub use service::{Comments, Posted};
