//! The integration tests, one binary: a file per promise. `support` runs the production composition on port 0.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod abuse;
mod contract;
#[cfg(all(test_redis, test_mongodb))]
mod distributed;
mod kill;
mod live;
mod load;
mod rest;
mod room;
mod support;
