//! A map of recent things in bounded memory, in shards with a lock each so that workers seldom meet.
//!
//! A shard that is full forgets all that is in it: whoever was there starts anew. That is the mild side to fail on: a flood of new
//! names never locks out the people who were there before, and costs no more than the names that it took.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

use parking_lot::Mutex;

/// Shards; more than the workers of any machine in mind, so that two seldom want the same one.
const SHARDS: usize = 64;

/// At most `capacity` entries, roughly even over the shards. Keys are hashed with a seed of this process's, so that nobody can
/// aim at one shard.
pub struct Bounded<K, V> {
    shards: Vec<Mutex<HashMap<K, V>>>,
    shard_max: usize,
    hasher: RandomState,
}

impl<K: Hash + Eq + Clone, V: Copy> Bounded<K, V> {
    /// Empty.
    pub fn new(capacity: usize) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            shard_max: capacity.div_ceil(SHARDS).max(1),
            hasher: RandomState::new(),
        }
    }

    /// Reads and perhaps replaces a value in one step. `change` answers its result and the new value, if there is one.
    pub fn change<T>(&self, key: &K, change: impl FnOnce(Option<V>) -> (T, Option<V>)) -> Option<T> {
        let mut shard = self.shard(key)?.lock();
        match shard.get_mut(key) {
            Some(value) => {
                let (result, new) = change(Some(*value));
                *value = new.unwrap_or(*value);
                Some(result)
            }
            None => {
                let (result, new) = change(None);
                if let Some(new) = new {
                    if shard.len() >= self.shard_max {
                        shard.clear();
                    }
                    shard.insert(key.clone(), new);
                }
                Some(result)
            }
        }
    }

    /// Keeps only these, and gives memory back where most went.
    pub fn retain(&self, keep: impl Fn(&V) -> bool) {
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.retain(|_, value| keep(value));
            if shard.capacity() > 4 * shard.len() {
                let room = 2 * shard.len();
                shard.shrink_to(room);
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn shard(&self, key: &K) -> Option<&Mutex<HashMap<K, V>>> {
        // The remainder fits: it is below SHARDS.
        self.shards.get((self.hasher.hash_one(key) % SHARDS as u64) as usize)
    }
}
