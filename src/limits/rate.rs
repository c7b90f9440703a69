//! One rate for each of many people: `governor`'s cell rate algorithm (GCRA, ITU-T I.371) over a bounded map.

use std::num::NonZeroU32;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::ShrinkableKeyedStateStore;
use governor::{Quota, RateLimiter};

use super::TapsAdmitted;
use super::bounded::Bounded;
use crate::protocol::UserId;

/// How often a part is tried again because the same person used some of it up at the same time, over another socket.
const RACES_MAX: usize = 3;

/// So many a second, with so many saved up.
pub(super) struct Rate<C: Clock> {
    limiter: RateLimiter<UserId, People, C, NoOpMiddleware<C::Instant>>,
    clock: C,
    burst: u32,
    interval: Nanos,
}

impl<C: Clock + Clone> Rate<C> {
    pub fn new(per_s: u32, burst: u32, people_max: usize, clock: C) -> Self {
        let quota = Quota::per_second(positive(per_s)).allow_burst(positive(burst));
        Self {
            limiter: RateLimiter::new(quota, People(Bounded::new(people_max)), clock.clone()),
            clock,
            burst: positive(burst).get(),
            interval: quota.replenish_interval().into(),
        }
    }

    /// As many of `n` as fit.
    pub fn admit(&self, user: &UserId, n: u32) -> TapsAdmitted {
        let mut part = n.min(self.burst);
        let mut retry_after = Nanos::new(0);
        for _ in 0..RACES_MAX {
            let Some(asked) = NonZeroU32::new(part) else { break };
            match self.limiter.check_key_n(user, asked) {
                Ok(Ok(())) if part == n => return TapsAdmitted { accepted: n, retry_after_ms: 0 },
                Ok(Ok(())) => {
                    return TapsAdmitted { accepted: part, retry_after_ms: wait_ms(retry_after, self.interval) };
                }
                Ok(Err(until)) => {
                    let wait = Nanos::from(until.wait_time_from(self.clock.now()));
                    let missing =
                        u32::try_from(wait.as_u64().div_ceil(self.interval.as_u64())).unwrap_or(u32::MAX).max(1);
                    // One more than what fits now lacks the whole wait less the intervals of those that come after it.
                    retry_after = wait.saturating_sub(self.interval * u64::from(missing.min(part) - 1));
                    part = part.saturating_sub(missing);
                }
                // Cannot be: `part` is within the burst.
                Err(_) => break,
            }
        }
        TapsAdmitted { accepted: 0, retry_after_ms: wait_ms(retry_after, self.interval) }
    }

    pub fn shrink(&self) {
        self.limiter.retain_recent();
    }

    pub fn remembered(&self) -> usize {
        self.limiter.len()
    }
}

/// A configured rate is at least 1.
fn positive(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN)
}

/// Rounded up, so that whoever comes then is not early; where it is not known, one interval.
fn wait_ms(wait: Nanos, interval: Nanos) -> u64 {
    let wait = if wait.as_u64() == 0 { interval } else { wait };
    wait.as_u64().div_ceil(1_000_000)
}

/// Who has used how much: when each person's account is level again, since the limiter's start.
struct People(Bounded<UserId, Nanos>);

impl StateStore for People {
    type Key = UserId;

    fn measure_and_replace<T, F, E>(&self, key: &UserId, f: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let decided = self.0.change(key, |level| match f(level) {
            Ok((answer, next)) => (Ok(answer), Some(next)),
            Err(refused) => (Err(refused), None),
        });
        // Every key has a shard; without one it would be somebody new.
        decided.unwrap_or_else(|| f(None).map(|(answer, _)| answer))
    }
}

impl ShrinkableKeyedStateStore<UserId> for People {
    fn retain_recent(&self, drop_below: Nanos) {
        self.0.retain(|level| *level > drop_below);
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
