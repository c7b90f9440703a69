//! What spares readers a question to the durable store: marks of people, and filters of who likes an item.
//!
//! Both are hints beside the facts. Neither can make a reader see a like that is not there, and both may be lost at any time: then the
//! facts are asked, as without them.

use async_trait::async_trait;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

use super::contract::HotError;
use crate::protocol::{ItemId, UserId};

/// From how many likes on an item has a filter: with fewer it is not asked about by a storm of openings.
pub const FILTERED_FROM: i64 = 10_000;
/// The largest filter, in bytes: 2^24 people with 8 bits each; past that more answers are a maybe.
pub const FILTER_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bits of each person that likes the item when a filter is made, at least, and below which it is made anew. With two bits set for
/// each, of 100 people who do not like it 98.6, then 95 are told so by the filter (`1 - (1 - e^(-2n/m))^2`, Bloom 1970).
const BITS_A_LIKER: (u64, u64) = (16, 8);

/// Marks of people: whether what somebody read of a person's likes is still so.
///
/// Whoever keeps a person's likes remembers the mark that stood before they were read. While the same one stands, nothing that the
/// person was told of since is missing from them.
#[async_trait]
pub trait LikeMarks: Send + Sync + 'static {
    /// The person's mark; one is made where none stands.
    async fn mark(&self, user: &UserId) -> Result<Uuid, HotError>;

    /// These people's likes changed: their marks go. For when the facts are durable and nobody has been told so.
    async fn unmark(&self, users: &[UserId]) -> Result<(), HotError>;
}

/// Filters: who certainly does not like an item (Bloom 1970), in bounded memory.
///
/// People are noted before their fact is written, by every batch that stands at the item's fence; a filter is begun only behind a fence
/// with nothing under way, and answers only when everybody was added who liked the item before. It goes as soon as anybody doubts the
/// item ([`LikeFence::ask_recount`](super::LikeFence::ask_recount), or an entry that was found gone), and after a day.
#[async_trait]
pub trait LikeFilter: Send + Sync + 'static {
    /// From how many likes on an item has a filter. `None`: this store has none.
    fn filtered_from(&self) -> Option<i64> {
        None
    }

    /// Adds people whose likes are about to be written, and answers how many bytes the item's filter has; 0: it has none.
    async fn note(&self, _item: &ItemId, _users: &[UserId]) -> Result<u64, HotError> {
        Ok(0)
    }

    /// Begins an empty one of so many bytes; it has the fence's token for a name. `false`: that fence does not stand, or there are no filters here.
    async fn begin(&self, _item: &ItemId, _fence: Uuid, _bytes: u64) -> Result<bool, HotError> {
        Ok(false)
    }

    /// Adds people who liked the item before it was begun. `false`: it is gone, or another one.
    async fn fill(&self, _item: &ItemId, _token: Uuid, _users: &[UserId]) -> Result<bool, HotError> {
        Ok(false)
    }

    /// Everybody is in it: it answers from here on. `false`: it is gone, or another one.
    async fn finish(&self, _item: &ItemId, _token: Uuid) -> Result<bool, HotError> {
        Ok(false)
    }

    /// Which of these people may like the item, in their order; the others do not. `None`: it has no filter that answers.
    async fn maybe(&self, _item: &ItemId, _users: &[UserId]) -> Result<Option<Vec<bool>>, HotError> {
        Ok(None)
    }
}

/// The size of a filter for so many likes, in bytes: a power of two.
pub fn filter_bytes(likes: i64) -> u64 {
    let bits = u64::try_from(likes).unwrap_or_default().saturating_mul(BITS_A_LIKER.0);
    (bits / 8).checked_next_power_of_two().unwrap_or(FILTER_BYTES_MAX).clamp(1, FILTER_BYTES_MAX)
}

/// Whether an item with so many likes ought to have another filter than one of so many bytes. `from`: see [`LikeFilter::filtered_from`].
pub fn wants_filter(likes: i64, bytes: u64, from: Option<i64>) -> bool {
    let bits = u64::try_from(likes).unwrap_or_default().saturating_mul(BITS_A_LIKER.1);
    from.is_some_and(|from| likes >= from) && bytes < FILTER_BYTES_MAX && bytes.saturating_mul(8) < bits
}

/// The two halves of a person's hash, from which the places of their bits follow (Kirsch and Mitzenmacher 2006). XXH3, which is the same
/// in every build: nodes share filters.
pub fn halves(user: &UserId) -> (u32, u32) {
    let hash = xxh3_64(user.as_str().as_bytes());
    ((hash >> 32) as u32, hash as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_made_for_many_likes_and_anew_before_it_says_maybe_too_often() {
        let wants_filter = |likes, bytes| wants_filter(likes, bytes, Some(FILTERED_FROM));
        assert!(!wants_filter(FILTERED_FROM - 1, 0));
        assert!(wants_filter(FILTERED_FROM, 0));
        assert!(!super::wants_filter(i64::MAX, 0, None));
        for likes in [FILTERED_FROM, 1_000_000, 5_000_000] {
            let bytes = filter_bytes(likes);
            assert!(bytes.is_power_of_two() && (16..64).contains(&(bytes * 8 / likes as u64)), "{likes}: {bytes}");
            assert!(!wants_filter(2 * likes, bytes), "{likes}: {bytes}");
            assert!(wants_filter(8 * likes, bytes) || bytes == FILTER_BYTES_MAX, "{likes}: {bytes}");
        }
        assert_eq!(filter_bytes(i64::MAX), FILTER_BYTES_MAX);
        assert!(!wants_filter(i64::MAX, FILTER_BYTES_MAX));
    }

    /// Another hash would find nobody in filters that other nodes made.
    #[test]
    fn a_person_keeps_their_places() {
        assert_eq!(halves(&UserId::parse("ann").unwrap()), (1_210_878_280, 1_287_480_008));
    }
}
