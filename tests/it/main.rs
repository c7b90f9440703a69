//! The integration tests, one binary: a file per promise. `support` runs the production composition on port 0.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout)]

mod abuse;
mod contract;
#[cfg(all(test_redis, test_mongodb))]
mod distributed;
#[cfg(all(test_redis, test_mongodb))]
#[path = "../histories/mod.rs"]
mod histories;
mod kill;
mod likes;
mod live;
mod load;
#[cfg(all(test_redis, test_mongodb))]
mod neighbours;
mod realign;
mod rest;
mod room;
#[cfg(all(test_redis, test_mongodb))]
mod stores_start;
#[cfg(all(test_redis, test_mongodb))]
mod strategies;
mod support;
