//! The durable store of more than one process: collections of a MongoDB, be it one server, a replica set or a sharded cluster.
//!
//! Everything answered is acknowledged by a majority with its journal, everything read is read from the primary and majority
//! committed ([`open`]); where a server stands alone, documents are proved to be on its disk instead ([`folds`]). Work runs on the runtime that opened the store, whoever asks, in bounded number and bounded time
//! ([`gate`]). Statements live beside what they are about: [`items`], [`folds`], [`comments`].
//!
//! The log of contributions is not here: it belongs to the embedded hot store.

mod comments;
mod folds;
mod gate;
mod items;
mod open;
mod value;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use mongodb::Client;

use crate::protocol::{Comment, CommentId, Counters, ItemId, ItemState, ItemView};
use crate::store::durable::contract::{
    Applied, CommentCursor, Document, DurableError, DurableStore, Inserted, ItemChange, ItemPage,
};
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

/// Statements that the server took, per kind of `heartline_durable_writes_total`.
#[derive(Debug, Default)]
pub struct WriteCounts {
    fold: AtomicU64,
    comments: AtomicU64,
}

impl WriteCounts {
    /// Flights: one statement each.
    pub fn fold(&self) -> u64 {
        self.fold.load(Ordering::Relaxed)
    }

    /// Inserts of one item's comments.
    pub fn comments(&self) -> u64 {
        self.comments.load(Ordering::Relaxed)
    }
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

    async fn insert_comments(&self, item: &ItemId, comments: &[Comment]) -> Result<Inserted, DurableError> {
        if comments.is_empty() {
            return Ok(Inserted::default());
        }
        let (tables, item, comments) = (self.tables.clone(), item.clone(), comments.to_vec());
        let counts = self.counts.clone();
        let inserting = async move {
            let inserted = comments::insert(&tables, &item, &comments).await?;
            counts.comments.fetch_add(1, Ordering::Relaxed);
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
                counts.fold.fetch_add(bulk.len() as u64, Ordering::Relaxed);
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
            counts.fold.fetch_add(1, Ordering::Relaxed);
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
