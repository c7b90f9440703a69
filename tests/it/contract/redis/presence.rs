//! How many people watch on which node, over a Redis that several nodes share.

use std::time::{Duration, Instant};

use heartline::store::hot::redis::{RedisHot, Settings};
use heartline::store::hot::{HotStore, Step};

use super::super::support::*;
use super::{open, settings};
use crate::support::PATIENCE;
use crate::support::redis::RedisServer;

async fn node(server: &RedisServer, by: u128, presence: Duration) -> RedisHot {
    open(Settings { presence, ..settings(server, by) }).await
}

async fn elsewhere(hot: &RedisHot, item: &heartline::protocol::ItemId, watching: Option<u64>) -> u64 {
    stood(hot, Step { watching, ..read(item) }).await.elsewhere
}

/// Three nodes tell, change and take back what they have.
#[tokio::test]
async fn each_node_is_told_how_many_people_the_others_have() {
    let server = RedisServer::start(&[]);
    let long = Duration::from_secs(60);
    let (a, b, c) = (node(&server, 1, long).await, node(&server, 2, long).await, node(&server, 3, long).await);
    let (item, other) = (laid(&a, "a").await, laid(&a, "b").await);
    assert_eq!(elsewhere(&a, &item, Some(3)).await, 0);
    assert_eq!(elsewhere(&b, &item, Some(4)).await, 3);
    assert_eq!(elsewhere(&c, &item, None).await, 7);
    assert_eq!(elsewhere(&a, &item, None).await, 4, "what it told lasts, and is not elsewhere");
    assert_eq!(elsewhere(&c, &other, None).await, 0);
    assert_eq!(elsewhere(&b, &item, Some(1)).await, 3);
    assert_eq!((a.viewers(&item).await.unwrap(), c.viewers(&other).await.unwrap()), (4, 0));
    assert!(!c.let_go(&item).await.unwrap(), "people watch it");
    assert_eq!(elsewhere(&a, &item, Some(0)).await, 1);
    assert_eq!(elsewhere(&b, &item, Some(0)).await, 0);
    assert!(c.let_go(&item).await.unwrap());
    assert!(server.keys().iter().all(|key| !key.contains("presence")), "{:?}", server.keys());
}

/// Deadlines are whole milliseconds, rounded down.
const GRAIN: Duration = Duration::from_millis(1);

/// Two nodes tell for different times and are not heard of again: the shorter one goes first, and the key with the longer one.
#[tokio::test]
async fn what_a_dead_node_told_runs_out_by_itself() {
    let server = RedisServer::start(&[]);
    let (short, long) = (Duration::from_millis(400), Duration::from_millis(1_500));
    let (a, b, c) = (node(&server, 1, long).await, node(&server, 2, short).await, node(&server, 3, short).await);
    let item = laid(&a, "a").await;
    let since = Instant::now();
    elsewhere(&a, &item, Some(3)).await;
    elsewhere(&b, &item, Some(4)).await;
    assert_eq!(elsewhere(&c, &item, None).await, 7);
    while elsewhere(&c, &item, None).await == 7 {
        assert!(since.elapsed() < PATIENCE);
    }
    assert!(since.elapsed() + GRAIN >= short);
    while server.keys().iter().any(|key| key.contains("presence")) {
        assert!(since.elapsed() < PATIENCE);
    }
    assert!(since.elapsed() + GRAIN >= long, "a node that tells for a shorter time does not cut another's short");
    assert_eq!((elsewhere(&c, &item, None).await, c.viewers(&item).await.unwrap()), (0, 0));
}
