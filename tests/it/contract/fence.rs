//! The fence around an item that is recounted: one suite, both hot stores.

use std::collections::BTreeSet;
use std::slice;
use std::sync::Arc;
use std::time::{Duration, Instant};

use heartline::store::durable::BatchId;
use heartline::store::hot::memory::MemoryFence;
use heartline::store::hot::{LikeFence, Raised};
use uuid::Uuid;

use super::support::{item, writer};
use crate::support::PATIENCE;

/// Longer than any of these tests.
const HOLD: Duration = Duration::from_secs(600);
const TOKEN: Uuid = Uuid::from_u128(7);

fn batch(by: u128, number: u64) -> BatchId {
    BatchId { writer: writer(by), number }
}

async fn writers_with_entries(fence: &dyn LikeFence) -> BTreeSet<u128> {
    let entries = fence.entries(10).await.unwrap();
    entries.into_iter().flat_map(|(_, whose)| whose).map(|writer| writer.0.as_u128()).collect()
}

/// Scenario: batches open and close, one of a writer that dies. Method: its entry is all that stays.
pub async fn an_entry_stands_from_open_to_close(fence: Arc<dyn LikeFence>) {
    for number in 1..=3 {
        assert!(fence.open(&item("a"), batch(1, number)).await.unwrap());
    }
    assert!(fence.open(&item("b"), batch(2, 1)).await.unwrap());
    assert_eq!(writers_with_entries(&*fence).await, BTreeSet::from([1, 2]));
    for number in [2, 1, 3] {
        fence.close(&item("a"), batch(1, number)).await.unwrap();
    }
    assert_eq!(fence.entries(10).await.unwrap(), [(item("b"), BTreeSet::from([writer(2)]))]);
    assert_eq!(fence.recounts(10).await.unwrap(), []);
}

/// Scenario: likes race with a recount. Method: none opens from raise to lift, who had opened before closes as ever, another recount
/// is kept out, and those who are quiet are known to the one inside.
pub async fn nothing_opens_behind_a_fence(fence: Arc<dyn LikeFence>) {
    let a = item("a");
    assert!(fence.open(&a, batch(1, 1)).await.unwrap());
    assert!(fence.raise(&a, TOKEN, HOLD).await.unwrap().unwrap().quiet.is_empty());
    assert!(!fence.open(&a, batch(1, 2)).await.unwrap());
    assert!(fence.open(&item("b"), batch(1, 3)).await.unwrap(), "another item");
    assert_eq!(fence.raise(&a, Uuid::from_u128(8), HOLD).await.unwrap(), None);
    fence.close(&a, batch(1, 1)).await.unwrap();
    fence.quiet(&a, writer(1)).await.unwrap();
    let raised = fence.hold(&a, TOKEN, HOLD).await.unwrap().unwrap();
    assert_eq!(raised.quiet, BTreeSet::from([writer(1)]));
    assert!(fence.lift(&a, TOKEN, Some(raised.asked)).await.unwrap());
    assert_eq!(fence.hold(&a, TOKEN, HOLD).await.unwrap(), None);
    assert!(fence.open(&a, batch(1, 2)).await.unwrap());
    assert_eq!(fence.recounts(10).await.unwrap(), []);
    let again = fence.raise(&a, Uuid::from_u128(9), HOLD).await.unwrap().unwrap();
    assert!(again.quiet.is_empty(), "what was quiet for one recount says nothing to the next");
}

/// Scenario: a recount takes a stalled writer for dead and its entry away, counts its facts and goes; the writer wakes in the middle of
/// that, or later, and closes. Method: the item is on the list again either way.
pub async fn who_finds_the_entry_gone_has_the_item_recounted(fence: Arc<dyn LikeFence>) {
    let a = item("a");
    for wakes_in_the_middle in [true, false] {
        assert!(fence.open(&a, batch(1, 1)).await.unwrap());
        let Raised { asked, .. } = fence.raise(&a, TOKEN, HOLD).await.unwrap().unwrap();
        assert!(!fence.seal(&a, Uuid::from_u128(8)).await.unwrap(), "by another's token");
        assert!(fence.seal(&a, TOKEN).await.unwrap());
        assert_eq!(fence.entries(10).await.unwrap(), []);
        if wakes_in_the_middle {
            fence.close(&a, batch(1, 1)).await.unwrap();
        }
        assert!(fence.lift(&a, TOKEN, Some(asked)).await.unwrap());
        if !wakes_in_the_middle {
            assert!(fence.open(&a, batch(1, 2)).await.unwrap());
            fence.close(&a, batch(1, 1)).await.unwrap();
            assert_eq!(writers_with_entries(&*fence).await, BTreeSet::from([1]), "the younger one stands");
        }
        assert_eq!(fence.recounts(10).await.unwrap(), slice::from_ref(&a));
        let Raised { asked, .. } = fence.raise(&a, TOKEN, HOLD).await.unwrap().unwrap();
        assert!(fence.lift(&a, TOKEN, Some(asked)).await.unwrap());
        assert_eq!(fence.recounts(10).await.unwrap(), []);
    }
}

/// Scenario: a recount stalls until its fence has run out and a like came through. Method: it cannot end as if nothing had been.
pub async fn a_fence_that_ran_out_does_not_end_a_recount(fence: Arc<dyn LikeFence>) {
    let a = item("a");
    let Raised { asked, .. } = fence.raise(&a, TOKEN, Duration::from_millis(30)).await.unwrap().unwrap();
    let since = Instant::now();
    while !fence.open(&a, batch(1, 1)).await.unwrap() {
        assert!(since.elapsed() < PATIENCE, "the fence does not run out");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!fence.lift(&a, TOKEN, Some(asked)).await.unwrap());
    assert_eq!(fence.recounts(10).await.unwrap(), slice::from_ref(&a));
    assert_eq!(writers_with_entries(&*fence).await, BTreeSet::from([1]));
}

/// Scenario: a recount gives up. Method: likes go on, entries and the place on the list stay for the next one.
pub async fn a_recount_that_gives_up_leaves_everything_to_the_next(fence: Arc<dyn LikeFence>) {
    let a = item("a");
    assert!(fence.open(&a, batch(1, 1)).await.unwrap());
    fence.ask_recount(&a).await.unwrap();
    fence.raise(&a, TOKEN, HOLD).await.unwrap().unwrap();
    assert!(fence.lift(&a, TOKEN, None).await.unwrap());
    assert!(fence.open(&a, batch(1, 2)).await.unwrap());
    assert_eq!(fence.recounts(10).await.unwrap(), [a]);
    assert_eq!(writers_with_entries(&*fence).await, BTreeSet::from([1]));
}

/// Scenario: somebody asks for a recount while one is under way, for what they know it may not have seen. Method: the one that ends does not
/// end theirs.
pub async fn a_request_that_comes_during_a_recount_outlives_it(fence: Arc<dyn LikeFence>) {
    let a = item("a");
    let Raised { asked, .. } = fence.raise(&a, TOKEN, HOLD).await.unwrap().unwrap();
    fence.ask_recount(&a).await.unwrap();
    assert!(fence.lift(&a, TOKEN, Some(asked)).await.unwrap());
    assert_eq!(fence.recounts(10).await.unwrap(), [a]);
}

macro_rules! fence_suite {
    ($with:expr => $($promise:ident),+ $(,)?) => {
        $(
            #[tokio::test]
            async fn $promise() {
                $with(super::$promise).await;
            }
        )+
    };
}

macro_rules! all_promises {
    ($with:expr) => {
        fence_suite!($with =>
            an_entry_stands_from_open_to_close,
            nothing_opens_behind_a_fence,
            who_finds_the_entry_gone_has_the_item_recounted,
            a_fence_that_ran_out_does_not_end_a_recount,
            a_recount_that_gives_up_leaves_everything_to_the_next,
            a_request_that_comes_during_a_recount_outlives_it,
        );
    };
}

mod memory {
    use super::*;

    async fn with<F: Future<Output = ()>>(promise: impl FnOnce(Arc<dyn LikeFence>) -> F) {
        promise(Arc::new(MemoryFence::new(writer(1)))).await;
    }

    all_promises!(with);
}

#[cfg(test_redis)]
mod redis {
    use super::*;
    use crate::support::redis::RedisServer;

    async fn with<F: Future<Output = ()>>(promise: impl FnOnce(Arc<dyn LikeFence>) -> F) {
        let server = RedisServer::start(&[]);
        let hot = super::super::redis::open(super::super::redis::settings(&server, 1)).await;
        promise(Arc::new(hot)).await;
    }

    all_promises!(with);
}
