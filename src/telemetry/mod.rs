//! The log and the metrics. No global recorder: handles are passed to whoever counts.

pub mod log;
pub mod metrics;
pub mod read;

pub use metrics::Metrics;
