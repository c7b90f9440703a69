//! The counter that follows the facts: the item's room, as the like service sees it.

use std::sync::Arc;

use async_trait::async_trait;

use crate::protocol::{ApiError, Code, Counter, ItemId, ItemState};
use crate::room::messages::{HandOver, unreachable_room};
use crate::room::{Contribute, Contributed, Registry};
use crate::store::hot::HotStore;

/// The counter of an item's likes. A simulation brings its own.
#[async_trait]
pub trait LikeCounter: Send + Sync + 'static {
    /// Whether the item takes likes: `gone` where it has ended, `not_found` where it is unknown and may not be made.
    async fn ready(&self, item: &ItemId) -> Result<(), ApiError>;

    /// Moves it and answers where it then stands, when the hot store has it. After an error it may have moved.
    async fn add(&self, item: &ItemId, n: i64) -> Result<i64, ApiError>;

    /// Where it stands, as readers see it.
    async fn shown(&self, item: &ItemId) -> Result<i64, ApiError>;

    /// Where it stands, as the hot store has it.
    async fn stored(&self, item: &ItemId) -> Result<i64, ApiError>;

    /// Answers when everything that this node added is in the hot store.
    async fn settle(&self, item: &ItemId) -> Result<(), ApiError>;
}

/// Through the node's rooms.
pub struct RoomCounter {
    /// The rooms.
    pub registry: Arc<Registry>,
    /// What they contribute to.
    pub hot: Arc<dyn HotStore>,
}

#[async_trait]
impl LikeCounter for RoomCounter {
    async fn ready(&self, item: &ItemId) -> Result<(), ApiError> {
        let room = self.registry.open(item, true).await?;
        match room.seen().item.state {
            ItemState::Live => Ok(()),
            ItemState::Ended => Err(ApiError::new(Code::Gone, "the item has ended")),
        }
    }

    /// A room that ended or died just then has taken nothing, or lost what it had not given a number: its successor is asked, once.
    async fn add(&self, item: &ItemId, n: i64) -> Result<i64, ApiError> {
        let room = self.registry.open(item, false).await?;
        let answer = match room.contribute.send(Contribute::Likes(n)).await {
            Err(_) if !room.is_open() => {
                let successor = self.registry.open(item, false).await?;
                successor.contribute.send(Contribute::Likes(n)).await
            }
            answer => answer,
        };
        match answer.map_err(unreachable_room)?? {
            Contributed::Likes(counts) => Ok(counts.likes.unwrap_or_default()),
            Contributed::Taps(_) | Contributed::Comment { .. } => {
                Err(ApiError::new(Code::Internal, "the room answered another act"))
            }
        }
    }

    async fn shown(&self, item: &ItemId) -> Result<i64, ApiError> {
        let room = self.registry.open(item, false).await?;
        Ok(room.seen().counts.likes.unwrap_or_default())
    }

    async fn stored(&self, item: &ItemId) -> Result<i64, ApiError> {
        // The room is started for it: a cold item is laid in the hot store by that.
        self.registry.open(item, false).await?;
        let totals = self.hot.totals(std::slice::from_ref(item)).await;
        let totals = totals.map_err(|error| ApiError::new(Code::Unavailable, error.to_string()))?;
        let totals = totals.into_iter().next().flatten();
        totals.map(|totals| totals.get(Counter::Likes)).ok_or_else(|| ApiError::new(Code::Unavailable, "item: let go"))
    }

    async fn settle(&self, item: &ItemId) -> Result<(), ApiError> {
        match self.registry.find(item) {
            Some(room) => room.hand_over.send(HandOver).await.map_err(unreachable_room),
            None if self.registry.stands(item) => Ok(()),
            None => Err(ApiError::new(Code::Unavailable, "the item's room is being started anew")),
        }
    }
}
