//! One recount: fence, stillness, facts, counter, correction, lift.
//!
//! Counting and then correcting, while likes go on, is wrong more often than right; so nothing of the item's likes is on its way while
//! the two are compared. Taps and comments go on; likes wait at the fence. If anything is found amiss on the way (the fence ran out,
//! a store did not answer, the hot store lost state) the item stays on the list, or is put there again: every recount may fail, the
//! last one ends exact.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::{LikeSide, filter};
use crate::protocol::{ItemId, WriterId};
use crate::store::durable::LikeStore;
use crate::store::hot::{LikesHot, Raised};

/// How long a fence holds unless it is held longer: far more than a count of a million facts takes, so that only a process that died
/// behind one leaves likes waiting that long.
pub const HOLD: Duration = Duration::from_secs(8);
/// How long a recount waits for every living writer to be quiet. Writers on other nodes look at the list once a second.
pub const QUIET_TIMEOUT: Duration = Duration::from_secs(4);
/// How often the hot store is asked to note a recount that it did not take.
const INSIST_WAIT: Duration = Duration::from_secs(1);
/// How often it looks.
const QUIET_WAIT: Duration = Duration::from_millis(10);

/// What a recount came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recounted {
    /// People who like the item: the facts, and now the counter.
    pub likes: i64,
    /// By how much the counter was moved.
    pub repaired: i64,
}

/// Why a recount was given up. The item stays on the list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecountError {
    /// Another node, or another call, is at it.
    #[error("the item is being recounted by somebody else")]
    Busy,
    /// A living writer did not come to rest in time.
    #[error("likes of the item did not come to rest in time")]
    Restless,
    /// The fence was gone before the recount was over.
    #[error("the fence ran out, or the hot store lost it")]
    Unfenced,
    /// A store, or the item's room.
    #[error("{0}")]
    Trouble(String),
}

/// What recounts work with.
pub struct Recounts {
    /// The fences, who lives, and the filters.
    pub hot: Arc<dyn LikesHot>,
    /// The facts.
    pub facts: Arc<dyn LikeStore>,
    /// Likes on this node.
    pub side: Arc<dyn LikeSide>,
    /// This process run.
    pub writer: WriterId,
}

impl Recounts {
    /// Recounts one item. An error may name the drift that it saw and could not repair.
    pub async fn recount(&self, item: &ItemId) -> Result<Recounted, (RecountError, Option<i64>)> {
        let token = Uuid::new_v4();
        // It is on the list from here on, where other nodes learn that they are waited for.
        let raised = self.hot.raise(item, token, HOLD).await.map_err(unseen)?;
        let Raised { asked, .. } = raised.ok_or((RecountError::Busy, None))?;
        let recounted = self.behind_fence(item, token).await;
        if matches!(recounted, Err((_, Some(_)))) {
            // A correction may be on its way. Whoever took this node for dead meanwhile may have made the same one, and left the list in order.
            self.ask_again(item).await;
        }
        let exact = recounted.is_ok().then_some(asked);
        let filter = match &recounted {
            Ok(Recounted { likes, .. }) => filter::begin(&*self.hot, item, token, *likes).await,
            Err(_) => false,
        };
        let lifted = self.hot.lift(item, token, exact).await.map_err(unseen);
        match (recounted, lifted?) {
            (Ok(recounted), true) => {
                self.facts.recounted(item).await;
                if filter {
                    // It takes seconds, and nobody waits for it.
                    tokio::spawn(filter::fill(self.hot.clone(), self.facts.clone(), item.clone(), token));
                }
                Ok(recounted)
            }
            (Ok(recounted), false) => Err((RecountError::Unfenced, Some(recounted.repaired))),
            (Err(error), _) => Err(error),
        }
    }

    async fn ask_again(&self, item: &ItemId) {
        while let Err(error) = self.hot.ask_recount(item).await {
            tracing::warn!(%item, %error, "a recount was not noted; asked again");
            sleep(INSIST_WAIT).await;
        }
    }

    /// Tells whoever recounts an item that this node is quiet, if it is within the time of a look.
    pub async fn be_quiet(&self, item: &ItemId) -> Result<(), RecountError> {
        let settled = timeout(QUIET_TIMEOUT, self.side.settle(item)).await;
        settled.map_err(|_| RecountError::Restless)?.map_err(trouble)?;
        self.hot.quiet(item, self.writer).await.map_err(trouble)
    }

    async fn hold(&self, item: &ItemId, token: Uuid) -> Result<Raised, RecountError> {
        let held = self.hot.hold(item, token, HOLD).await.map_err(trouble)?;
        held.ok_or(RecountError::Unfenced)
    }

    async fn behind_fence(&self, item: &ItemId, token: Uuid) -> Result<Recounted, (RecountError, Option<i64>)> {
        self.all_quiet(item, token).await.map_err(|error| (error, None))?;
        // Before the count: whoever was only taken for dead and wakes in the middle of it has the item recounted once more.
        if !self.hot.seal(item, token).await.map_err(unseen)? {
            return Err((RecountError::Unfenced, None));
        }
        let facts = self.facts.count_likes(item).await.map_err(unseen)?;
        let facts = i64::try_from(facts).unwrap_or(i64::MAX);
        let likes = self.side.likes(item).await.map_err(unseen)?;
        let repaired = facts.saturating_sub(likes);
        let saw = |error: RecountError| (error, Some(repaired));
        // Held anew: the correction takes a tick.
        self.hold(item, token).await.map_err(saw)?;
        if repaired != 0 {
            tracing::warn!(%item, facts, likes, "the counter does not fit the facts; it is corrected");
            self.side.correct(item, repaired).await.map_err(|error| saw(trouble(error)))?;
        }
        Ok(Recounted { likes: facts, repaired })
    }

    /// Waits until every living writer said that it is quiet. The dead have nothing under way but facts.
    async fn all_quiet(&self, item: &ItemId, token: Uuid) -> Result<(), RecountError> {
        let quiet = async {
            self.be_quiet(item).await?;
            loop {
                let Raised { quiet, .. } = self.hold(item, token).await?;
                let living = self.hot.living().await.map_err(trouble)?;
                if living.iter().all(|writer| quiet.contains(writer)) && quiet.contains(&self.writer) {
                    return Ok(());
                }
                sleep(QUIET_WAIT).await;
            }
        };
        timeout(QUIET_TIMEOUT, quiet).await.unwrap_or(Err(RecountError::Restless))
    }
}

fn trouble(error: impl std::fmt::Display) -> RecountError {
    RecountError::Trouble(error.to_string())
}

/// Nothing is known of drift.
fn unseen(error: impl std::fmt::Display) -> (RecountError, Option<i64>) {
    (trouble(error), None)
}
