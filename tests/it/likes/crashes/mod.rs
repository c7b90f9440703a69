//! Likes and processes that die: whatever was between fact and counter is recounted in time, and no fact is lost or there twice.
//!
//! [`deaths`] ends a process at every moment and at the two that matter most, [`histories`] does everything at once, `pair` both
//! over Redis and MongoDB. What is random in them begins with a printed seed; how processes and threads meet does not.

mod crowd;
mod deaths;
mod histories;
#[cfg(all(test_redis, test_mongodb))]
mod pair;

use std::time::{Duration, Instant};

use super::audit;
use crate::support::eventually;
use crate::support::process::Process;

/// The issue's own bound, from the restart on.
const RECOUNTED_WITHIN: Duration = Duration::from_secs(5);

/// Counter corrections that the process made.
const REPAIRED: &str = "heartline_likes_repaired_total";

/// Waits until the counter is what the facts say, and answers how many that are.
fn recounted(node: &Process, item: &str, deadline: Instant) -> i64 {
    eventually("recounted", || {
        let (facts, likes, drift) = audit(node, item);
        assert!(drift == 0 || Instant::now() < deadline, "{item}: {facts} facts, {likes} likes");
        (drift == 0).then_some(facts)
    })
}
