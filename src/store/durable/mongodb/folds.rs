//! Documents: an item's folded counts, and the bulk that folds flights into them.
//!
//! One `update` command carries a bulk, one conditional statement per flight. Its reply counts matches for the whole bulk only,
//! names the statements that inserted or failed, and is `ok` in any case ([`tell`] reads it). Where that leaves open which
//! statements matched, the mark does: each command writes a random one, which is read back.
//!
//! Done and NoMatch differ in metrics alone. Nothing is settled on either: that takes the document itself, read with majority,
//! and a flight counts as applied when `folded` names it. So a mark that a later flight has overwritten is told as NoMatch.

use std::collections::HashMap;

use futures_util::TryStreamExt;
use mongodb::bson::{Document as Stored, doc};
use uuid::Uuid;

use super::open::{MAJORITY_TIMEOUT, Tables};
use super::reply::{DUPLICATE_KEY, acknowledged, entries, unexpected};
use super::value::{
    counters, from_counters, from_uuid, from_vector, integer, is_duplicate, signed, text, unsigned, uuid, vector,
};
use crate::protocol::ItemId;
use crate::store::durable::contract::{Applied, Document, DurableError};
use crate::store::hot::Flight;

/// Flights of one command: with vectors of a hundred writers it is 2.5 MB, of 16 MiB that a command may have.
pub(super) const BULK_FLIGHTS_MAX: usize = 500;

/// What each flight of a bulk came to; one whose sum would leave 64 bits is an error of its own, the others stand.
type Outcomes = Vec<Result<Applied, DurableError>>;

/// The default one for an item that was never folded. Of a server that stands `alone` it is proved before it is told.
pub(super) async fn document(tables: &Tables, item: &ItemId, alone: bool) -> Result<Document, DurableError> {
    let Some(stored) = tables.documents.find_one(doc! { "_id": item.as_str() }).await? else {
        return Ok(Document::default());
    };
    if alone {
        prove(tables, item).await?;
    }
    read(&stored)
}

/// In the order asked; to be shown, not to be aligned with.
pub(super) async fn documents(tables: &Tables, items: &[ItemId]) -> Result<Vec<Document>, DurableError> {
    let ids: Vec<&str> = items.iter().map(ItemId::as_str).collect();
    let stored: Vec<Stored> = tables.documents.find(doc! { "_id": { "$in": ids } }).await?.try_collect().await?;
    let mut found = HashMap::new();
    for document in stored {
        found.insert(text(&document, "_id")?, read(&document)?);
    }
    Ok(items.iter().map(|item| found.remove(item.as_str()).unwrap_or_default()).collect())
}

fn read(stored: &Stored) -> Result<Document, DurableError> {
    let (totals, folded) = (counters(stored, "totals")?, vector(stored, "folded")?);
    Ok(Document { totals, fold: unsigned(stored, "fold")?, folded })
}

/// A server without a set shows writes that are not on its disk yet, majority or not. An item that was aligned with one of those would
/// be ahead of its document after a crash. The journal is one and in order: once a write of our own is in it, so is all that was
/// read before (`docs/decisions/008`).
async fn prove(tables: &Tables, item: &ItemId) -> Result<(), DurableError> {
    let change = doc! { "$set": { "proof": from_uuid(Uuid::new_v4()) } };
    tables.documents.update_one(doc! { "_id": item.as_str() }, change).await?;
    Ok(())
}

/// Puts a document in the place of the one that stands at `fold`. For the first one a plain insert, since its id decides.
pub(super) async fn replace(tables: &Tables, item: &ItemId, fold: u64, with: &Document) -> Result<bool, DurableError> {
    let stored = doc! {
        "_id": item.as_str(),
        "fold": signed(with.fold)?,
        "totals": from_counters(&with.totals),
        "folded": from_vector(&with.folded)?,
    };
    if fold == 0 {
        return match tables.documents.insert_one(stored).await {
            Ok(_) => Ok(true),
            Err(error) if is_duplicate(&error) => Ok(false),
            Err(error) => Err(error.into()),
        };
    }
    let at = doc! { "_id": item.as_str(), "fold": signed(fold)? };
    Ok(tables.documents.replace_one(at, stored).await?.matched_count == 1)
}

/// Applies each flight whose document stands at its fold. The driver repeats no command of this kind by itself.
pub(super) async fn apply(tables: &Tables, flights: &[Flight]) -> Result<Outcomes, DurableError> {
    let mark = Uuid::new_v4();
    let statements = flights.iter().map(|flight| statement(flight, mark)).collect::<Result<Vec<_>, _>>()?;
    let majority = doc! { "w": "majority", "j": true, "wtimeout": MAJORITY_TIMEOUT.as_millis() as i64 };
    let command = doc! {
        "update": tables.documents.name(),
        "updates": statements,
        "ordered": false,
        "writeConcern": majority,
    };
    let reply = tables.database.run_command(command).await?;
    let told = tell(&reply, flights)?;
    let open: Vec<_> =
        flights.iter().zip(&told).filter(|(_, told)| **told == Told::Nothing).map(|(one, _)| one).collect();
    let marked = if open.is_empty() { HashMap::new() } else { marks(tables, &open, mark).await? };
    Ok(flights.iter().zip(told).map(|(flight, told)| outcome(flight, told, &marked)).collect())
}

/// An upsert only for the first fold. If the document is there at another one, it fails on the id, which is a NoMatch.
fn statement(flight: &Flight, mark: Uuid) -> Result<Stored, DurableError> {
    let mut increments = doc! { "fold": 1_i64 };
    for (counter, n) in flight.increments.iter() {
        increments.insert(format!("totals.{counter}"), n);
    }
    Ok(doc! {
        "q": { "_id": flight.item.as_str(), "fold": signed(flight.fold)? },
        "u": { "$inc": increments, "$set": { "folded": from_vector(&flight.w)?, "by": from_uuid(mark) } },
        "upsert": flight.fold == 0,
    })
}

/// What the reply says of one flight.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    Applied(Applied),
    Failed(String),
    /// It matched or it did not.
    Nothing,
}

/// Reads the reply of an `update` command. A write that the majority has not acknowledged is an error of the whole bulk, though
/// it may well stand: asked again, it does not match.
fn tell(reply: &Stored, flights: &[Flight]) -> Result<Vec<Told>, DurableError> {
    acknowledged(reply)?;
    let mut told = vec![Told::Nothing; flights.len()];
    let upserted = entries(reply, "upserted")?;
    let matched = unsigned(reply, "n")?.saturating_sub(upserted.len() as u64);
    for (index, _) in upserted {
        *told.get_mut(index).ok_or_else(|| unexpected("upserted"))? = Told::Applied(Applied::Done);
    }
    for (index, error) in entries(reply, "writeErrors")? {
        let first_fold = flights.get(index).is_some_and(|flight| flight.fold == 0);
        let duplicate = first_fold && integer(error, "code")? == DUPLICATE_KEY;
        let why = if duplicate { Told::Applied(Applied::NoMatch) } else { Told::Failed(text(error, "errmsg")?) };
        *told.get_mut(index).ok_or_else(|| unexpected("writeErrors"))? = why;
    }
    let open: Vec<_> = told.iter_mut().filter(|told| **told == Told::Nothing).collect();
    let all = open.len() as u64 == matched;
    if all || matched == 0 {
        let applied = if all { Applied::Done } else { Applied::NoMatch };
        open.into_iter().for_each(|told| *told = Told::Applied(applied));
    }
    Ok(told)
}

/// Folds of the documents that carry the mark.
async fn marks(tables: &Tables, open: &[&Flight], mark: Uuid) -> Result<HashMap<String, u64>, DurableError> {
    let ids: Vec<_> = open.iter().map(|flight| flight.item.as_str()).collect();
    let find = tables.documents.find(doc! { "_id": { "$in": ids } }).projection(doc! { "fold": 1, "by": 1 });
    let found: Vec<Stored> = find.await?.try_collect().await?;
    let mut marked = HashMap::new();
    for stored in found {
        if uuid(&stored, "by").is_ok_and(|by| by == mark) {
            marked.insert(text(&stored, "_id")?, unsigned(&stored, "fold")?);
        }
    }
    Ok(marked)
}

fn outcome(flight: &Flight, told: Told, marked: &HashMap<String, u64>) -> Result<Applied, DurableError> {
    let is_marked = || marked.get(flight.item.as_str()).is_some_and(|fold| *fold == flight.fold + 1);
    match told {
        Told::Applied(applied) => Ok(applied),
        Told::Nothing if is_marked() => Ok(Applied::Done),
        Told::Nothing => Ok(Applied::NoMatch),
        Told::Failed(why) => Err(DurableError(format!("{}: {why}", flight.item))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(fold: u64) -> Flight {
        let item = ItemId::parse(&format!("i{fold}")).unwrap();
        Flight { item, fold, increments: Default::default(), w: Default::default(), comments: Vec::new() }
    }

    const DONE: Told = Told::Applied(Applied::Done);
    const NO_MATCH: Told = Told::Applied(Applied::NoMatch);

    /// Replies as servers give them, all of them `ok`: the one that says everything, and the ones that leave something open.
    #[test]
    fn a_reply_that_is_ok_does_not_hide_what_failed_in_it() {
        let flights = [flight(0), flight(1), flight(2), flight(0)];
        let all = doc! { "ok": 1.0, "n": 4, "upserted": [{ "index": 3, "_id": "i0" }] };
        assert_eq!(tell(&all, &flights).unwrap(), [DONE, DONE, DONE, DONE]);
        let none = doc! { "ok": 1.0, "n": 1, "upserted": [{ "index": 0, "_id": "i0" }], "writeErrors": [
            { "index": 3, "code": 11_000, "errmsg": "dup" },
            { "index": 1, "code": 2, "errmsg": "too large" },
        ] };
        assert_eq!(tell(&none, &flights).unwrap(), [DONE, Told::Failed("too large".into()), NO_MATCH, NO_MATCH]);
        let one_of = doc! { "ok": 1.0, "n": 1, "writeErrors": [{ "index": 0, "code": 11_000, "errmsg": "dup" }] };
        assert_eq!(tell(&one_of, &flights).unwrap(), [NO_MATCH, Told::Nothing, Told::Nothing, Told::Nothing]);
    }

    /// The majority has not acknowledged; a statement is named that there is not; a duplicate where nothing was inserted.
    #[test]
    fn what_is_not_acknowledged_or_makes_no_sense_is_an_error() {
        let flights = [flight(1)];
        assert!(tell(&doc! { "n": 1, "writeConcernError": { "code": 64 } }, &flights).is_err());
        assert!(tell(&doc! { "n": 1, "upserted": [{ "index": 9 }] }, &flights).is_err());
        assert!(tell(&doc! { "ok": 1.0 }, &flights).is_err());
        let duplicate = doc! { "n": 0, "writeErrors": [{ "index": 0, "code": 11_000, "errmsg": "dup" }] };
        assert_eq!(tell(&duplicate, &flights).unwrap(), [Told::Failed("dup".into())]);
    }
}
