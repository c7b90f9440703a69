//! The node's one ticker. It wakes only rooms that asked for it, all in phase, so that their steps can share a round trip.
//!
//! A tick has two halves: relays are nudged to hand over the taps that they summed, and when they have, or after
//! a tenth of the tick, the rooms that have something pending are told to apply it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use actix::{Message, Recipient};
use parking_lot::Mutex;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};

/// A relay is to hand its sums to the rooms; answered when it has.
#[derive(Message, Clone, Copy)]
#[rtype(result = "()")]
pub struct Gather;

/// A room's turn, with the tick's number. It is sent once for each time that the room asked.
#[derive(Message, Clone, Copy)]
#[rtype(result = "()")]
pub struct Tick(pub u64);

/// Between the relays' hand-over and the rooms' turn: time for a room that had nothing pending to ask for it.
const HAND_OVER: Duration = Duration::from_millis(2);

/// Shared by rooms, who ask, and the task that ticks. Cloning is a reference count.
#[derive(Clone, Default)]
pub struct Ticker(Arc<Inner>);

#[derive(Default)]
struct Inner {
    now: AtomicU64,
    due: Mutex<BTreeMap<u64, Vec<Recipient<Tick>>>>,
    relays: Mutex<Vec<Recipient<Gather>>>,
}

impl Ticker {
    /// Asks for a turn at tick `at`, or the next one if that has passed.
    pub fn wake(&self, room: Recipient<Tick>, at: u64) {
        // Under the lock: a tick that passes meanwhile would strand the room in the past.
        let mut due = self.0.due.lock();
        let next = self.0.now.load(Ordering::Relaxed) + 1;
        due.entry(at.max(next)).or_default().push(room);
    }

    /// From now on this relay is nudged.
    pub fn add_relay(&self, relay: Recipient<Gather>) {
        self.0.relays.lock().push(relay);
    }

    /// Ticks so far.
    pub fn ticks(&self) -> u64 {
        self.0.now.load(Ordering::Relaxed)
    }

    /// Ticks until dropped. A tick that came late is not made up for: the next one takes its work along.
    pub async fn run(self, tick: Duration) {
        let mut interval = interval(tick);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let started = interval.tick().await;
            self.gather(started + tick / 10).await;
            tokio::time::sleep(HAND_OVER.min(tick / 10)).await;
            self.turn();
        }
    }

    async fn gather(&self, deadline: Instant) {
        let relays = self.0.relays.lock().clone();
        let answers: Vec<_> = relays.iter().map(|relay| relay.send(Gather)).collect();
        for answer in answers {
            // A busy relay keeps its sums; they come with the next tick.
            let _ = timeout_at(deadline, answer).await;
        }
    }

    fn turn(&self) {
        let (now, due) = {
            let mut due = self.0.due.lock();
            let now = self.0.now.fetch_add(1, Ordering::Relaxed) + 1;
            let later = due.split_off(&(now + 1));
            (now, std::mem::replace(&mut *due, later))
        };
        for room in due.into_values().flatten() {
            // One message for each time that the room asked, so its mailbox cannot fill with them.
            room.do_send(Tick(now));
        }
    }
}
