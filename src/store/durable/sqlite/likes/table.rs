//! The table of facts: what each is, who likes an item, what somebody likes. A row is a like; an unlike takes the row away.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::overlay::Fact;
use crate::protocol::{ItemId, Millis, UserId};
use crate::store::durable::likes::{Liker, Liking};
use crate::store::durable::sqlite::value::{item_id, unsigned, user_id};

/// The number by which the table knows an item.
pub(super) type ItemNo = i64;

/// The item's number, if anybody ever liked it.
pub(super) fn item_no(connection: &Connection, item: &ItemId) -> rusqlite::Result<Option<ItemNo>> {
    let sql = "SELECT no FROM liked_items WHERE item = ?1";
    connection.prepare_cached(sql)?.query_row([item.as_str()], |row| row.get(0)).optional()
}

/// The item's number, given with its first like.
pub(super) fn item_no_or_new(connection: &Connection, item: &ItemId) -> rusqlite::Result<ItemNo> {
    match item_no(connection, item)? {
        Some(no) => Ok(no),
        None => connection.prepare_cached("INSERT INTO liked_items (item) VALUES (?1)")?.insert([item.as_str()]),
    }
}

/// Makes a fact so, whatever it was.
pub(super) fn set(connection: &Connection, no: ItemNo, user: &UserId, fact: Fact) -> rusqlite::Result<()> {
    match fact {
        Some(at) => {
            let sql = "INSERT INTO likes (item, user, at) VALUES (?1, ?2, ?3)
                ON CONFLICT DO UPDATE SET at = excluded.at WHERE at IS NOT excluded.at";
            connection.prepare_cached(sql)?.execute(params![no, user.as_str(), at.0])?
        }
        None => {
            let sql = "DELETE FROM likes WHERE item = ?1 AND user = ?2";
            connection.prepare_cached(sql)?.execute(params![no, user.as_str()])?
        }
    };
    Ok(())
}

/// Whether somebody likes the item.
pub(super) fn likes(connection: &Connection, no: ItemNo, user: &UserId) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM likes WHERE item = ?1 AND user = ?2";
    connection.prepare_cached(sql)?.exists(params![no, user.as_str()])
}

/// Whether each of these people likes the item. On one snapshot: to begin one costs as much as to look somebody up.
pub(super) fn which_like(connection: &Connection, item: &ItemId, users: &[UserId]) -> rusqlite::Result<Vec<bool>> {
    let snapshot = connection.unchecked_transaction()?;
    match item_no(&snapshot, item)? {
        Some(no) => users.iter().map(|user| likes(&snapshot, no, user)).collect(),
        None => Ok(vec![false; users.len()]),
    }
}

/// Every fact of the item is looked at.
pub(super) fn count(connection: &Connection, no: ItemNo) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM likes WHERE item = ?1";
    connection.prepare_cached(sql)?.query_row([no], |row| unsigned(row, 0))
}

/// Newest first: the index's order, backwards, from the cursor on; but for those that are overruled.
pub(super) fn likers(
    connection: &Connection,
    no: ItemNo,
    before: Option<&Liker>,
    limit: usize,
    overruled: impl Fn(&UserId) -> bool,
) -> rusqlite::Result<Vec<Liker>> {
    let bound = if before.is_some() { "(at, user) < (?2, ?3)" } else { "?2 IS NULL AND ?3 IS NULL" };
    let sql = format!("SELECT user, at FROM likes WHERE item = ?1 AND {bound} ORDER BY at DESC, user DESC");
    let (at, user) = (before.map(|before| before.at.0), before.map(|before| before.user.as_str()));
    let liker = |row: &Row<'_>| Ok(Liker { user: user_id(row, 0)?, at: Millis(row.get(1)?) });
    let mut statement = connection.prepare_cached(&sql)?;
    let likers = statement.query_map(params![no, at, user], liker)?;
    likers.filter(|one| one.as_ref().map_or(true, |one| !overruled(&one.user))).take(limit).collect()
}

/// Newest first, by the index; items of the same millisecond, which have numbers there, are put in the order of their names.
pub(super) fn likings(
    connection: &Connection,
    user: &UserId,
    before: Option<&Liking>,
    limit: usize,
    overruled: impl Fn(&ItemId) -> bool,
) -> rusqlite::Result<Vec<Liking>> {
    let bound = if before.is_some() { "at <= ?2 AND (at, names.item) < (?2, ?3)" } else { "?2 IS NULL AND ?3 IS NULL" };
    // CROSS keeps the order of the loops: the facts of this person first.
    let sql = format!(
        "SELECT names.item, at FROM likes CROSS JOIN liked_items AS names ON names.no = likes.item
        WHERE user = ?1 AND {bound} ORDER BY at DESC, names.item DESC"
    );
    let (at, item) = (before.map(|before| before.at.0), before.map(|before| before.item.as_str()));
    let liking = |row: &Row<'_>| Ok(Liking { item: item_id(row, 0)?, at: Millis(row.get(1)?) });
    let mut statement = connection.prepare_cached(&sql)?;
    let likings = statement.query_map(params![user.as_str(), at, item], liking)?;
    likings.filter(|one| one.as_ref().map_or(true, |one| !overruled(&one.item))).take(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::durable::sqlite::schema;

    /// The steps of SQLite's plan for the statements that this file prepares.
    fn plan(sql: &str) -> String {
        let connection = Connection::open_in_memory().unwrap();
        schema::bring_up(&connection, 0).unwrap();
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps = statement.raw_query().mapped(|row| row.get::<_, String>(3)).collect::<Result<Vec<_>, _>>();
        steps.unwrap().join("; ")
    }

    /// Scenario: a page reads everything before it. Method: the plan is a search that begins at the cursor, and sorts nothing but ties.
    #[test]
    fn a_page_begins_at_its_cursor() {
        let likers =
            plan("SELECT user, at FROM likes WHERE item = 1 AND (at, user) < (2, 'u') ORDER BY at DESC, user DESC");
        assert_eq!(likers, "SEARCH likes USING COVERING INDEX likes_by_item (item=? AND (at,user)<(?,?))");
        let likings = plan(
            "SELECT names.item, at FROM likes CROSS JOIN liked_items AS names ON names.no = likes.item
            WHERE user = 'u' AND at <= 2 AND (at, names.item) < (2, 'i') ORDER BY at DESC, names.item DESC",
        );
        assert_eq!(
            likings,
            "SEARCH likes USING COVERING INDEX likes_by_user (user=? AND at<?); \
             SEARCH names USING INTEGER PRIMARY KEY (rowid=?); USE TEMP B-TREE FOR LAST TERM OF ORDER BY"
        );
    }
}
