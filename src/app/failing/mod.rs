//! Fail points: a process that dies, or stands still, right before or after a named step of its stores. For tests that kill at every step.
//!
//! The stores are wrapped here when the configuration names a point, and are what they were when it does not. Debug builds only: in a
//! release build neither this module nor the setting is there, and no store has a line of it.

mod durable;
mod hot;
mod likes;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::stores::Stores;
use crate::config::fail_point::{FailPoint, FailSide, FailStep};
use crate::protocol::ItemId;
use durable::FailingDurable;
use hot::FailingHot;
use likes::FailingLikes;

/// How often a process that stands still looks whether it may go on.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The stores with the point in their way, if there is one.
pub(super) fn with_point(mut stores: Stores, point: Option<&FailPoint>) -> Stores {
    let Some(point) = point else { return stores };
    let trap = Arc::new(Trap { point: point.clone(), seen: AtomicU32::new(0), commented: Mutex::default() });
    stores.hot = Arc::new(FailingHot { inner: stores.hot, trap: trap.clone() });
    stores.durable = Arc::new(FailingDurable { inner: stores.durable, trap: trap.clone() });
    stores.facts = Arc::new(FailingLikes { inner: stores.facts, trap });
    stores
}

/// What waits at the point.
struct Trap {
    point: FailPoint,
    seen: AtomicU32,
    /// Items whose last flight had comments: settling it trims their write-ahead.
    commented: Mutex<HashSet<ItemId>>,
}

impl Trap {
    /// Does a step with the point around it. An answer after which `did` says that the store did nothing new is no `after`.
    async fn around<T, E>(
        &self,
        step: FailStep,
        call: impl Future<Output = Result<T, E>>,
        did: impl FnOnce(&T) -> bool,
    ) -> Result<T, E> {
        self.reach(step, FailSide::Before);
        let answer = call.await;
        if answer.as_ref().is_ok_and(did) {
            self.reach(step, FailSide::After);
        }
        answer
    }

    fn reach(&self, step: FailStep, side: FailSide) {
        let here = (step, side) == (self.point.step, self.point.side);
        if here && self.seen.fetch_add(1, Ordering::SeqCst) + 1 == self.point.nth {
            self.spring();
        }
    }

    /// Blocks its thread on purpose: what stands still does not answer its own timers either.
    fn spring(&self) {
        let Some(file) = &self.point.stall else { std::process::abort() };
        if std::fs::write(file, []).is_err() {
            std::process::abort();
        }
        while file.exists() {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}
