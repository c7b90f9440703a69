//! The durable store of more than one process: collections of a MongoDB, be it one server, a replica set or a sharded cluster.
//!
//! Everything answered is acknowledged by a majority with its journal, everything read is read from the primary and majority
//! committed ([`open`]); where a server stands alone, documents are proved to be on its disk instead ([`folds`]). Work runs on the
//! runtime that opened the store, whoever asks, in bounded number and bounded time ([`gate`]). Statements live beside what they are
//! about: [`items`], [`folds`], [`comments`], [`likes`].
//!
//! The log of contributions is not here: it belongs to the embedded hot store.

mod comments;
mod folds;
mod gate;
mod items;
mod likes;
mod open;
mod reply;
mod value;

use std::sync::Arc;

use async_trait::async_trait;
use mongodb::Client;

use crate::protocol::{Comment, CommentId, Counters, ItemId, ItemState, ItemView, UserId};
use crate::store::durable::contract::{
    Applied, CommentCursor, Document, DurableError, DurableStore, Inserted, ItemChange, ItemPage,
};
use crate::store::durable::counts::WriteCounts;
use crate::store::durable::likes::{BatchId, LikeBatch, LikeStore, Liker, Liking};
use crate::store::hot::Flight;

use gate::Gate;
use open::Tables;
pub use open::{Deployment, OpenError, Settings};

/// See the module.
pub struct MongoStore {
    gate: Gate,
    client: Client,
    tables: Tables,
    deployment: Deployment,
    counts: Arc<WriteCounts>,
}

impl MongoStore {
    /// Connects, within a bounded time, and makes the indexes that are missing. The runtime that this is called on carries all of
    /// the store's work until it is closed.
    pub async fn open(settings: &Settings) -> Result<Self, OpenError> {
        let opened = open::open(settings).await?;
        Ok(Self {
            gate: Gate::on_this_runtime(open::POOL_MAX),
            client: opened.client,
            tables: opened.tables,
            deployment: opened.deployment,
            counts: Arc::default(),
        })
    }

    /// What was written so far.
    pub fn counts(&self) -> &WriteCounts {
        &self.counts
    }

    /// Calls that came to no outcome: `heartline_store_failures_total`.
    pub fn failures(&self) -> u64 {
        self.gate.failures()
    }

    /// What kind of MongoDB answers.
    pub fn deployment(&self) -> &Deployment {
        &self.deployment
    }
}

#[async_trait]
impl DurableStore for MongoStore {
    async fn change_item(&self, change: ItemChange) -> Result<Option<(ItemView, bool)>, DurableError> {
        let tables = self.tables.clone();
        self.gate.run(async move { items::change(&tables, &change).await }).await
    }

    async fn item(&self, item: &ItemId) -> Result<Option<ItemView>, DurableError> {
        let (tables, item) = (self.tables.clone(), item.clone());
        self.gate.run(async move { items::one(&tables, &item).await }).await
    }

    async fn items_named(&self, items: &[ItemId]) -> Result<Vec<ItemView>, DurableError> {
        let (tables, items) = (self.tables.clone(), items.to_vec());
        self.gate.run(async move { items::named(&tables, &items).await }).await
    }

    async fn final_totals(&self, item: &ItemId) -> Result<Option<Counters>, DurableError> {
        let (tables, item) = (self.tables.clone(), item.clone());
        self.gate.run(async move { items::final_totals(&tables, &item).await }).await
    }

    async fn items(
        &self,
        state: Option<ItemState>,
        cursor: Option<&ItemId>,
        limit: usize,
    ) -> Result<ItemPage, DurableError> {
        let (tables, cursor) = (self.tables.clone(), cursor.cloned());
        self.gate.run(async move { items::page(&tables, state, cursor.as_ref(), limit).await }).await
    }

    async fn document(&self, item: &ItemId) -> Result<Document, DurableError> {
        let (tables, item, alone) = (self.tables.clone(), item.clone(), self.deployment == Deployment::Standalone);
        self.gate.run(async move { folds::document(&tables, &item, alone).await }).await
    }

    async fn documents(&self, items: &[ItemId]) -> Result<Vec<Document>, DurableError> {
        let (tables, items) = (self.tables.clone(), items.to_vec());
        self.gate.run(async move { folds::documents(&tables, &items).await }).await
    }

    async fn insert_comments(&self, item: &ItemId, comments: &[Comment]) -> Result<Inserted, DurableError> {
        if comments.is_empty() {
            return Ok(Inserted::default());
        }
        let (tables, item, comments) = (self.tables.clone(), item.clone(), comments.to_vec());
        let counts = self.counts.clone();
        let inserting = async move {
            let inserted = comments::insert(&tables, &item, &comments).await?;
            counts.add_comments();
            Ok(inserted)
        };
        self.gate.run(inserting).await
    }

    async fn apply(&self, flights: &[Flight]) -> Result<Vec<Applied>, DurableError> {
        let mut outcomes = Vec::with_capacity(flights.len());
        for bulk in flights.chunks(folds::BULK_FLIGHTS_MAX) {
            let (tables, bulk, counts) = (self.tables.clone(), bulk.to_vec(), self.counts.clone());
            let applying = async move {
                let told = folds::apply(&tables, &bulk).await?;
                counts.add_fold(bulk.len());
                Ok(told)
            };
            outcomes.extend(self.gate.run(applying).await?);
        }
        outcomes.into_iter().collect()
    }

    async fn replace_document(&self, item: &ItemId, fold: u64, with: &Document) -> Result<bool, DurableError> {
        let (tables, item, with) = (self.tables.clone(), item.clone(), with.clone());
        let counts = self.counts.clone();
        let replacing = async move {
            let replaced = folds::replace(&tables, &item, fold, &with).await?;
            counts.add_fold(1);
            Ok(replaced)
        };
        self.gate.run(replacing).await
    }

    async fn comments(
        &self,
        item: &ItemId,
        before: Option<CommentCursor>,
        limit: usize,
    ) -> Result<Vec<Comment>, DurableError> {
        let (tables, item) = (self.tables.clone(), item.clone());
        self.gate.run(async move { comments::page(&tables, &item, before, limit).await }).await
    }

    async fn comment(&self, item: &ItemId, id: CommentId) -> Result<Option<Comment>, DurableError> {
        let (tables, item) = (self.tables.clone(), item.clone());
        self.gate.run(async move { comments::one(&tables, &item, id).await }).await
    }

    async fn close(&self) {
        self.gate.close().await;
        self.client.clone().shutdown().immediate(true).await;
    }
}

#[async_trait]
impl LikeStore for MongoStore {
    async fn like(&self, batch: &LikeBatch) -> Result<Vec<bool>, DurableError> {
        let mut changed = Vec::with_capacity(batch.commands.len());
        for commands in batch.commands.chunks(likes::BULK_COMMANDS_MAX) {
            let bulk = LikeBatch { commands: commands.to_vec(), item: batch.item.clone(), ..*batch };
            let (tables, counts) = (self.tables.clone(), self.counts.clone());
            let liking = async move {
                let told = likes::like(&tables, &bulk).await?;
                counts.add_likes();
                Ok(told)
            };
            changed.extend(self.gate.run(liking).await?);
        }
        Ok(changed)
    }

    /// The hot store knows who may lack what.
    async fn settled(&self, _item: &ItemId, _batch: BatchId) {}

    async fn unsettled(&self) -> Result<Vec<ItemId>, DurableError> {
        Ok(Vec::new())
    }

    async fn count_likes(&self, item: &ItemId) -> Result<u64, DurableError> {
        let (tables, item) = (self.tables.clone(), item.clone());
        self.gate.run(async move { likes::count(&tables, &item).await }).await
    }

    async fn likers(&self, item: &ItemId, before: Option<&Liker>, limit: usize) -> Result<Vec<Liker>, DurableError> {
        let (tables, item, before) = (self.tables.clone(), item.clone(), before.cloned());
        self.gate.run(async move { likes::likers(&tables, &item, before.as_ref(), limit).await }).await
    }

    async fn likers_among(&self, item: &ItemId, users: &[UserId]) -> Result<Vec<UserId>, DurableError> {
        let (tables, item, users) = (self.tables.clone(), item.clone(), users.to_vec());
        self.gate.run(async move { likes::likers_among(&tables, &item, &users).await }).await
    }

    async fn likings(&self, user: &UserId, before: Option<&Liking>, limit: usize) -> Result<Vec<Liking>, DurableError> {
        let (tables, user, before) = (self.tables.clone(), user.clone(), before.cloned());
        self.gate.run(async move { likes::likings(&tables, &user, before.as_ref(), limit).await }).await
    }

    async fn liked_among(&self, user: &UserId, items: &[ItemId]) -> Result<Vec<ItemId>, DurableError> {
        let (tables, user, items) = (self.tables.clone(), user.clone(), items.to_vec());
        self.gate.run(async move { likes::liked_among(&tables, &user, &items).await }).await
    }
}
