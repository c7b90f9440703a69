//! An operator's decision about an item whose document was put back: whoever is kept, both stores agree again.
//!
//! A document that stands at a lower fold than its item came from a backup. It cannot be told whether what the item has beyond it is to
//! stand, so nobody decides but a person: *hot* writes what the item has into the document, as if its next flight had been applied;
//! *durable* throws away what was folded after the backup. Either is one conditional write of the document, to a fold that is higher
//! than any before, so that no flight of the past matches it; the ordinary align then does the rest, to an item of whatever age and
//! by whomever. Repeated after a crash anywhere in between it ends the same. Living servers go on meanwhile.

use std::collections::btree_map::Entry;

use crate::config::realign::Keep;
use crate::protocol::{Counters, ItemId};
use crate::store::durable::{Document, DurableError, DurableStore};
use crate::store::hot::{Aligned, Flight, HotError, HotStore};

/// How often the stores are read anew because a living server changed one of them in between: its flushes are seconds apart.
const TRIES_MAX: u32 = 8;

/// What became of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Realigned {
    /// Its document is not behind it: nothing was changed.
    InLine,
    /// The document is now this one.
    Done(Document),
}

/// Why an item was not realigned; asked again it goes on from wherever this left it.
#[derive(Debug, thiserror::Error)]
pub enum RealignError {
    /// The hot store did not answer.
    #[error(transparent)]
    Hot(#[from] HotError),
    /// The durable store did not answer.
    #[error(transparent)]
    Durable(#[from] DurableError),
    /// Base and flight leave 64 bits, which the hot store does not let happen.
    #[error("a total would leave 64 bits")]
    Overflow,
    /// It changed with every look.
    #[error("its stores changed {TRIES_MAX} times in a row while they were read")]
    Restless,
}

/// Realigns an item, if its document is behind it.
pub async fn realign(
    hot: &dyn HotStore,
    durable: &dyn DurableStore,
    item: &ItemId,
    keep: Keep,
) -> Result<Realigned, RealignError> {
    for _ in 0..TRIES_MAX {
        // In this order: what the item takes for durable was in the document before, unless that was put back.
        let Some(held) = hot.base(item).await? else { return Ok(Realigned::InLine) };
        let document = durable.document(item).await?;
        if document.fold >= held.fold {
            // One that is ahead is ordinary: a flush, or an earlier run of this, that was broken off before its last step.
            hot.align(item, &document).await?;
            return Ok(Realigned::InLine);
        }
        let Some(kept) = kept(hot, durable, item, keep, &held, &document).await? else { continue };
        if durable.replace_document(item, document.fold, &kept).await? {
            let written = durable.document(item).await?;
            if hot.align(item, &written).await? != Aligned::DurableBehind {
                return Ok(Realigned::Done(written));
            }
        }
    }
    Err(RealignError::Restless)
}

/// The document that is to stand; `None`: the item has changed since it was read.
async fn kept(
    hot: &dyn HotStore,
    durable: &dyn DurableStore,
    item: &ItemId,
    keep: Keep,
    held: &Document,
    restored: &Document,
) -> Result<Option<Document>, RealignError> {
    if keep == Keep::Durable {
        return Ok(Some(durable_kept(held, restored)));
    }
    let flight = hot.claim(item, &[]).await?;
    if flight.as_ref().is_some_and(|flight| flight.fold != held.fold) {
        return Ok(None);
    }
    let Some(flight) = flight else { return Ok(Some(held.clone())) };
    // As in every flush: what `folded` proves is durable before it.
    for rejected in durable.insert_comments(item, &flight.comments).await?.rejected {
        tracing::error!(%item, comment = %rejected.id, reason = rejected.reason, "comment refused and set aside");
    }
    hot_kept(held, &flight).map(Some).ok_or(RealignError::Overflow)
}

/// What the item holds as durable with its flight applied to it: the very document that settles the flight.
fn hot_kept(held: &Document, flight: &Flight) -> Option<Document> {
    let totals = held.totals.plus(&flight.increments)?;
    Some(Document { totals, fold: held.fold + 1, folded: flight.w.clone() })
}

/// The restored totals, under numbers that nobody has gone past: a writer has forgotten what was once folded, and would stand before a
/// gap for ever if its number fell back below that. Two folds up, so that no flight of the item can be taken for applied: it is laid anew.
fn durable_kept(held: &Document, restored: &Document) -> Document {
    let mut folded = held.folded.clone();
    for (writer, op) in &restored.folded {
        match folded.entry(*writer) {
            Entry::Occupied(mut known) => *known.get_mut() = *op.max(known.get()),
            Entry::Vacant(entry) => drop(entry.insert(*op)),
        }
    }
    Document { totals: restored.totals.clone(), fold: held.fold + 2, folded }
}

/// Totals for people, in one line.
pub fn in_words(totals: &Counters) -> String {
    let words: Vec<_> = totals.iter().map(|(counter, n)| format!("{counter} {n}")).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::protocol::{Counter, WriterId};

    fn document(fold: u64, likes: i64, folded: &[(u128, u64)]) -> Document {
        let folded = folded.iter().map(|(writer, op)| (WriterId(Uuid::from_u128(*writer)), *op)).collect();
        Document { totals: [(Counter::Likes, likes)].into_iter().collect(), fold, folded }
    }

    /// The backup knows a writer that the item has forgotten, and one at a lower number.
    #[test]
    fn no_writers_number_falls_back_with_a_backup() {
        let (held, restored) = (document(9, 70, &[(1, 8), (2, 3)]), document(4, 40, &[(1, 5), (3, 2)]));
        assert_eq!(durable_kept(&held, &restored), document(11, 40, &[(1, 8), (2, 3), (3, 2)]));
    }

    #[test]
    fn totals_are_one_line() {
        assert_eq!(in_words(&document(0, 3, &[]).totals), "likes 3");
        assert_eq!(in_words(&Counters::default()), "nothing");
    }
}
