//! The verdict at rest.

use std::collections::BTreeSet;

use heartline::protocol::{CommentId, Counter, Counters};
use heartline::store::durable::CommentCursor;

use super::record::{Record, pairs, prefixes};
use super::write::Writer;
use super::{History, Pair, name};

/// Items listed as dirty: more than any test has at a time.
const LISTED_MAX: usize = 1_000;
/// Comments of one page: a history seldom has more.
const PAGE: usize = 200;

impl<P: Pair> History<P> {
    /// Durable is everything of the living, and of each dead writer a prefix: at least what it was told, unless the hot store lost
    /// state. Every living journal is empty, hot and durable agree, every comment is there once.
    pub async fn judge(&mut self) {
        let document = self.pair.durable().document(&self.item).await.unwrap();
        for writer in self.writers.iter().filter(|writer| !writer.is_at_rest()) {
            self.told.faults.push(format!("the journal of {} never empties", name(writer.id)));
        }
        self.judge_totals(&document.totals);
        self.judge_hot(&document.totals).await;
        let durable = self.durable_comments().await;
        self.judge_comments(&durable, document.totals.get(Counter::Comments));
    }

    fn least(&self, record: &Record) -> u64 {
        if self.hot_lost { 0 } else { record.acknowledged }
    }

    fn judge_totals(&mut self, totals: &Counters) {
        let (living, dead): (Vec<_>, Vec<_>) = self.writers.iter().partition(|writer| writer.alive);
        let of_living = living.iter().map(|writer| writer.record.total());
        let left = of_living.fold(totals.clone(), |left, total| left.minus(total).unwrap());
        let possible = prefixes(dead.iter().map(|writer| &writer.record), |record| self.least(record));
        if !possible.contains(&pairs(&left)) {
            self.told.faults.push(format!("I2: the durable total is off: {left:?} not in {possible:?}"));
        }
    }

    async fn judge_hot(&mut self, totals: &Counters) {
        let audit = self.pair.hot().audit(&self.item).await.unwrap();
        let is_settled = audit
            .as_ref()
            .is_none_or(|audit| audit.delta.is_empty() && audit.flight.is_none() && audit.base == *totals);
        if !is_settled {
            self.told.faults.push(format!("I3: at rest the item has {audit:?}, the document {totals:?}"));
        }
        if self.pair.hot().dirty(LISTED_MAX).await.unwrap().contains(&self.item) {
            self.told.faults.push("I3: the item stays dirty".to_owned());
        }
        if !self.pair.hot().unflushed_comments(&self.item).await.unwrap().is_empty() {
            self.told.faults.push("comments stay unflushed".to_owned());
        }
    }

    async fn durable_comments(&self) -> Vec<CommentId> {
        let (mut durable, mut before) = (Vec::new(), None);
        loop {
            let page = self.pair.durable().comments(&self.item, before, PAGE).await.unwrap();
            durable.extend(page.iter().map(|comment| comment.id));
            match page.last() {
                Some(last) if page.len() == PAGE => before = Some(CommentCursor::from(last)),
                _ => return durable,
            }
        }
    }

    fn judge_comments(&mut self, durable: &[CommentId], counted: i64) {
        let ids: BTreeSet<_> = durable.iter().copied().collect();
        let least = |writer: &Writer| if writer.alive { u64::MAX } else { self.least(&writer.record) };
        let wrong = |writer: &Writer| writer.record.comment_fault(least(writer), &ids).map(|why| (writer.id, why));
        let faults: Vec<_> = self.writers.iter().filter_map(wrong).collect();
        self.told.faults.extend(faults.into_iter().map(|(id, why)| format!("comment: of {}, {why}", name(id))));
        let made: BTreeSet<_> =
            self.writers.iter().flat_map(|writer| &writer.record.comments).map(|(_, id, _)| *id).collect();
        if ids.len() != durable.len() || !ids.is_subset(&made) {
            self.told.faults.push(format!(
                "comment: {} durable, {} of them different, {} made",
                durable.len(),
                ids.len(),
                made.len()
            ));
        }
        // Of a dead writer a comment may be durable whose flight was lost before it was applied.
        if self.writers.iter().all(|writer| writer.alive) && counted != durable.len() as i64 {
            self.told.faults.push(format!("comment: {counted} are counted, {} durable", durable.len()));
        }
    }
}
