//! The embedded durable store: one SQLite database in the data folder, which is also the log of contributions.
//!
//! One thread writes, in groups ([`writer`]); a few connections read, each a consistent snapshot ([`readers`]); the folder belongs
//! to one process ([`open`]). What is answered is on the disk: WAL with `synchronous=FULL`, one fsync per group. SQL lives beside
//! what it is about: [`items`], [`folds`], [`comments`],
//! [`likes`], [`log`]; the tables themselves in [`schema`].

mod comments;
mod folds;
mod items;
mod likes;
mod log;
mod open;
mod readers;
mod schema;
#[cfg(test)]
mod tests;
mod value;
mod writer;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::Connection;

use crate::protocol::{Comment, CommentId, Counters, ItemId, ItemState, ItemView};
use crate::store::durable::contract::{
    Applied, CommentCursor, Document, DurableError, DurableStore, Inserted, ItemChange, ItemPage,
};
use crate::store::durable::counts::WriteCounts;
use crate::store::hot::Flight;
use crate::store::log::{ContributionLog, LogError, LogRow};

use likes::Likes;
pub use open::{DATABASE_FILE, LOCK_FILE, OpenError};
use readers::Readers;
pub use schema::SCHEMA_VERSION;
use writer::Writer;

/// Flights of one job. Each brings the deletion of its log rows, some fifty per item and flush; a bulk in one piece would keep a
/// thousand rooms' ticks waiting for a quarter of a second.
const JOB_FLIGHTS_MAX: usize = 128;

/// See the module.
pub struct SqliteStore {
    writer: Arc<Writer>,
    readers: Readers,
    likes: Likes,
    counts: WriteCounts,
}

impl SqliteStore {
    /// Opens the database in a folder, which is made if need be and belongs to this process until the store is closed. Blocks.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        Self::open_with(folder, likes::WAITING_MAX)
    }

    fn open_with(folder: &Path, likes_waiting_max: usize) -> Result<Self, OpenError> {
        let opened = open::open(folder)?;
        let likes = likes::Shared::read(&opened.writer, likes_waiting_max)?;
        let readers = Readers::new(opened.readers);
        let writer = Arc::new(Writer::start(opened.writer, opened.lock).map_err(OpenError::thread)?);
        let likes = Likes::start(likes, writer.clone()).map_err(OpenError::thread)?;
        Ok(Self { writer, readers, likes, counts: WriteCounts::default() })
    }

    /// What was written so far.
    pub fn counts(&self) -> &WriteCounts {
        &self.counts
    }
}

#[async_trait]
impl DurableStore for SqliteStore {
    async fn change_item(&self, change: ItemChange) -> Result<Option<(ItemView, bool)>, DurableError> {
        self.writer.run(move |desk| items::change(desk.connection, &change)).await
    }

    async fn item(&self, item: &ItemId) -> Result<Option<ItemView>, DurableError> {
        let item = item.clone();
        self.readers.run(move |connection| items::one(connection, &item)).await
    }

    async fn items_named(&self, items: &[ItemId]) -> Result<Vec<ItemView>, DurableError> {
        let named = items.to_vec();
        let all = move |connection: &Connection| {
            named.iter().filter_map(|item| items::one(connection, item).transpose()).collect()
        };
        self.readers.run(all).await
    }

    async fn final_totals(&self, item: &ItemId) -> Result<Option<Counters>, DurableError> {
        let item = item.clone();
        self.readers.run(move |connection| items::final_totals(connection, &item)).await
    }

    async fn items(
        &self,
        state: Option<ItemState>,
        cursor: Option<&ItemId>,
        limit: usize,
    ) -> Result<ItemPage, DurableError> {
        let cursor = cursor.cloned();
        self.readers.run(move |connection| items::page(connection, state, cursor.as_ref(), limit)).await
    }

    async fn document(&self, item: &ItemId) -> Result<Document, DurableError> {
        let item = item.clone();
        self.readers.run(move |connection| folds::document(connection, &item)).await
    }

    async fn documents(&self, items: &[ItemId]) -> Result<Vec<Document>, DurableError> {
        let items = items.to_vec();
        let all = move |connection: &Connection| items.iter().map(|item| folds::document(connection, item)).collect();
        self.readers.run(all).await
    }

    async fn insert_comments(&self, item: &ItemId, comments: &[Comment]) -> Result<Inserted, DurableError> {
        if comments.is_empty() {
            return Ok(Inserted::default());
        }
        let (item, comments) = (item.clone(), comments.to_vec());
        let inserted = self.writer.run(move |desk| comments::insert(desk.connection, &item, &comments)).await?;
        self.counts.add_comments();
        Ok(inserted)
    }

    async fn apply(&self, flights: &[Flight]) -> Result<Vec<Applied>, DurableError> {
        let mut outcomes = Vec::with_capacity(flights.len());
        for job in flights.chunks(JOB_FLIGHTS_MAX) {
            let flights = job.to_vec();
            outcomes.extend(self.writer.run(move |desk| folds::apply(desk, &flights)).await?);
            self.counts.add_fold(job.len());
        }
        outcomes.into_iter().collect()
    }

    async fn replace_document(&self, item: &ItemId, fold: u64, with: &Document) -> Result<bool, DurableError> {
        let (item, with) = (item.clone(), with.clone());
        let replaced = self.writer.run(move |desk| folds::replace(desk, &item, fold, &with)).await?;
        self.counts.add_fold(1);
        Ok(replaced)
    }

    async fn comments(
        &self,
        item: &ItemId,
        before: Option<CommentCursor>,
        limit: usize,
    ) -> Result<Vec<Comment>, DurableError> {
        let item = item.clone();
        self.readers.run(move |connection| comments::page(connection, &item, before, limit)).await
    }

    async fn comment(&self, item: &ItemId, id: CommentId) -> Result<Option<Comment>, DurableError> {
        let item = item.clone();
        self.readers.run(move |connection| comments::one(connection, &item, id)).await
    }

    async fn close(&self) {
        self.close_likes().await;
        self.readers.close().await;
        self.writer.close().await;
    }
}

#[async_trait]
impl ContributionLog for SqliteStore {
    async fn append(&self, rows: Vec<LogRow>) -> Result<(), LogError> {
        self.writer.run(move |desk| log::append(desk, &rows)).await.map_err(|DurableError(why)| LogError(why))?;
        self.counts.add_log();
        Ok(())
    }

    async fn read(&self) -> Result<Vec<LogRow>, LogError> {
        self.readers.run(log::read).await.map_err(|DurableError(why)| LogError(why))
    }
}

impl From<rusqlite::Error> for DurableError {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}
