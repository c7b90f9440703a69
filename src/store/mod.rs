//! The two stores and their contracts: the hot one that takes every tick, and the durable one that sees a trickle.

pub mod durable;
pub mod hot;
pub mod log;

pub use log::{ContributionLog, LogError, LogRow};
