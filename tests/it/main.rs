//! The integration tests, one binary: a file per promise. `support` runs the production composition on port 0.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod abuse;
mod contract;
mod kill;
mod live;
mod load;
mod rest;
mod support;
