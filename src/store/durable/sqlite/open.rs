//! The data folder and the database in it: whose it is, what is in it, and how its connections are set.
//!
//! The folder is locked by an advisory lock on a file of its own, which the system lets go whenever the process ends; the
//! file stays. A schema that is newer than this program is refused and left as it is.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::schema::{self, SCHEMA_VERSION};

/// The database's name in the data folder.
pub const DATABASE_FILE: &str = "heartline.db";
/// The lock's name in the data folder.
pub const LOCK_FILE: &str = "heartline.lock";
/// Connections that read: history and lists for people, documents for rooms and flushes. As many as a small machine has
/// processors twice over; more only share the disk.
const READERS: usize = 4;
/// What the writing connection keeps of the database, in KiB: all pages that one job of a fold of likes changes, in three trees, with
/// the upper levels of the trees. With SQLite's 2 MiB a job would write its pages out before it commits, and read them again.
const WRITER_CACHE_KIB: i64 = 32 * 1024;
/// Prepared statements kept per connection: all that there are, with room for as many again.
const STATEMENTS_MAX: usize = 64;

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

/// Brings the schema up to date, in one transaction; refuses a newer one before anything is written to it.
fn settle_version(connection: &mut Connection) -> Result<(), OpenError> {
    let found = connection.query_row("PRAGMA user_version", (), |row| row.get::<_, i64>(0))?;
    if found > SCHEMA_VERSION {
        return Err(OpenError::Newer { found });
    }
    if found < SCHEMA_VERSION {
        let transaction = connection.transaction()?;
        schema::bring_up(&transaction, found)?;
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
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    Ok(())
}

fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    Ok(connection)
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
