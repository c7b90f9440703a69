//! A durable store with a fail point in its way.

use std::sync::Arc;

use async_trait::async_trait;

use super::Trap;
use crate::config::fail_point::FailStep;
use crate::protocol::{Comment, CommentId, Counters, ItemId, ItemState, ItemView};
use crate::store::durable::{
    Applied, CommentCursor, Document, DurableError, DurableStore, Inserted, ItemChange, ItemPage,
};
use crate::store::hot::Flight;

/// See the module.
pub(super) struct FailingDurable {
    pub inner: Arc<dyn DurableStore>,
    pub trap: Arc<Trap>,
}

#[async_trait]
impl DurableStore for FailingDurable {
    async fn change_item(&self, change: ItemChange) -> Result<Option<(ItemView, bool)>, DurableError> {
        self.inner.change_item(change).await
    }

    async fn item(&self, item: &ItemId) -> Result<Option<ItemView>, DurableError> {
        self.inner.item(item).await
    }

    async fn final_totals(&self, item: &ItemId) -> Result<Option<Counters>, DurableError> {
        self.inner.final_totals(item).await
    }

    async fn items(
        &self,
        state: Option<ItemState>,
        cursor: Option<&ItemId>,
        limit: usize,
    ) -> Result<ItemPage, DurableError> {
        self.inner.items(state, cursor, limit).await
    }

    async fn document(&self, item: &ItemId) -> Result<Document, DurableError> {
        self.inner.document(item).await
    }

    async fn insert_comments(&self, item: &ItemId, comments: &[Comment]) -> Result<Inserted, DurableError> {
        let some = |inserted: &Inserted| inserted.new > 0;
        self.trap.around(FailStep::Insert, self.inner.insert_comments(item, comments), some).await
    }

    async fn apply(&self, flights: &[Flight]) -> Result<Vec<Applied>, DurableError> {
        let some = |applied: &Vec<Applied>| applied.contains(&Applied::Done);
        self.trap.around(FailStep::Apply, self.inner.apply(flights), some).await
    }

    async fn replace_document(&self, item: &ItemId, fold: u64, with: &Document) -> Result<bool, DurableError> {
        self.inner.replace_document(item, fold, with).await
    }

    async fn comments(
        &self,
        item: &ItemId,
        before: Option<CommentCursor>,
        limit: usize,
    ) -> Result<Vec<Comment>, DurableError> {
        self.inner.comments(item, before, limit).await
    }

    async fn comment(&self, item: &ItemId, id: CommentId) -> Result<Option<Comment>, DurableError> {
        self.inner.comment(item, id).await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
