//! One process run's share in the item: a room's ticks over the real journal, each step on its own, and the record of what
//! it truly contributed.

use std::time::{Duration, Instant};

use heartline::protocol::{Comment, CommentId, Counter, Counters, Epoch, ItemId, Kind, UserId, WriterId};
use heartline::store::durable::Document;
use heartline::store::hot::journal::{Bounds, Contribution, Journal, Next};
use heartline::store::hot::{Add, Standing, Step};

use crate::histories::record::Record;

#[derive(Debug)]
pub enum Doing {
    Nothing,
    Sending(Add),
    Reading,
    Aligning(Document),
}

pub struct Writer {
    pub id: WriterId,
    pub alive: bool,
    pub journal: Journal,
    pub doing: Doing,
    pub record: Record,
    /// The last event that its room knows.
    pub known: Option<(Epoch, u64)>,
    /// The highest fold that its room saw.
    pub fold: u64,
}

const BOUNDS: Bounds = Bounds { numbers_max: 4_096, reoffer: Duration::from_secs(5) };

impl Writer {
    /// As the registry does for a room whose journal it had dropped.
    pub fn make_journal_again(&mut self, folded: u64) {
        self.journal = Journal::new(self.id, folded, BOUNDS);
    }

    pub fn new(id: WriterId) -> Self {
        Self {
            id,
            alive: true,
            journal: Journal::new(id, 0, BOUNDS),
            doing: Doing::Nothing,
            record: Record::new(),
            known: None,
            fold: 0,
        }
    }

    pub fn contribute(&mut self, increments: Counters, comments: Vec<(Comment, bool)>, now: Instant) {
        let marked = comments.iter().map(|(comment, refused)| (comment.id, *refused)).collect();
        let comments = comments.into_iter().map(|(comment, _)| comment).collect();
        let op = self.journal.contribute(Contribution { increments: increments.clone(), comments }, now).unwrap();
        self.record.contributed(op, &increments, marked);
    }

    /// What its next tick asks of the hot store.
    pub fn step(&self, item: &ItemId, add: Option<Add>) -> Step {
        Step { item: item.clone(), add, events: Vec::new(), after: self.known, watching: None }
    }

    /// Takes an answer to an add in; `across_gaps`: the guard against it is out.
    pub fn answered(&mut self, standing: &Standing, now: Instant, across_gaps: bool) {
        let next = self.journal.answer(standing, now);
        self.record.acknowledged = self.record.acknowledged.max(self.journal.acked());
        self.doing = match (next, standing) {
            (Next::Settled, _) => Doing::Nothing,
            (Next::Send(add), _) => Doing::Sending(add),
            (Next::Align, _) => Doing::Reading,
            (Next::Wait, Standing::At(stood)) if across_gaps && stood.at < self.journal.op() => {
                let (op, increments) = (self.journal.op(), self.journal.unfolded());
                Doing::Sending(Add { writer: self.id, prev: stood.at, op, increments, comments: Vec::new() })
            }
            (Next::Wait, _) => Doing::Nothing,
        };
    }

    /// Its contributions up to a number.
    pub fn sum(&self, op: u64) -> Option<&Counters> {
        self.record.sums.get(usize::try_from(op).unwrap())
    }
}

pub fn hearts(n: i64) -> (Counter, i64) {
    (Counter::Taps(Kind::HEART), n)
}

pub fn comment(n: u128, text: &str) -> Comment {
    let id = CommentId(uuid::Uuid::from_u128(n));
    Comment { id, user: UserId::parse("u").unwrap(), text: text.to_owned(), at: Default::default(), name: None }
}
