//! Where MongoDB stands alone, a document is aligned with only when it is known to be on the disk.

use heartline::protocol::{Counter, Counters, ItemId, WriterId};
use heartline::store::durable::mongodb::{Deployment, MongoStore, Settings};
use heartline::store::durable::{Document, DurableStore};
use heartline::store::hot::Flight;
use uuid::Uuid;

use super::{database_name, mongodb_address};
use crate::support::mongodb_alone::MongoAlone;
use crate::support::proxy::Proxy;

/// A part of every statement that writes into documents.
const UPDATE: &[u8] = b"\x02update\0";

async fn open(proxy: &Proxy) -> MongoStore {
    let url = format!("mongodb://{}/?directConnection=true", proxy.address());
    MongoStore::open(&Settings { url, database: Some(database_name()) }).await.unwrap()
}

async fn folded_once(store: &MongoStore, item: &ItemId) {
    let increments: Counters = [(Counter::Likes, 3)].into_iter().collect();
    let w = [(WriterId(Uuid::from_u128(7)), 1)].into_iter().collect();
    let flight = Flight { item: item.clone(), fold: 0, increments, w, comments: Vec::new() };
    store.apply(&[flight]).await.unwrap();
}

/// Scenario: a server alone shows a fold that its journal does not have yet, and dies. Method: a read is followed by a journaled write;
/// where its answer is lost, the document is not told. What is not there needs no proof.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_may_not_be_on_the_disk_is_not_told() {
    let alone = MongoAlone::start();
    let proxy = Proxy::start(&alone.address());
    let (store, item) = (open(&proxy).await, ItemId::parse("a").unwrap());
    assert_eq!(*store.deployment(), Deployment::Standalone);
    assert_eq!(store.document(&item).await.unwrap(), Document::default());
    folded_once(&store, &item).await;
    proxy.lose_reply_to(UPDATE);
    assert!(store.document(&item).await.is_err());
    assert_eq!(proxy.lost(), 1);
    let document = store.document(&item).await.unwrap();
    assert_eq!((document.fold, document.totals.get(Counter::Likes)), (1, 3), "the proof changes nothing that counts");
}

/// Scenario: the price of it is paid where a majority proves the same. Method: on the set of this run a read writes nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_set_proves_its_documents_by_majority_and_writes_nothing() {
    let proxy = Proxy::start(mongodb_address());
    let (store, item) = (open(&proxy).await, ItemId::parse("a").unwrap());
    if *store.deployment() == Deployment::Standalone {
        panic!("this run's MongoDB is no set");
    }
    folded_once(&store, &item).await;
    proxy.lose_reply_to(UPDATE);
    assert_eq!(store.document(&item).await.unwrap().fold, 1);
    assert_eq!(proxy.lost(), 0);
}
