//! Who is watching: people, not sockets. Pure.
//!
//! A person with three tabs, on two workers, is one viewer; observers and hosts are none.

use std::collections::HashMap;

use crate::protocol::UserId;

/// The people of one room on this node.
#[derive(Debug, Default)]
pub struct Audience {
    sockets_of: HashMap<UserId, u32>,
    sockets: usize,
}

impl Audience {
    /// A socket came in.
    pub fn join(&mut self, user: &UserId, counted: bool) {
        self.sockets += 1;
        if counted {
            *self.sockets_of.entry(user.clone()).or_insert(0) += 1;
        }
    }

    /// A socket has gone; as it was told at its join. One that never joined changes nothing.
    pub fn leave(&mut self, user: &UserId, counted: bool) {
        self.sockets = self.sockets.saturating_sub(1);
        if !counted {
            return;
        }
        if let Some(sockets) = self.sockets_of.get_mut(user) {
            *sockets -= 1;
            if *sockets == 0 {
                self.sockets_of.remove(user);
            }
        }
    }

    /// Distinct people.
    pub fn viewers(&self) -> i64 {
        i64::try_from(self.sockets_of.len()).unwrap_or(i64::MAX)
    }

    /// All sockets, observers included: what the fan-out costs.
    pub fn sockets(&self) -> usize {
        self.sockets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_reconnects_and_overlays_do_not_count_as_viewers() {
        let mut audience = Audience::default();
        let (ann, overlay) = (UserId::parse("ann").unwrap(), UserId::parse("overlay").unwrap());
        audience.join(&ann, true);
        audience.join(&ann, true);
        audience.join(&overlay, false);
        assert_eq!((audience.viewers(), audience.sockets()), (1, 3));
        audience.leave(&ann, true);
        assert_eq!(audience.viewers(), 1);
        audience.leave(&ann, true);
        audience.leave(&ann, true);
        audience.leave(&overlay, false);
        assert_eq!((audience.viewers(), audience.sockets()), (0, 0));
    }
}
