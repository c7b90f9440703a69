//! The stores as one node reaches them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use heartline::likes::counter::LikeCounter;
use heartline::protocol::{ApiError, Code, ItemId, Millis, UserId, WriterId};
use heartline::store::durable::{BatchId, DurableError, LikeBatch, LikeStore, Liker, Liking};
use heartline::store::hot::{HotError, LikeFence, Raised};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::world::{Guard, World};

pub struct Reach {
    pub world: Arc<World>,
    pub node: usize,
}

impl Reach {
    /// The way there and back; something is done in between.
    async fn there<T>(&self, done: impl FnOnce(&World) -> T) -> T {
        self.world.pass(self.node).await;
        let answer = done(&self.world);
        self.world.pass(self.node).await;
        answer
    }

    pub async fn hot<T: std::fmt::Debug>(&self, what: &str, done: impl FnOnce(&World) -> T) -> Result<T, HotError> {
        let tell = |answer: &T| self.world.tell(|| format!("{} {what}: {answer:?}", self.node));
        let answer = self.there(|world| {
            let answer = done(world);
            tell(&answer);
            answer
        });
        let answer = answer.await;
        if self.world.goes_wrong(3) { Err(HotError::Unavailable("no reply".to_owned())) } else { Ok(answer) }
    }
}

#[async_trait]
impl LikeStore for Reach {
    /// Each command on its own: the others of a batch may be seen before it is whole.
    async fn like(&self, batch: &LikeBatch) -> Result<Vec<bool>, DurableError> {
        let mut changed = Vec::new();
        for command in &batch.commands {
            self.world.pass(self.node).await;
            let mut facts = self.world.facts.lock();
            let known = facts.get(&command.user).copied();
            let mine = known == Some((command.liked, batch.by));
            let moves = known.is_some_and(|(liked, _)| liked) != command.liked;
            if moves {
                facts.insert(command.user.clone(), (command.liked, batch.by));
            }
            self.world.tell(|| format!("{} fact {command:?} of {}: {moves}", self.node, batch.by.number));
            drop(facts);
            if self.world.goes_wrong(2) {
                return Err(DurableError("cut off".to_owned()));
            }
            if mine {
                self.world.saw("a batch repeated");
            }
            changed.push(moves || mine);
        }
        self.world.pass(self.node).await;
        if self.world.goes_wrong(5) { Err(DurableError("no reply".to_owned())) } else { Ok(changed) }
    }

    async fn settled(&self, _: &ItemId, _: BatchId) {}

    async fn unsettled(&self) -> Result<Vec<ItemId>, DurableError> {
        Ok(Vec::new())
    }

    async fn count_likes(&self, _: &ItemId) -> Result<u64, DurableError> {
        let likes = |world: &World| world.facts.lock().values().filter(|(liked, _)| *liked).count() as u64;
        Ok(self.there(likes).await)
    }

    async fn likers(&self, _: &ItemId, _: Option<&Liker>, _: usize) -> Result<Vec<Liker>, DurableError> {
        let likers = |world: &World| {
            let liking = world.liking().into_iter();
            liking.map(|user| Liker { user, at: Millis(0) }).collect()
        };
        Ok(self.there(likers).await)
    }

    async fn likers_among(&self, _: &ItemId, users: &[UserId]) -> Result<Vec<UserId>, DurableError> {
        let liking = self.there(World::liking).await;
        Ok(users.iter().filter(|user| liking.contains(user)).cloned().collect())
    }

    async fn likings(&self, user: &UserId, _: Option<&Liking>, _: usize) -> Result<Vec<Liking>, DurableError> {
        let liking = self.there(World::liking).await;
        let item = liking.contains(user).then(|| self.world.item.clone());
        Ok(item.map(|item| Liking { item, at: Millis(0) }).into_iter().collect())
    }

    async fn liked_among(&self, user: &UserId, items: &[ItemId]) -> Result<Vec<ItemId>, DurableError> {
        let liking = self.there(World::liking).await;
        Ok(if liking.contains(user) { items.to_vec() } else { Vec::new() })
    }
}

#[async_trait]
impl LikeFence for Reach {
    async fn open(&self, item: &ItemId, batch: BatchId) -> Result<bool, HotError> {
        let opens = |world: &World| {
            let opened = world.fence.lock().open(item, batch, Instant::now().into_std());
            if !opened {
                world.saw("kept out by a fence");
            }
            opened
        };
        self.hot("open", opens).await
    }

    async fn close(&self, item: &ItemId, batch: BatchId) -> Result<(), HotError> {
        let closes = |world: &World| {
            let mut fence = world.fence.lock();
            let before = fence.clone();
            let noticed = !fence.close(item, batch, Uuid::new_v4());
            if world.without == Some(Guard::Gone) && noticed {
                *fence = before;
            } else if noticed {
                world.hints.lock().doubt(world.without);
            }
        };
        self.hot("close", closes).await
    }

    async fn raise(&self, item: &ItemId, token: Uuid, hold: Duration) -> Result<Option<Raised>, HotError> {
        let now = || Instant::now().into_std();
        self.hot("raise", |world| world.fence.lock().raise(item, token, now() + hold, now())).await
    }

    async fn hold(&self, item: &ItemId, token: Uuid, hold: Duration) -> Result<Option<Raised>, HotError> {
        let holds = |world: &World| world.fence.lock().hold(item, token, Instant::now().into_std() + hold);
        self.hot("hold", holds).await
    }

    async fn seal(&self, item: &ItemId, token: Uuid) -> Result<bool, HotError> {
        self.hot("seal", |world| world.fence.lock().seal(item, token)).await
    }

    async fn quiet(&self, item: &ItemId, writer: WriterId) -> Result<(), HotError> {
        self.hot("quiet", |world| world.fence.lock().quiet(item, writer)).await
    }

    async fn lift(&self, item: &ItemId, token: Uuid, exact: Option<Uuid>) -> Result<bool, HotError> {
        let lifts = |world: &World| {
            let lifted = world.fence.lock().lift(item, token, exact);
            if !lifted && exact.is_some() {
                world.hints.lock().doubt(world.without);
            }
            lifted
        };
        self.hot("lift", lifts).await
    }

    async fn ask_recount(&self, item: &ItemId) -> Result<(), HotError> {
        let asks = |world: &World| {
            world.fence.lock().ask_recount(item, Uuid::new_v4());
            world.hints.lock().doubt(world.without);
        };
        self.hot("ask_recount", asks).await
    }

    async fn ask_look(&self, item: &ItemId) -> Result<(), HotError> {
        self.hot("ask_look", |world| world.fence.lock().ask_look(item, Uuid::new_v4())).await
    }

    async fn recounts(&self, limit: usize) -> Result<Vec<ItemId>, HotError> {
        self.hot("recounts", |world| world.fence.lock().recounts(limit)).await
    }

    async fn living(&self) -> Result<Vec<WriterId>, HotError> {
        self.hot("living", World::living).await
    }

    async fn entries(&self, limit: usize) -> Result<Vec<(ItemId, BTreeSet<WriterId>)>, HotError> {
        let entries = |world: &World| {
            if world.without == Some(Guard::Entries) { Vec::new() } else { world.fence.lock().entries(limit) }
        };
        self.hot("entries", entries).await
    }
}

/// As a room and its journal do it: what was given is offered until the hot store has it, whoever waits.
#[async_trait]
impl LikeCounter for Reach {
    async fn ready(&self, _: &ItemId) -> Result<(), ApiError> {
        self.world.pass(self.node).await;
        Ok(())
    }

    async fn add(&self, item: &ItemId, n: i64) -> Result<i64, ApiError> {
        self.world.pass(self.node).await;
        let number = {
            let given = &mut self.world.counter.lock().given[self.node];
            given.push(n);
            given.len()
        };
        self.world.tell(|| format!("{} gives {n}", self.node));
        if self.world.goes_wrong(5) {
            self.world.saw("a counter that did not answer");
            return Err(ApiError::outcome_unknown("no answer in time"));
        }
        while self.world.counter.lock().taken[self.node] < number {
            self.world.pass(self.node).await;
            sleep(Duration::from_millis(5)).await;
        }
        self.stored(item).await
    }

    async fn shown(&self, item: &ItemId) -> Result<i64, ApiError> {
        self.stored(item).await
    }

    async fn stored(&self, _: &ItemId) -> Result<i64, ApiError> {
        let likes = self.there(|world| world.counter.lock().likes()).await;
        if self.world.goes_wrong(3) { Err(ApiError::new(Code::Unavailable, "no reply")) } else { Ok(likes) }
    }

    async fn settle(&self, _: &ItemId) -> Result<(), ApiError> {
        loop {
            self.world.pass(self.node).await;
            if self.world.counter.lock().stands(self.node) {
                return Ok(());
            }
            sleep(Duration::from_millis(5)).await;
        }
    }
}
