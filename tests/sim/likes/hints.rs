//! Marks and the filter, as a hot store keeps them and nodes reach them. The filter is a set of people: it is never wrong by chance, so whatever
//! it says wrong is a fault.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use heartline::protocol::{ItemId, UserId};
use heartline::store::hot::{HotError, LikeFilter, LikeMarks};
use tokio::time::Instant;
use uuid::Uuid;

use super::stores::Reach;
use super::world::{Guard, World};

/// As large as any filter of so few people.
const BYTES: u64 = 1_024;

#[derive(Clone, Default)]
pub struct Hints {
    marks: BTreeMap<UserId, Uuid>,
    filter: Option<Filter>,
}

#[derive(Clone)]
struct Filter {
    token: Uuid,
    answers: bool,
    people: BTreeSet<UserId>,
}

impl Hints {
    /// The item is doubted: its filter goes.
    pub fn doubt(&mut self, without: Option<Guard>) {
        if without != Some(Guard::Doubt) {
            self.filter = None;
        }
    }

    fn of(&mut self, token: Uuid) -> Option<&mut Filter> {
        self.filter.as_mut().filter(|filter| filter.token == token)
    }
}

#[async_trait]
impl LikeMarks for Reach {
    async fn mark(&self, user: &UserId) -> Result<Uuid, HotError> {
        let mark = |world: &World| *world.hints.lock().marks.entry(user.clone()).or_insert_with(Uuid::new_v4);
        self.hot("mark", mark).await
    }

    async fn unmark(&self, users: &[UserId]) -> Result<(), HotError> {
        let unmark = |world: &World| {
            if world.without != Some(Guard::Marks) {
                world.hints.lock().marks.retain(|user, _| !users.contains(user));
            }
        };
        self.hot("unmark", unmark).await
    }
}

#[async_trait]
impl LikeFilter for Reach {
    fn filtered_from(&self) -> Option<i64> {
        Some(1)
    }

    async fn note(&self, _: &ItemId, users: &[UserId]) -> Result<u64, HotError> {
        let note = |world: &World| match &mut world.hints.lock().filter {
            Some(filter) if world.without != Some(Guard::Noted) => {
                filter.people.extend(users.iter().cloned());
                BYTES
            }
            Some(_) => BYTES,
            None => 0,
        };
        self.hot("note", note).await
    }

    async fn begin(&self, item: &ItemId, fence: Uuid, _: u64) -> Result<bool, HotError> {
        let begin = |world: &World| {
            let stands = world.fence.lock().stands(item, fence, Instant::now().into_std());
            if stands {
                world.hints.lock().filter = Some(Filter { token: fence, answers: false, people: BTreeSet::new() });
            }
            stands
        };
        self.hot("begin", begin).await
    }

    async fn fill(&self, _: &ItemId, token: Uuid, users: &[UserId]) -> Result<bool, HotError> {
        let fill = |world: &World| {
            world.hints.lock().of(token).map(|filter| filter.people.extend(users.iter().cloned())).is_some()
        };
        self.hot("fill", fill).await
    }

    async fn finish(&self, _: &ItemId, token: Uuid) -> Result<bool, HotError> {
        let finish = |world: &World| {
            world.saw("a filter made");
            world.hints.lock().of(token).map(|filter| filter.answers = true).is_some()
        };
        self.hot("finish", finish).await
    }

    async fn maybe(&self, _: &ItemId, users: &[UserId]) -> Result<Option<Vec<bool>>, HotError> {
        let maybe = |world: &World| {
            let hints = world.hints.lock();
            let filter = hints.filter.as_ref().filter(|filter| filter.answers)?;
            world.saw("a filter asked");
            Some(users.iter().map(|user| filter.people.contains(user)).collect())
        };
        self.hot("maybe", maybe).await
    }
}
