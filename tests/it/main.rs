//! The integration tests, one binary: a file per promise.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod contract;
