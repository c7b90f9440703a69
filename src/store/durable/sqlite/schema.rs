//! The tables, version by version: a database of an older version is brought up step by step, an empty one goes through all steps.
//!
//! A step that was released never changes: databases have been through it. What is to be different is a further step.

use rusqlite::Connection;

use crate::protocol::ids::ID_MAX_BYTES;
use crate::protocol::text::COMMENT_MAX_BYTES;

/// `user_version` of a database that went through all steps below.
pub const SCHEMA_VERSION: i64 = 2;
/// Bytes of a display name that a token may give; the doors refuse longer ones.
const NAME_MAX_BYTES: usize = 800;

/// Takes the steps above the version that was found. Within the caller's transaction: all of them or none.
pub(super) fn bring_up(connection: &Connection, found: i64) -> rusqlite::Result<()> {
    let steps = [(1, counts_and_comments()), (2, LIKES.to_owned())];
    for (version, step) in steps.iter().filter(|(version, _)| *version > found) {
        connection.execute_batch(step)?;
        connection.pragma_update(None, "user_version", version)?;
    }
    Ok(())
}

/// Counters and vectors are JSON text: exact integers of 64 bits, read and written only by the writer thread, in one transaction with
/// the check of `fold`. Comments are clustered as they are paged; their item is a number, since it stands in both B-trees of
/// each. The checks on comments are those of the wire contract, once more, so that what slipped by them is set aside here.
fn counts_and_comments() -> String {
    format!(
        "
CREATE TABLE items (
    item TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    state INTEGER NOT NULL CHECK (state IN (0, 1)),
    reactions TEXT NOT NULL,
    comments_mode INTEGER NOT NULL CHECK (comments_mode IN (0, 1)),
    slow_mode_ms INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    final TEXT,
    CHECK ((state = 1) = (ended_at IS NOT NULL AND final IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX items_by_state ON items (state, item);

CREATE TABLE documents (
    item TEXT PRIMARY KEY,
    fold INTEGER NOT NULL,
    totals TEXT NOT NULL,
    folded TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE commented (no INTEGER PRIMARY KEY, item TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE comments (
    item INTEGER NOT NULL,
    at INTEGER NOT NULL,
    id BLOB NOT NULL CONSTRAINT id_is_16_bytes CHECK (length(id) = 16),
    user TEXT NOT NULL CONSTRAINT user_is_1_to_{ID_MAX_BYTES}_bytes
        CHECK (octet_length(user) BETWEEN 1 AND {ID_MAX_BYTES}),
    name TEXT CONSTRAINT name_is_at_most_{NAME_MAX_BYTES}_bytes CHECK (octet_length(name) <= {NAME_MAX_BYTES}),
    text TEXT NOT NULL CONSTRAINT text_is_1_to_{COMMENT_MAX_BYTES}_bytes
        CHECK (octet_length(text) BETWEEN 1 AND {COMMENT_MAX_BYTES}),
    PRIMARY KEY (item, at, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX comments_by_id ON comments (item, id);

CREATE TABLE rejected_comments (
    item TEXT NOT NULL,
    id BLOB NOT NULL,
    reason TEXT NOT NULL,
    comment TEXT NOT NULL,
    PRIMARY KEY (item, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE log (
    no INTEGER PRIMARY KEY,
    item TEXT NOT NULL,
    writer BLOB NOT NULL,
    prev INTEGER NOT NULL,
    op INTEGER NOT NULL,
    increments TEXT NOT NULL,
    comments TEXT NOT NULL
) STRICT;
"
    )
}

/// A fact is a row. Items are numbers, since they stand in every tree of every fact; people are text, so that ties in `at` are in the
/// order of the contract without sorting, and a like needs no second table. Unlikes leave nothing behind: who decides has the last word
/// of every fact at hand. The log has accepted batches until their facts are in the table; the rows of the two last tables have the
/// same numbers.
const LIKES: &str = "
CREATE TABLE liked_items (no INTEGER PRIMARY KEY, item TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE likes (
    item INTEGER NOT NULL,
    user TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (item, user)
) STRICT, WITHOUT ROWID;
CREATE INDEX likes_by_item ON likes (item, at, user);
CREATE INDEX likes_by_user ON likes (user, at, item);

CREATE TABLE like_log (
    no INTEGER PRIMARY KEY,
    item INTEGER NOT NULL,
    at INTEGER NOT NULL,
    facts BLOB NOT NULL
) STRICT;

CREATE TABLE unsettled_likes (no INTEGER PRIMARY KEY, item INTEGER NOT NULL) STRICT;
";

#[cfg(test)]
mod tests {
    use super::*;

    fn version(connection: &Connection) -> i64 {
        connection.query_row("PRAGMA user_version", (), |row| row.get(0)).unwrap()
    }

    fn tables(connection: &Connection) -> Vec<String> {
        let mut statement =
            connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").unwrap();
        statement.query_map((), |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn a_database_of_any_older_version_ends_as_an_empty_one_does() {
        let fresh = Connection::open_in_memory().unwrap();
        bring_up(&fresh, 0).unwrap();
        let old = Connection::open_in_memory().unwrap();
        old.execute_batch(&counts_and_comments()).unwrap();
        old.execute("INSERT INTO commented (item) VALUES ('a')", ()).unwrap();
        bring_up(&old, 1).unwrap();
        assert_eq!((version(&fresh), version(&old)), (SCHEMA_VERSION, SCHEMA_VERSION));
        assert_eq!(tables(&fresh), tables(&old));
        let kept: String = old.query_row("SELECT item FROM commented", (), |row| row.get(0)).unwrap();
        assert_eq!(kept, "a");
        bring_up(&old, SCHEMA_VERSION).unwrap();
    }
}
