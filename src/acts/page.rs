//! A page of items with their counts, and which of them its reader likes.
//!
//! Counts of live rooms are in memory; those of the others are one round to the hot store, and kept for a second; what is cold is read
//! from the documents, and likes are one query: the number of queries does not grow with the items.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use super::Acts;
use super::perform::unavailable;
use crate::auth::Caller;
use crate::clock;
use crate::protocol::{ApiError, Counters, Counts, ItemId};

/// Items of one page, at most.
pub const PAGE_ITEMS_MAX: usize = 100;

/// One item of a page.
#[derive(Debug, Clone)]
pub struct PageItem {
    /// Which.
    pub item: ItemId,
    /// Its counts; `None`: there is no such item.
    pub counts: Option<Arc<Counts>>,
    /// Whether the reader likes it.
    pub liked: bool,
}

impl Acts {
    /// The items as asked, each in its place.
    pub async fn page(&self, caller: Option<&Caller>, items: &[ItemId]) -> Result<Vec<PageItem>, ApiError> {
        let liked = async {
            match caller.filter(|caller| !caller.user.is_anonymous()) {
                None => Ok(HashSet::new()),
                Some(caller) => self.reads.liked_among(&caller.user, items).await.map_err(unavailable),
            }
        };
        let (liked, counts) = futures_util::future::try_join(liked, self.counts_of(items)).await?;
        let page = items.iter().zip(counts).map(|(item, counts)| PageItem {
            item: item.clone(),
            counts,
            liked: liked.contains(item),
        });
        Ok(page.collect())
    }

    /// Of rooms here, of a second ago, or read; in the order asked, `None` for items that there are not.
    async fn counts_of(&self, items: &[ItemId]) -> Result<Vec<Option<Arc<Counts>>>, ApiError> {
        let now = clock::monotonic();
        let mut unknown = Vec::new();
        let mut counts: Vec<_> = items
            .iter()
            .map(|item| match self.registry.seen(item) {
                Some(seen) => Some(seen.counts.clone()),
                None => self.cache.lock().get(item, now).unwrap_or_else(|| {
                    unknown.push(item.clone());
                    None
                }),
            })
            .collect();
        if !unknown.is_empty() {
            let read = self.read_counts(&unknown, now).await?;
            for (item, counts) in items.iter().zip(&mut counts).filter(|(_, counts)| counts.is_none()) {
                *counts = read.get(item).cloned();
            }
        }
        Ok(counts)
    }

    async fn read_counts(&self, items: &[ItemId], now: Instant) -> Result<HashMap<ItemId, Arc<Counts>>, ApiError> {
        let views = self.durable.items_named(items).await.map_err(unavailable)?;
        let totals = self.totals_of(items).await?;
        let none = Counters::default();
        let read = views.into_iter().map(|view| {
            let counts = Counts::all(&view.reactions, totals.get(&view.item).unwrap_or(&none), 0);
            (view.item, Arc::new(counts))
        });
        let read: HashMap<_, _> = read.collect();
        let mut cache = self.cache.lock();
        items.iter().for_each(|item| cache.put(item.clone(), read.get(item).cloned(), now));
        Ok(read)
    }

    /// From the hot store, in one round; what that does not have, from the documents, in one query.
    async fn totals_of(&self, items: &[ItemId]) -> Result<HashMap<ItemId, Counters>, ApiError> {
        let hot = self.hot.totals(items).await.map_err(unavailable)?;
        let (mut totals, mut cold) = (HashMap::new(), Vec::new());
        for (item, hot) in items.iter().zip(hot) {
            match hot {
                Some(hot) => drop(totals.insert(item.clone(), hot)),
                None => cold.push(item.clone()),
            }
        }
        if !cold.is_empty() {
            let documents = self.durable.documents(&cold).await.map_err(unavailable)?;
            totals.extend(cold.into_iter().zip(documents).map(|(item, document)| (item, document.totals)));
        }
        Ok(totals)
    }
}
