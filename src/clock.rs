//! The one place that reads the clocks. Pure cores take what it answers as arguments.

use std::time::{Instant, SystemTime};

use crate::protocol::Millis;

/// Wall-clock time: what people and documents see. May step.
pub fn wall() -> Millis {
    Millis::from_system(SystemTime::now())
}

/// Monotonic time: what deadlines and intervals are measured by. The timers' own clock, so that a simulation which pauses that one
/// pauses this one too.
pub fn monotonic() -> Instant {
    tokio::time::Instant::now().into_std()
}
