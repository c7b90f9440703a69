//! Documents: an item's folded counts.

use rusqlite::{Connection, OptionalExtension, params};

use super::log;
use super::value::{json, signed, to_json, unsigned};
use super::writer::Desk;
use crate::protocol::ItemId;
use crate::store::durable::contract::{Applied, Document, DurableError};
use crate::store::hot::Flight;

/// The default one for an item that was never folded.
pub(super) fn document(connection: &Connection, item: &ItemId) -> rusqlite::Result<Document> {
    let sql = "SELECT totals, fold, folded FROM documents WHERE item = ?1";
    let found = connection.prepare_cached(sql)?.query_row([item.as_str()], |row| {
        Ok(Document { totals: json(row, 0)?, fold: unsigned(row, 1)?, folded: json(row, 2)? })
    });
    found.optional().map(Option::unwrap_or_default)
}

/// Applies each flight whose document stands at its fold, and deletes the log rows that are folded then, in one transaction. A flight
/// whose sum would leave 64 bits is answered as an error of its own, the others stand.
pub(super) fn apply(desk: &mut Desk<'_>, flights: &[Flight]) -> rusqlite::Result<Vec<Result<Applied, DurableError>>> {
    flights.iter().map(|flight| apply_one(desk, flight)).collect()
}

/// Reading and writing are one step here: this thread alone writes, and it is inside a transaction. The statement repeats the
/// condition on `fold` all the same.
fn apply_one(desk: &mut Desk<'_>, flight: &Flight) -> rusqlite::Result<Result<Applied, DurableError>> {
    let Document { totals, fold, folded } = document(desk.connection, &flight.item)?;
    if fold != flight.fold {
        log::forget_folded(desk, &flight.item, &folded)?;
        return Ok(Ok(Applied::NoMatch));
    }
    let Some(totals) = totals.plus(&flight.increments) else {
        return Ok(Err(DurableError(format!("a total of {} would leave 64 bits", flight.item))));
    };
    write(desk, &flight.item, fold, &Document { totals, fold: fold + 1, folded: flight.w.clone() })?;
    Ok(Ok(Applied::Done))
}

/// Puts a document in the place of the one that stands at `fold`.
pub(super) fn replace(desk: &mut Desk<'_>, item: &ItemId, fold: u64, with: &Document) -> rusqlite::Result<bool> {
    let stands = document(desk.connection, item)?.fold == fold;
    if stands {
        write(desk, item, fold, with)?;
    }
    Ok(stands)
}

/// Writes the document over the one at `fold`, and takes off the log what it has.
fn write(desk: &mut Desk<'_>, item: &ItemId, fold: u64, with: &Document) -> rusqlite::Result<()> {
    let sql = "INSERT INTO documents (item, totals, fold, folded) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE
        SET totals = excluded.totals, fold = excluded.fold, folded = excluded.folded WHERE fold = ?5";
    let row = params![item.as_str(), to_json(&with.totals)?, signed(with.fold)?, to_json(&with.folded)?, signed(fold)?];
    desk.connection.prepare_cached(sql)?.execute(row)?;
    log::forget_folded(desk, item, &with.folded)
}
