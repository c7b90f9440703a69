//! One page of history out of its two halves. Pure.

use crate::protocol::{ApiError, Code, Comment};
use crate::store::durable::CommentCursor;

/// A page that goes back in time from where the one before ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Oldest first.
    pub comments: Vec<Comment>,
    /// Where the next page begins, if there may be one.
    pub next: Option<CommentCursor>,
}

/// Merges up to `limit + 1` durable comments, newest first, with all unflushed ones. A comment in both is there once.
pub fn merge(durable: Vec<Comment>, unflushed: Vec<Comment>, before: Option<CommentCursor>, limit: usize) -> Page {
    let mut all = durable;
    all.extend(
        unflushed.into_iter().filter(|comment| before.is_none_or(|before| CommentCursor::from(comment) < before)),
    );
    all.sort_by_key(|comment| std::cmp::Reverse(CommentCursor::from(comment)));
    all.dedup_by_key(|comment| comment.id);
    let more = all.len() > limit;
    all.truncate(limit);
    let next = all.last().filter(|_| more).map(CommentCursor::from);
    all.reverse();
    Page { comments: all, next }
}

/// The cursor as clients carry it; opaque to them.
pub fn cursor_text(cursor: CommentCursor) -> String {
    format!("{}-{}", cursor.at.0, cursor.id)
}

/// Reads a cursor back.
pub fn parse_cursor(text: &str) -> Result<CommentCursor, ApiError> {
    let parsed = text.split_once('-').and_then(|(at, id)| {
        Some(CommentCursor { at: crate::protocol::Millis(at.parse().ok()?), id: id.parse().ok()? })
    });
    parsed.ok_or_else(|| ApiError::new(Code::BadRequest, "malformed cursor"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{CommentId, Millis, UserId};
    use uuid::Uuid;

    fn comment(n: u128) -> Comment {
        let at = Millis(i64::try_from(n).unwrap());
        Comment {
            id: CommentId(Uuid::from_u128(n)),
            user: UserId::parse("u").unwrap(),
            text: n.to_string(),
            at,
            name: None,
        }
    }

    fn numbers(page: &Page) -> Vec<u128> {
        page.comments.iter().map(|comment| comment.id.0.as_u128()).collect()
    }

    #[test]
    fn a_comment_that_is_flushed_between_the_two_reads_is_there_once() {
        let page = merge(vec![comment(3), comment(2), comment(1)], vec![comment(3), comment(4)], None, 10);
        assert_eq!(numbers(&page), [1, 2, 3, 4]);
        assert_eq!(page.next, None);
    }

    #[test]
    fn pages_follow_each_other_without_gap_or_overlap() {
        let first = merge(vec![comment(2), comment(1)], vec![comment(3), comment(4)], None, 2);
        assert_eq!(numbers(&first), [3, 4]);
        let cursor = first.next.unwrap();
        assert_eq!(parse_cursor(&cursor_text(cursor)), Ok(cursor));
        let second = merge(vec![comment(2), comment(1)], vec![comment(3), comment(4)], Some(cursor), 2);
        assert_eq!((numbers(&second), second.next), (vec![1, 2], None));
    }

    #[test]
    fn a_malformed_cursor_is_refused() {
        for text in ["", "1", "x-y", "1-", "-1"] {
            assert!(parse_cursor(text).is_err(), "{text}");
        }
    }
}
