//! Names of keys. All keys of one item lie in one slot of a cluster, so that one script may touch them.

use crate::protocol::{ItemId, UserId};

/// Logical shards. Fixed for ever: an item's keys would move with it.
pub(super) const SHARDS: u64 = 64;

/// What all keys of an installation begin with.
#[derive(Debug, Clone)]
pub(super) struct Space(String);

/// The keys of one item, and its shard's set of dirty ones.
#[derive(Debug)]
pub(super) struct Keys {
    pub item: String,
    pub dirty: String,
    pub comments: String,
    pub events: String,
    pub presence: String,
}

/// The keys of an item's likes, and its shard's sets of such items.
#[derive(Debug)]
pub(super) struct LikeKeys {
    pub likes: String,
    pub fenced: String,
    pub recount: String,
    pub filter: String,
}

impl Space {
    /// `None` if it has a brace: what is in the first braces of a key decides its slot.
    pub fn new(prefix: &str) -> Option<Self> {
        (!prefix.contains(['{', '}'])).then(|| Self(prefix.to_owned()))
    }

    pub fn of(&self, item: &ItemId) -> Keys {
        let Self(space) = self;
        let shard = shard(item.as_str());
        let key = |what: &str| format!("{space}{{hl:{shard}}}:{what}:{item}");
        Keys {
            item: key("item"),
            dirty: self.dirty(shard),
            comments: key("comments"),
            events: key("events"),
            presence: key("presence"),
        }
    }

    /// The set of a shard's dirty items.
    pub fn dirty(&self, shard: u64) -> String {
        format!("{}{{hl:{shard}}}:dirty", self.0)
    }

    /// What a recount needs of the item.
    pub fn likes_of(&self, item: &ItemId) -> LikeKeys {
        let shard = shard(item.as_str());
        let key = |what: &str| format!("{}{{hl:{shard}}}:{what}:{item}", self.0);
        LikeKeys {
            likes: key("likes"),
            fenced: self.fenced(shard),
            recount: self.recount(shard),
            filter: key("members"),
        }
    }

    /// The set of a shard's items with batches of likes under way, or a fence.
    pub fn fenced(&self, shard: u64) -> String {
        format!("{}{{hl:{shard}}}:fenced", self.0)
    }

    /// The hash of a shard's items that are to be recounted, each with the mark of the last request.
    pub fn recount(&self, shard: u64) -> String {
        format!("{}{{hl:{shard}}}:recount", self.0)
    }

    /// A person's mark. Of no item, and so in any slot.
    pub fn mark_of(&self, user: &UserId) -> String {
        format!("{}hl:mark:{user}", self.0)
    }

    /// The leases of writers.
    pub fn writers(&self) -> String {
        format!("{}hl:writers", self.0)
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo; the IETF draft's parameters): every build on every machine gives the same.
fn shard(item: &str) -> u64 {
    let hash = item
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash % SHARDS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A changed hash would leave every stored item behind under its old keys.
    #[test]
    fn an_item_keeps_its_shard() {
        let shards: Vec<_> = ["a", "live-1", "Some.Game:7"].map(shard).to_vec();
        assert_eq!(shards, [12, 53, 24]);
        assert!((0..1_000).map(|n| shard(&format!("item-{n}"))).all(|shard| shard < SHARDS));
    }

    #[test]
    fn all_keys_of_an_item_have_one_hash_tag_that_no_space_can_change() {
        let keys = Space::new("x:").unwrap().of(&ItemId::parse("a").unwrap());
        assert_eq!(keys.item, "x:{hl:12}:item:a");
        for key in [keys.dirty, keys.comments, keys.events, keys.presence] {
            assert!(key.starts_with("x:{hl:12}:"), "{key}");
        }
        assert!(Space::new("{x}").is_none());
    }
}
