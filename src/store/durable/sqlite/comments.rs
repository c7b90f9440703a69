//! Comments, and those that were set aside.

use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params};
use uuid::Uuid;

use super::value::{limit as rows_limit, to_json, user_id, uuid};
use crate::protocol::{Comment, CommentId, ItemId, Millis};
use crate::store::durable::contract::{CommentCursor, Inserted, Rejected};

const COMMENT: &str = "id, user, text, at, name";

/// Inserts each on its own terms: one that is there stays as it is, one that breaks a check is set aside. SQLite undoes only
/// the statement that broke the check, so the others are untouched.
pub(super) fn insert(connection: &Connection, item: &ItemId, comments: &[Comment]) -> rusqlite::Result<Inserted> {
    let no = number(connection, item)?;
    let sql =
        "INSERT INTO comments (item, at, id, user, name, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
    let mut statement = connection.prepare_cached(sql)?;
    let mut inserted = Inserted::default();
    for comment in comments {
        let (id, user) = (comment.id.0.as_bytes(), comment.user.as_str());
        match statement.execute(params![no, comment.at.0, id, user, comment.name, comment.text]) {
            Ok(new) => inserted.new += new,
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                inserted.rejected.push(set_aside(connection, item, comment, error.to_string())?);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(inserted)
}

/// Keeps the comment as it came, for whoever looks into it; it is never served.
fn set_aside(connection: &Connection, item: &ItemId, comment: &Comment, reason: String) -> rusqlite::Result<Rejected> {
    let sql =
        "INSERT INTO rejected_comments (item, id, reason, comment) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    let row = params![item.as_str(), comment.id.0.as_bytes(), reason, to_json(comment)?];
    connection.prepare_cached(sql)?.execute(row)?;
    Ok(Rejected { id: comment.id, reason })
}

/// The item's number, given with its first comment.
fn number(connection: &Connection, item: &ItemId) -> rusqlite::Result<i64> {
    if let Some(no) = known_number(connection, item)? {
        return Ok(no);
    }
    connection.prepare_cached("INSERT INTO commented (item) VALUES (?1)")?.insert([item.as_str()])
}

fn known_number(connection: &Connection, item: &ItemId) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT no FROM commented WHERE item = ?1";
    connection.prepare_cached(sql)?.query_row([item.as_str()], |row| row.get(0)).optional()
}

/// Newest first: the table's own order, backwards.
pub(super) fn page(
    connection: &Connection,
    item: &ItemId,
    before: Option<CommentCursor>,
    limit: usize,
) -> rusqlite::Result<Vec<Comment>> {
    let Some(no) = known_number(connection, item)? else {
        return Ok(Vec::new());
    };
    let bound = if before.is_some() { "(at, id) < (?3, ?4)" } else { "?3 IS NULL AND ?4 IS NULL" };
    let sql = format!("SELECT {COMMENT} FROM comments WHERE item = ?1 AND {bound} ORDER BY at DESC, id DESC LIMIT ?2");
    let (at, id) = (before.map(|cursor| cursor.at.0), before.map(|cursor| Uuid::into_bytes(cursor.id.0)));
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params![no, rows_limit(limit), at, id], comment)?.collect()
}

pub(super) fn one(connection: &Connection, item: &ItemId, id: CommentId) -> rusqlite::Result<Option<Comment>> {
    let sql =
        format!("SELECT {COMMENT} FROM comments WHERE item = (SELECT no FROM commented WHERE item = ?1) AND id = ?2");
    connection.prepare_cached(&sql)?.query_row(params![item.as_str(), id.0.as_bytes()], comment).optional()
}

fn comment(row: &Row<'_>) -> rusqlite::Result<Comment> {
    Ok(Comment {
        id: CommentId(uuid(row, 0)?),
        user: user_id(row, 1)?,
        text: row.get(2)?,
        at: Millis(row.get(3)?),
        name: row.get(4)?,
    })
}
