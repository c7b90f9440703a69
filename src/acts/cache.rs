//! Counts of items that have no room here, for as long as counts may be old. Pure.
//!
//! What is not there is remembered too: a page that names an item that was never made must not cost a query each time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::protocol::{Counts, ItemId};

/// How old a count may be: half of what the wire contract allows, so that it holds after the way to the reader.
pub const COUNTS_AGE_MAX: Duration = Duration::from_secs(1);
/// Items that are kept; past it the cache begins anew. Some 30 MB, and a second's worth of the busiest page.
pub const COUNTS_KEPT_MAX: usize = 100_000;

/// See the module.
#[derive(Debug, Default)]
pub struct CountCache {
    kept: HashMap<ItemId, (Instant, Option<Arc<Counts>>)>,
}

impl CountCache {
    /// The counts, if they are young enough; the inner `None`: there is no such item.
    pub fn get(&self, item: &ItemId, now: Instant) -> Option<Option<Arc<Counts>>> {
        let (read_at, counts) = self.kept.get(item)?;
        (now.saturating_duration_since(*read_at) < COUNTS_AGE_MAX).then(|| counts.clone())
    }

    /// Keeps what was read at this time.
    pub fn put(&mut self, item: ItemId, counts: Option<Arc<Counts>>, read_at: Instant) {
        if self.kept.len() >= COUNTS_KEPT_MAX {
            self.kept.retain(|_, (kept_at, _)| read_at.saturating_duration_since(*kept_at) < COUNTS_AGE_MAX);
            if self.kept.len() >= COUNTS_KEPT_MAX {
                self.kept.clear();
            }
        }
        self.kept.insert(item, (read_at, counts));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(n: usize) -> ItemId {
        ItemId::parse(&format!("i{n}")).unwrap()
    }

    #[test]
    fn a_count_is_never_older_than_it_may_be() {
        let (mut cache, start) = (CountCache::default(), Instant::now());
        cache.put(item(1), Some(Arc::default()), start);
        cache.put(item(2), None, start);
        let young = start + COUNTS_AGE_MAX - Duration::from_millis(1);
        assert_eq!((cache.get(&item(1), young), cache.get(&item(2), young)), (Some(Some(Arc::default())), Some(None)));
        assert_eq!(cache.get(&item(1), start + COUNTS_AGE_MAX), None);
        assert_eq!(cache.get(&item(3), start), None);
    }

    #[test]
    fn however_many_items_are_asked_for_its_memory_is_bounded() {
        let (mut cache, start) = (CountCache::default(), Instant::now());
        for n in 0..COUNTS_KEPT_MAX + 10 {
            cache.put(item(n), None, start);
        }
        assert!(cache.kept.len() <= COUNTS_KEPT_MAX);
        assert_eq!(cache.get(&item(COUNTS_KEPT_MAX + 9), start), Some(None));
    }
}
