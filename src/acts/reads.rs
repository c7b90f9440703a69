//! What people can read. Reading never makes an item and never starts a room.

use std::sync::Arc;

use super::Acts;
use super::perform::unavailable;
use crate::comments::page;
use crate::protocol::{ApiError, Code, Comment, Counters, Counts, ItemId, ItemState, ItemView};

/// One page of a list, and the cursor of the next.
pub type ListPage<T> = (Vec<T>, Option<String>);

impl Acts {
    /// An item and its counts: from its room if it runs here, else from the stores.
    pub async fn item(&self, item: &ItemId) -> Result<(Arc<ItemView>, Arc<Counts>), ApiError> {
        if let Some(room) = self.registry.find(item) {
            let seen = room.seen();
            return Ok((seen.item.clone(), seen.counts.clone()));
        }
        let view = self.record(item).await?;
        let totals = self.totals(item).await?;
        let elsewhere = self.hot.viewers(item).await.map_err(unavailable)?;
        let counts = Counts::all(&view.reactions, &totals, i64::try_from(elsewhere).unwrap_or(i64::MAX));
        Ok((Arc::new(view), Arc::new(counts)))
    }

    pub(super) async fn record(&self, item: &ItemId) -> Result<ItemView, ApiError> {
        let view = self.durable.item(item).await.map_err(unavailable)?;
        view.ok_or_else(|| ApiError::new(Code::NotFound, "no such item"))
    }

    async fn totals(&self, item: &ItemId) -> Result<Counters, ApiError> {
        let hot = self.hot.totals(std::slice::from_ref(item)).await.map_err(unavailable)?;
        match hot.into_iter().next().flatten() {
            Some(totals) => Ok(totals),
            None => Ok(self.durable.document(item).await.map_err(unavailable)?.totals),
        }
    }

    /// A page of items in the order of their ids.
    pub async fn items(
        &self,
        state: Option<ItemState>,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<ListPage<ItemView>, ApiError> {
        let after = cursor.map(ItemId::parse).transpose()?;
        let page = self.durable.items(state, after.as_ref(), limit).await.map_err(unavailable)?;
        Ok((page.items, page.next.map(String::from)))
    }

    /// A page of comments, going back in time, oldest first within the page; flushed and not yet flushed.
    pub async fn comments(
        &self,
        item: &ItemId,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<ListPage<Comment>, ApiError> {
        let before = cursor.map(page::parse_cursor).transpose()?;
        if self.registry.find(item).is_none() {
            self.record(item).await?;
        }
        let page = self.comments.page(item, before, limit).await?;
        Ok((page.comments, page.next.map(page::cursor_text)))
    }
}
