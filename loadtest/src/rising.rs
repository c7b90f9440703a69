//! What one socket may see of a room's numbers: totals never go down (I4), event numbers have no silent gap (I9).
//!
//! Both are kept per socket and know nothing of other sockets; that all end at the same number is the run's own last check.

/// The totals of one counter as one socket saw them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rising {
    last: Option<i64>,
}

impl Rising {
    /// Takes the next value.
    ///
    /// # Errors
    /// It is lower than the one before; both are told.
    pub fn see(&mut self, value: i64) -> Result<(), String> {
        let before = self.last.replace(value);
        match before {
            Some(before) if value < before => Err(format!("went down from {before} to {value}")),
            _ => Ok(()),
        }
    }

    /// The latest value, if there was one.
    pub const fn last(&self) -> Option<i64> {
        self.last
    }
}

/// The room's numbers as one socket saw them: an event takes the next one, a state message carries the current one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Numbered {
    last: Option<u64>,
}

impl Numbered {
    /// A snapshot: everything up to `seq` is in it.
    pub const fn restart(&mut self, seq: u64) {
        self.last = Some(seq);
    }

    /// An event under `seq`.
    ///
    /// # Errors
    /// It is not the number after the last one: a gap that nobody declared, or a repeat.
    pub fn event(&mut self, seq: u64) -> Result<(), String> {
        match self.last.replace(seq) {
            Some(last) if seq != last + 1 => Err(format!("event {seq} came after {last}")),
            _ => Ok(()),
        }
    }

    /// A message of state (`counts`, `pace`) that carries the current `seq`.
    ///
    /// # Errors
    /// It names a number that this socket has not been given yet (who resumed from it would miss an event) or one gone by.
    pub fn state(&self, seq: u64) -> Result<(), String> {
        match self.last {
            Some(last) if seq != last => Err(format!("a state message says {seq}, the last event was {last}")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_dips_is_told() {
        let mut rising = Rising::default();
        assert!([3, 3, 9].into_iter().all(|value| rising.see(value).is_ok()));
        assert!(rising.see(8).is_err());
        assert_eq!(rising.last(), Some(8));
    }

    #[test]
    fn gaps_and_repeats_are_told() {
        let mut numbered = Numbered::default();
        numbered.restart(4);
        assert!(numbered.event(5).is_ok());
        assert!(numbered.state(5).is_ok());
        assert!(numbered.state(6).is_err());
        assert!(numbered.event(7).is_err());
        assert!(numbered.event(7).is_err());
        assert!(numbered.event(8).is_ok());
    }
}
