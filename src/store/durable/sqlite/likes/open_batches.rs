//! Which batches' net the counters may lack: a row each, until the caller says that a batch is settled.
//!
//! The row is written with the facts; it is taken away by whatever is written next, since that a counter has a batch needs no commit
//! of its own: a row left over costs a recount, nothing else.

use std::collections::HashMap;

use rusqlite::Connection;

use super::table::ItemNo;
use crate::protocol::ItemId;
use crate::store::durable::likes::BatchId;
use crate::store::durable::sqlite::value::item_id;

/// Rows remembered: what a node's batches that nobody ever settles could come to in days. Above it they are left to the next start.
const OPEN_MAX: usize = 65_536;

/// A row's number; rising, above those of earlier runs.
pub(super) type RowNo = i64;

#[derive(Debug, Default)]
pub(super) struct OpenBatches {
    rows: HashMap<(ItemId, BatchId), RowNo>,
    /// Rows of the items that an earlier run left.
    left_over: HashMap<ItemId, Vec<RowNo>>,
    /// Rows to be taken away by the next write.
    done: Vec<RowNo>,
}

impl OpenBatches {
    /// With what an earlier run left.
    pub fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT unsettled_likes.no, liked_items.item FROM unsettled_likes
            JOIN liked_items ON liked_items.no = unsettled_likes.item";
        let mut open = Self::default();
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            open.left_over.entry(item_id(row, 1)?).or_default().push(row.get(0)?);
        }
        Ok(open)
    }

    /// Items of which an earlier run left batches.
    pub fn left_over(&self) -> Vec<ItemId> {
        let mut items: Vec<_> = self.left_over.keys().cloned().collect();
        items.sort();
        items
    }

    /// A batch was written with this row.
    pub fn wrote(&mut self, item: &ItemId, batch: BatchId, row: RowNo) {
        if self.rows.len() < OPEN_MAX {
            self.rows.insert((item.clone(), batch), row);
        }
    }

    /// Its row can go.
    pub fn settle(&mut self, item: &ItemId, batch: BatchId) {
        self.done.extend(self.rows.remove(&(item.clone(), batch)));
    }

    /// What an earlier run left of the item can go.
    pub fn recounted(&mut self, item: &ItemId) {
        self.done.extend(self.left_over.remove(item).into_iter().flatten());
    }

    /// The rows to be taken away by the write that asks. If that fails they stay until the next start, and cost a recount.
    pub fn take_done(&mut self) -> Vec<RowNo> {
        std::mem::take(&mut self.done)
    }
}

/// Writes a batch's row.
pub(super) fn insert(connection: &Connection, row: RowNo, no: ItemNo) -> rusqlite::Result<()> {
    connection.prepare_cached("INSERT INTO unsettled_likes (no, item) VALUES (?1, ?2)")?.execute([row, no])?;
    Ok(())
}

/// Takes rows away.
pub(super) fn delete(connection: &Connection, rows: &[RowNo]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("DELETE FROM unsettled_likes WHERE no = ?1")?;
    for row in rows {
        statement.execute([row])?;
    }
    Ok(())
}
