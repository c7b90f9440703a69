//! How values stand in columns: ids as their 16 bytes or text, counters, vectors and lists as JSON text.
//!
//! What does not read back is an error of that column, never a default: a damaged file must not pass for an empty one.

use rusqlite::types::Type;
use rusqlite::{Error, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::protocol::{CommentsMode, ItemId, ItemState, UserId};

type Column = usize;

pub(super) fn to_json<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|e| Error::ToSqlConversionFailure(Box::new(e)))
}

pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: Column) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|e| damaged(column, Type::Text, e))
}

/// A number as SQLite holds it; one past 2^63 has no place there and cannot come about by counting.
pub(super) fn signed(number: u64) -> rusqlite::Result<i64> {
    i64::try_from(number).map_err(|e| Error::ToSqlConversionFailure(Box::new(e)))
}

pub(super) fn unsigned(row: &Row<'_>, column: Column) -> rusqlite::Result<u64> {
    u64::try_from(row.get::<_, i64>(column)?).map_err(|e| damaged(column, Type::Integer, e))
}

pub(super) fn uuid(row: &Row<'_>, column: Column) -> rusqlite::Result<Uuid> {
    row.get(column).map(Uuid::from_bytes)
}

pub(super) fn item_id(row: &Row<'_>, column: Column) -> rusqlite::Result<ItemId> {
    ItemId::parse(row.get_ref(column)?.as_str()?).map_err(|e| damaged(column, Type::Text, e))
}

pub(super) fn user_id(row: &Row<'_>, column: Column) -> rusqlite::Result<UserId> {
    UserId::parse(row.get_ref(column)?.as_str()?).map_err(|e| damaged(column, Type::Text, e))
}

pub(super) fn damaged(column: Column, found: Type, why: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::FromSqlConversionFailure(column, found, Box::new(why))
}

/// What `LIMIT` takes.
pub(super) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

pub(super) fn state_no(state: ItemState) -> i64 {
    match state {
        ItemState::Live => 0,
        ItemState::Ended => 1,
    }
}

pub(super) fn mode_no(mode: CommentsMode) -> i64 {
    match mode {
        CommentsMode::Open => 0,
        CommentsMode::Closed => 1,
    }
}
