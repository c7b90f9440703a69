//! Where a page of likes ends, as clients carry it: the time, then whose or which. Pure.

use crate::protocol::{ApiError, Code, ItemId, Millis, UserId};
use crate::store::durable::{Liker, Liking};

/// Text of the last one of a page of likers.
pub fn after_liker(last: &Liker) -> String {
    format!("{}.{}", last.at.0, last.user)
}

/// Text of the last one of a page of likings.
pub fn after_liking(last: &Liking) -> String {
    format!("{}.{}", last.at.0, last.item)
}

/// Reads [`after_liker`]'s.
pub fn liker(cursor: &str) -> Result<Liker, ApiError> {
    let (at, user) = parts(cursor)?;
    Ok(Liker { at, user: UserId::parse(user)? })
}

/// Reads [`after_liking`]'s.
pub fn liking(cursor: &str) -> Result<Liking, ApiError> {
    let (at, item) = parts(cursor)?;
    Ok(Liking { at, item: ItemId::parse(item)? })
}

fn parts(cursor: &str) -> Result<(Millis, &str), ApiError> {
    let parts = cursor.split_once('.').and_then(|(at, rest)| Some((Millis(at.parse().ok()?), rest)));
    parts.ok_or_else(|| ApiError::new(Code::BadRequest, "malformed cursor"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_back_to_where_the_page_ended_and_nothing_else_does() {
        let last = Liker { user: UserId::parse("a.b é").unwrap(), at: Millis(17) };
        assert_eq!(liker(&after_liker(&last)).unwrap(), last);
        let last = Liking { item: ItemId::parse("a.b").unwrap(), at: Millis(-1) };
        assert_eq!(liking(&after_liking(&last)).unwrap(), last);
        for bad in ["", "17", "x.ann", "17.", "17.a\n"] {
            assert_eq!(liker(bad).unwrap_err().code, Code::BadRequest, "{bad:?}");
        }
    }
}
