//! What only the durable store on MongoDB promises: about replies that are lost or say too little, about what other people's
//! indexes and validators refuse, and about servers that are not there.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::mongodb::Database;
use ::mongodb::IndexModel;
use ::mongodb::bson::{Document as Stored, doc};
use ::mongodb::options::IndexOptions;
use async_trait::async_trait;
use futures_util::future::join_all;
use heartline::protocol::{Comment, ItemSettings, ItemView, Millis};
use heartline::store::durable::mongodb::{Deployment, MongoStore, OpenError, Settings};
use heartline::store::durable::{Applied, DurableStore, ItemChange};
use heartline::store::hot::Flight;
use uuid::Uuid;

use super::DurableFactory;
use super::durable::durable_suite;
use super::support::*;
use crate::support::mongodb::{database, drop_database, failing_update, settings, url};

struct MongoFactory {
    store: Arc<MongoStore>,
    settings: Settings,
}

impl MongoFactory {
    async fn with(settings: Settings) -> Self {
        Self { store: Arc::new(MongoStore::open(&settings).await.unwrap()), settings }
    }

    async fn database(&self) -> Database {
        database(&self.settings).await
    }
}

impl Drop for MongoFactory {
    fn drop(&mut self) {
        drop_database(self.settings.clone());
    }
}

#[async_trait]
impl DurableFactory for MongoFactory {
    async fn fresh() -> Self {
        Self::with(settings()).await
    }

    fn store(&self) -> Arc<dyn DurableStore> {
        self.store.clone()
    }
}

durable_suite!(MongoFactory);

fn flight(name: &str, fold: u64, n: i64) -> Flight {
    let w = [(writer(1), fold + 1)].into_iter().collect();
    Flight { item: item(name), fold, increments: hearts(n), w, comments: Vec::new() }
}

/// The server's URL with another option, so that a fail point can be for one store alone.
fn with_option(option: &str) -> String {
    let separator = if url().contains('?') { '&' } else { '?' };
    format!("{}{separator}{option}", url())
}

/// The connection is closed before the bulk, then a bulk is written and the majority does not acknowledge it in time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bulk_that_is_not_acknowledged_is_an_error_and_exact_when_repeated() {
    let app = format!("app-{}", Uuid::new_v4().simple());
    let factory = MongoFactory::with(Settings { url: with_option(&format!("appName={app}")), ..settings() }).await;
    let store = &factory.store;
    let bulk = [flight("a", 0, 3), flight("b", 0, 4)];
    assert!(failing_update(&app, doc! { "closeConnection": true }, store.apply(&bulk)).await.is_err());
    let not_yet = doc! { "code": 64, "errmsg": "waiting for replication timed out" };
    let answer = failing_update(&app, doc! { "writeConcernError": not_yet }, store.apply(&bulk)).await;
    assert!(answer.is_err(), "written, but not acknowledged");
    assert_eq!(store.apply(&bulk).await.unwrap(), [Applied::NoMatch, Applied::NoMatch]);
    for (name, total) in [("a", 3), ("b", 4)] {
        let document = store.document(&item(name)).await.unwrap();
        assert_eq!((document.fold, document.totals), (1, hearts(total)));
    }
}

/// A proxy passes the bulk on, waits until it is written, and cuts the connection in place of the reply.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bulk_whose_reply_is_lost_after_the_commit_is_exact_when_repeated() {
    let proxy = CuttingProxy::start(url().trim_start_matches("mongodb://").split(['/', '?']).next().unwrap());
    let through = format!("mongodb://{}/?directConnection=true", proxy.address);
    let factory = MongoFactory::with(Settings { url: through, ..settings() }).await;
    let bulk = [flight("a", 0, 3), flight("b", 0, 4)];
    proxy.armed.store(true, Ordering::SeqCst);
    assert!(factory.store.apply(&bulk).await.is_err());
    assert!(!proxy.armed.load(Ordering::SeqCst), "the reply was cut off");
    assert_eq!(factory.store.apply(&bulk).await.unwrap(), [Applied::NoMatch, Applied::NoMatch]);
    for (name, total) in [("a", 3), ("b", 4)] {
        let document = factory.store.document(&item(name)).await.unwrap();
        assert_eq!((document.fold, document.totals), (1, hearts(total)));
    }
}

/// A bulk of later folds, of which some match: the reply counts them and does not say which.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn which_flights_of_a_bulk_matched_is_told_although_the_reply_only_counts() {
    let factory = MongoFactory::fresh().await;
    let first: Vec<_> = (0..6).map(|n| flight(&format!("i{n}"), 0, 1)).collect();
    factory.store.apply(&first).await.unwrap();
    let second: Vec<_> = (0..6).map(|n| flight(&format!("i{n}"), [1, 2, 0][n % 3], 1)).collect();
    let outcomes = factory.store.apply(&second).await.unwrap();
    let one_round = [Applied::Done, Applied::NoMatch, Applied::NoMatch];
    assert_eq!(outcomes, [one_round, one_round].concat());
}

/// An operator's validator refuses one document of a bulk; the server's reply is `ok`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flight_that_the_server_refuses_is_an_error_and_no_silent_success() {
    let factory = MongoFactory::fresh().await;
    factory.store.apply(&[flight("a", 0, 1), flight("b", 0, 1)]).await.unwrap();
    let validator = doc! { "$or": [{ "_id": { "$ne": "a" } }, { "fold": { "$lt": 2 } }] };
    factory.database().await.run_command(doc! { "collMod": "documents", "validator": validator }).await.unwrap();
    let refused = factory.store.apply(&[flight("a", 1, 1), flight("b", 1, 1)]).await.unwrap_err();
    assert!(refused.to_string().contains("a: "), "{refused}");
    assert_eq!(factory.store.document(&item("a")).await.unwrap().fold, 1);
    assert_eq!(factory.store.document(&item("b")).await.unwrap().fold, 2);
}

/// Two hundred requests create one item at once, through two stores.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_creations_at_once_make_one_record_and_no_error() {
    let factory = MongoFactory::fresh().await;
    let other = MongoStore::open(&factory.settings).await.unwrap();
    let view = ItemView::create(item("a"), ItemSettings::default(), Millis(5));
    let created = join_all((0..200).map(|n| {
        let store = if n % 2 == 0 { &other } else { &*factory.store };
        store.change_item(ItemChange::Create(ItemView { title: format!("title {n}"), ..view.clone() }))
    }))
    .await;
    let new = created.into_iter().filter(|answer| answer.as_ref().unwrap().as_ref().unwrap().1).count();
    assert_eq!(new, 1);
    let records = factory.database().await.collection::<Stored>("items").count_documents(doc! {}).await.unwrap();
    assert_eq!(records, 1);
}

/// A validator of an operator's own refuses a comment in the middle of a batch, and their unique index another one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_comment_that_the_server_refuses_is_set_aside_with_its_reason_and_alone() {
    let factory = MongoFactory::fresh().await;
    let database = factory.database().await;
    factory.store.insert_comments(&item("a"), &[comment(1)]).await.unwrap();
    let validator = doc! { "text": { "$ne": "comment 3" } };
    database.run_command(doc! { "collMod": "comments", "validator": validator }).await.unwrap();
    let unique = IndexOptions::builder().unique(true).build();
    let texts = IndexModel::builder().keys(doc! { "text": 1 }).options(unique).build();
    database.collection::<Stored>("comments").create_index(texts).await.unwrap();

    let twin = Comment { text: "comment 1".into(), ..comment(5) };
    let batch = [comment(1), comment(2), comment(3), comment(4), twin];
    for new in [2, 0] {
        let inserted = factory.store.insert_comments(&item("a"), &batch).await.unwrap();
        let rejected: Vec<_> = inserted.rejected.iter().map(|one| one.id.0.as_u128()).collect();
        assert_eq!((inserted.new, rejected), (new, vec![3, 5]));
    }
    assert_eq!(ids(&factory.store.comments(&item("a"), None, 9).await.unwrap()), [4, 2, 1]);
    let aside = database.collection::<Stored>("rejected_comments");
    let kept = aside.find_one(doc! { "text": "comment 3" }).await.unwrap().unwrap();
    assert!(!kept.get_str("reason").unwrap().is_empty());
    assert_eq!(aside.count_documents(doc! { "item": "a" }).await.unwrap(), 2);
}

/// Something else wrote into a document: it must not pass for an item that was never folded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_document_is_an_error_and_not_an_empty_one() {
    let factory = MongoFactory::fresh().await;
    factory.store.apply(&[flight("a", 0, 1)]).await.unwrap();
    let documents = factory.database().await.collection::<Stored>("documents");
    for damage in [doc! { "$set": { "totals.taps.heart": 1.5 } }, doc! { "$unset": { "folded": 1 } }] {
        documents.update_one(doc! { "_id": "a" }, damage).await.unwrap();
        assert!(factory.store.document(&item("a")).await.is_err());
    }
}

/// One flush of one item: one statement of each kind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flush_is_one_statement_of_each_kind_whatever_it_carries() {
    let factory = MongoFactory::fresh().await;
    factory.store.insert_comments(&item("a"), &(0..300).map(comment).collect::<Vec<_>>()).await.unwrap();
    factory.store.apply(&[flight("a", 0, 500)]).await.unwrap();
    let counts = factory.store.counts();
    assert_eq!((counts.comments(), counts.fold()), (1, 1));
}

/// The server's own greeting against what the store makes of it, on whichever server this run has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_alone_and_a_replica_set_are_told_apart() {
    let factory = MongoFactory::fresh().await;
    let hello = factory.database().await.run_command(doc! { "hello": 1 }).await.unwrap();
    let named = hello.get_str("setName").ok();
    match factory.store.deployment() {
        Deployment::ReplicaSet(name) => assert_eq!(named, Some(name.as_str())),
        Deployment::Standalone | Deployment::Sharded => assert_eq!(named, None),
    }
}

/// The store is opened on one runtime and asked from another, as rooms do.
#[test]
fn a_store_is_asked_from_runtimes_that_did_not_open_it() {
    let on = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (stores, rooms) = (on(), on());
    let factory = stores.block_on(MongoFactory::fresh());
    for n in 0..3 {
        let store = factory.store();
        let asking = rooms.spawn(async move { store.apply(&[flight("a", n, 1)]).await });
        assert_eq!(rooms.block_on(asking).unwrap().unwrap(), [Applied::Done]);
    }
}

/// Nobody listens; somebody listens and never answers; the URL is none; the credentials are of nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_not_there_is_one_clear_error_in_bounded_time() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_address = silent.local_addr().unwrap().to_string();
    let address = url().trim_start_matches("mongodb://").split(['/', '?']).next().unwrap();
    let since = Instant::now();
    let open = |url: String| async move { MongoStore::open(&Settings { url, database: None }).await.err().unwrap() };
    let (refused, unanswered, unknown, none) = tokio::join!(
        open("mongodb://127.0.0.1:1/".into()),
        open(format!("mongodb://{silent_address}/")),
        open(format!("mongodb://nobody:seCret@{address}/?directConnection=true")),
        open("redis://nobody:seCret@127.0.0.1/".into()),
    );
    assert!(since.elapsed() < Duration::from_secs(15), "{:?}", since.elapsed());
    assert!(matches!(refused, OpenError::Unreachable { .. }), "{refused}");
    assert!(matches!(unanswered, OpenError::Unreachable { .. }), "{unanswered}");
    assert!(matches!(unknown, OpenError::Refused { .. }), "{unknown}");
    assert!(matches!(none, OpenError::Url(_)), "{none}");
    for error in [refused, unanswered, unknown, none] {
        let line = error.to_string();
        assert!(!line.contains('\n') && !line.contains("seCret"), "{line}");
    }
}

/// Passes everything on; when it is armed, the next `update` command's reply is swallowed and both sides are cut.
struct CuttingProxy {
    address: String,
    armed: Arc<AtomicBool>,
}

impl CuttingProxy {
    fn start(to: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, to) = (listener.local_addr().unwrap().to_string(), to.to_owned());
        let armed = Arc::new(AtomicBool::new(false));
        let proxy = Self { address, armed: armed.clone() };
        std::thread::spawn(move || {
            for client in listener.incoming() {
                pass_on(client.unwrap(), TcpStream::connect(&to).unwrap(), armed.clone());
            }
        });
        proxy
    }
}

fn pass_on(client: TcpStream, server: TcpStream, armed: Arc<AtomicBool>) {
    let cut = Arc::new(AtomicBool::new(false));
    let (mut from_client, mut to_client) = (client.try_clone().unwrap(), client);
    let (mut from_server, mut to_server) = (server.try_clone().unwrap(), server);
    let cut_reply = cut.clone();
    std::thread::spawn(move || {
        let mut buffer = [0; 65_536];
        while let Ok(n @ 1..) = from_client.read(&mut buffer) {
            let is_update = buffer[..n].windows(8).any(|bytes| bytes == b"\x02update\0");
            if is_update && armed.swap(false, Ordering::SeqCst) {
                cut.store(true, Ordering::SeqCst);
            }
            if to_server.write_all(&buffer[..n]).is_err() {
                break;
            }
        }
        // The other side may be gone already.
        let _ = to_server.shutdown(Shutdown::Both);
    });
    std::thread::spawn(move || {
        let mut buffer = [0; 65_536];
        while let Ok(n @ 1..) = from_server.read(&mut buffer) {
            if cut_reply.load(Ordering::SeqCst) || to_client.write_all(&buffer[..n]).is_err() {
                break;
            }
        }
        // The other side may be gone already.
        let _ = to_client.shutdown(Shutdown::Both);
        let _ = from_server.shutdown(Shutdown::Both);
    });
}
