//! What people like, kept whole for as long as their mark stands. Pure.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::protocol::{ItemId, UserId};

/// Items of one person that are kept; whoever likes more is asked about page by page.
pub const OWN_ITEMS_MAX: usize = 1_000;
/// How long they are kept: bounds how long a like can be missing whose process died between the fact and the mark, which nobody was told of,
/// or after the hot store fell back to a mark that had been taken away.
pub const OWN_AGE_MAX: Duration = Duration::from_secs(60);
/// Items of all people that are kept; past it the cache begins anew. Some 60 MB.
const KEPT_MAX: usize = 500_000;

/// What is known of a person.
#[derive(Debug, Clone)]
pub enum Own {
    /// All that they like.
    All(Arc<HashSet<ItemId>>),
    /// More than is kept.
    Many,
}

/// See the module.
#[derive(Debug, Default)]
pub struct OwnLikes {
    kept: HashMap<UserId, (Uuid, Instant, Own)>,
    items: usize,
}

impl OwnLikes {
    /// What the person likes, if this mark stood when it was read, and that is not long ago.
    pub fn get(&self, user: &UserId, mark: Uuid, now: Instant) -> Option<Own> {
        let (stood, read_at, own) = self.kept.get(user)?;
        (*stood == mark && now.saturating_duration_since(*read_at) < OWN_AGE_MAX).then(|| own.clone())
    }

    /// Keeps what was read after this mark had been.
    pub fn put(&mut self, user: UserId, mark: Uuid, own: Own, now: Instant) {
        if self.items >= KEPT_MAX {
            (self.kept, self.items) = (HashMap::new(), 0);
        }
        self.items += own.weight();
        if let Some((_, _, before)) = self.kept.insert(user, (mark, now, own)) {
            self.items -= before.weight();
        }
    }
}

impl Own {
    /// Of a page of at most one more than [`OWN_ITEMS_MAX`].
    pub fn of(items: HashSet<ItemId>) -> Self {
        if items.len() > OWN_ITEMS_MAX { Self::Many } else { Self::All(Arc::new(items)) }
    }

    /// A person without a like takes a place too.
    fn weight(&self) -> usize {
        match self {
            Self::All(items) => items.len() + 1,
            Self::Many => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(n: usize) -> UserId {
        UserId::parse(&format!("u{n}")).unwrap()
    }

    fn likes(n: usize) -> Own {
        Own::of((0..n).map(|n| ItemId::parse(&format!("i{n}")).unwrap()).collect())
    }

    #[test]
    fn what_was_read_before_another_mark_or_long_ago_is_not_told() {
        let (mut own, start, mark) = (OwnLikes::default(), Instant::now(), Uuid::from_u128(1));
        own.put(user(1), mark, likes(3), start);
        let young = start + OWN_AGE_MAX - Duration::from_millis(1);
        assert!(matches!(own.get(&user(1), mark, young), Some(Own::All(items)) if items.len() == 3));
        assert!(own.get(&user(1), Uuid::from_u128(2), young).is_none());
        assert!(own.get(&user(1), mark, start + OWN_AGE_MAX).is_none());
        assert!(own.get(&user(2), mark, young).is_none());
    }

    #[test]
    fn its_memory_is_bounded_and_whoever_likes_too_much_is_only_remembered() {
        let (mut own, start, mark) = (OwnLikes::default(), Instant::now(), Uuid::from_u128(1));
        assert!(matches!(likes(OWN_ITEMS_MAX + 1), Own::Many));
        let full = likes(OWN_ITEMS_MAX);
        for n in 0..2 * KEPT_MAX / OWN_ITEMS_MAX {
            own.put(user(n), mark, full.clone(), start);
            own.put(user(n), mark, full.clone(), start);
            assert!(own.items <= KEPT_MAX + 2 * OWN_ITEMS_MAX);
            assert_eq!(own.items, own.kept.values().map(|(_, _, own)| own.weight()).sum::<usize>());
        }
    }
}
