//! Who likes what, without asking the facts where something nearer answers.
//!
//! A maybe is always looked up, and whatever nearer store fails is passed over: the facts have the last word.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::timeout;
use uuid::Uuid;

use super::own::{OWN_ITEMS_MAX, Own, OwnLikes};
use crate::clock;
use crate::protocol::{ItemId, UserId};
use crate::store::durable::{DurableError, LikeStore};
use crate::store::hot::{HotError, LikesHot};

/// How long a hint is waited for: a hot store that is away must not keep readers from the facts. Some hundred times what one takes.
pub const HINT_WAIT: Duration = Duration::from_millis(200);

/// See the module.
pub struct LikeReads {
    facts: Arc<dyn LikeStore>,
    hot: Arc<dyn LikesHot>,
    own: Mutex<OwnLikes>,
    stats: Arc<ReadStats>,
}

/// From where questions were answered; read by telemetry.
#[derive(Debug, Default)]
pub struct ReadStats {
    filtered: AtomicU64,
    looked_up: AtomicU64,
    kept: AtomicU64,
    read: AtomicU64,
}

impl ReadStats {
    /// People of whom a filter said that they do not like the item.
    pub fn filtered(&self) -> u64 {
        self.filtered.load(Ordering::Relaxed)
    }

    /// People who were looked up in the facts: there was no filter, or it said maybe.
    pub fn looked_up(&self) -> u64 {
        self.looked_up.load(Ordering::Relaxed)
    }

    /// Pages that were answered from what was kept of their reader.
    pub fn kept(&self) -> u64 {
        self.kept.load(Ordering::Relaxed)
    }

    /// Questions to the facts for pages.
    pub fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

impl LikeReads {
    /// Over the node's stores.
    pub fn new(facts: Arc<dyn LikeStore>, hot: Arc<dyn LikesHot>, stats: Arc<ReadStats>) -> Self {
        Self { facts, hot, own: Mutex::default(), stats }
    }

    /// Which of these items the person likes: at most one question to the hot store and one to the facts; where somebody likes more than
    /// is kept it is two to the facts, each time that they are found out.
    pub async fn liked_among(&self, user: &UserId, items: &[ItemId]) -> Result<HashSet<ItemId>, DurableError> {
        // Without its mark nothing may be kept, nor told.
        let Some(mark) = soon(self.hot.mark(user)).await else { return self.ask(user, items).await };
        let kept = self.own.lock().get(user, mark, clock::monotonic());
        let is_kept = matches!(kept, Some(Own::All(_)));
        self.stats.kept.fetch_add(is_kept.into(), Ordering::Relaxed);
        let own = match kept {
            Some(own) => own,
            None => self.read_own(user, mark).await?,
        };
        match own {
            Own::All(own) => Ok(items.iter().filter(|item| own.contains(item)).cloned().collect()),
            Own::Many => self.ask(user, items).await,
        }
    }

    /// Reads what the person likes after this mark had been read, and keeps it.
    async fn read_own(&self, user: &UserId, mark: Uuid) -> Result<Own, DurableError> {
        self.stats.read.fetch_add(1, Ordering::Relaxed);
        let now = clock::monotonic();
        let likings = self.facts.likings(user, None, OWN_ITEMS_MAX + 1).await?;
        let own = Own::of(likings.into_iter().map(|liking| liking.item).collect());
        self.own.lock().put(user.clone(), mark, own.clone(), now);
        Ok(own)
    }

    async fn ask(&self, user: &UserId, items: &[ItemId]) -> Result<HashSet<ItemId>, DurableError> {
        self.stats.read.fetch_add(1, Ordering::Relaxed);
        Ok(self.facts.liked_among(user, items).await?.into_iter().collect())
    }

    /// Which of these people like the item, in the order asked.
    pub async fn likers_among(&self, item: &ItemId, users: &[UserId]) -> Result<Vec<UserId>, DurableError> {
        let maybe = soon(self.hot.maybe(item, users)).await.flatten();
        let asked: Vec<UserId> = match maybe {
            Some(maybe) => users.iter().zip(maybe).filter(|(_, maybe)| *maybe).map(|(user, _)| user.clone()).collect(),
            None => users.to_vec(),
        };
        let filtered = users.len().saturating_sub(asked.len());
        self.stats.filtered.fetch_add(filtered as u64, Ordering::Relaxed);
        self.stats.looked_up.fetch_add(asked.len() as u64, Ordering::Relaxed);
        if asked.is_empty() { Ok(asked) } else { self.facts.likers_among(item, &asked).await }
    }
}

/// What a hot store answers within [`HINT_WAIT`].
async fn soon<T>(hint: impl Future<Output = Result<T, HotError>>) -> Option<T> {
    timeout(HINT_WAIT, hint).await.ok()?.ok()
}
