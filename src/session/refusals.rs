//! Taps without an `id` that were refused: told together, at most once a second, so that a flood of taps is not answered by
//! a flood of errors.

use std::time::{Duration, Instant};

use crate::protocol::{ApiError, Code};

/// The least time between two notices.
pub const NOTICE_EVERY: Duration = Duration::from_secs(1);

/// What is to be told, and when the last notice went out.
#[derive(Debug, Default)]
pub struct Refusals {
    waiting: Option<Box<Waiting>>,
    told: Option<Instant>,
}

#[derive(Debug)]
struct Waiting {
    refused: u64,
    error: ApiError,
}

impl Refusals {
    /// `n` taps did not pass; the latest reason is the one that is told.
    pub fn add(&mut self, n: u32, error: ApiError) {
        let before = self.waiting.take().map_or(0, |waiting| waiting.refused);
        self.waiting = Some(Box::new(Waiting { refused: before.saturating_add(n.into()), error }));
    }

    /// The notice, if there is one to give and the last one is long enough ago.
    pub fn due(&mut self, now: Instant) -> Option<(u64, ApiError)> {
        if self.told.is_some_and(|told| now.saturating_duration_since(told) < NOTICE_EVERY) {
            return None;
        }
        let waiting = self.waiting.take()?;
        self.told = Some(now);
        Some((waiting.refused, waiting.error))
    }
}

/// The refusal of taps over the rate.
pub fn over_rate(retry_after_ms: u64) -> ApiError {
    ApiError::new(Code::RateLimited, "too many taps").retry_after(retry_after_ms)
}
