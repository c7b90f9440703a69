//! What a room needs of the rest of the node, given to it by the composition root.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use async_trait::async_trait;

use super::ticker::Ticker;
use crate::config::RoomConfig;
use crate::protocol::{ApiError, ItemId, WriterId};
use crate::store::durable::DurableStore;
use crate::store::hot::{HotStore, LikeFence};

/// Folds one item to empty now. The flush does it; rooms do not know the flush.
#[async_trait]
pub trait FoldNow: Send + Sync + 'static {
    /// Answers when nothing of the item is left to fold.
    async fn fold_now(&self, item: &ItemId) -> Result<(), ApiError>;
}

/// Shared by all rooms of a node.
pub struct RoomDeps {
    /// Takes every step.
    pub hot: Arc<dyn HotStore>,
    /// Where the item is put on the list of recounts when the hot store had lost state.
    pub fence: Arc<dyn LikeFence>,
    /// Holds records and folded counts.
    pub durable: Arc<dyn DurableStore>,
    /// The flush.
    pub fold: Arc<dyn FoldNow>,
    /// Wakes rooms.
    pub ticker: Ticker,
    /// This process run.
    pub writer: WriterId,
    /// Bounds and intervals.
    pub config: RoomConfig,
    /// What rooms count.
    pub stats: Arc<RoomStats>,
}

/// What rooms count; read by telemetry.
#[derive(Debug, Default)]
pub struct RoomStats {
    /// Taps that entered a contribution or will with the next tick.
    pub taps_accepted: AtomicU64,
    /// Taps that came for an item which had ended, or of a kind that was taken off meanwhile.
    pub taps_dropped: AtomicU64,
    /// Comments in events that a subscriber lost past its bound.
    pub comments_dropped: AtomicU64,
    /// Rooms that panicked and were started anew.
    pub restarts: AtomicU64,
    /// Items of live rooms that were laid anew, since the hot store had lost them or fallen back.
    pub laid_anew: AtomicU64,
}
