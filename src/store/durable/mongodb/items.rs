//! Records of items: one document each, with the final totals once it is ended.

use futures_util::TryStreamExt;
use mongodb::bson::{Bson, Document, deserialize_from_document, doc, serialize_to_bson, serialize_to_document};

use super::open::Tables;
use super::value::{counters, from_counters, is_duplicate};
use crate::protocol::{Counters, ItemId, ItemState, ItemView, Millis};
use crate::store::durable::contract::{DurableError, ItemChange, ItemPage};

/// What a host can set.
const SETTINGS: [&str; 4] = ["title", "reactions", "comments_mode", "slow_mode_ms"];

/// Makes one conditional change: the condition is the filter, and the record before tells whether it was met.
pub(super) async fn change(tables: &Tables, change: &ItemChange) -> Result<Option<(ItemView, bool)>, DurableError> {
    match change {
        ItemChange::Create(view) => create(tables, view).await,
        ItemChange::Configure(view) => configure(tables, view).await,
        ItemChange::End(item, at, totals) => end(tables, item, *at, totals).await,
    }
}

/// A record is created live, whatever the view says: only an end brings final totals. A plain insert, since its id decides between any
/// number of creations at once, on every server that speaks the protocol; not all of them say truly whether an upsert inserted.
async fn create(tables: &Tables, view: &ItemView) -> Result<Option<(ItemView, bool)>, DurableError> {
    let live = ItemView { state: ItemState::Live, ended_at: None, ..view.clone() };
    let mut record = by_id(&view.item);
    record.extend(to_document(&live)?);
    match tables.items.insert_one(record).await {
        Ok(_) => Ok(Some((live, true))),
        Err(error) if is_duplicate(&error) => unchanged(tables, &view.item).await,
        Err(error) => Err(error.into()),
    }
}

async fn configure(tables: &Tables, view: &ItemView) -> Result<Option<(ItemView, bool)>, DurableError> {
    let all = to_document(view)?;
    let settings: Document = all.into_iter().filter(|(name, _)| SETTINGS.contains(&name.as_str())).collect();
    let before = tables.items.find_one_and_update(live(&view.item)?, doc! { "$set": settings }).await?;
    let Some(before) = before.map(to_view).transpose()? else {
        return unchanged(tables, &view.item).await;
    };
    let after = before.with(view.settings());
    let changed = after != before;
    Ok(Some((after, changed)))
}

async fn end(
    tables: &Tables,
    item: &ItemId,
    at: Millis,
    totals: &Counters,
) -> Result<Option<(ItemView, bool)>, DurableError> {
    let ended = doc! { "state": state(ItemState::Ended)?, "ended_at": at.0, "final": from_counters(totals) };
    let before = tables.items.find_one_and_update(live(item)?, doc! { "$set": ended }).await?;
    match before.map(to_view).transpose()? {
        Some(before) => Ok(Some((ItemView { state: ItemState::Ended, ended_at: Some(at), ..before }, true))),
        None => unchanged(tables, item).await,
    }
}

/// The record that a change did not match. A plain majority read could show it as it was before the write that made the change
/// fail; an update that changes nothing is answered when all before it is acknowledged by the majority.
async fn unchanged(tables: &Tables, item: &ItemId) -> Result<Option<(ItemView, bool)>, DurableError> {
    let nothing = doc! { "$setOnInsert": { "title": "" } };
    let there = tables.items.find_one_and_update(by_id(item), nothing).await?;
    Ok(there.map(to_view).transpose()?.map(|view| (view, false)))
}

pub(super) async fn one(tables: &Tables, item: &ItemId) -> Result<Option<ItemView>, DurableError> {
    tables.items.find_one(by_id(item)).await?.map(to_view).transpose()
}

pub(super) async fn named(tables: &Tables, items: &[ItemId]) -> Result<Vec<ItemView>, DurableError> {
    let ids: Vec<&str> = items.iter().map(ItemId::as_str).collect();
    let found: Vec<Document> = tables.items.find(doc! { "_id": { "$in": ids } }).await?.try_collect().await?;
    found.into_iter().map(to_view).collect()
}

pub(super) async fn final_totals(tables: &Tables, item: &ItemId) -> Result<Option<Counters>, DurableError> {
    let found = tables.items.find_one(by_id(item)).await?;
    let ended = found.filter(|stored| stored.contains_key("final"));
    ended.map(|stored| counters(&stored, "final")).transpose()
}

/// One more than asked tells whether there is a next page.
pub(super) async fn page(
    tables: &Tables,
    of: Option<ItemState>,
    cursor: Option<&ItemId>,
    limit: usize,
) -> Result<ItemPage, DurableError> {
    let mut filter = doc! { "_id": { "$gt": cursor.map_or("", ItemId::as_str) } };
    if let Some(of) = of {
        filter.insert("state", state(of)?);
    }
    let rows = i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX);
    let found: Vec<Document> =
        tables.items.find(filter).sort(doc! { "_id": 1 }).limit(rows).await?.try_collect().await?;
    let mut items = found.into_iter().map(to_view).collect::<Result<Vec<_>, _>>()?;
    let more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| more).map(|last| last.item.clone());
    Ok(ItemPage { items, next })
}

fn by_id(item: &ItemId) -> Document {
    doc! { "_id": item.as_str() }
}

fn live(item: &ItemId) -> Result<Document, DurableError> {
    Ok(doc! { "_id": item.as_str(), "state": state(ItemState::Live)? })
}

fn state(state: ItemState) -> Result<Bson, DurableError> {
    Ok(serialize_to_bson(&state)?)
}

/// As the wire has it, but for the id, which is the document's.
fn to_document(view: &ItemView) -> Result<Document, DurableError> {
    let mut document = serialize_to_document(view)?;
    document.remove("item");
    Ok(document)
}

fn to_view(mut document: Document) -> Result<ItemView, DurableError> {
    let id = document.remove("_id").unwrap_or(Bson::Null);
    document.insert("item", id);
    Ok(deserialize_from_document(document)?)
}
