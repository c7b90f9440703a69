//! The items of the embedded hot store after a start: each is its document plus the log rows above `folded`.
//!
//! What dead processes contributed and did not fold is so dirty again and goes the way of everything: the next flush.

use std::collections::{BTreeMap, BTreeSet};

use super::core::MemoryCore;
use crate::protocol::{ItemId, WriterId};
use crate::store::durable::{Document, DurableError, DurableStore};
use crate::store::hot::contract::{Add, Standing, Step};
use crate::store::log::{ContributionLog, LogError, LogRow};

/// What a recovery found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Items that the log names.
    pub items: usize,
    /// Rows that were applied again.
    pub rows: usize,
    /// Rows above the folded number that do not join on to it: never acknowledged, or evidence of a damaged log.
    pub unreachable: usize,
}

/// Why the store could not be recovered.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// The log could not be read.
    #[error("reading the contribution log")]
    Log(#[from] LogError),
    /// A document could not be read.
    #[error("reading a document")]
    Document(#[from] DurableError),
}

/// Lays every item that the log names in an empty core and applies its rows.
pub async fn recover(
    core: &mut MemoryCore,
    log: &dyn ContributionLog,
    durable: &dyn DurableStore,
) -> Result<Recovered, RecoverError> {
    let mut by_item = BTreeMap::<ItemId, Vec<Add>>::new();
    for LogRow { item, add } in log.read().await? {
        by_item.entry(item).or_default().push(add);
    }
    let mut recovered = Recovered { items: by_item.len(), ..Recovered::default() };
    for (item, adds) in by_item {
        let document = durable.document(&item).await?;
        core.align(&item, &document);
        let (joined, unreachable) = join_on(adds, &document);
        recovered.unreachable += unreachable;
        for add in joined {
            if reapply(core, &item, add) {
                recovered.rows += 1;
            } else {
                recovered.unreachable += 1;
            }
        }
    }
    Ok(recovered)
}

fn reapply(core: &mut MemoryCore, item: &ItemId, add: Add) -> bool {
    let op = add.op;
    let step = Step { item: item.clone(), add: Some(add), events: Vec::new(), after: None, watching: None };
    matches!(core.step(&step), Ok(Standing::At(stood)) if stood.at == op)
}

/// Of each writer, the rows that lead from its folded number to the highest number that can be reached, in the order of the log;
/// and how many rows above the folded number cannot be reached.
///
/// Rows may overlap: after an append with an unknown outcome the writer contributes the same numbers again under other
/// bounds. They hold the same contributions then, so any way that joins up is right; one that was begun greedily may end short.
fn join_on(adds: Vec<Add>, document: &Document) -> (Vec<Add>, usize) {
    let mut reached = BTreeMap::<(WriterId, u64), usize>::new();
    let mut highest = BTreeMap::<WriterId, u64>::new();
    let mut unreachable = 0;
    let folded = |writer: &WriterId| document.folded.get(writer).copied().unwrap_or(0);
    for (row, add) in adds.iter().enumerate().filter(|(_, add)| add.op > folded(&add.writer)) {
        if add.prev == folded(&add.writer) || reached.contains_key(&(add.writer, add.prev)) {
            reached.entry((add.writer, add.op)).or_insert(row);
            let top = highest.entry(add.writer).or_default();
            *top = add.op.max(*top);
        } else {
            unreachable += 1;
        }
    }
    let mut chosen = BTreeSet::new();
    for (writer, top) in highest {
        let mut number = top;
        while let Some(&row) = reached.get(&(writer, number)) {
            chosen.insert(row);
            number = adds.get(row).map_or(0, |add| add.prev);
        }
    }
    let joined = adds.into_iter().enumerate().filter(|(row, _)| chosen.contains(row));
    (joined.map(|(_, add)| add).collect(), unreachable)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::protocol::{Counter, Counters};

    fn row(writer: u128, prev: u64, op: u64) -> Add {
        let n = i64::try_from(op - prev).unwrap();
        let increments: Counters = [(Counter::Likes, n)].into_iter().collect();
        Add { writer: WriterId(Uuid::from_u128(writer)), prev, op, increments, comments: Vec::new() }
    }

    fn folded(pairs: &[(u128, u64)]) -> Document {
        let folded = pairs.iter().map(|(writer, op)| (WriterId(Uuid::from_u128(*writer)), *op)).collect();
        Document { folded, ..Document::default() }
    }

    fn joined(rows: &[Add], document: &Document) -> (Vec<(u64, u64)>, usize) {
        let (joined, unreachable) = join_on(rows.to_vec(), document);
        (joined.iter().map(|add| (add.prev, add.op)).collect(), unreachable)
    }

    #[test]
    fn rows_at_or_below_the_folded_number_are_not_counted_again() {
        let rows = [row(1, 0, 2), row(1, 2, 3), row(2, 0, 1), row(1, 3, 4)];
        assert_eq!(joined(&rows, &folded(&[(1, 3)])), (vec![(0, 1), (3, 4)], 0));
    }

    #[test]
    fn overlapping_rows_after_an_unknown_append_do_not_hide_what_was_acknowledged_later() {
        let rows = [row(1, 0, 1), row(1, 0, 3), row(1, 3, 4), row(1, 1, 2)];
        assert_eq!(joined(&rows, &folded(&[])), (vec![(0, 3), (3, 4)], 0));
    }

    #[test]
    fn a_row_beyond_a_gap_is_reported_and_never_added_across_it() {
        let rows = [row(1, 0, 1), row(1, 2, 5)];
        assert_eq!(joined(&rows, &folded(&[])), (vec![(0, 1)], 1));
    }
}
