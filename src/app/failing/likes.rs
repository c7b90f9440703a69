//! A store of facts with a fail point in its way.

use std::sync::Arc;

use async_trait::async_trait;

use super::Trap;
use crate::config::fail_point::FailStep;
use crate::protocol::{ItemId, UserId};
use crate::store::durable::{BatchId, DurableError, LikeBatch, LikeStore, Liker, Liking};

/// See the module.
pub(super) struct FailingLikes {
    pub inner: Arc<dyn LikeStore>,
    pub trap: Arc<Trap>,
}

#[async_trait]
impl LikeStore for FailingLikes {
    async fn like(&self, batch: &LikeBatch) -> Result<Vec<bool>, DurableError> {
        let some = |changed: &Vec<bool>| changed.contains(&true);
        self.trap.around(FailStep::Like, self.inner.like(batch), some).await
    }

    async fn settled(&self, item: &ItemId, batch: BatchId) {
        self.inner.settled(item, batch).await;
    }

    async fn unsettled(&self) -> Result<Vec<ItemId>, DurableError> {
        self.inner.unsettled().await
    }

    async fn recounted(&self, item: &ItemId) {
        self.inner.recounted(item).await;
    }

    async fn count_likes(&self, item: &ItemId) -> Result<u64, DurableError> {
        self.inner.count_likes(item).await
    }

    async fn likers(&self, item: &ItemId, before: Option<&Liker>, limit: usize) -> Result<Vec<Liker>, DurableError> {
        self.inner.likers(item, before, limit).await
    }

    async fn likers_among(&self, item: &ItemId, users: &[UserId]) -> Result<Vec<UserId>, DurableError> {
        self.inner.likers_among(item, users).await
    }

    async fn likings(&self, user: &UserId, before: Option<&Liking>, limit: usize) -> Result<Vec<Liking>, DurableError> {
        self.inner.likings(user, before, limit).await
    }

    async fn liked_among(&self, user: &UserId, items: &[ItemId]) -> Result<Vec<ItemId>, DurableError> {
        self.inner.liked_among(user, items).await
    }
}
