//! One order of comments for everybody: the first socket that sees position `k` fixes what stands there, all others are compared.
//!
//! So a follower needs one number instead of a list, whatever the length of the show, and a difference is known at once.

use std::collections::HashMap;
use std::time::Duration;

/// One comment in the order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Its id, as the JSON token that the server sent.
    pub id: Box<str>,
    /// When the first socket saw it; from the start of the run.
    pub first_seen: Duration,
    /// When the last socket so far saw it.
    pub last_seen: Duration,
}

/// The order as it has shown itself so far.
#[derive(Debug, Default)]
pub struct Order {
    placed: Vec<Placed>,
    places: HashMap<Box<str>, usize>,
}

/// Where one socket stands in the order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Follower {
    /// How many comments it has seen.
    pub seen: usize,
}

impl Order {
    /// All comments so far.
    pub fn placed(&self) -> &[Placed] {
        &self.placed
    }

    /// Where a comment stands.
    pub fn place_of(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// The follower sees the next comment.
    ///
    /// # Errors
    /// It is not what others saw there, or it has been seen before.
    pub fn see(&mut self, follower: &mut Follower, id: &str, now: Duration) -> Result<(), String> {
        let at = follower.seen;
        follower.seen += 1;
        match self.placed.get_mut(at) {
            Some(placed) if *placed.id == *id => {
                placed.last_seen = now;
                Ok(())
            }
            Some(placed) => Err(format!("comment {at} is {id} here and {} elsewhere", placed.id)),
            None => self.place(id, now),
        }
    }

    fn place(&mut self, id: &str, now: Duration) -> Result<(), String> {
        let at = self.placed.len();
        let before = self.places.insert(id.into(), at);
        self.placed.push(Placed { id: id.into(), first_seen: now, last_seen: now });
        before.map_or(Ok(()), |before| Err(format!("comment {id} came twice, as {before} and as {at}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn see_all(order: &mut Order, ids: &[&str]) -> Result<(), String> {
        let mut follower = Follower::default();
        ids.iter().try_for_each(|id| order.see(&mut follower, id, Duration::ZERO))
    }

    #[test]
    fn another_order_a_gap_and_a_double_are_told() {
        let mut order = Order::default();
        assert!(see_all(&mut order, &["a", "b", "c"]).is_ok());
        assert!(see_all(&mut order, &["a", "b", "c", "d"]).is_ok());
        assert!(see_all(&mut order, &["a", "c"]).is_err());
        assert!(see_all(&mut order, &["b"]).is_err());
        assert!(see_all(&mut order, &["a", "b", "c", "d", "a"]).is_err());
        assert_eq!(order.place_of("c"), Some(2));
    }
}
