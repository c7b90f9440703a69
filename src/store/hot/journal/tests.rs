//! Each branch of [`Journal`] on its own, then seeded histories against the memory core: lost replies, a store that falls
//! back or is emptied, flushes that stop half way.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::protocol::{Comment, CommentId, Counter, Epoch, ItemId, Millis, UserId};
use crate::store::durable::Document;
use crate::store::hot::contract::Step;
use crate::store::hot::memory::MemoryCore;

const FLUSH: Duration = Duration::from_secs(5);
const BOUNDS: Bounds = Bounds { numbers_max: 8, reoffer: FLUSH };

fn likes(n: i64) -> Counters {
    [(Counter::Likes, n)].into_iter().collect()
}

fn of(n: i64) -> Contribution {
    Contribution { increments: likes(n), comments: Vec::new() }
}

fn comment(n: u128) -> Comment {
    let user = UserId::parse("ann").unwrap();
    Comment { id: CommentId(Uuid::from_u128(n)), user, text: "hi".into(), at: Millis(1), name: None }
}

fn writer() -> WriterId {
    WriterId(Uuid::from_u128(7))
}

fn stands(at: u64, folded: u64) -> Standing {
    let epoch = Epoch(Uuid::nil());
    Standing::At(Stood {
        at,
        folded,
        fold: 0,
        totals: Counters::default(),
        epoch,
        seq: 0,
        events: Vec::new(),
        elsewhere: 0,
    })
}

/// A journal with contributions 1, 2, 3 … of which the first `acked` are in.
fn journal(numbers: i64, acked: u64, now: Instant) -> Journal {
    let mut journal = Journal::new(writer(), 0, BOUNDS);
    for n in 1..=i64::try_from(acked).unwrap() {
        journal.contribute(of(n), now).unwrap();
    }
    if acked > 0 {
        journal.offer(now).unwrap();
        assert_eq!(journal.answer(&stands(acked, 0), now), Next::Settled);
    }
    for n in i64::try_from(acked).unwrap() + 1..=numbers {
        journal.contribute(of(n), now).unwrap();
    }
    journal
}

fn add(prev: u64, op: u64, n: i64) -> Add {
    Add { writer: writer(), prev, op, increments: likes(n), comments: Vec::new() }
}

#[test]
fn numbers_begin_at_one_and_an_empty_journal_offers_nothing() {
    let now = Instant::now();
    let mut journal = Journal::new(writer(), 0, BOUNDS);
    assert_eq!(journal.offer(now), None);
    assert_eq!(journal.contribute(of(5), now), Ok(1));
    assert_eq!(journal.contribute(of(-2), now), Ok(2));
    assert_eq!(journal.offer(now), Some(add(0, 2, 3)));
}

#[test]
fn a_lost_reply_is_offered_again_with_what_came_since_and_an_answer_between_sends_only_the_rest() {
    let now = Instant::now();
    let mut journal = journal(1, 0, now);
    assert_eq!(journal.offer(now), Some(add(0, 1, 1)));
    journal.contribute(of(2), now).unwrap();
    assert_eq!(journal.offer(now), Some(add(0, 2, 3)), "no answer came");
    assert_eq!(journal.answer(&stands(1, 0), now), Next::Send(add(1, 2, 2)));
    assert_eq!(journal.acked(), 1);
    assert_eq!(journal.answer(&stands(2, 0), now), Next::Settled);
    assert_eq!(journal.acked(), 2);
}

#[test]
fn what_came_while_an_offer_was_out_waits_for_the_next_one() {
    let now = Instant::now();
    let mut journal = journal(1, 0, now);
    journal.offer(now).unwrap();
    journal.contribute(of(2), now).unwrap();
    assert_eq!(journal.answer(&stands(1, 0), now), Next::Settled);
    assert_eq!(journal.offer(now), Some(add(1, 2, 2)));
}

#[test]
fn a_store_that_lost_the_item_is_aligned_and_given_everything_after_the_folded_number() {
    let now = Instant::now();
    let mut journal = journal(4, 3, now);
    journal.offer(now).unwrap();
    assert_eq!(journal.answer(&stands(4, 2), now), Next::Settled);
    assert_eq!(journal.folded(), 2);
    journal.contribute(of(5), now).unwrap();
    journal.offer(now).unwrap();
    assert_eq!(journal.answer(&Standing::Missing, now), Next::Align);
    assert_eq!(journal.offer(now), Some(add(2, 5, 3 + 4 + 5)));
    assert_eq!(journal.answer(&stands(5, 2), now), Next::Settled);
}

#[test]
fn a_store_that_fell_back_is_aligned_first_and_its_lower_standing_is_then_the_truth() {
    let now = Instant::now();
    let mut journal = journal(4, 3, now);
    journal.offer(now).unwrap();
    assert_eq!(journal.answer(&stands(1, 0), now), Next::Align, "lower than what was acknowledged");
    assert_eq!(journal.offer(now), Some(add(0, 4, 10)));
    assert_eq!(journal.answer(&stands(2, 2), now), Next::Send(add(2, 4, 7)), "the document was further than thought");
    assert_eq!((journal.acked(), journal.folded()), (2, 2));
    assert_eq!(journal.answer(&stands(4, 2), now), Next::Settled);
}

#[test]
fn a_gap_is_waited_out_never_sent_across_and_becomes_an_alarm() {
    let start = Instant::now();
    let mut journal = journal(3, 3, start);
    journal.contribute(of(4), start).unwrap();
    journal.offer(start).unwrap();
    assert_eq!(journal.answer(&stands(4, 3), start), Next::Settled);
    journal.contribute(of(5), start).unwrap();
    journal.offer(start).unwrap();

    assert_eq!(journal.answer(&stands(2, 2), start), Next::Align);
    journal.offer(start).unwrap();
    assert_eq!(journal.answer(&stands(2, 2), start), Next::Wait, "2 is not kept: 3 is gone");
    assert_eq!(journal.offer(start), None);
    let later = start + STALE_WAIT;
    assert_eq!(journal.offer(later).map(|add| add.prev >= 3), Some(true));
    assert_eq!(journal.answer(&stands(2, 2), later), Next::Align, "asked again");
    journal.offer(later).unwrap();
    assert_eq!(journal.answer(&stands(2, 2), later), Next::Wait);
    assert_eq!(journal.stale_since(), Some(start));
    assert!(!journal.is_stuck(start + STALE_ALARM));
    assert!(journal.is_stuck(start + STALE_ALARM + Duration::from_millis(1)));

    let healed = later + STALE_WAIT;
    journal.offer(healed).unwrap();
    assert_eq!(journal.answer(&stands(3, 3), healed), Next::Align, "kept again, but lower than acknowledged");
    assert_eq!(journal.offer(healed), Some(add(3, 5, 9)));
    assert_eq!(journal.answer(&stands(5, 3), healed), Next::Settled);
    assert_eq!(journal.stale_since(), None);
}

#[test]
fn a_number_that_was_never_given_is_no_standing_of_ours() {
    let now = Instant::now();
    let mut journal = journal(2, 0, now);
    journal.offer(now).unwrap();
    assert_eq!(journal.answer(&stands(9, 9), now), Next::Align);
    journal.offer(now).unwrap();
    assert_eq!(journal.answer(&stands(9, 9), now), Next::Wait);
    assert_eq!((journal.acked(), journal.folded(), journal.op()), (0, 0, 2));
}

#[test]
fn what_is_not_folded_is_offered_again_once_per_flush_interval_until_it_is() {
    let start = Instant::now();
    let mut journal = journal(2, 2, start);
    assert_eq!(journal.offer(start + FLUSH / 2), None);
    assert_eq!(journal.offer(start + FLUSH), Some(add(1, 2, 2)));
    assert_eq!(journal.offer(start + FLUSH), None);
    assert_eq!(journal.answer(&stands(2, 2), start + FLUSH), Next::Settled);
    assert!(journal.is_empty());
    assert_eq!(journal.offer(start + FLUSH * 9), None);
}

#[test]
fn a_full_journal_refuses_whole_and_takes_again_when_something_is_folded() {
    let now = Instant::now();
    let mut journal = journal(8, 8, now);
    assert_eq!(journal.spare(), 0);
    let refused = journal.contribute(of(9), now).unwrap_err();
    assert_eq!((refused.why, refused.contribution), (Refusal::Full, of(9)));
    journal.offer(now + FLUSH).unwrap();
    journal.answer(&stands(8, 1), now + FLUSH);
    assert_eq!(journal.contribute(of(9), now), Ok(9));
}

#[test]
fn sums_that_would_leave_64_bits_are_refused_when_they_enter_and_not_when_they_are_sent() {
    let now = Instant::now();
    let mut journal = journal(0, 0, now);
    journal.contribute(of(i64::MAX), now).unwrap();
    for n in [1, -1, i64::MIN] {
        assert_eq!(journal.contribute(of(n), now).unwrap_err().why, Refusal::Overflow);
    }
    journal.offer(now).unwrap();
    journal.answer(&stands(1, 1), now);
    assert_eq!(journal.contribute(of(-1), now), Ok(2));
}

#[test]
fn comments_go_with_their_own_numbers_and_are_kept_until_folded() {
    let now = Instant::now();
    let mut journal = Journal::new(writer(), 0, BOUNDS);
    for n in 1..=3 {
        let comments = vec![comment(n * 10), comment(n * 10 + 1)];
        journal.contribute(Contribution { increments: Counters::default(), comments }, now).unwrap();
    }
    let numbers = |add: Option<Add>| -> Vec<(u64, u128)> {
        add.unwrap().comments.iter().map(|(number, comment)| (*number, comment.id.0.as_u128())).collect()
    };
    assert_eq!(numbers(journal.offer(now)), [(1, 10), (1, 11), (2, 20), (2, 21), (3, 30), (3, 31)]);
    journal.answer(&stands(3, 2), now);
    assert_eq!(numbers(journal.offer(now + FLUSH)), [(3, 30), (3, 31)]);
}

#[test]
fn the_oldest_unanswered_age_does_not_come_back_when_the_store_falls_back() {
    let start = Instant::now();
    let mut journal = journal(2, 2, start);
    assert_eq!(journal.oldest_unanswered(start + FLUSH), None);
    journal.contribute(of(3), start + FLUSH).unwrap();
    let now = start + FLUSH * 2;
    assert_eq!(journal.oldest_unanswered(now), Some(FLUSH));
    journal.offer(now).unwrap();
    journal.answer(&Standing::Missing, now);
    journal.offer(now).unwrap();
    journal.answer(&stands(1, 0), now);
    assert_eq!(journal.acked(), 1);
    assert_eq!(journal.oldest_unanswered(now), Some(FLUSH), "1 and 2 were answered long ago");
}

/// One step of a history.
#[derive(Debug, Clone, Copy)]
enum Op {
    Contribute(i64),
    Tick { lost: bool },
    Claim,
    Apply,
    Align,
    Empty,
    FallBack(prop::sample::Index),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (-9_i64..=9).prop_map(Op::Contribute),
        6 => prop::bool::weighted(0.3).prop_map(|lost| Op::Tick { lost }),
        2 => Just(Op::Claim),
        2 => Just(Op::Apply),
        2 => Just(Op::Align),
        1 => Just(Op::Empty),
        1 => any::<prop::sample::Index>().prop_map(Op::FallBack),
    ]
}

/// The journal, a memory core and a document that a flusher folds into, one step at a time.
struct World {
    item: ItemId,
    journal: Journal,
    core: MemoryCore,
    past: Vec<MemoryCore>,
    document: Document,
    flight: Option<crate::store::hot::contract::Flight>,
    now: Instant,
    given: i64,
}

impl World {
    fn new() -> Self {
        Self {
            item: ItemId::parse("a").unwrap(),
            journal: Journal::new(writer(), 0, Bounds { numbers_max: 1_000, reoffer: FLUSH }),
            core: MemoryCore::new(1),
            past: vec![MemoryCore::new(2)],
            document: Document::default(),
            flight: None,
            now: Instant::now(),
            given: 0,
        }
    }

    fn act(&mut self, op: Op) {
        match op {
            Op::Contribute(n) => {
                self.journal.contribute(of(n), self.now).unwrap();
                self.given += n;
            }
            Op::Tick { lost } => self.tick(lost),
            Op::Claim => self.flight = self.core.claim(&self.item, &[]),
            Op::Apply => self.apply(),
            Op::Align => {
                self.core.align(&self.item, &self.document);
            }
            Op::Empty => self.core = MemoryCore::new(3),
            Op::FallBack(index) => self.core = index.get(&self.past).clone(),
        }
        self.past.push(self.core.clone());
    }

    fn tick(&mut self, lost: bool) {
        self.now += FLUSH;
        for _ in 0..4 {
            let Some(add) = self.journal.offer(self.now) else { return };
            let step =
                Step { item: self.item.clone(), add: Some(add), events: Vec::new(), after: None, watching: None };
            let mut standing = self.core.step(&step).unwrap();
            if lost {
                return;
            }
            while let Next::Send(add) = self.journal.answer(&standing, self.now) {
                standing = self.core.step(&Step { add: Some(add), ..step.clone() }).unwrap();
            }
            self.core.align(&self.item, &self.document);
        }
    }

    fn apply(&mut self) {
        if let Some(flight) = &self.flight
            && flight.fold == self.document.fold
        {
            self.document.totals = self.document.totals.plus(&flight.increments).unwrap();
            self.document.fold += 1;
            self.document.folded = flight.w.clone();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the store lost, the document ends with everything that was contributed, once, and the journal empty.
    #[test]
    fn nothing_is_lost_or_doubled_while_the_writer_lives(ops in prop::collection::vec(op(), 1..120)) {
        let mut world = World::new();
        for op in ops {
            world.act(op);
        }
        for _ in 0..10 {
            for op in [Op::Tick { lost: false }, Op::Claim, Op::Apply, Op::Align] {
                world.act(op);
            }
        }
        prop_assert_eq!(world.document.totals.get(Counter::Likes), world.given);
        prop_assert!(world.journal.is_empty(), "{:?}", world.journal);
    }
}
