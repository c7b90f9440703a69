#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
//! The promises of the pure core, each named after the failure that it prevents.

mod core;
mod held;
mod opening;
mod outbox;
