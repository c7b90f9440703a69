//! The data folder and the database in it: whose it is, what is in it, and how its connections are set.
//!
//! The folder is locked by an advisory lock on a file of its own, which the system lets go whenever the process ends; the
//! file stays. A schema that is newer than this program is refused and left as it is.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::protocol::ids::ID_MAX_BYTES;
use crate::protocol::text::COMMENT_MAX_BYTES;

/// The database's name in the data folder.
pub const DATABASE_FILE: &str = "heartline.db";
/// The lock's name in the data folder.
pub const LOCK_FILE: &str = "heartline.lock";
/// `user_version` of the schema below; raised with each change of it, which then also migrates the older ones.
pub const SCHEMA_VERSION: i64 = 1;
/// Connections that read: history and lists for people, documents for rooms and flushes. As many as a small machine has
/// processors twice over; more only share the disk.
const READERS: usize = 4;
/// Prepared statements kept per connection: all that there are, with room for as many again.
const STATEMENTS_MAX: usize = 64;
/// Bytes of a display name that a token may give; the doors refuse longer ones.
const NAME_MAX_BYTES: usize = 800;

/// Why the store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process, or another store of this one, has the folder.
    #[error("data folder {} is in use by another process", folder.display())]
    InUse {
        /// The data folder.
        folder: PathBuf,
    },
    /// A newer program wrote it.
    #[error("data folder has schema version {found}, this program knows up to {SCHEMA_VERSION}")]
    Newer {
        /// Its version.
        found: i64,
    },
    /// The folder or the lock file could not be made or opened, or the thread not started.
    #[error("{what}")]
    Io {
        /// What was tried.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
    /// SQLite could not open or set up the database.
    #[error("opening the database")]
    Database(#[from] rusqlite::Error),
}

impl OpenError {
    fn io(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let what = format!("{what} {}", path.display());
        move |source| Self::Io { what, source }
    }

    pub(super) fn thread(source: io::Error) -> Self {
        Self::Io { what: "starting the writer thread".to_owned(), source }
    }
}

pub(super) struct Opened {
    pub lock: File,
    pub writer: Connection,
    pub readers: Vec<Connection>,
}

pub(super) fn open(folder: &Path) -> Result<Opened, OpenError> {
    std::fs::create_dir_all(folder).map_err(OpenError::io("making", folder))?;
    let lock = lock(folder)?;
    let path = folder.join(DATABASE_FILE);
    let mut writer = Connection::open(&path)?;
    settle_version(&mut writer)?;
    set_up(&writer)?;
    let readers = (0..READERS).map(|_| reader(&path)).collect::<Result<_, _>>()?;
    Ok(Opened { lock, writer, readers })
}

fn lock(folder: &Path) -> Result<File, OpenError> {
    let path = folder.join(LOCK_FILE);
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(OpenError::io("opening", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse { folder: folder.to_owned() }),
        Err(TryLockError::Error(source)) => Err(OpenError::io("locking", &path)(source)),
    }
}

/// Makes the schema in an empty database; refuses a newer one before anything is written to it.
fn settle_version(connection: &mut Connection) -> Result<(), OpenError> {
    let found = connection.query_row("PRAGMA user_version", (), |row| row.get::<_, i64>(0))?;
    if found > SCHEMA_VERSION {
        return Err(OpenError::Newer { found });
    }
    if found == 0 {
        let transaction = connection.transaction()?;
        transaction.execute_batch(&schema())?;
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        transaction.commit()?;
    }
    Ok(())
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // FULL: the WAL is synced at each commit, so that power loss takes nothing answered.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // 64 MiB: what a checkpoint leaves of a WAL that grew while a long read held it up.
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    Ok(())
}

fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    Ok(connection)
}

/// Counters and vectors are JSON text: exact integers of 64 bits, read and written only by the writer thread, in one transaction with
/// the check of `fold`. Comments are clustered as they are paged; their item is a number, since it stands in both B-trees of
/// each. The checks on comments are those of the wire contract, once more, so that what slipped by them is set aside here.
fn schema() -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_schema_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        drop(open(folder.path()).unwrap());
        let other = Connection::open(folder.path().join(DATABASE_FILE)).unwrap();
        other.pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
        let refused = open(folder.path()).err().unwrap();
        assert!(matches!(refused, OpenError::Newer { found } if found == SCHEMA_VERSION + 1), "{refused}");
        let left: i64 = other.query_row("PRAGMA user_version", (), |row| row.get(0)).unwrap();
        assert_eq!(left, SCHEMA_VERSION + 1);
    }

    #[test]
    fn a_commit_is_on_the_disk_when_it_is_answered() {
        let folder = tempfile::tempdir().unwrap();
        let opened = open(folder.path()).unwrap();
        let pragma = |name| opened.writer.query_row(&format!("PRAGMA {name}"), (), |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(pragma("synchronous"), 2, "FULL");
        let mode: String = opened.writer.query_row("PRAGMA journal_mode", (), |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
    }
}
