//! Marks and filters of Redis: what spares readers a question to the facts must never hide a like.

use std::slice;
use std::time::Duration;

use heartline::protocol::{ItemId, UserId};
use heartline::store::hot::readers::filter_bytes;
use heartline::store::hot::redis::RedisHot;
use heartline::store::hot::{LikeFence, LikeFilter, LikeMarks};
use uuid::Uuid;

use super::redis::{open, settings};
use super::support::item;
use crate::support::redis::RedisServer;

const TOKEN: Uuid = Uuid::from_u128(7);
/// Longer than any of these tests.
const LONG: Duration = Duration::from_secs(600);

fn people(range: std::ops::Range<usize>) -> Vec<UserId> {
    range.map(|n| UserId::parse(&format!("u{n}")).unwrap()).collect()
}

/// A filter begun behind a fence, filled with these people and finished.
async fn filter(hot: &RedisHot, item: &ItemId, bytes: u64, of: &[UserId]) {
    hot.raise(item, TOKEN, LONG).await.unwrap().unwrap();
    assert!(hot.begin(item, TOKEN, bytes).await.unwrap());
    assert!(hot.lift(item, TOKEN, None).await.unwrap());
    assert!(hot.fill(item, TOKEN, of).await.unwrap());
    assert!(hot.finish(item, TOKEN).await.unwrap());
}

async fn maybe(hot: &RedisHot, item: &ItemId, of: &[UserId]) -> Option<usize> {
    hot.maybe(item, of).await.unwrap().map(|maybe| maybe.into_iter().filter(|maybe| *maybe).count())
}

/// Scenario: twice as many people like an item as its filter was made for. Method: all of them are a maybe, whether they were found in the facts or
/// noted later; of others as few as the arithmetic says.
#[tokio::test]
async fn a_filter_forgets_nobody_and_is_seldom_wrong() {
    let server = RedisServer::start(&[]);
    let hot = open(settings(&server, 1)).await;
    let (a, all) = (item("a"), people(0..4_000));
    let bytes = filter_bytes(2_000);
    filter(&hot, &a, bytes, &all[..2_000]).await;
    assert_eq!(hot.note(&a, &all[2_000..]).await.unwrap(), bytes);
    assert_eq!(hot.filter_bytes(), bytes);
    assert_eq!(maybe(&hot, &a, &all).await, Some(4_000));
    let wrong = maybe(&hot, &a, &people(10_000..20_000)).await.unwrap();
    // 4,000 people in 32,768 bits, two each: 4.7 of a hundred.
    assert!((300..700).contains(&wrong), "{wrong} of 10,000");
    assert_eq!(maybe(&hot, &item("b"), &all).await, None);
}

/// Scenario: a filter is being built. Method: it answers nothing before it is finished, by its own token; whoever is noted meanwhile is in it; it
/// is begun only behind its fence.
#[tokio::test]
async fn a_filter_that_is_half_built_answers_nothing() {
    let server = RedisServer::start(&[]);
    let hot = open(settings(&server, 1)).await;
    let (a, all) = (item("a"), people(0..20));
    assert!(!hot.begin(&a, TOKEN, 1_024).await.unwrap(), "without a fence");
    assert_eq!(hot.note(&a, &all).await.unwrap(), 0);
    hot.raise(&a, TOKEN, LONG).await.unwrap().unwrap();
    assert!(!hot.begin(&a, Uuid::from_u128(8), 1_024).await.unwrap(), "behind another's");
    assert!(hot.begin(&a, TOKEN, 1_024).await.unwrap());
    assert_eq!(hot.note(&a, &all[..10]).await.unwrap(), 1_024);
    assert_eq!(maybe(&hot, &a, &all).await, None);
    assert!(!hot.fill(&a, Uuid::from_u128(8), &all).await.unwrap());
    assert!(!hot.finish(&a, Uuid::from_u128(8)).await.unwrap());
    assert!(hot.finish(&a, TOKEN).await.unwrap());
    assert_eq!(maybe(&hot, &a, &all).await, Some(10));
}

/// Scenario: an item is doubted: by a request, by an entry that was found gone, by a recount whose fence ran out. Method: its filter is gone each
/// time; a look that is only asked for leaves it.
#[tokio::test]
async fn an_item_that_is_doubted_has_no_filter() {
    let server = RedisServer::start(&[]);
    let hot = open(settings(&server, 1)).await;
    let (a, ann) = (item("a"), people(0..1));
    filter(&hot, &a, 1_024, &ann).await;
    hot.ask_look(&a).await.unwrap();
    assert_eq!(maybe(&hot, &a, &ann).await, Some(1));
    hot.ask_recount(&a).await.unwrap();
    assert_eq!(maybe(&hot, &a, &ann).await, None);
    filter(&hot, &a, 1_024, &ann).await;
    let batch = heartline::store::durable::BatchId { writer: super::support::writer(1), number: 1 };
    hot.close(&a, batch).await.unwrap();
    assert_eq!(maybe(&hot, &a, &ann).await, None);
    filter(&hot, &a, 1_024, &ann).await;
    assert!(!hot.lift(&a, Uuid::from_u128(8), Some(TOKEN)).await.unwrap());
    assert_eq!(maybe(&hot, &a, &ann).await, None);
}

/// Scenario: two nodes read a person's mark, then that person likes something. Method: the mark is one until it is taken away, then another; other
/// people's stay.
#[tokio::test]
async fn a_mark_stands_until_its_person_likes_something() {
    let server = RedisServer::start(&[]);
    let (hot, other) = (open(settings(&server, 1)).await, open(settings(&server, 2)).await);
    let two = people(0..2);
    let first = hot.mark(&two[0]).await.unwrap();
    let kept = hot.mark(&two[1]).await.unwrap();
    assert_eq!(other.mark(&two[0]).await.unwrap(), first);
    other.unmark(slice::from_ref(&two[0])).await.unwrap();
    assert_ne!(hot.mark(&two[0]).await.unwrap(), first);
    assert_eq!(hot.mark(&two[1]).await.unwrap(), kept);
    hot.unmark(&[]).await.unwrap();
    hot.unmark(&people(0..3_000)).await.unwrap();
    assert_ne!(hot.mark(&two[1]).await.unwrap(), kept);
}
