//! What only the hot store over Redis promises, and the suite against it. Every test has a server of its own.

mod faults;
mod histories;
mod opening;
mod presence;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use heartline::store::hot::memory::EVENTS_MAX;
use heartline::store::hot::redis::{RedisHot, Settings};
use heartline::store::hot::{Aligned, HotStore, Step};
use tokio::runtime::Handle;

use super::HotFactory;
use super::hot::hot_suite;
use super::support::*;
use crate::support::redis::RedisServer;

/// Does not slow the suite down.
const TICK: Duration = Duration::from_millis(1);

/// With time enough for a machine that does much else; the tests of bounds bring their own.
pub fn settings(server: &RedisServer, by: u128) -> Settings {
    let patient = Duration::from_secs(20);
    let settings = Settings::new(server.url(), writer(by), TICK);
    Settings { connect_timeout: patient, response_timeout: patient, ..settings }
}

/// On this runtime.
pub async fn open(settings: Settings) -> RedisHot {
    RedisHot::open(settings, Handle::current()).await.unwrap()
}

struct RedisFactory {
    hot: Arc<RedisHot>,
    _server: RedisServer,
}

#[async_trait]
impl HotFactory for RedisFactory {
    async fn fresh() -> Self {
        let server = RedisServer::start(&[]);
        Self { hot: Arc::new(open(settings(&server, 1)).await), _server: server }
    }

    fn store(&self) -> Arc<dyn HotStore> {
        self.hot.clone()
    }
}

hot_suite!(RedisFactory);

/// Two installations share a Redis, with an item of the same name each.
#[tokio::test]
async fn stores_with_different_prefixes_do_not_see_each_other() {
    let server = RedisServer::start(&[]);
    let space = |space: &str| Settings { space: space.to_owned(), ..settings(&server, 1) };
    let (x, y) = (open(space("x:")).await, open(space("y:")).await);
    let (at_x, _) = (laid(&x, "a").await, laid(&y, "a").await);
    stood(&x, step(&at_x, add(1, 0, 1, 5))).await;
    assert_eq!(stood(&y, read(&at_x)).await.totals, hearts(0));
    assert_eq!(y.dirty(9).await.unwrap(), []);
    assert!(server.keys().iter().all(|key| key.starts_with("x:") || key.starts_with("y:")));
}

/// An item with everything is folded, let go, and no key may remain to fill the memory.
#[tokio::test]
async fn an_item_that_was_let_go_leaves_no_key_behind() {
    let server = RedisServer::start(&[]);
    let hot = open(settings(&server, 1)).await;
    let before = server.keys();
    let a = laid(&hot, "a").await;
    stood(&hot, step(&a, say(1, 0, 1, &[(1, 10)]))).await;
    assert_eq!(server.keys().len(), before.len() + 4);
    fold(&hot, &a, &Default::default()).await;
    assert!(hot.let_go(&a).await.unwrap());
    assert_eq!(server.keys(), before);
}

/// Two hundred rooms make steps as fast as they are answered, for some ticks.
#[tokio::test]
async fn steps_of_one_tick_share_one_pipeline() {
    let server = RedisServer::start(&[]);
    let tick = Duration::from_millis(100);
    let hot = open(Settings { tick, ..settings(&server, 1) }).await;
    let mut items = Vec::new();
    for n in 0..200 {
        items.push(laid(&hot, &format!("i{n}")).await);
    }
    let began = std::time::Instant::now();
    join_all(items.iter().map(async |item| {
        for op in 1..=3 {
            stood(&hot, step(item, add(1, op - 1, op, 1))).await;
        }
    }))
    .await;
    let most = 1 + began.elapsed().as_millis() / (tick * 3 / 4).as_millis();
    assert!((3..=most).contains(&u128::from(hot.round_trips())), "{} pipelines, of {most}", hot.round_trips());
    let totals = hot.totals(&items).await.unwrap();
    assert!(totals.into_iter().all(|totals| totals == Some(hearts(3))));
}

/// Two processes live, one dies; leases of a second.
#[tokio::test]
async fn a_dead_writer_leaves_the_living_and_a_live_one_stays() {
    let server = RedisServer::start(&[]);
    let lease = |by| Settings { lease: Duration::from_secs(1), ..settings(&server, by) };
    let (lives, dies) = (open(lease(1)).await, open(lease(2)).await);
    let mut both = lives.living().await.unwrap();
    both.sort();
    assert_eq!(both, [writer(1), writer(2)]);
    drop(dies);
    until("the lease of the dead runs out", async || lives.living().await.unwrap() == [writer(1)]).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(lives.living().await.unwrap(), [writer(1)], "renewed for longer than a lease lasts");
}

/// A comments event is put together by the script; texts with everything that could break it.
#[tokio::test]
async fn texts_of_any_form_come_back_as_they_were() {
    let server = RedisServer::start(&[]);
    let hot = open(settings(&server, 1)).await;
    let a = laid(&hot, "a").await;
    let mut said = say(1, 0, 2, &[(1, 10), (2, 11)]);
    said.comments[0].1.text = "\" ]} \\ \n 1 2 3 \u{2028} 👋🏽 \0 %s %d".to_owned();
    let given: Vec<_> = said.comments.iter().map(|(_, comment)| comment.clone()).collect();
    let answer = stood(&hot, step(&a, said)).await;
    assert_eq!(answer.events[0].event, heartline::protocol::RoomEvent::Comments { list: given.clone() });
    assert_eq!(hot.unflushed_comments(&a).await.unwrap(), given);
    let flight = hot.claim(&a, &[]).await.unwrap().unwrap();
    assert_eq!(flight.comments, given);
    assert_eq!(hot.align(&a, &applied(&Default::default(), &flight)).await.unwrap(), Aligned::Settled);
    assert_eq!(hot.unflushed_comments(&a).await.unwrap(), []);
}

/// Many more events than are kept, and readers that know the newest that is gone, the oldest that is kept, and none.
#[tokio::test]
async fn events_are_bounded_and_a_reader_that_is_too_late_gets_all_that_are_kept() {
    let server = RedisServer::start(&[]);
    let hot = open(settings(&server, 1)).await;
    let a = laid(&hot, "a").await;
    let many = Step { events: vec![ending(); EVENTS_MAX + 10], ..read(&a) };
    let all = stood(&hot, many).await;
    assert_eq!((all.seq, all.events.len()), (EVENTS_MAX as u64 + 10, EVENTS_MAX));
    assert_eq!(all.events[0].seq, 11);
    for (known, answered) in [(3, EVENTS_MAX), (10, EVENTS_MAX), (11, EVENTS_MAX - 1), (all.seq, 0)] {
        let after = Step { after: Some((all.epoch, known)), ..read(&a) };
        assert_eq!(stood(&hot, after).await.events.len(), answered, "after {known}");
    }
}

/// One add with more comments than a script could hand to one command, as after a long outage.
#[tokio::test]
async fn an_add_of_very_many_comments_is_taken_whole() {
    let server = RedisServer::start(&[]);
    let hot = open(settings(&server, 1)).await;
    let a = laid(&hot, "a").await;
    let many: Vec<_> = (1..=20_000_u64).map(|n| (n, u128::from(n))).collect();
    stood(&hot, step(&a, say(1, 0, 20_000, &many))).await;
    let flight = hot.claim(&a, &[]).await.unwrap().unwrap();
    assert_eq!(ids(&flight.comments), (1..=20_000).collect::<Vec<_>>());
    assert_eq!(hot.align(&a, &applied(&Default::default(), &flight)).await.unwrap(), Aligned::Settled);
    assert_eq!(hot.unflushed_comments(&a).await.unwrap(), []);
}

/// Waits for a condition with a deadline.
async fn until(what: &str, condition: impl AsyncFn() -> bool) {
    let waiting = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap_or_else(|_| panic!("waited in vain: {what}"));
}
