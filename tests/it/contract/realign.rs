//! A document that was put back under an item, over each pair of stores: whom the operator keeps, and that both stores agree afterwards.
//!
//! Method: one writer's real journal; two folds, then the document of the first one is put back; more contributions with a comment, a
//! flight claimed in the middle of them, as a living flusher does.

use std::sync::Arc;
use std::time::{Duration, Instant};

use heartline::config::realign::Keep;
use heartline::flush::realign::{Realigned, realign};
use heartline::protocol::{Counter, Counters, ItemId};
use heartline::store::durable::{Document, DurableStore};
use heartline::store::hot::journal::{Bounds, Contribution, Journal, Next};
use heartline::store::hot::{Aligned, Audit, HotStore};

use super::support::*;

struct World {
    hot: Arc<dyn HotStore>,
    durable: Arc<dyn DurableStore>,
    item: ItemId,
    journal: Journal,
    now: Instant,
}

impl World {
    async fn new(hot: Arc<dyn HotStore>, durable: Arc<dyn DurableStore>) -> Self {
        let bounds = Bounds { numbers_max: 4_096, reoffer: Duration::from_secs(1) };
        let item = laid(&*hot, "a").await;
        Self { hot, durable, item, journal: Journal::new(writer(1), 0, bounds), now: Instant::now() }
    }

    /// Contributes, as a room does, until nothing is left to send.
    async fn give(&mut self, n: i64, said: Option<u128>) {
        let mut increments = hearts(n);
        increments.add(Counter::Comments, i64::from(said.is_some())).unwrap();
        let contribution = Contribution { increments, comments: said.map(comment).into_iter().collect() };
        self.journal.contribute(contribution, self.now).unwrap();
        self.offer().await;
    }

    async fn offer(&mut self) {
        self.now += Duration::from_secs(2);
        let mut offer = self.journal.offer(self.now);
        for _ in 0..9 {
            let Some(add) = offer.take() else { return };
            let standing = self.hot.step(step(&self.item, add)).await.unwrap();
            match self.journal.answer(&standing, self.now) {
                Next::Send(add) => offer = Some(add),
                Next::Align => {
                    let document = self.document().await;
                    self.hot.align(&self.item, &document).await.unwrap();
                    offer = self.journal.offer(self.now);
                }
                Next::Settled => {}
                Next::Wait => panic!("the writer stands before a gap"),
            }
        }
        assert_eq!(offer, None, "it comes to an end");
    }

    async fn document(&self) -> Document {
        self.durable.document(&self.item).await.unwrap()
    }

    async fn flush(&self) -> Aligned {
        let flight = self.hot.claim(&self.item, &[]).await.unwrap().expect("something to fold");
        self.durable.insert_comments(&self.item, &flight.comments).await.unwrap();
        self.durable.apply(&[flight]).await.unwrap();
        self.hot.align(&self.item, &self.document().await).await.unwrap()
    }

    async fn realign(&self, keep: Keep) -> Realigned {
        realign(&*self.hot, &*self.durable, &self.item, keep).await.unwrap()
    }

    /// 5 folded and backed up, 7 folded, the backup restored; 11 and a comment claimed, 13 after the claim.
    async fn restored(&mut self) {
        self.give(5, None).await;
        assert_eq!(self.flush().await, Aligned::Settled);
        let backup = self.document().await;
        self.give(7, None).await;
        assert_eq!(self.flush().await, Aligned::Settled);
        self.offer().await;
        assert!(self.durable.replace_document(&self.item, 2, &backup).await.unwrap());
        self.give(11, Some(30)).await;
        assert_eq!(self.flush().await, Aligned::DurableBehind, "an alarm, and nothing is changed");
        self.give(13, None).await;
    }

    /// Goes on flushing until the journal is empty; everything is then in the document, once.
    async fn settle(&mut self, hearts_in_all: i64, comments: &[u128]) {
        self.offer().await;
        while !self.journal.is_empty() {
            assert_eq!(self.flush().await, Aligned::Settled);
            self.offer().await;
        }
        let document = self.document().await;
        assert_eq!(document.totals, totals(hearts_in_all, comments.len()));
        assert_eq!(self.hot.base(&self.item).await.unwrap(), Some(document), "the stores agree");
        assert_eq!(ids(&self.durable.comments(&self.item, None, 9).await.unwrap()), comments);
        for keep in [Keep::Hot, Keep::Durable] {
            assert_eq!(self.realign(keep).await, Realigned::InLine);
        }
    }
}

fn totals(taps: i64, comments: usize) -> Counters {
    [(HEART, taps), (Counter::Comments, i64::try_from(comments).unwrap())].into_iter().collect()
}

async fn keeping_hot_loses_nothing(mut world: World) {
    assert_eq!(world.realign(Keep::Hot).await, Realigned::InLine, "nothing was put back yet");
    world.restored().await;
    let kept = Document { totals: totals(23, 1), fold: 3, folded: [(writer(1), 3)].into_iter().collect() };
    assert_eq!(world.realign(Keep::Hot).await, Realigned::Done(kept));
    let audit = Audit { fold: 3, base: totals(23, 1), delta: hearts(13), flight: None };
    assert_eq!(
        world.hot.audit(&world.item).await.unwrap(),
        Some(audit),
        "the flight is settled, what came later is not"
    );
    world.give(17, Some(31)).await;
    world.settle(53, &[31, 30]).await;
}

async fn keeping_durable_gives_up_what_was_folded_after_the_backup_and_nothing_else(mut world: World) {
    world.restored().await;
    let before = stood(&*world.hot, read(&world.item)).await.epoch;
    let kept = Document { totals: hearts(5), fold: 4, folded: [(writer(1), 2)].into_iter().collect() };
    assert_eq!(world.realign(Keep::Durable).await, Realigned::Done(kept));
    let after = stood(&*world.hot, read(&world.item)).await;
    assert_ne!(after.epoch, before, "numbers of the old numbering mean nothing any more");
    assert_eq!((after.totals, world.hot.unflushed_comments(&world.item).await.unwrap()), (hearts(5), vec![]));
    world.give(17, Some(31)).await;
    world.settle(5 + 11 + 13 + 17, &[31, 30]).await;
}

/// The item has nothing that is not folded: its document is put back all the same.
async fn an_item_at_rest_is_realigned_too(mut world: World) {
    for (keep, shown) in [(Keep::Hot, 12), (Keep::Durable, 5)] {
        world.item = laid(&*world.hot, if keep == Keep::Hot { "hot" } else { "durable" }).await;
        world.journal = Journal::new(writer(1), 0, Bounds { numbers_max: 9, reoffer: Duration::from_secs(1) });
        world.give(5, None).await;
        world.flush().await;
        let backup = world.document().await;
        world.give(7, None).await;
        world.flush().await;
        world.durable.replace_document(&world.item, 2, &backup).await.unwrap();
        assert!(matches!(world.realign(keep).await, Realigned::Done(_)));
        world.settle(shown, &[]).await;
    }
}

async fn embedded() -> (tempfile::TempDir, World) {
    use heartline::store::durable::sqlite::SqliteStore;
    use heartline::store::hot::memory::{MemoryHot, Settings};

    let folder = tempfile::tempdir().unwrap();
    let sqlite = Arc::new(SqliteStore::open(folder.path()).unwrap());
    let settings = Settings { writer: writer(1), tick: Duration::from_millis(1), seed: 1 };
    let (hot, _) = MemoryHot::recover(sqlite.clone(), &*sqlite, settings).await.unwrap();
    (folder, World::new(Arc::new(hot), sqlite).await)
}

#[cfg(all(test_redis, test_mongodb))]
async fn distributed() -> (crate::support::redis::RedisServer, World) {
    use heartline::store::durable::mongodb::MongoStore;

    let server = crate::support::redis::RedisServer::start(&[]);
    let hot = super::redis::open(super::redis::settings(&server, 1)).await;
    let durable = MongoStore::open(&crate::support::mongodb::settings()).await.unwrap();
    (server, World::new(Arc::new(hot), Arc::new(durable)).await)
}

macro_rules! on_each_pair {
    ($($promise:ident),+ $(,)?) => {
        mod memory_and_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $promise() {
                let (_folder, world) = super::embedded().await;
                super::$promise(world).await;
            })+
        }

        #[cfg(all(test_redis, test_mongodb))]
        mod redis_and_mongodb {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $promise() {
                let (_server, world) = super::distributed().await;
                super::$promise(world).await;
            })+
        }
    };
}

on_each_pair!(
    keeping_hot_loses_nothing,
    keeping_durable_gives_up_what_was_folded_after_the_backup_and_nothing_else,
    an_item_at_rest_is_realigned_too,
);
