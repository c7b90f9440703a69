//! An item's filter of who likes it: begun behind a recount's fence, where nothing is under way, then filled from the facts.
//!
//! Whoever likes the item from the beginning on is noted by their batch; whoever liked it before and still does is found by going
//! through the facts. So nobody is missing when it is finished; whoever is in it and likes the item no more only costs a look.

use std::sync::Arc;

use uuid::Uuid;

use crate::protocol::ItemId;
use crate::store::durable::LikeStore;
use crate::store::hot::LikesHot;
use crate::store::hot::readers::{filter_bytes, wants_filter};

/// Facts that are read at once.
const PAGE: usize = 10_000;

/// Begins one if the item ought to have another than it has. Nothing depends on it.
pub(super) async fn begin(hot: &dyn LikesHot, item: &ItemId, fence: Uuid, likes: i64) -> bool {
    match hot.note(item, &[]).await {
        Ok(bytes) if wants_filter(likes, bytes, hot.filtered_from()) => {
            hot.begin(item, fence, filter_bytes(likes)).await.is_ok_and(|begun| begun)
        }
        Ok(_) | Err(_) => false,
    }
}

/// Fills it. Given up, it answers nothing and is gone within a minute.
pub(super) async fn fill(hot: Arc<dyn LikesHot>, facts: Arc<dyn LikeStore>, item: ItemId, token: Uuid) {
    match try_fill(&*hot, &*facts, &item, token).await {
        Ok(Some(likers)) => tracing::info!(%item, likers, "the filter of who likes it is made"),
        Ok(None) => tracing::info!(%item, "the filter of who likes it went before it was made"),
        Err(error) => tracing::warn!(%item, %error, "the filter of who likes it was not made"),
    }
}

/// How many people it found; `None`: the filter is gone, or another one.
async fn try_fill(
    hot: &dyn LikesHot,
    facts: &dyn LikeStore,
    item: &ItemId,
    token: Uuid,
) -> Result<Option<usize>, Box<dyn std::error::Error + Send + Sync>> {
    let (mut likers, mut before) = (0, None);
    loop {
        let page = facts.likers(item, before.as_ref(), PAGE).await?;
        let users: Vec<_> = page.iter().map(|liker| liker.user.clone()).collect();
        if !hot.fill(item, token, &users).await? {
            return Ok(None);
        }
        likers += page.len();
        if page.len() < PAGE {
            return Ok(hot.finish(item, token).await?.then_some(likers));
        }
        before = page.into_iter().last();
    }
}
