//! How a batch of likes is accepted: decided, then appended to the log, then taken up by the overlay.
//!
//! All of it with the item's turn held. It is let go on the writer thread, when the overlay has the batch: a caller that goes away in
//! between leaves nothing half done.

use std::sync::atomic::Ordering;

use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit};

use super::open_batches::RowNo;
use super::overlay::Fact;
use super::{log, open_batches, table};
use crate::protocol::{ItemId, UserId};
use crate::store::durable::contract::DurableError;
use crate::store::durable::likes::{BatchId, LikeBatch, LikeCommand};
use crate::store::durable::sqlite::SqliteStore;
use crate::store::durable::sqlite::writer::Desk;

/// A decided batch, for the overlay.
pub(super) struct Accepted {
    pub item: ItemId,
    pub by: BatchId,
    pub facts: Vec<(UserId, Fact)>,
    pub answer: Vec<bool>,
    pub room: OwnedSemaphorePermit,
}

impl SqliteStore {
    /// Which commands change something. With the item's turn held it stays so.
    pub(super) async fn decide(&self, batch: &LikeBatch) -> Result<Vec<bool>, DurableError> {
        let known: Vec<Option<bool>> = {
            let overlay = self.likes.shared.overlay.read();
            let of = overlay.of(&batch.item);
            batch.commands.iter().map(|command| of.get(&command.user).map(|fact| fact.is_some())).collect()
        };
        let unknown = batch.commands.iter().zip(&known).filter(|(_, known)| known.is_none());
        let unknown: Vec<_> = unknown.map(|(command, _)| command.user.clone()).collect();
        let stored = if unknown.is_empty() {
            Vec::new()
        } else {
            let item = batch.item.clone();
            self.readers.run(move |connection| table::which_like(connection, &item, &unknown)).await?
        };
        let mut stored = stored.into_iter();
        let likes = known.into_iter().map(|known| known.or_else(|| stored.next()).unwrap_or_default());
        Ok(batch.commands.iter().zip(likes).map(|(command, likes)| command.liked != likes).collect())
    }

    /// Has the changes written, and taken up by the overlay when they are committed.
    pub(super) async fn append(
        &self,
        batch: &LikeBatch,
        answer: Vec<bool>,
        turn: OwnedMutexGuard<()>,
    ) -> Result<(), DurableError> {
        let changed = batch.commands.iter().zip(&answer).filter(|(_, changed)| **changed);
        let changes: Vec<&LikeCommand> = changed.map(|(command, _)| command).collect();
        let shared = &self.likes.shared;
        let room = shared.room(changes.len()).await?;
        let bytes = log::encode(changes.iter().map(|command| (&command.user, command.liked)));
        let entry = log::Entry { item: batch.item.clone(), at: batch.at, facts: bytes };
        let fact = |command: &&LikeCommand| (command.user.clone(), command.liked.then_some(batch.at));
        let facts = changes.iter().map(fact).collect();
        let accepted = Accepted { item: batch.item.clone(), by: batch.by, facts, answer, room };
        let done = shared.open.lock().take_done();
        let (taking, numbering) = (shared.clone(), shared.clone());
        let write = move |desk: &mut Desk<'_>| {
            open_batches::delete(desk.connection, &done)?;
            // Here, on the one thread that writes, the numbers are in the order of the commits.
            let row = numbering.next_row.fetch_add(1, Ordering::Relaxed);
            let no = log::append(desk.connection, row, &entry)?;
            open_batches::insert(desk.connection, row, no)?;
            Ok(row)
        };
        let take_up = move |row: &RowNo| {
            taking.accept(accepted, *row);
            drop(turn);
        };
        self.writer.run_then(write, take_up).await.map(drop)
    }
}
