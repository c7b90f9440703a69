//! Records of items.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::value::{damaged, item_id, json, limit as rows_limit, mode_no, state_no, to_json};
use crate::protocol::{CommentsMode, Counters, ItemId, ItemState, ItemView, Millis};
use crate::store::durable::contract::{ItemChange, ItemPage};

const VIEW: &str = "item, title, state, reactions, comments_mode, slow_mode_ms, started_at, ended_at";

/// Makes one conditional change: the condition is part of the statement.
pub(super) fn change(connection: &Connection, change: &ItemChange) -> rusqlite::Result<Option<(ItemView, bool)>> {
    let (item, changed) = match change {
        ItemChange::Create(view) => (&view.item, create(connection, view)?),
        ItemChange::Configure(view) => (&view.item, configure(connection, view)?),
        ItemChange::End(item, at, totals) => (item, end(connection, item, *at, totals)?),
    };
    Ok(one(connection, item)?.map(|view| (view, changed)))
}

/// A record is created live, whatever the view says: only an end brings final totals.
fn create(connection: &Connection, view: &ItemView) -> rusqlite::Result<bool> {
    let sql = "INSERT INTO items (item, title, state, reactions, comments_mode, slow_mode_ms, started_at)
        VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
    let inserted = connection.prepare_cached(sql)?.execute(params![
        view.item.as_str(),
        view.title,
        to_json(&view.reactions)?,
        mode_no(view.comments_mode),
        view.slow_mode_ms,
        view.started_at.0
    ])?;
    Ok(inserted == 1)
}

fn configure(connection: &Connection, view: &ItemView) -> rusqlite::Result<bool> {
    let sql = "UPDATE items SET (title, reactions, comments_mode, slow_mode_ms) = (?2, ?3, ?4, ?5)
        WHERE item = ?1 AND state = 0 AND (title, reactions, comments_mode, slow_mode_ms) IS NOT (?2, ?3, ?4, ?5)";
    let updated = connection.prepare_cached(sql)?.execute(params![
        view.item.as_str(),
        view.title,
        to_json(&view.reactions)?,
        mode_no(view.comments_mode),
        view.slow_mode_ms
    ])?;
    Ok(updated == 1)
}

fn end(connection: &Connection, item: &ItemId, at: Millis, totals: &Counters) -> rusqlite::Result<bool> {
    let sql = "UPDATE items SET state = 1, ended_at = ?2, final = ?3 WHERE item = ?1 AND state = 0";
    let updated = connection.prepare_cached(sql)?.execute(params![item.as_str(), at.0, to_json(totals)?])?;
    Ok(updated == 1)
}

pub(super) fn one(connection: &Connection, item: &ItemId) -> rusqlite::Result<Option<ItemView>> {
    let sql = format!("SELECT {VIEW} FROM items WHERE item = ?1");
    connection.prepare_cached(&sql)?.query_row([item.as_str()], view).optional()
}

pub(super) fn final_totals(connection: &Connection, item: &ItemId) -> rusqlite::Result<Option<Counters>> {
    let sql = "SELECT final FROM items WHERE item = ?1 AND final IS NOT NULL";
    connection.prepare_cached(sql)?.query_row([item.as_str()], |row| json(row, 0)).optional()
}

/// One more than asked tells whether there is a next page.
pub(super) fn page(
    connection: &Connection,
    state: Option<ItemState>,
    cursor: Option<&ItemId>,
    limit: usize,
) -> rusqlite::Result<ItemPage> {
    let which = if state.is_some() { "state = ?3 AND" } else { "?3 IS NULL AND" };
    let sql = format!("SELECT {VIEW} FROM items WHERE {which} item > ?1 ORDER BY item LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let after = cursor.map_or("", ItemId::as_str);
    let rows = params![after, rows_limit(limit.saturating_add(1)), state.map(state_no)];
    let mut items = statement.query_map(rows, view)?.collect::<Result<Vec<_>, _>>()?;
    let more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| more).map(|last| last.item.clone());
    Ok(ItemPage { items, next })
}

fn view(row: &Row<'_>) -> rusqlite::Result<ItemView> {
    let state = if row.get::<_, i64>(2)? == state_no(ItemState::Live) { ItemState::Live } else { ItemState::Ended };
    let open = row.get::<_, i64>(4)? == mode_no(CommentsMode::Open);
    Ok(ItemView {
        item: item_id(row, 0)?,
        title: row.get(1)?,
        state,
        reactions: json(row, 3)?,
        comments_mode: if open { CommentsMode::Open } else { CommentsMode::Closed },
        slow_mode_ms: u32::try_from(row.get::<_, i64>(5)?)
            .map_err(|e| damaged(5, rusqlite::types::Type::Integer, e))?,
        started_at: Millis(row.get(6)?),
        ended_at: row.get::<_, Option<i64>>(7)?.map(Millis),
    })
}
