//! Who likes what, as one sender must have it. Pure.

use std::collections::HashSet;

/// The likes of one sender's people.
#[derive(Debug, Default)]
pub struct Books {
    /// Item and person.
    liked: HashSet<(u32, u32)>,
    per_item: Vec<i64>,
}

impl Books {
    /// Takes an act in and answers whether it must change something.
    pub fn act(&mut self, item: u32, person: u32, liked: bool) -> bool {
        let changed = if liked { self.liked.insert((item, person)) } else { self.liked.remove(&(item, person)) };
        if changed {
            let place = item as usize;
            if self.per_item.len() <= place {
                self.per_item.resize(place + 1, 0);
            }
            if let Some(likes) = self.per_item.get_mut(place) {
                *likes += if liked { 1 } else { -1 };
            }
        }
        changed
    }

    /// How many of its people like an item.
    pub fn likes_of(&self, item: usize) -> i64 {
        self.per_item.get(item).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeat_changes_nothing_and_an_unlike_only_what_was_liked() {
        let mut books = Books::default();
        let acts = [(true, true), (true, false), (false, true), (false, false), (true, true)];
        for (liked, changes) in acts {
            assert_eq!(books.act(3, 7, liked), changes);
        }
        assert_eq!((books.likes_of(3), books.likes_of(0), books.likes_of(9)), (1, 0, 0));
    }
}
