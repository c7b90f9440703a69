//! Marks of the embedded store: they are of this process run, as is whatever is kept by them.

use std::collections::HashMap;

use uuid::Uuid;

use crate::protocol::UserId;

/// Marks that stand at once; past it all of them go, and everybody is read again. Some 10 MB.
const MARKS_MAX: usize = 100_000;

/// See [`LikeMarks`](crate::store::hot::LikeMarks).
#[derive(Debug, Default)]
pub(super) struct Marks {
    marks: HashMap<UserId, Uuid>,
    last: u128,
}

impl Marks {
    pub fn mark(&mut self, user: &UserId) -> Uuid {
        if let Some(mark) = self.marks.get(user) {
            return *mark;
        }
        if self.marks.len() >= MARKS_MAX {
            self.marks.clear();
        }
        self.last += 1;
        let mark = Uuid::from_u128(self.last);
        self.marks.insert(user.clone(), mark);
        mark
    }

    pub fn unmark(&mut self, users: &[UserId]) {
        // Nobody reads pages in most storms.
        if !self.marks.is_empty() {
            for user in users {
                self.marks.remove(user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(n: usize) -> UserId {
        UserId::parse(&format!("u{n}")).unwrap()
    }

    #[test]
    fn a_mark_stands_until_it_is_taken_away_and_never_comes_again() {
        let mut marks = Marks::default();
        let (first, other) = (marks.mark(&user(1)), marks.mark(&user(2)));
        assert_eq!(marks.mark(&user(1)), first);
        marks.unmark(&[user(1), user(3)]);
        assert_ne!(marks.mark(&user(1)), first);
        assert_eq!(marks.mark(&user(2)), other);
    }

    #[test]
    fn their_memory_is_bounded() {
        let mut marks = Marks::default();
        let first = marks.mark(&user(0));
        for n in 1..MARKS_MAX + 10 {
            marks.mark(&user(n));
        }
        assert!(marks.marks.len() <= MARKS_MAX);
        assert_ne!(marks.mark(&user(0)), first);
    }
}
