//! The embedded hot store.

mod core;
mod ledger;
mod stream;

pub use core::{Admitted, MemoryCore};
pub use stream::EVENTS_MAX;
