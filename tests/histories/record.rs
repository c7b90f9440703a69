//! What a writer truly contributed, as an omniscient observer knows it. Everything is judged by this, never by what a store
//! or a journal says of itself.

use std::collections::BTreeSet;

use heartline::protocol::{CommentId, Counter, Counters, Kind};

/// One process run's share in an item.
#[derive(Debug)]
pub struct Record {
    /// Running sums by number; `sums[0]` is nothing.
    pub sums: Vec<Counters>,
    /// Comments with their numbers, in order; refused ones are marked.
    pub comments: Vec<(u64, CommentId, bool)>,
    /// The highest number that was ever acknowledged.
    pub acknowledged: u64,
}

/// Counters as they can be put into a set.
pub type Pairs = (i64, i64, i64);

impl Record {
    pub fn new() -> Self {
        Self { sums: vec![Counters::default()], comments: Vec::new(), acknowledged: 0 }
    }

    /// A contribution got this number.
    pub fn contributed(&mut self, op: u64, increments: &Counters, comments: Vec<(CommentId, bool)>) {
        assert_eq!(self.sums.len() as u64, op, "numbers are given in order");
        self.sums.push(self.total().plus(increments).unwrap());
        self.comments.extend(comments.into_iter().map(|(id, refused)| (op, id, refused)));
    }

    /// Everything.
    pub fn total(&self) -> &Counters {
        self.sums.last().unwrap()
    }

    /// What is wrong with the durable comments of this writer: those up to number `least` must be there, and of the others no later one
    /// without the earlier ones. Refused ones are no matter.
    pub fn comment_fault(&self, least: u64, durable: &BTreeSet<CommentId>) -> Option<String> {
        let accepted = || self.comments.iter().filter(|(_, _, refused)| !refused);
        let (gap, lost, _) = accepted().find(|(_, id, _)| !durable.contains(id))?;
        let later = accepted().find(|(op, id, _)| op > gap && durable.contains(id));
        match later {
            _ if *gap <= least => Some(format!("comment {lost:?} (number {gap}) is lost")),
            Some((op, id, _)) => {
                Some(format!("comment {id:?} (number {op}) is durable, {lost:?} (number {gap}) is not"))
            }
            None => None,
        }
    }
}

pub fn pairs(counters: &Counters) -> Pairs {
    (counters.get(Counter::Taps(Kind::HEART)), counters.get(Counter::Comments), counters.get(Counter::Likes))
}

/// Every sum that takes a prefix of each record, at least up to the number that `least` asks for.
pub fn prefixes<'a>(records: impl Iterator<Item = &'a Record>, least: impl Fn(&Record) -> u64) -> BTreeSet<Pairs> {
    let mut sums = BTreeSet::from([(0, 0, 0)]);
    for record in records {
        let skip = usize::try_from(least(record)).unwrap();
        let own: BTreeSet<Pairs> = record.sums.iter().skip(skip).map(pairs).collect();
        let with = |sum: Pairs| own.iter().map(move |one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2));
        sums = sums.into_iter().flat_map(with).collect();
    }
    sums
}
