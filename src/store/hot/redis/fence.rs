//! Fences over Redis: a hash per item beside its other keys, each step one atomic script.

use std::collections::BTreeSet;
use std::time::Duration;

use ::redis::{Cmd, cmd};
use async_trait::async_trait;
use rand::seq::SliceRandom;
use uuid::Uuid;

use super::RedisHot;
use super::reply;
use super::request::Requests;
use super::scripts::call;
use crate::protocol::{ItemId, WriterId};
use crate::store::durable::BatchId;
use crate::store::hot::contract::{HotError, HotStore};
use crate::store::hot::fence::{LikeFence, Raised};

impl Requests {
    pub(super) fn fence(&self, step: &str, item: &ItemId) -> Cmd {
        let keys = self.space().likes_of(item);
        let mut call = call(&self.scripts().fence, &[&keys.likes, &keys.fenced, &keys.recount, &keys.filter]);
        call.arg(step).arg(item.as_str());
        call
    }
}

impl RedisHot {
    async fn fenced(&self, step: &str, item: &ItemId, token: Uuid, hold: Duration) -> Result<Option<Raised>, HotError> {
        let mut request = self.shared.requests.fence(step, item);
        request.arg(token.to_string()).arg(hold.as_millis().to_string());
        reply::raised(self.ask(request).await?)
    }

    /// What the shards listed, in random order: which ones are left out must not be the same every time.
    async fn some_of(&self, listing: Vec<Cmd>, limit: usize) -> Result<Vec<ItemId>, HotError> {
        let mut items = reply::items(self.shared.link.send(listing).await?)?;
        items.shuffle(&mut rand::rng());
        items.truncate(limit);
        Ok(items)
    }
}

/// A mark on the list of recounts, which nobody had.
fn mark() -> String {
    Uuid::new_v4().to_string()
}

fn entry(batch: BatchId) -> String {
    format!("{}:{}", batch.writer, batch.number)
}

#[async_trait]
impl LikeFence for RedisHot {
    async fn open(&self, item: &ItemId, batch: BatchId) -> Result<bool, HotError> {
        let mut request = self.shared.requests.fence("open", item);
        request.arg(entry(batch));
        reply::is_one(&self.ask(request).await?)
    }

    async fn close(&self, item: &ItemId, batch: BatchId) -> Result<(), HotError> {
        let mut request = self.shared.requests.fence("close", item);
        request.arg(entry(batch)).arg(mark());
        self.ask(request).await.map(drop)
    }

    async fn raise(&self, item: &ItemId, token: Uuid, hold: Duration) -> Result<Option<Raised>, HotError> {
        self.fenced("raise", item, token, hold).await
    }

    async fn hold(&self, item: &ItemId, token: Uuid, hold: Duration) -> Result<Option<Raised>, HotError> {
        self.fenced("hold", item, token, hold).await
    }

    async fn seal(&self, item: &ItemId, token: Uuid) -> Result<bool, HotError> {
        let mut request = self.shared.requests.fence("seal", item);
        request.arg(token.to_string());
        reply::is_one(&self.ask(request).await?)
    }

    async fn quiet(&self, item: &ItemId, writer: WriterId) -> Result<(), HotError> {
        let mut request = self.shared.requests.fence("quiet", item);
        request.arg(writer.to_string());
        self.ask(request).await.map(drop)
    }

    async fn lift(&self, item: &ItemId, token: Uuid, exact: Option<Uuid>) -> Result<bool, HotError> {
        let mut request = self.shared.requests.fence("lift", item);
        request.arg(token.to_string()).arg(exact.map(|asked| asked.to_string()).unwrap_or_default());
        reply::is_one(&self.ask(request).await?)
    }

    async fn ask_recount(&self, item: &ItemId) -> Result<(), HotError> {
        let mut request = self.shared.requests.fence("doubt", item);
        request.arg(mark());
        self.ask(request).await.map(drop)
    }

    async fn ask_look(&self, item: &ItemId) -> Result<(), HotError> {
        let mut request = self.shared.requests.fence("list", item);
        request.arg(mark());
        self.ask(request).await.map(drop)
    }

    async fn recounts(&self, limit: usize) -> Result<Vec<ItemId>, HotError> {
        let requests = &self.shared.requests;
        self.some_of(requests.listed("HRANDFIELD", |shard| requests.space().recount(shard), limit), limit).await
    }

    async fn living(&self) -> Result<Vec<WriterId>, HotError> {
        HotStore::living(self).await
    }

    async fn entries(&self, limit: usize) -> Result<Vec<(ItemId, BTreeSet<WriterId>)>, HotError> {
        let requests = &self.shared.requests;
        let listing = requests.listed("SRANDMEMBER", |shard| requests.space().fenced(shard), limit);
        let items = self.some_of(listing, limit).await?;
        let fields = |item: &ItemId| {
            let mut fields = cmd("HKEYS");
            fields.arg(requests.space().likes_of(item).likes);
            fields
        };
        let replies = self.shared.link.send(items.iter().map(fields).collect()).await?;
        let whose = replies.into_iter().map(|fields| reply::openers(reply::accepted(fields)?));
        let listed = items.into_iter().zip(whose).map(|(item, whose)| Ok((item, whose?)));
        Ok(listed.collect::<Result<Vec<_>, HotError>>()?.into_iter().filter(|(_, whose)| !whose.is_empty()).collect())
    }
}
