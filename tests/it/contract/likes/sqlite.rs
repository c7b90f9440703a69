//! What only the embedded store promises of likes: across restarts, and of databases of an earlier version.

use std::sync::Arc;

use async_trait::async_trait;
use heartline::store::durable::sqlite::SqliteStore;
use heartline::store::durable::{DurableStore, LikeStore};
use tempfile::TempDir;

use super::{LikeFactory, all_likers, batch, id, like_suite, liker};
use crate::contract::support::item;

pub struct SqliteLikes {
    store: Arc<SqliteStore>,
    folder: TempDir,
}

#[async_trait]
impl LikeFactory for SqliteLikes {
    async fn fresh() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { store: Arc::new(SqliteStore::open(folder.path()).unwrap()), folder }
    }

    fn stores(&self) -> Vec<Arc<dyn LikeStore>> {
        vec![self.store.clone()]
    }

    async fn restart(&mut self) {
        self.store.close().await;
        self.store = Arc::new(SqliteStore::open(self.folder.path()).unwrap());
    }
}

like_suite!(SqliteLikes);

/// Batches that are settled, not settled, and without a change; then a restart, a recount, and another restart.
#[tokio::test]
async fn a_batch_whose_net_the_counter_may_lack_is_remembered_across_a_restart() {
    let mut factory = SqliteLikes::fresh().await;
    let like = |name: &str, by, number, liked| batch(&item(name), id(by, number), 1, &[("ann", liked)]);
    for (name, settle) in [("a", true), ("b", false), ("c", true)] {
        factory.store.like(&like(name, 1, 1, true)).await.unwrap();
        if settle {
            factory.store.settled(&item(name), id(1, 1)).await;
        }
    }
    factory.store.like(&like("c", 1, 2, false)).await.unwrap();
    factory.store.like(&like("d", 1, 1, false)).await.unwrap();
    assert_eq!(factory.store.unsettled().await.unwrap(), [], "none of an earlier run");
    factory.restart().await;
    assert_eq!(factory.store.unsettled().await.unwrap(), [item("b"), item("c")]);
    factory.store.like(&like("b", 2, 1, false)).await.unwrap();
    factory.store.settled(&item("b"), id(2, 1)).await;
    factory.store.recounted(&item("c")).await;
    factory.restart().await;
    assert_eq!(factory.store.unsettled().await.unwrap(), [item("b")], "not recounted");
    factory.store.recounted(&item("b")).await;
    factory.restart().await;
    assert_eq!(factory.store.unsettled().await.unwrap(), []);
}

/// Two batches of one item are under way; the later one is settled first.
#[tokio::test]
async fn a_later_batch_that_is_settled_does_not_settle_an_earlier_one() {
    let mut factory = SqliteLikes::fresh().await;
    for (number, name) in [(1, "ann"), (2, "bob")] {
        factory.store.like(&batch(&item("a"), id(1, number), 1, &[(name, true)])).await.unwrap();
    }
    factory.store.settled(&item("a"), id(1, 2)).await;
    factory.restart().await;
    assert_eq!(factory.store.unsettled().await.unwrap(), [item("a")]);
}

/// Batches that change nothing are counted as no statement.
#[tokio::test]
async fn a_batch_is_one_statement_whatever_it_carries() {
    let factory = SqliteLikes::fresh().await;
    let names: Vec<_> = (0..500).map(|n| format!("u{n}")).collect();
    let commands: Vec<_> = names.iter().map(|name| (name.as_str(), true)).collect();
    factory.store.like(&batch(&item("a"), id(1, 1), 1, &commands)).await.unwrap();
    assert_eq!(factory.store.counts().likes(), 1);
}

/// Work is handed over, the store is closed, more work comes.
#[tokio::test]
async fn likes_taken_before_a_close_are_there_and_later_ones_are_refused() {
    let mut factory = SqliteLikes::fresh().await;
    let (store, a) = (factory.store.clone(), item("a"));
    let (first, second) = (batch(&a, id(1, 1), 1, &[("ann", true)]), batch(&a, id(1, 2), 2, &[("bob", true)]));
    let (liked, ()) = tokio::join!(store.like(&first), store.close());
    assert_eq!(liked.unwrap(), [true]);
    assert!(store.like(&second).await.is_err());
    assert!(store.count_likes(&a).await.is_err());
    drop(store);
    factory.restart().await;
    assert_eq!(all_likers(&*factory.store, &a, 9).await, [liker("ann", 1)]);
}
