//! What only the embedded durable store promises: about its folder, its log, and what it counts.

use std::sync::Arc;

use async_trait::async_trait;
use heartline::store::durable::sqlite::{OpenError, SqliteStore};
use heartline::store::durable::{Applied, DurableStore};
use heartline::store::hot::{Add, Flight};
use heartline::store::{ContributionLog, LogRow};
use tempfile::TempDir;

use super::DurableFactory;
use super::durable::durable_suite;
use super::support::*;

struct SqliteFactory {
    store: Arc<SqliteStore>,
    _folder: TempDir,
}

#[async_trait]
impl DurableFactory for SqliteFactory {
    async fn fresh() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { store: Arc::new(SqliteStore::open(folder.path()).unwrap()), _folder: folder }
    }

    fn store(&self) -> Arc<dyn DurableStore> {
        self.store.clone()
    }
}

durable_suite!(SqliteFactory);

fn row(name: &str, add: Add) -> LogRow {
    LogRow { item: item(name), add }
}

fn flight(name: &str, w: &[(u128, u64)]) -> Flight {
    let w = w.iter().map(|(by, op)| (writer(*by), *op)).collect();
    Flight { item: item(name), fold: 0, increments: hearts(1), w, comments: Vec::new() }
}

/// A second store on the folder, while the first is open and after it was closed.
#[tokio::test]
async fn a_folder_in_use_is_refused_and_free_after_a_close() {
    let folder = tempfile::tempdir().unwrap();
    let first = SqliteStore::open(folder.path()).unwrap();
    let refused = SqliteStore::open(folder.path()).err().unwrap();
    assert!(matches!(refused, OpenError::InUse { .. }), "{refused}");
    first.close().await;
    drop(SqliteStore::open(folder.path()).unwrap());
    drop(SqliteStore::open(folder.path()).unwrap());
}

/// A folder that cannot be made, since a file is in the way.
#[tokio::test]
async fn a_folder_that_cannot_be_made_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "x").unwrap();
    let refused = SqliteStore::open(&folder.path().join("file")).err().unwrap();
    assert!(matches!(refused, OpenError::Io { .. }), "{refused}");
    std::fs::write(folder.path().join("heartline.db"), "not a database, but long enough to be read as a header")
        .unwrap();
    assert!(matches!(SqliteStore::open(folder.path()), Err(OpenError::Database(_))));
}

/// Rows of two items and two writers, in an order that is not that of their names.
#[tokio::test]
async fn the_log_gives_back_what_was_appended_in_its_order_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let rows =
        [row("b", say(2, 0, 2, &[(1, 10), (2, 11)])), row("a", add(1, 0, 1, -5)), row("b", add(2, 2, 3, i64::MAX))];
    store.append(rows[..2].to_vec()).await.unwrap();
    store.append(rows[2..].to_vec()).await.unwrap();
    assert_eq!(store.read().await.unwrap(), rows);
    drop(store);
    let store = SqliteStore::open(folder.path()).unwrap();
    assert_eq!(store.read().await.unwrap(), rows);
    assert_eq!(store.counts().log(), 0, "counted since the start");
}

/// Rows below, at and above the number that a flight folds, of its item, another item and a writer that it does not name; some
/// written before a restart.
#[tokio::test]
async fn a_flight_takes_the_rows_that_it_folds_off_the_log_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let stay = [row("a", add(1, 2, 3, 1)), row("a", add(2, 0, 1, 1)), row("b", add(1, 0, 1, 1))];
    store.append(vec![row("a", add(1, 0, 1, 1)), stay[0].clone()]).await.unwrap();
    drop(store);
    let store = SqliteStore::open(folder.path()).unwrap();
    store.append(vec![row("a", add(1, 1, 2, 1)), stay[1].clone(), stay[2].clone()]).await.unwrap();
    assert_eq!(store.apply(&[flight("a", &[(1, 2)])]).await.unwrap(), [Applied::Done]);
    assert_eq!(store.read().await.unwrap(), stay);
}

/// A row that is folded already is appended late, as by a repeat; the next flight does not match, or does.
#[tokio::test]
async fn a_row_that_is_folded_already_does_not_stay_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    store.apply(&[flight("a", &[(1, 2)])]).await.unwrap();
    store.append(vec![row("a", add(1, 0, 2, 1))]).await.unwrap();
    assert_eq!(store.apply(&[flight("a", &[(1, 2)])]).await.unwrap(), [Applied::NoMatch]);
    assert_eq!(store.read().await.unwrap(), []);
}

/// One flush of one item: one statement of each kind.
#[tokio::test]
async fn a_flush_is_one_statement_of_each_kind_whatever_it_carries() {
    let factory = SqliteFactory::fresh().await;
    let store = &factory.store;
    store.append((0..500).map(|n| row("a", add(1, n, n + 1, 1))).collect()).await.unwrap();
    store.insert_comments(&item("a"), &(0..300).map(comment).collect::<Vec<_>>()).await.unwrap();
    store.apply(&[flight("a", &[(1, 500)])]).await.unwrap();
    let counts = store.counts();
    assert_eq!((counts.log(), counts.comments(), counts.fold()), (1, 1, 1));
}
