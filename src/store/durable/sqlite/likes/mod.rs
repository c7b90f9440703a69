//! Likes in the embedded store: accepted as a row of a log, decided by what is in memory and in the table, folded in the background.
//!
//! A table with its two indexes, written as likes come, takes a third of what one item must. So a batch is accepted
//! ([`accept`]): *decided* (the [`overlay`] of accepted facts has the last word, then the [`table`]), its changes *appended* to the
//! [`log`] as one row, in one commit with whatever else waits. The [`folder`] brings them to the table in its order later. Reads put both together ([`reads`]).
//!
//! Batches of one item have one order: each holds the item's turn from its decision until its commit has reached the overlay, which
//! happens on the writer thread, whether its caller still waits or not. [`answers`] makes a repeated batch harmless,
//! [`open_batches`] remembers across a crash whose net the counters may lack.

mod accept;
mod answers;
mod folder;
mod log;
mod merge;
mod open_batches;
mod overlay;
mod reads;
mod table;
#[cfg(test)]
mod tests;

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::{Mutex, RwLock};
use rusqlite::Connection;
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

use super::SqliteStore;
use super::writer::Writer;
use crate::protocol::{ItemId, UserId};
use crate::store::durable::contract::DurableError;
use crate::store::durable::likes::{BatchId, LikeBatch, LikeStore, Liker, Liking};
use accept::Accepted;
use answers::Answers;
use folder::{Folder, Signal};
use open_batches::{OpenBatches, RowNo};
use overlay::{Overlay, Unsorted};

/// Facts that may wait for a fold, each as often as it came; above it callers wait. With those that are being folded it is twice as many, some 50 MB, and what a
/// start may have to read back.
pub(super) const WAITING_MAX: usize = 1 << 18;
/// How long a caller waits for a place before it is told that there is none: folds take a second or two.
const ROOM_TIMEOUT: Duration = Duration::from_secs(15);
/// Turns, shared out to items by hash: four times the jobs of one commit, so that items that share one seldom meet.
const TURNS: usize = 1_024;

/// What the store knows of likes beside the database.
pub(super) struct Likes {
    shared: Arc<Shared>,
    folder: Arc<Folder>,
}

impl Likes {
    /// As an earlier run left it, with the thread that folds.
    pub fn start(shared: Shared, writer: Arc<Writer>) -> std::io::Result<Self> {
        let shared = Arc::new(shared);
        let folder = Folder::start(shared.clone(), writer)?;
        Ok(Self { shared, folder: Arc::new(folder) })
    }
}

/// What callers, the writer thread and the folder share.
pub(super) struct Shared {
    /// Held by each batch under way; false when the store is closed.
    accepting: tokio::sync::RwLock<bool>,
    turns: Vec<Arc<tokio::sync::Mutex<()>>>,
    hasher: RandomState,
    overlay: RwLock<Overlay>,
    /// Held by a reader for as long as no fact may leave the overlay.
    pins: RwLock<()>,
    answers: Mutex<Answers>,
    open: Mutex<OpenBatches>,
    next_row: AtomicI64,
    signal: Arc<Signal>,
    /// A permit for each fact that the overlay may still take until it is sealed.
    room: Arc<Semaphore>,
    waiting_max: usize,
}

impl Shared {
    /// As an earlier run left it.
    pub fn read(connection: &Connection, waiting_max: usize) -> rusqlite::Result<Self> {
        let sql =
            "SELECT max(no) FROM (SELECT max(no) AS no FROM like_log UNION ALL SELECT max(no) FROM unsettled_likes)";
        let last: Option<RowNo> = connection.query_row(sql, (), |row| row.get(0))?;
        let overlay = log::read(connection)?;
        let signal = Arc::<Signal>::default();
        let waiting = overlay.waiting();
        signal.waiting(waiting);
        Ok(Self {
            accepting: tokio::sync::RwLock::new(true),
            turns: (0..TURNS).map(|_| Arc::default()).collect(),
            hasher: RandomState::new(),
            overlay: RwLock::new(overlay),
            pins: RwLock::default(),
            answers: Mutex::default(),
            open: Mutex::new(OpenBatches::read(connection)?),
            next_row: AtomicI64::new(last.unwrap_or(0) + 1),
            signal,
            room: Arc::new(Semaphore::new(waiting_max.saturating_sub(waiting))),
            waiting_max,
        })
    }

    async fn turn(&self, item: &ItemId) -> Result<OwnedMutexGuard<()>, DurableError> {
        let place = self.hasher.hash_one(item) as usize % TURNS;
        let turn = self.turns.get(place).cloned().ok_or_else(|| DurableError("no turn".to_owned()))?;
        Ok(turn.lock_owned().await)
    }

    /// Waits until the overlay takes so many facts.
    async fn room(&self, facts: usize) -> Result<OwnedSemaphorePermit, DurableError> {
        // A batch that is larger than all room there is takes all of it.
        let places = u32::try_from(facts.min(self.waiting_max)).unwrap_or(u32::MAX);
        let late = |_| DurableError(format!("{} likes wait to be folded", self.waiting_max));
        let taking = tokio::time::timeout(ROOM_TIMEOUT, self.room.clone().acquire_many_owned(places));
        taking.await.map_err(late)?.map_err(|_| DurableError("the store is closed".to_owned()))
    }

    /// A batch is committed: from here on it is what everybody reads. On the writer thread, in the order of the rows.
    fn accept(&self, batch: Accepted, row: RowNo) {
        self.answers.lock().keep(&batch.item, batch.by, &batch.answer);
        self.open.lock().wrote(&batch.item, batch.by, row);
        let mut overlay = self.overlay.write();
        overlay.apply(&batch.item, batch.facts, row);
        batch.room.forget();
        self.signal.waiting(overlay.waiting());
    }

    /// What the folder is to write.
    fn seal(&self) -> Unsorted {
        let mut overlay = self.overlay.write();
        let taken = overlay.waiting().min(self.waiting_max);
        let sealed = overlay.seal();
        self.signal.waiting(0);
        self.room.add_permits(taken);
        sealed
    }

    /// It is written. Waits for the reads that began before.
    fn folded(&self) {
        let pins = self.pins.write();
        let gone = self.overlay.write().folded();
        drop(pins);
        drop(gone);
    }
}

impl SqliteStore {
    /// Lets the batches under way end and takes no others, stops folding, and writes what only waits for the next write.
    pub(super) async fn close_likes(&self) {
        *self.likes.shared.accepting.write().await = false;
        let folder = self.likes.folder.clone();
        if let Err(error) = tokio::task::spawn_blocking(move || folder.stop()).await {
            tracing::warn!(%error, "stopping the fold of likes");
        }
        let done = self.likes.shared.open.lock().take_done();
        if !done.is_empty()
            && let Err(error) = self.writer.run(move |desk| open_batches::delete(desk.connection, &done)).await
        {
            tracing::warn!(%error, "settled batches are left to a recount at the next start");
        }
    }
}

#[async_trait]
impl LikeStore for SqliteStore {
    async fn like(&self, batch: &LikeBatch) -> Result<Vec<bool>, DurableError> {
        let shared = &self.likes.shared;
        let accepting = shared.accepting.read().await;
        if !*accepting {
            return Err(DurableError("the store is closed".to_owned()));
        }
        let turn = shared.turn(&batch.item).await?;
        if let Some(answer) = shared.answers.lock().to(&batch.item, batch.by) {
            return Ok(answer);
        }
        let changed = self.decide(batch).await?;
        if changed.contains(&true) {
            self.append(batch, changed.clone(), turn).await?;
            self.counts.add_likes();
        }
        Ok(changed)
    }

    async fn settled(&self, item: &ItemId, batch: BatchId) {
        self.likes.shared.open.lock().settle(item, batch);
        self.likes.shared.answers.lock().forget(item, batch);
    }

    async fn unsettled(&self) -> Result<Vec<ItemId>, DurableError> {
        Ok(self.likes.shared.open.lock().left_over())
    }

    async fn recounted(&self, item: &ItemId) {
        self.likes.shared.open.lock().recounted(item);
    }

    async fn count_likes(&self, item: &ItemId) -> Result<u64, DurableError> {
        let (shared, item) = (self.likes.shared.clone(), item.clone());
        self.readers.run(move |connection| reads::count(&shared, connection, &item)).await
    }

    async fn likers(&self, item: &ItemId, before: Option<&Liker>, limit: usize) -> Result<Vec<Liker>, DurableError> {
        let (shared, item, before) = (self.likes.shared.clone(), item.clone(), before.cloned());
        self.readers.run(move |connection| reads::likers(&shared, connection, &item, before.as_ref(), limit)).await
    }

    async fn likers_among(&self, item: &ItemId, users: &[UserId]) -> Result<Vec<UserId>, DurableError> {
        let (shared, item, users) = (self.likes.shared.clone(), item.clone(), users.to_vec());
        self.readers.run(move |connection| reads::likers_among(&shared, connection, &item, users)).await
    }

    async fn likings(&self, user: &UserId, before: Option<&Liking>, limit: usize) -> Result<Vec<Liking>, DurableError> {
        let (shared, user, before) = (self.likes.shared.clone(), user.clone(), before.cloned());
        self.readers.run(move |connection| reads::likings(&shared, connection, &user, before.as_ref(), limit)).await
    }

    async fn liked_among(&self, user: &UserId, items: &[ItemId]) -> Result<Vec<ItemId>, DurableError> {
        let (shared, user, items) = (self.likes.shared.clone(), user.clone(), items.to_vec());
        self.readers.run(move |connection| reads::liked_among(&shared, connection, &user, items)).await
    }
}
