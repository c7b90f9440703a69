//! Marks and filters over Redis: a mark is a key of its own, a filter one string beside its item's other keys.

use std::collections::HashMap;
use std::time::Duration;

use ::redis::{Cmd, Value, cmd};
use async_trait::async_trait;
use uuid::Uuid;

use super::RedisHot;
use super::reply;
use super::request::Requests;
use super::scripts::call;
use crate::protocol::{ItemId, UserId};
use crate::store::hot::contract::HotError;
use crate::store::hot::readers::{LikeFilter, LikeMarks, halves};

/// How long a mark stands that nobody's like takes away: longer than anybody keeps likes for.
const MARK_TERM: Duration = Duration::from_secs(600);
/// How long a filter lives. It could only ever be wrong after Redis fell back while no process lived that would notice; that then ends here.
const FILTER_TERM: Duration = Duration::from_secs(24 * 60 * 60);
/// How long one that is being built waits for its next people: whoever builds it may have died.
const BUILDING_TERM: Duration = Duration::from_secs(60);
/// People of one command: bounds how long Redis serves nobody else, to a millisecond or so.
const PEOPLE_MAX: usize = 1_000;
/// Items whose filters are added up.
const FILTERS_MAX: usize = 10_000;

#[async_trait]
impl LikeMarks for RedisHot {
    async fn mark(&self, user: &UserId) -> Result<Uuid, HotError> {
        let mark = Uuid::new_v4();
        let mut request = cmd("SET");
        request.arg(self.shared.requests.space().mark_of(user)).arg(mark.to_string()).arg("NX").arg("GET");
        request.arg("PX").arg(ms(MARK_TERM));
        let stood = reply::mark(self.ask(request).await?)?;
        Ok(stood.unwrap_or(mark))
    }

    async fn unmark(&self, users: &[UserId]) -> Result<(), HotError> {
        let space = self.shared.requests.space();
        let unlink = |users: &[UserId]| {
            let mut unlink = cmd("UNLINK");
            unlink.arg(users.iter().map(|user| space.mark_of(user)).collect::<Vec<_>>());
            unlink
        };
        let replies = self.shared.link.send(users.chunks(PEOPLE_MAX).map(unlink).collect()).await?;
        replies.into_iter().try_for_each(|reply| reply::accepted(reply).map(drop))
    }
}

/// Sizes of the filters that this process came by, for its figures.
#[derive(Debug, Default)]
pub(super) struct Filters {
    bytes: HashMap<ItemId, u64>,
}

impl Filters {
    fn saw(&mut self, item: &ItemId, bytes: u64) {
        if bytes == 0 {
            self.bytes.remove(item);
        } else if self.bytes.len() < FILTERS_MAX || self.bytes.contains_key(item) {
            self.bytes.insert(item.clone(), bytes);
        }
    }

    /// All of them together.
    pub fn bytes(&self) -> u64 {
        self.bytes.values().sum()
    }
}

impl Requests {
    fn filter(&self, step: &str, item: &ItemId) -> Cmd {
        let mut call = call(&self.scripts().filter, &[&self.space().likes_of(item).filter]);
        call.arg(step);
        call
    }
}

impl RedisHot {
    /// A step for each thousand people, in one pipeline; at least one.
    async fn each(&self, first: Cmd, users: &[UserId]) -> Result<Vec<Value>, HotError> {
        let with = |users: &[UserId]| {
            let mut call = first.clone();
            for (one, other) in users.iter().map(halves) {
                call.arg(one).arg(other);
            }
            call
        };
        let calls = if users.is_empty() { vec![first.clone()] } else { users.chunks(PEOPLE_MAX).map(with).collect() };
        self.shared.link.send(calls).await?.into_iter().map(reply::accepted).collect()
    }
}

#[async_trait]
impl LikeFilter for RedisHot {
    fn filtered_from(&self) -> Option<i64> {
        Some(self.filtered_from)
    }

    async fn note(&self, item: &ItemId, users: &[UserId]) -> Result<u64, HotError> {
        let replies = self.each(self.shared.requests.filter("note", item), users).await?;
        let sizes = replies.into_iter().map(reply::number).collect::<Result<Vec<_>, _>>()?;
        let bytes = sizes.into_iter().min().unwrap_or_default();
        self.filters.lock().saw(item, bytes);
        Ok(bytes)
    }

    async fn begin(&self, item: &ItemId, fence: Uuid, bytes: u64) -> Result<bool, HotError> {
        let mut request = self.shared.requests.fence("filter", item);
        request.arg(fence.to_string()).arg(bytes).arg(ms(BUILDING_TERM));
        reply::is_one(&self.ask(request).await?)
    }

    async fn fill(&self, item: &ItemId, token: Uuid, users: &[UserId]) -> Result<bool, HotError> {
        let mut request = self.shared.requests.filter("fill", item);
        request.arg(token.to_string()).arg(ms(BUILDING_TERM));
        let replies = self.each(request, users).await?;
        let filled = replies.iter().map(reply::is_one).collect::<Result<Vec<_>, _>>()?;
        Ok(filled.into_iter().all(|filled| filled))
    }

    async fn finish(&self, item: &ItemId, token: Uuid) -> Result<bool, HotError> {
        let mut request = self.shared.requests.filter("finish", item);
        request.arg(token.to_string()).arg(ms(FILTER_TERM));
        reply::is_one(&self.ask(request).await?)
    }

    async fn maybe(&self, item: &ItemId, users: &[UserId]) -> Result<Option<Vec<bool>>, HotError> {
        let mut all = Vec::with_capacity(users.len());
        let replies = self.each(self.shared.requests.filter("maybe", item), users).await?;
        for (reply, asked) in replies.into_iter().zip(users.chunks(PEOPLE_MAX)) {
            match reply::maybes(reply, asked.len())? {
                Some(maybes) => all.extend(maybes),
                None => return Ok(None),
            }
        }
        Ok(Some(all))
    }
}

fn ms(term: Duration) -> String {
    term.as_millis().to_string()
}
