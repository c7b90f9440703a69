//! Looks through items for counters that are beside their facts, without a fence: what it finds is put on the list, and the recount
//! decides. A like that is on its way while it looks costs one recount for nothing.

use std::sync::Arc;

use super::schedule::Schedule;
use super::{LikeSide, work::LISTED_MAX};
use crate::clock;
use crate::protocol::{Counter, ItemId};
use crate::store::durable::{DurableError, DurableStore, LikeStore};
use crate::store::hot::{HotStore, LikeFence};

/// See the module.
pub struct Survey {
    /// Items and their documents.
    pub durable: Arc<dyn DurableStore>,
    /// Counters of warm items.
    pub hot: Arc<dyn HotStore>,
    /// The facts.
    pub facts: Arc<dyn LikeStore>,
    /// Where the list is.
    pub fence: Arc<dyn LikeFence>,
    /// What changed on this node.
    pub side: Arc<dyn LikeSide>,
}

/// Why a turn of a survey ended early; the next one goes on from there.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SurveyError {
    /// Facts, documents or items could not be read.
    #[error(transparent)]
    Durable(#[from] DurableError),
    /// Counters could not be read, or an item not be listed.
    #[error(transparent)]
    Hot(#[from] crate::store::hot::HotError),
}

/// Where a walk over all items stands.
#[derive(Debug, Default)]
pub enum Walk {
    /// None is under way.
    #[default]
    Idle,
    /// Goes on after this item, or from the beginning.
    After(Option<ItemId>),
}

impl Survey {
    /// One turn, to be taken every second or so: some items of what is due.
    pub async fn turn(&self, schedule: &mut Schedule, walk: &mut Walk) -> Result<(), SurveyError> {
        if schedule.changed(clock::monotonic()) {
            let changed = self.side.take_changed(LISTED_MAX);
            self.look_at(&changed).await?;
        }
        if schedule.everything(clock::wall()) {
            tracing::info!("all likes are compared with their facts");
            *walk = Walk::After(None);
        }
        if let Walk::After(cursor) = walk {
            let page = self.durable.items(None, cursor.as_ref(), LISTED_MAX).await?;
            let items: Vec<ItemId> = page.items.into_iter().map(|view| view.item).collect();
            self.look_at(&items).await?;
            *walk = page.next.map_or(Walk::Idle, |next| Walk::After(Some(next)));
        }
        Ok(())
    }

    async fn look_at(&self, items: &[ItemId]) -> Result<(), SurveyError> {
        if items.is_empty() {
            return Ok(());
        }
        let hot = self.hot.totals(items).await?;
        for (item, totals) in items.iter().zip(hot) {
            let totals = match totals {
                Some(totals) => totals,
                None => self.durable.document(item).await?.totals,
            };
            let facts = self.facts.count_likes(item).await?;
            if i64::try_from(facts) != Ok(totals.get(Counter::Likes)) {
                self.fence.ask_recount(item).await?;
            }
        }
        Ok(())
    }
}
