//! What must hold: after every step, and at rest. An omniscient observer judges by what each writer truly contributed.

use std::collections::{BTreeMap, BTreeSet};

use heartline::protocol::{CommentId, Counters, WriterId};
use heartline::store::hot::Stood;
use heartline::store::hot::contract::Vector;

use crate::histories::record::{Record, pairs, prefixes};
use crate::hot::RESETTER;
use crate::world::{World, name};
use crate::writer::Writer;

impl World {
    /// I2 and I3 at this moment: the document and the item hold exactly what their vectors say, and the item or the document
    /// holds what was acknowledged, unless something laid the item low.
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
        let told = if self.may_be_low { Vec::new() } else { self.living() };
        for n in told {
            let (id, acknowledged) = (self.writers[n].id, self.writers[n].record.acknowledged);
            let at = stood[&id].at;
            if at < acknowledged {
                self.fault(format!("I1: {} was told {acknowledged}, the item has {at}", name(id)));
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
        if !prefixes(absent.map(|writer| &writer.record), |_| 0).contains(&pairs(&left)) {
            self.fault(format!("I2: the {what} is off by {left:?} from what {vector:?} explains"));
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
        for n in self.living() {
            left = left.minus(self.writers[n].record.total()).unwrap();
            if !self.writers[n].journal.is_empty() {
                self.fault(format!("the journal of {} never empties", name(self.writers[n].id)));
            }
        }
        let hot_lost = self.hot_lost;
        let dead = self.writers.iter().filter(|writer| !writer.alive).map(|writer| &writer.record);
        let least = |record: &Record| if hot_lost { 0 } else { record.acknowledged };
        if !prefixes(dead, least).contains(&pairs(&left)) {
            self.fault(format!("I2: durable total is off by {left:?}"));
        }
        if let Some(audit) = self.hot.audit()
            && (!audit.delta.is_empty() || audit.flight.is_some() || audit.base != stored.document.totals)
        {
            self.fault(format!("I3: at rest the item has {audit:?}, the document {:?}", stored.document));
        }
        self.judge_comments(&stored.comments.into_keys().collect());
    }

    /// Exactly the accepted comments of the living; of a dead writer a prefix, at least what was acknowledged.
    fn judge_comments(&mut self, durable: &BTreeSet<CommentId>) {
        let made = self.writers.iter().flat_map(|writer| &writer.record.comments);
        let accepted: BTreeSet<_> = made.filter(|(_, _, refused)| !refused).map(|(_, id, _)| *id).collect();
        let least = |writer: &Writer| match (writer.alive, self.hot_lost) {
            (true, _) => u64::MAX,
            (false, true) => 0,
            (false, false) => writer.record.acknowledged,
        };
        let wrong = |writer: &Writer| writer.record.comment_fault(least(writer), durable).map(|why| (writer.id, why));
        let faults: Vec<_> = self.writers.iter().filter_map(wrong).collect();
        faults.into_iter().for_each(|(id, why)| self.fault(format!("comment: of {}, {why}", name(id))));
        if !durable.is_subset(&accepted) {
            self.fault("comment: one is durable that was refused or never made".to_owned());
        }
        if !self.hot.unflushed_comments().is_empty() {
            self.fault("comments stay unflushed".to_owned());
        }
    }
}

impl Writer {
    /// A room that the store loses nothing for reads each event once, in order.
    pub fn reads_events(&mut self, stood: &Stood, may_be_low: bool) -> Option<String> {
        let known = self.known.replace((stood.epoch, stood.seq));
        if let Some((epoch, seq)) = known
            && epoch == stood.epoch
            && !may_be_low
        {
            let expected: Vec<u64> = (seq + 1..=stood.seq).collect();
            let read: Vec<u64> = stood.events.iter().map(|event| event.seq).collect();
            if read != expected {
                return Some(format!("I9: a room after {seq} was given {read:?} of {}", stood.seq));
            }
        }
        None
    }
}
