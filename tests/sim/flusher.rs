//! A flusher that takes the real plan's decisions one at a time, so that anything can happen between any two of them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use heartline::flush::plan::{LISTED_MAX, Plan};
use heartline::flush::round::{Answer, Ask, Outcome, Round};
use heartline::protocol::{Comment, ItemId, WriterId};

use crate::hot::Hot;

/// The interval of the simulation's flushers.
const INTERVAL: Duration = Duration::from_secs(5);

pub struct Flusher {
    pub plan: Plan,
    round: Option<(Round, Instant)>,
    taken: Vec<ItemId>,
    asks: Vec<Ask>,
    /// Comments that wait for their flight's apply, where the guard that they come first is out.
    pub held_back: Vec<Comment>,
}

impl Flusher {
    pub fn new() -> Self {
        Self { plan: Plan::new(INTERVAL), round: None, taken: Vec::new(), asks: Vec::new(), held_back: Vec::new() }
    }

    pub fn is_idle(&self) -> bool {
        self.round.is_none()
    }

    /// An interval begins.
    pub fn begin(&mut self, hot: &mut Hot, living: Option<Vec<WriterId>>, now: Instant) {
        if let Some(living) = living {
            self.plan.living(living, now);
        }
        let listed = hot.dirty(LISTED_MAX);
        self.plan.listed(&listed, listed.len() < LISTED_MAX, now);
        if let Some(batch) = self.plan.batches(&listed, &BTreeSet::new(), false, now).pop_front() {
            self.taken = self.plan.take(batch.items);
            self.round = Some((Round::new(self.taken.iter().cloned()), now));
        }
    }

    /// One of the steps that can be taken now.
    pub fn ask(&mut self, pick: impl FnOnce(usize) -> usize) -> Option<Ask> {
        let (round, _) = self.round.as_mut()?;
        self.asks.extend(std::iter::from_fn(|| round.ask()));
        (!self.asks.is_empty()).then(|| self.asks.swap_remove(pick(self.asks.len())))
    }

    /// Takes in what came of a step; at the end of a round, whether it raised the alarm of a document that is behind.
    pub fn told(&mut self, answer: Answer, now: Instant) -> bool {
        let Some((round, _)) = self.round.as_mut() else { return false };
        round.told(answer);
        round.is_over() && self.end(now)
    }

    fn end(&mut self, now: Instant) -> bool {
        let Some((round, begun)) = self.round.take() else { return false };
        let (outcomes, findings) = round.finish();
        self.plan.ended(&outcomes, &findings, begun, now);
        self.plan.release(&self.taken);
        self.asks.clear();
        self.held_back.clear();
        outcomes.values().any(|outcome| *outcome == Outcome::Behind)
    }

    /// The round is dropped where it stands, as a future is; what the flusher remembers is kept.
    pub fn break_off(&mut self) {
        self.round = None;
        self.asks.clear();
        self.held_back.clear();
        self.plan.release(&self.taken);
    }
}
