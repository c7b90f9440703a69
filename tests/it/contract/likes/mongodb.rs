//! What only the store on MongoDB promises of likes: about replies that are lost, and about what is left in the collection.

use std::sync::Arc;

use ::mongodb::bson::{Bson, Document as Stored, doc};
use ::mongodb::{Collection, Database};
use async_trait::async_trait;
use futures_util::TryStreamExt;
use heartline::store::durable::mongodb::{MongoStore, Settings};
use heartline::store::durable::{DurableError, LikeBatch, LikeStore};
use uuid::Uuid;

use super::{LikeFactory, all_likers, batch, id, like_suite, liker};
use crate::contract::support::item;
use crate::support::mongodb::{database, drop_database, failing_update, settings, url};

/// Two stores, as of two processes, and a way for the test to make commands of the first one fail.
struct MongoLikes {
    stores: Vec<Arc<MongoStore>>,
    settings: Settings,
    app: String,
}

impl MongoLikes {
    async fn database(&self) -> Database {
        database(&self.settings).await
    }

    async fn facts(&self) -> Collection<Stored> {
        self.database().await.collection("likes")
    }

    /// What the first store answers to `given`, while the server fails its next `update` in the way of `how`.
    async fn like_failing(&self, how: Stored, given: &LikeBatch) -> Result<Vec<bool>, DurableError> {
        failing_update(&self.app, how, self.stores[0].like(given)).await
    }

    async fn open(settings: &Settings, app: &str) -> Vec<Arc<MongoStore>> {
        let separator = if url().contains('?') { '&' } else { '?' };
        let named = Settings { url: format!("{}{separator}appName={app}", url()), ..settings.clone() };
        let mut stores = Vec::new();
        for settings in [&named, settings] {
            stores.push(Arc::new(MongoStore::open(settings).await.unwrap()));
        }
        stores
    }
}

impl Drop for MongoLikes {
    fn drop(&mut self) {
        drop_database(self.settings.clone());
    }
}

#[async_trait]
impl LikeFactory for MongoLikes {
    async fn fresh() -> Self {
        let (settings, app) = (settings(), format!("app-{}", Uuid::new_v4().simple()));
        Self { stores: Self::open(&settings, &app).await, settings, app }
    }

    fn stores(&self) -> Vec<Arc<dyn LikeStore>> {
        self.stores.iter().map(|store| store.clone() as Arc<dyn LikeStore>).collect()
    }

    async fn restart(&mut self) {
        for store in &self.stores {
            heartline::store::durable::DurableStore::close(&**store).await;
        }
        self.stores = Self::open(&self.settings, &self.app).await;
    }
}

like_suite!(MongoLikes);

/// The connection is closed before the bulk; then it is written and the majority does not acknowledge it in time; then it is repeated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_is_not_acknowledged_is_an_error_and_tells_its_changes_when_repeated() {
    let factory = MongoLikes::fresh().await;
    let (store, a) = (&factory.stores[0], item("a"));
    store.like(&batch(&a, id(1, 1), 1, &[("ann", true), ("bob", true), ("gil", true)])).await.unwrap();
    store.like(&batch(&a, id(1, 2), 2, &[("gil", false)])).await.unwrap();
    let commands = [("ann", true), ("bob", false), ("cem", true), ("dan", false), ("gil", true), ("gus", false)];
    let given = batch(&a, id(1, 3), 3, &commands);
    assert!(factory.like_failing(doc! { "closeConnection": true }, &given).await.is_err());
    let not_yet = doc! { "code": 64, "errmsg": "waiting for replication timed out" };
    let answer = factory.like_failing(doc! { "writeConcernError": not_yet }, &given).await;
    assert!(answer.is_err(), "written, but not acknowledged");
    assert_eq!(store.count_likes(&a).await.unwrap(), 3, "it is written");
    for _ in 0..2 {
        assert_eq!(store.like(&given).await.unwrap(), [false, true, true, false, true, false]);
    }
    assert_eq!(all_likers(&**store, &a, 9).await, [liker("gil", 3), liker("cem", 3), liker("ann", 1)]);
}

/// A batch of two bulks, of which the first is written without an acknowledgement and the second never sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_broke_off_half_way_is_made_whole_when_repeated() {
    let factory = MongoLikes::fresh().await;
    let (store, a) = (&factory.stores[0], item("a"));
    let names: Vec<_> = (0..400).map(|n| format!("u{n}")).collect();
    let some: Vec<_> = names.iter().step_by(7).map(|name| (name.as_str(), true)).collect();
    store.like(&batch(&a, id(1, 1), 1, &some)).await.unwrap();
    let given = batch(&a, id(1, 2), 2, &names.iter().map(|name| (name.as_str(), true)).collect::<Vec<_>>());
    let not_yet = doc! { "code": 64, "errmsg": "timed out" };
    assert!(factory.like_failing(doc! { "writeConcernError": not_yet }, &given).await.is_err());
    let written = store.count_likes(&a).await.unwrap();
    assert!((58..400).contains(&written), "{written}");
    let expected: Vec<_> = (0..400).map(|n| n % 7 != 0).collect();
    assert_eq!(store.like(&given).await.unwrap(), expected);
    assert_eq!(store.count_likes(&a).await.unwrap(), 400);
}

/// The server refuses one fact of a batch for what it is, in a reply that is `ok`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fact_that_the_server_refuses_is_an_error_and_no_silent_success() {
    let factory = MongoLikes::fresh().await;
    let (store, a) = (&factory.stores[0], item("a"));
    let validator = doc! { "user": { "$ne": "bob" } };
    factory.database().await.run_command(doc! { "collMod": "likes", "validator": validator }).await.unwrap();
    assert!(store.like(&batch(&a, id(1, 1), 1, &[("ann", true), ("bob", true)])).await.is_err());
    assert_eq!(store.count_likes(&a).await.unwrap(), 1);
}

/// Likes, unlikes of likes, unlikes of nothing and likes anew: only what is not liked may carry what the index lets expire.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tombstones_expire_and_likes_do_not() {
    let factory = MongoLikes::fresh().await;
    let (store, a) = (&factory.stores[0], item("a"));
    store.like(&batch(&a, id(1, 1), 1, &[("ann", true), ("bob", true), ("cem", false)])).await.unwrap();
    store.like(&batch(&a, id(1, 2), 2, &[("ann", false), ("bob", false)])).await.unwrap();
    store.like(&batch(&a, id(1, 3), 3, &[("ann", true), ("dan", false)])).await.unwrap();
    let facts = factory.facts().await;
    let stored: Vec<Stored> = facts.find(doc! {}).sort(doc! { "_id": 1 }).await.unwrap().try_collect().await.unwrap();
    let marks: Vec<_> = stored
        .iter()
        .map(|fact| {
            let has = |field| fact.contains_key(field);
            (fact.get_str("_id").unwrap(), fact.get_bool("liked").unwrap(), has("gone"), has("absent"))
        })
        .collect();
    let expected = [
        ("a|ann", true, false, false),
        ("a|bob", false, true, false),
        ("a|cem", false, true, true),
        ("a|dan", false, true, true),
    ];
    assert_eq!(marks, expected);
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3_600);
    for tombstone in stored.iter().filter(|fact| fact.contains_key("gone")) {
        let gone = tombstone.get_datetime("gone").unwrap();
        assert!(
            gone.to_system_time() > hour_ago,
            "{gone}: counted from when it was written, whatever the batch's time"
        );
    }
    let indexes: Vec<_> = facts.list_indexes().await.unwrap().try_collect().await.unwrap();
    let expiring: Vec<_> = indexes
        .iter()
        .filter_map(|index| Some((index.keys.clone(), index.options.as_ref()?.expire_after?.as_secs())))
        .collect();
    assert_eq!(expiring, [(doc! { "gone": 1 }, 24 * 60 * 60)]);
    assert_eq!(indexes.len(), 4, "by id, by item, by person, and of tombstones");
}

/// Something else wrote into a fact: it must not pass for one that is or is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_fact_is_an_error() {
    let factory = MongoLikes::fresh().await;
    let (store, a) = (&factory.stores[0], item("a"));
    store.like(&batch(&a, id(1, 1), 1, &[("ann", true)])).await.unwrap();
    for (field, value) in [("at", Bson::Double(1.5)), ("user", Bson::Int64(1))] {
        let damage = doc! { "$set": { field: value } };
        factory.facts().await.update_one(doc! { "_id": "a|ann" }, damage).await.unwrap();
        assert!(store.likers(&a, None, 9).await.is_err());
    }
}

/// A batch as large as a bulk may be: one statement; one that is larger: as many as it takes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_one_statement_per_bulk_whatever_it_carries() {
    let factory = MongoLikes::fresh().await;
    let store = &factory.stores[0];
    let names: Vec<_> = (0..550).map(|n| format!("u{n}")).collect();
    let commands: Vec<_> = names.iter().map(|name| (name.as_str(), true)).collect();
    store.like(&batch(&item("a"), id(1, 1), 1, &commands[..250])).await.unwrap();
    assert_eq!(store.counts().likes(), 1);
    store.like(&batch(&item("a"), id(1, 2), 2, &commands)).await.unwrap();
    assert_eq!(store.counts().likes(), 1 + 3);
}
