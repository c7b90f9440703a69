//! What came in and is not yet known to be in the hot store: taps and comments on their way into numbered contributions, and the
//! people who wait for them. Pure; the journal behind it belongs to the node, so it outlives a room that panicked.
//!
//! Order of a tick: [`Intake::contribute`] gives what is pending a number, [`Intake::offer`] says what to send,
//! [`Intake::answered`] takes the store's answer and hands back who may be told (I1).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::protocol::{Comment, CommentId, Counter, Millis};
use crate::store::hot::journal::{Contribution, Journal, Next};
use crate::store::hot::{Add, Standing};

/// Comments by key that a room remembers. The durable store has the older ones; this only has to outlast the time between looking
/// there and coming here, which is under a second, at far less than this many comments.
const RECENT_COMMENTS_MAX: usize = 4_096;

/// A comment that is there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// When it was taken.
    pub at: Millis,
    /// Its text, to tell a retry from a key used twice.
    pub text: String,
}

/// `W` is who waits for an answer.
pub struct Intake<W> {
    journal: Arc<Mutex<Journal>>,
    gathered: Contribution,
    pending: Vec<W>,
    waiting: VecDeque<(u64, W)>,
    recent: HashMap<CommentId, Known>,
    recent_order: VecDeque<CommentId>,
}

impl<W> Intake<W> {
    /// Goes on with what the node's journal of the item still holds.
    pub fn new(journal: Arc<Mutex<Journal>>) -> Self {
        Self {
            journal,
            gathered: Contribution::default(),
            pending: Vec::new(),
            waiting: VecDeque::new(),
            recent: HashMap::new(),
            recent_order: VecDeque::new(),
        }
    }

    /// Buffers an increment; `None`, changing nothing, if the sum would leave 64 bits.
    pub fn add(&mut self, counter: Counter, n: i64) -> Option<()> {
        self.gathered.increments.add(counter, n)
    }

    /// Buffers a comment, or answers the one that its id stands for already.
    pub fn comment(&mut self, comment: &Comment) -> Result<(), Known> {
        if let Some(known) = self.recent.get(&comment.id) {
            return Err(known.clone());
        }
        if self.recent_order.len() == RECENT_COMMENTS_MAX
            && let Some(oldest) = self.recent_order.pop_front()
        {
            self.recent.remove(&oldest);
        }
        self.recent.insert(comment.id, Known { at: comment.at, text: comment.text.clone() });
        self.recent_order.push_back(comment.id);
        self.gathered.comments.push(comment.clone());
        Ok(())
    }

    /// `who` is to be told when everything buffered so far is in the hot store.
    pub fn wait(&mut self, who: W) {
        self.pending.push(who);
    }

    /// How many wait.
    pub fn waiters(&self) -> usize {
        self.pending.len() + self.waiting.len()
    }

    /// Gives what is pending the next number. Near the journal's bounds it stays pending and goes on summing.
    pub fn contribute(&mut self, now: Instant) {
        let mut journal = self.journal.lock();
        if !self.gathers() {
            // Who waits without anything of its own (a repeated key, a hand-over) waits for what is under way.
        } else if let Err(refused) = journal.contribute(std::mem::take(&mut self.gathered), now) {
            self.gathered = refused.contribution;
            return;
        }
        let op = journal.op();
        self.waiting.extend(self.pending.drain(..).map(|who| (op, who)));
    }

    /// What to send now, if anything.
    pub fn offer(&self, now: Instant) -> Option<Add> {
        self.journal.lock().offer(now)
    }

    /// Takes the store's answer to the last offer, and says what comes next.
    pub fn answered(&mut self, standing: &Standing, now: Instant) -> Next {
        self.journal.lock().answer(standing, now)
    }

    /// Everybody whose contribution is known to be in.
    pub fn told(&mut self) -> Vec<W> {
        let acked = self.journal.lock().acked();
        let count = self.waiting.iter().take_while(|(op, _)| *op <= acked).count();
        self.waiting.drain(..count).map(|(_, who)| who).collect()
    }

    /// Whether something has no number yet, or has not been answered.
    pub fn is_unsettled(&self) -> bool {
        let journal = self.journal.lock();
        self.gathers() || self.waiters() > 0 || journal.acked() < journal.op()
    }

    fn gathers(&self) -> bool {
        !self.gathered.increments.is_empty() || !self.gathered.comments.is_empty()
    }

    /// Whether everything is folded: nothing would be lost with this room.
    pub fn is_empty(&self) -> bool {
        !self.is_unsettled() && self.journal.lock().is_empty()
    }

    /// For how long the oldest contribution has been waiting for its answer.
    pub fn oldest_unanswered(&self, now: Instant) -> Option<Duration> {
        self.journal.lock().oldest_unanswered(now)
    }

    /// Whether the hot store has stood across a gap for so long that somebody must look.
    pub fn is_stuck(&self, now: Instant) -> bool {
        self.journal.lock().is_stuck(now)
    }
}
