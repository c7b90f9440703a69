//! Rates per person, and slow mode per item and person. Over a rate taps are accepted in part; nothing is dropped in silence.
//!
//! Owns who did how much lately, in bounded memory. Decides on numbers alone: whose right an act is, and what is told to whom,
//! is `acts`' business.

pub mod bounded;
pub mod rate;
pub mod slow;

use std::time::Duration;

use governor::clock::{Clock, MonotonicClock};

use crate::config::{RateConfig, SocketConfig};
use crate::protocol::client::TAP_N_MAX;
use crate::protocol::server::ClientLimits;
use crate::protocol::text::{COMMENT_MAX_BYTES, COMMENT_MAX_GRAPHEMES};
use crate::protocol::{ItemId, Role, UserId};
use rate::Rate;
use slow::SlowMode;

/// Tap messages saved up by who did not tap for a while, in seconds of the rate: as many as the taps' own burst has.
const MESSAGE_BURST_S: u32 = 3;

/// How many taps of a message pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TapsAdmitted {
    /// 0 to what was sent.
    pub accepted: u32,
    /// If fewer than sent: when one more passes. Milliseconds.
    pub retry_after_ms: u64,
}

/// Why a comment does not pass now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommentRefused {
    /// Over the person's rate.
    Rate {
        /// When one passes. Milliseconds.
        retry_after_ms: u64,
    },
    /// The item is in slow mode.
    Slow {
        /// When this person may comment there again. Milliseconds.
        retry_after_ms: u64,
    },
}

/// The rates of one node.
pub struct Limits<C: Clock = MonotonicClock> {
    off: bool,
    tap_messages: Rate<C>,
    taps: Rate<C>,
    comments: Rate<C>,
    host_comments: Rate<C>,
    slow: SlowMode<C>,
}

impl Limits {
    /// On the system's monotonic clock.
    pub fn new(config: &RateConfig) -> Self {
        Self::with_clock(config, MonotonicClock)
    }
}

impl<C: Clock + Clone> Limits<C> {
    /// On a clock of the caller's.
    pub fn with_clock(config: &RateConfig, clock: C) -> Self {
        let rate = |per_s: u32, burst: u32| Rate::new(per_s, burst, config.people_max, clock.clone());
        let messages = config.tap_messages_per_s;
        Self {
            off: config.off,
            tap_messages: rate(messages, messages.saturating_mul(MESSAGE_BURST_S)),
            taps: rate(config.taps_per_s, config.taps_burst),
            comments: rate(config.comments_per_s, config.comments_burst),
            host_comments: rate(config.host_comments_per_s, config.host_comments_per_s),
            slow: SlowMode::new(config.people_max, clock.clone()),
        }
    }

    /// One message of `n` taps. A service forwards for many people and has no rate of its own.
    pub fn admit_taps(&self, user: &UserId, role: Role, n: u32) -> TapsAdmitted {
        if self.off || role == Role::Service {
            return TapsAdmitted { accepted: n, retry_after_ms: 0 };
        }
        match self.tap_messages.admit(user, 1) {
            refused @ TapsAdmitted { accepted: 0, .. } => refused,
            _ => self.taps.admit(user, n),
        }
    }

    /// One comment. A refused one uses nothing up. Slow mode is a setting of the item's: it holds also where rates are off.
    pub fn admit_comment(
        &self,
        user: &UserId,
        role: Role,
        item: &ItemId,
        slow_mode_ms: u32,
    ) -> Result<(), CommentRefused> {
        let slow = if role == Role::Host { Duration::ZERO } else { Duration::from_millis(slow_mode_ms.into()) };
        if role == Role::Service {
            return Ok(());
        }
        let key = (item.clone(), user.clone());
        self.slow.check(&key, slow).map_err(|retry_after_ms| CommentRefused::Slow { retry_after_ms })?;
        let rate = if role == Role::Host { &self.host_comments } else { &self.comments };
        if !self.off {
            let TapsAdmitted { accepted, retry_after_ms } = rate.admit(user, 1);
            if accepted == 0 {
                return Err(CommentRefused::Rate { retry_after_ms });
            }
        }
        self.slow.record(key, slow);
        Ok(())
    }

    /// Forgets whoever has their whole burst again. To be called every few seconds.
    pub fn shrink(&self) {
        for rate in [&self.tap_messages, &self.taps, &self.comments, &self.host_comments] {
            rate.shrink();
        }
        self.slow.shrink();
    }

    /// Entries in memory, over all rates.
    pub fn remembered(&self) -> usize {
        let rates = [&self.tap_messages, &self.taps, &self.comments, &self.host_comments];
        rates.iter().map(|rate| rate.remembered()).sum::<usize>() + self.slow.remembered()
    }
}

/// What clients are told to pace themselves by.
pub fn client_limits(rates: &RateConfig, sockets: &SocketConfig) -> ClientLimits {
    ClientLimits {
        tap_n_max: TAP_N_MAX,
        tap_messages_per_s: rates.tap_messages_per_s,
        taps_per_s: rates.taps_per_s,
        taps_burst: rates.taps_burst,
        comments_per_s: rates.comments_per_s,
        comments_burst: rates.comments_burst,
        comment_max_graphemes: COMMENT_MAX_GRAPHEMES,
        comment_max_bytes: COMMENT_MAX_BYTES,
        message_max_bytes: sockets.message_max_bytes,
    }
}

#[cfg(test)]
mod tests;
