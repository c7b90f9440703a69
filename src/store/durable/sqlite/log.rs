//! The log of contributions, as a table that rows are appended to and deleted from when they are folded.
//!
//! The table has no index but its row numbers: with one over (item, writer) every tick would write a page per item, without it
//! a tick's rows lie side by side. Which rows an item has is kept in memory instead, by the one thread that writes them.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::value::{item_id, json, signed, to_json, unsigned, uuid};
use super::writer::Desk;
use crate::protocol::{ItemId, WriterId};
use crate::store::hot::contract::{Add, Vector};
use crate::store::log::LogRow;

/// Where each item's rows are. Forgotten whenever a job or a transaction is undone, and read anew when it is needed.
#[derive(Debug, Default)]
pub(super) struct LogIndex(Option<Places>);

#[derive(Debug, Default)]
struct Places {
    by_item: HashMap<ItemId, Vec<Place>>,
    /// The next row number: above all that the table has.
    next: i64,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    writer: WriterId,
    op: u64,
    no: i64,
}

impl LogIndex {
    /// What it knows may be wrong.
    pub fn forget_all(&mut self) {
        self.0 = None;
    }

    fn places(&mut self, connection: &Connection) -> rusqlite::Result<&mut Places> {
        let places = match self.0.take() {
            Some(places) => places,
            None => Places::read(connection)?,
        };
        Ok(self.0.insert(places))
    }
}

impl Places {
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut places = Self { by_item: HashMap::new(), next: 1 };
        let mut statement = connection.prepare("SELECT item, writer, op, no FROM log ORDER BY no")?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            let place = Place { writer: WriterId(uuid(row, 1)?), op: unsigned(row, 2)?, no: row.get(3)? };
            places.next = place.no + 1;
            places.by_item.entry(item_id(row, 0)?).or_default().push(place);
        }
        Ok(places)
    }
}

/// Appends rows in their order.
pub(super) fn append(desk: &mut Desk<'_>, rows: &[LogRow]) -> rusqlite::Result<()> {
    let places = desk.log.places(desk.connection)?;
    let sql = "INSERT INTO log (no, item, writer, prev, op, increments, comments) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let mut statement = desk.connection.prepare_cached(sql)?;
    for LogRow { item, add } in rows {
        let no = places.next;
        let (prev, op) = (signed(add.prev)?, signed(add.op)?);
        let (increments, comments) = (to_json(&add.increments)?, to_json(&add.comments)?);
        statement.execute(params![no, item.as_str(), add.writer.0.as_bytes(), prev, op, increments, comments])?;
        places.next += 1;
        let place = Place { writer: add.writer, op: add.op, no };
        places.by_item.entry(item.clone()).or_default().push(place);
    }
    Ok(())
}

/// Deletes the item's rows at or below `folded`.
pub(super) fn forget_folded(desk: &mut Desk<'_>, item: &ItemId, folded: &Vector) -> rusqlite::Result<()> {
    let places = desk.log.places(desk.connection)?;
    let Some(rows) = places.by_item.get_mut(item) else {
        return Ok(());
    };
    let is_folded = |place: &Place| folded.get(&place.writer).is_some_and(|op| place.op <= *op);
    let mut statement = desk.connection.prepare_cached("DELETE FROM log WHERE no = ?1")?;
    for place in rows.iter().filter(|place| is_folded(place)) {
        statement.execute([place.no])?;
    }
    rows.retain(|place| !is_folded(place));
    if rows.is_empty() {
        places.by_item.remove(item);
    }
    Ok(())
}

/// All rows, in order.
pub(super) fn read(connection: &Connection) -> rusqlite::Result<Vec<LogRow>> {
    let sql = "SELECT item, writer, prev, op, increments, comments FROM log ORDER BY no";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map((), |row| {
        let add = Add {
            writer: WriterId(uuid(row, 1)?),
            prev: unsigned(row, 2)?,
            op: unsigned(row, 3)?,
            increments: json(row, 4)?,
            comments: json(row, 5)?,
        };
        Ok(LogRow { item: item_id(row, 0)?, add })
    })?;
    rows.collect()
}
