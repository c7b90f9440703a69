//! What came in and is not yet known to be in the hot store: taps and comments on their way into numbered contributions, and the
//! people who wait for them. Pure; the journal behind it belongs to the node, so it outlives a room that panicked.
//!
//! Order of a tick: [`Intake::contribute`] gives what is pending a number, [`Intake::offer`] says what to send,
//! [`Intake::answered`] takes the store's answer and hands back who may be told (I1).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::protocol::{ApiError, Code, Comment, CommentId, Counter, Millis};
use crate::store::hot::journal::{Contribution, Journal, Next};
use crate::store::hot::{Add, Standing};

/// Comments by key that a room remembers. The durable store has the older ones; this only has to outlast the time between looking
/// there and coming here, which is under a second, at far less than this many comments.
const RECENT_COMMENTS_MAX: usize = 4_096;

/// How far a room's comment times may run ahead of the clock: with a millisecond for each, a room takes 1,000 comments a second for
/// as long as it likes, and this many at once. The busiest recorded show has 46 a second.
const COMMENTS_AHEAD_MAX_MS: i64 = 1_000;

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
    last_at: Millis,
}

impl<W> Intake<W> {
    /// Goes on with what the node's journal of the item still holds, after these comments.
    pub fn new(journal: Arc<Mutex<Journal>>, comments: &[Comment]) -> Self {
        let mut intake = Self {
            journal,
            gathered: Contribution::default(),
            pending: Vec::new(),
            waiting: VecDeque::new(),
            recent: HashMap::new(),
            recent_order: VecDeque::new(),
            last_at: Millis::default(),
        };
        comments.iter().for_each(|comment| intake.remember(comment));
        intake
    }

    /// Buffers an increment; `None`, changing nothing, if the sum would leave 64 bits.
    pub fn add(&mut self, counter: Counter, n: i64) -> Option<()> {
        self.gathered.increments.add(counter, n)
    }

    /// The comment that this id stands for already, as far back as the room remembers.
    pub fn known(&self, id: CommentId) -> Option<&Known> {
        self.recent.get(&id)
    }

    /// The time of the next comment: the wall clock's, but later than the last one's, so that times alone order a room's comments.
    pub fn comment_time(&self, wall: Millis) -> Result<Millis, ApiError> {
        let at = wall.max(Millis(self.last_at.0 + 1));
        if at.0 > wall.0 + COMMENTS_AHEAD_MAX_MS {
            return Err(ApiError::new(Code::RateLimited, "this room takes 1,000 comments a second").retry_after(1_000));
        }
        Ok(at)
    }

    /// Buffers a comment, whose time is [`Intake::comment_time`]'s.
    pub fn comment(&mut self, comment: Comment) {
        self.remember(&comment);
        self.gathered.comments.push(comment);
    }

    /// A comment is there: the same id again is a retry.
    pub fn remember(&mut self, comment: &Comment) {
        if self.recent.contains_key(&comment.id) {
            return;
        }
        if self.recent_order.len() == RECENT_COMMENTS_MAX
            && let Some(oldest) = self.recent_order.pop_front()
        {
            self.recent.remove(&oldest);
        }
        self.recent.insert(comment.id, Known { at: comment.at, text: comment.text.clone() });
        self.recent_order.push_back(comment.id);
        self.last_at = self.last_at.max(comment.at);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Epoch, UserId, WriterId};
    use crate::store::hot::Stood;
    use crate::store::hot::journal::Bounds;
    use uuid::Uuid;

    fn intake(numbers_max: usize) -> Intake<&'static str> {
        let bounds = Bounds { numbers_max, reoffer: Duration::from_secs(5) };
        Intake::new(Arc::new(Mutex::new(Journal::new(WriterId(Uuid::nil()), 0, bounds))), &[])
    }

    fn stands_at(at: u64, folded: u64) -> Standing {
        let (totals, epoch) = (Default::default(), Epoch(Uuid::nil()));
        Standing::At(Stood { at, folded, fold: 0, totals, epoch, seq: 0, events: Vec::new(), elsewhere: 0 })
    }

    fn comment(n: u128, at: Millis) -> Comment {
        let user = UserId::parse("ann").unwrap();
        Comment { id: CommentId(Uuid::from_u128(n)), user, text: n.to_string(), at, name: None }
    }

    #[test]
    fn nobody_is_told_before_the_store_has_it() {
        let (now, mut intake) = (Instant::now(), intake(8));
        intake.add(Counter::Likes, 3).unwrap();
        intake.wait("first");
        intake.contribute(now);
        assert!(intake.told().is_empty());
        assert_eq!(intake.offer(now).map(|add| (add.prev, add.op)), Some((0, 1)));
        intake.add(Counter::Likes, 1).unwrap();
        intake.wait("second");
        intake.contribute(now);
        intake.answered(&stands_at(1, 0), now);
        assert_eq!(intake.told(), ["first"]);
        assert!(intake.is_unsettled() && !intake.is_empty());
        intake.answered(&stands_at(2, 2), now);
        assert_eq!(intake.told(), ["second"]);
        assert!(intake.is_empty());
    }

    #[test]
    fn at_the_journals_bound_taps_are_summed_on_and_not_lost() {
        let (now, mut intake) = (Instant::now(), intake(1));
        for n in [1, 10, 100] {
            intake.add(Counter::Likes, n).unwrap();
            intake.contribute(now);
        }
        assert_eq!(intake.offer(now).map(|add| add.increments.get(Counter::Likes)), Some(1));
        intake.answered(&stands_at(1, 1), now);
        intake.contribute(now);
        assert_eq!(intake.offer(now).map(|add| add.increments.get(Counter::Likes)), Some(110));
    }

    #[test]
    fn comment_times_order_a_room_and_do_not_run_away_from_the_clock() {
        let (wall, mut intake) = (Millis(1_000_000), intake(8));
        let mut last = Millis(0);
        for n in 0..=1_000 {
            let at = intake.comment_time(wall).unwrap();
            assert!(at > last, "{at:?} after {last:?}");
            intake.comment(comment(n, at));
            last = at;
        }
        assert!(intake.comment_time(wall).is_err(), "a second ahead of the clock");
        assert_eq!(intake.comment_time(Millis(wall.0 + 5_000)).unwrap(), Millis(wall.0 + 5_000));
    }

    #[test]
    fn a_repeat_is_known_as_far_back_as_the_bound_says() {
        let mut intake = intake(8);
        for n in 0..=RECENT_COMMENTS_MAX as u128 {
            intake.remember(&comment(n, Millis(0)));
        }
        let known = |n| intake.known(CommentId(Uuid::from_u128(n))).is_some();
        assert_eq!((known(0), known(1), known(RECENT_COMMENTS_MAX as u128)), (false, true, true));
    }
}
