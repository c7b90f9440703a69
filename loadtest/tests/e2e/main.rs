//! The generator against a server that keeps the contract, and against one that breaks it in one way at a time.
//!
//! Method: an in-process mock on a free port; each fault must make the run fail, the honest mock must make it pass. A check
//! that has never failed is none.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod mock;

mod bench;
mod fanout;
mod replay;
mod storm;
