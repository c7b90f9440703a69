//! What must hold: after every step, and at rest. An omniscient observer judges by what each writer truly contributed.

use std::collections::{BTreeMap, BTreeSet};

use heartline::protocol::{Counter, Counters, Kind, WriterId};
use heartline::store::hot::Stood;
use heartline::store::hot::contract::Vector;

use crate::hot::RESETTER;
use crate::world::{World, name};
use crate::writer::Writer;

impl World {
    /// I2 and I3 at this moment: the document and the item hold exactly what their vectors say, and the item or the document
    /// holds what was acknowledged, unless the hot store lost state.
    pub fn judge_now(&mut self) {
        let document = self.durable.primary(&self.item).document;
        self.explain("document", &document.totals, &document.folded);
        let Some(audit) = self.hot.audit() else { return };
        let ids: Vec<_> = self.writers.iter().map(|writer| writer.id).collect();
        let stood: BTreeMap<WriterId, Stood> =
            ids.iter().filter_map(|id| self.hot.stood(id).map(|stood| (*id, stood))).collect();
        let vector = |of: fn(&Stood) -> u64| -> Vector {
            stood.iter().map(|(id, stood)| (*id, of(stood))).filter(|(_, n)| *n > 0).collect()
        };
        let totals = audit.base.plus(&audit.delta).unwrap();
        self.explain("item", &totals, &vector(|stood| stood.at));
        self.explain("item's base", &audit.base, &vector(|stood| stood.folded));
        for writer in self.writers.iter().filter(|writer| writer.alive && !self.hot_lost) {
            let at = stood[&writer.id].at;
            if at < writer.record.acknowledged {
                let acknowledged = writer.record.acknowledged;
                self.faults.push(format!("I1: {} was told {acknowledged}, the item has {at}", name(writer.id)));
            }
        }
    }

    /// Whether the totals are what the vector's writers contributed, and a prefix of each dead writer that it no longer has.
    fn explain(&mut self, what: &str, totals: &Counters, vector: &Vector) {
        let mut left = totals.clone();
        for (id, op) in vector.iter().filter(|(id, _)| **id != RESETTER) {
            match self.writers.iter().find(|writer| writer.id == *id).and_then(|writer| writer.sum(*op)) {
                Some(sum) => left = left.minus(sum).unwrap(),
                None => {
                    return self
                        .faults
                        .push(format!("I2: the {what} has a number {op} of {} that never was", name(*id)));
                }
            }
        }
        if left.is_empty() {
            return;
        }
        let absent = self.writers.iter().filter(|writer| !writer.alive && !vector.contains_key(&writer.id));
        if !prefixes(absent, |_| 0).contains(&pairs(&left)) {
            self.faults.push(format!("I2: the {what} is off by {left:?} from what {vector:?} explains"));
        }
    }

    /// Everything of living writers is durable, of a dead one a prefix: at least what it was told, unless the hot store lost
    /// state; hot and durable agree; every living journal is empty.
    pub fn judge_at_rest(&mut self) {
        if !self.faults.is_empty() {
            return;
        }
        let stored = self.durable.primary(&self.item);
        let mut left = stored.document.totals.clone();
        for writer in self.writers.iter().filter(|writer| writer.alive) {
            left = left.minus(writer.record.sums.last().unwrap()).unwrap();
            if !writer.journal.is_empty() {
                self.faults.push(format!("the journal of {} never empties", name(writer.id)));
            }
        }
        let hot_lost = self.hot_lost;
        let dead = self.writers.iter().filter(|writer| !writer.alive);
        let least = |writer: &Writer| if hot_lost { 0 } else { writer.record.acknowledged };
        if !prefixes(dead, least).contains(&pairs(&left)) {
            self.faults.push(format!("I2: durable total is off by {left:?}"));
        }
        if let Some(audit) = self.hot.audit()
            && (!audit.delta.is_empty() || audit.flight.is_some() || audit.base != stored.document.totals)
        {
            self.faults.push(format!("I3: at rest the item has {audit:?}, the document {:?}", stored.document));
        }
        self.judge_comments(&stored.comments.keys().map(|id| id.0.as_u128()).collect());
    }

    /// Exactly the accepted comments of the living; of a dead writer a prefix, at least what was acknowledged.
    fn judge_comments(&mut self, durable: &BTreeSet<u128>) {
        let mut known = BTreeSet::new();
        for writer in &self.writers {
            let least = if writer.alive {
                u64::MAX
            } else if self.hot_lost {
                0
            } else {
                writer.record.acknowledged
            };
            let mut missing = None;
            for (op, id, _) in writer.record.comments.iter().filter(|(_, _, refused)| !refused) {
                let id = id.0.as_u128();
                known.insert(id);
                match (durable.contains(&id), missing) {
                    (false, _) if *op <= least => {
                        self.faults.push(format!("comment {id} of {} (number {op}) is lost", name(writer.id)));
                    }
                    (false, None) => missing = Some(*op),
                    (true, Some(gap)) if gap < *op => {
                        self.faults
                            .push(format!("comment {id} of {} is durable, number {gap} is not", name(writer.id)));
                    }
                    _ => {}
                }
            }
        }
        if !durable.is_subset(&known) {
            self.faults.push("a comment is durable that was refused or never made".to_owned());
        }
        if !self.hot.unflushed_comments().is_empty() {
            self.faults.push("comments stay unflushed".to_owned());
        }
    }
}

impl Writer {
    /// A room that the store loses nothing for reads each event once, in order.
    pub fn reads_events(&mut self, stood: &Stood, hot_lost: bool, faults: &mut Vec<String>) {
        if let Some((epoch, seq)) = self.known
            && epoch == stood.epoch
            && !hot_lost
        {
            let expected: Vec<u64> = (seq + 1..=stood.seq).collect();
            let read: Vec<u64> = stood.events.iter().map(|event| event.seq).collect();
            if read != expected {
                faults.push(format!("I9: a room after {seq} was given {read:?} of {}", stood.seq));
            }
        }
        self.known = Some((stood.epoch, stood.seq));
    }
}

/// Counters as they can be put into a set.
type Pairs = (i64, i64, i64);

fn pairs(counters: &Counters) -> Pairs {
    (counters.get(Counter::Taps(Kind::HEART)), counters.get(Counter::Comments), counters.get(Counter::Likes))
}

/// Every sum that takes a prefix of each writer, at least up to the number that `least` asks for.
fn prefixes<'a>(writers: impl Iterator<Item = &'a Writer>, least: impl Fn(&Writer) -> u64) -> BTreeSet<Pairs> {
    let mut sums = BTreeSet::from([(0, 0, 0)]);
    for writer in writers {
        let skip = usize::try_from(least(writer)).unwrap();
        let own: BTreeSet<Pairs> = writer.record.sums.iter().skip(skip).map(pairs).collect();
        let with = |sum: Pairs| own.iter().map(move |one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2));
        sums = sums.into_iter().flat_map(with).collect();
    }
    sums
}
