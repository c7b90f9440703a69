//! Reconciliation: counts the facts of an item while likes keep arriving, and makes the counter fit.
//!
//! Pure [`plan`] says which items are due; [`work`] takes them on; [`recount`] carries one out behind its fence; [`filter`] makes an
//! item's filter of who likes it, behind the same fence; [`survey`] looks, by the [`schedule`], for what nobody asked about; [`actor`]
//! keeps the interval and takes demands. It owns nothing that must survive: an item stays on the hot store's list until a recount of it
//! ended exact. It knows likes and rooms only as a [`LikeSide`].

pub mod actor;
mod filter;
pub mod plan;
pub mod recount;
pub mod schedule;
pub mod stats;
pub mod survey;
pub mod work;

use async_trait::async_trait;

use crate::protocol::{ApiError, ItemId};

pub use actor::{Reconciler, Recount};
pub use recount::{RecountError, Recounted};
pub use stats::ReconcileStats;

/// An item's likes on this node, as a recount sees them.
#[async_trait]
pub trait LikeSide: Send + Sync + 'static {
    /// Answers when nothing of them is between fact and counter: no batch is open, and all that this node contributed to the item is in
    /// the hot store. The fence keeps new ones out meanwhile.
    async fn settle(&self, item: &ItemId) -> Result<(), ApiError>;

    /// The counter, as the hot store has it.
    async fn likes(&self, item: &ItemId) -> Result<i64, ApiError>;

    /// Items whose likes changed since they were last taken from here, at most so many.
    fn take_changed(&self, limit: usize) -> Vec<ItemId>;

    /// Moves the counter; answers when the hot store has it.
    async fn correct(&self, item: &ItemId, by: i64) -> Result<(), ApiError>;
}
