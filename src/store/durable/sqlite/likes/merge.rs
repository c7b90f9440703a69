//! Pages out of the overlay and the table put together. Pure.

use crate::protocol::{ItemId, Millis, UserId};
use crate::store::durable::likes::{Liker, Liking};

/// What a page is ordered by.
pub(super) trait Dated {
    type Name: Ord;
    fn key(&self) -> (Millis, &Self::Name);
}

impl Dated for Liker {
    type Name = UserId;
    fn key(&self) -> (Millis, &UserId) {
        (self.at, &self.user)
    }
}

impl Dated for Liking {
    type Name = ItemId;
    fn key(&self) -> (Millis, &ItemId) {
        (self.at, &self.item)
    }
}

/// The first `limit` of two pages that are newest first and have nothing in common.
pub(super) fn pages<T: Dated>(a: Vec<T>, b: Vec<T>, limit: usize) -> Vec<T> {
    let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
    let newest = std::iter::from_fn(|| match (a.peek(), b.peek()) {
        (Some(first), Some(second)) if first.key() < second.key() => b.next(),
        (Some(_), _) => a.next(),
        (None, _) => b.next(),
    });
    newest.take(limit).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(keys: Vec<(i64, u8)>) -> Vec<Liker> {
        let liker = |(at, n)| Liker { user: UserId::parse(&format!("u{n}")).unwrap(), at: Millis(at) };
        let mut page: Vec<_> = keys.into_iter().map(liker).collect();
        page.sort_by(|a, b| b.key().cmp(&a.key()));
        page
    }

    proptest! {
        /// Scenario: a page has a gap, a double or the wrong order. Method: any set of keys, split anyhow, against sorting them all.
        #[test]
        fn two_pages_are_one_in_order(
            keys in prop::collection::btree_map((0..6_i64, 0..9_u8), any::<bool>(), 0..20),
            limit in 0..25_usize,
        ) {
            let of = |side| page(keys.iter().filter(|(_, is)| **is == side).map(|(key, _)| *key).collect());
            let mut all = page(keys.keys().copied().collect());
            all.truncate(limit);
            prop_assert_eq!(pages(of(true), of(false), limit), all);
        }
    }
}
