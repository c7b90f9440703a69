//! The ledger of an item: for each counter `durable + unflushed = total`, at one moment.
//!
//! The two stores are read one after the other. Between the reads a flight may be applied or settled, so a pair counts only if
//! it fits: the document at the item's fold, or one ahead of it with the item's flight applied and not yet settled.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Acts;
use super::perform::unavailable;
use super::rights::{self, Needs};
use crate::auth::Caller;
use crate::protocol::{ApiError, Code, Counter, Counters, ItemId, Kind};
use crate::store::durable::Document;
use crate::store::hot::Audit;

/// Reads of a pair before giving up: flights are seconds apart, so the second read fits.
const READS_MAX: usize = 5;

/// `GET …/audit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditView {
    /// By the counter's name, `taps.heart`, `likes`, `comments`.
    pub counters: BTreeMap<String, AuditCounter>,
    /// What the facts say.
    pub facts: LikesOnly,
    /// How far the counter is from them; must be 0.
    pub drift: LikesOnly,
}

/// Likes alone have facts to be counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LikesOnly {
    /// People who like the item.
    pub likes: i64,
}

/// One counter's ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AuditCounter {
    /// What the durable store holds.
    pub durable: i64,
    /// What it does not hold yet.
    pub unflushed: i64,
    /// What viewers see.
    pub total: i64,
}

impl Acts {
    /// The item's ledger, for its hosts.
    pub async fn audit(&self, caller: &Caller, item: &ItemId) -> Result<AuditView, ApiError> {
        rights::check(caller, item, Needs::Host)?;
        let view = self.record(item).await?;
        // Between a fact and its count there would be a drift that is none.
        let _still = self.likes.hold_still(item).await;
        let facts = self.facts.count_likes(item).await.map_err(unavailable)?;
        let facts = LikesOnly { likes: i64::try_from(facts).unwrap_or(i64::MAX) };
        for _ in 0..READS_MAX {
            let hot = self.hot.audit(item).await.map_err(unavailable)?;
            let document = self.durable.document(item).await.map_err(unavailable)?;
            if let Some(unflushed) = unflushed(hot.as_ref(), &document) {
                let total = hot.map_or_else(|| Some(document.totals.clone()), |hot| hot.base.plus(&hot.delta));
                let total = total.ok_or_else(|| ApiError::new(Code::Internal, "a total leaves 64 bits"))?;
                let drift = LikesOnly { likes: total.get(Counter::Likes).saturating_sub(facts.likes) };
                let counters = lay_out(&view.reactions, &document.totals, &unflushed, &total);
                return Ok(AuditView { counters, facts, drift });
            }
        }
        Err(ApiError::new(Code::Unavailable, "the item is folded faster than it can be read").retry_after(100))
    }
}

/// What the document does not hold yet, by the hot store's own account; `None` if the two were not read at one moment.
fn unflushed(hot: Option<&Audit>, document: &Document) -> Option<Counters> {
    let Some(hot) = hot else { return Some(Counters::default()) };
    match &hot.flight {
        _ if hot.fold == document.fold => Some(hot.delta.clone()),
        Some(flight) if hot.fold + 1 == document.fold => hot.delta.minus(flight),
        _ => None,
    }
}

fn lay_out(
    reactions: &[Kind],
    durable: &Counters,
    unflushed: &Counters,
    total: &Counters,
) -> BTreeMap<String, AuditCounter> {
    let known = reactions.iter().map(|kind| Counter::Taps(*kind)).chain([Counter::Likes, Counter::Comments]);
    let moved = [durable, total].into_iter().flat_map(|counters| counters.iter().map(|(counter, _)| counter));
    let counters = known.chain(moved).map(|counter| {
        let ledger = AuditCounter {
            durable: durable.get(counter),
            unflushed: unflushed.get(counter),
            total: total.get(counter),
        };
        (counter.to_string(), ledger)
    });
    counters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEART: Counter = Counter::Taps(Kind::HEART);

    fn taps(n: i64) -> Counters {
        [(HEART, n)].into_iter().collect()
    }

    fn hot(fold: u64, base: i64, delta: i64, flight: Option<i64>) -> Audit {
        Audit { fold, base: taps(base), delta: taps(delta), flight: flight.map(taps) }
    }

    fn document(fold: u64, total: i64) -> Document {
        Document { totals: taps(total), fold, ..Document::default() }
    }

    #[test]
    fn a_flight_between_apply_and_settle_does_not_look_like_drift() {
        let read = |hot: &Audit, document: &Document| {
            unflushed(Some(hot), document).map(|n| n.get(HEART) + document.totals.get(HEART))
        };
        assert_eq!(read(&hot(3, 100, 20, None), &document(3, 100)), Some(120));
        assert_eq!(read(&hot(3, 100, 20, Some(15)), &document(3, 100)), Some(120));
        assert_eq!(read(&hot(3, 100, 20, Some(15)), &document(4, 115)), Some(120), "applied, not yet settled");
        assert_eq!(read(&hot(3, 100, 20, None), &document(4, 115)), None, "read across a flight: read again");
    }

    #[test]
    fn what_is_lost_between_the_stores_shows() {
        let (hot, document) = (hot(3, 100, 20, None), document(3, 99));
        let counters =
            lay_out(&[Kind::HEART], &document.totals, &unflushed(Some(&hot), &document).unwrap(), &taps(120));
        let ledger = counters["taps.heart"];
        assert_ne!(ledger.durable + ledger.unflushed, ledger.total);
    }
}
