//! How values stand in documents: counts as 64-bit integers, ids as binary UUIDs or text, counters nested as their names are
//! (`taps.heart` is `heart` in `taps`, which is also how `$inc` addresses it).
//!
//! What does not read back is an error, never a default: a damaged document must not pass for an empty one.

use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{Binary, Bson, Document};
use mongodb::error::{Error, ErrorKind, WriteFailure};
use uuid::Uuid;

use crate::protocol::{Counter, Counters, WriterId};
use crate::store::durable::contract::DurableError;
use crate::store::hot::contract::Vector;

const DUPLICATE_KEY: i32 = 11_000;

/// A field that must be there.
pub(super) fn field<'a>(document: &'a Document, name: &str) -> Result<&'a Bson, DurableError> {
    document.get(name).ok_or_else(|| damaged(name))
}

/// A whole number. One that something else wrote as 32 bits is taken, one with a point is not.
pub(super) fn integer(document: &Document, name: &str) -> Result<i64, DurableError> {
    whole(field(document, name)?).ok_or_else(|| damaged(name))
}

pub(super) fn text(document: &Document, name: &str) -> Result<String, DurableError> {
    field(document, name)?.as_str().map(str::to_owned).ok_or_else(|| damaged(name))
}

/// A number as MongoDB holds it; one past 2^63 has no place there and cannot come about by counting.
pub(super) fn signed(number: u64) -> Result<i64, DurableError> {
    i64::try_from(number).map_err(|_| DurableError(format!("{number} is past 63 bits")))
}

pub(super) fn unsigned(document: &Document, name: &str) -> Result<u64, DurableError> {
    u64::try_from(integer(document, name)?).map_err(|_| damaged(name))
}

pub(super) fn from_uuid(id: Uuid) -> Bson {
    Bson::Binary(Binary { subtype: BinarySubtype::Uuid, bytes: id.into_bytes().to_vec() })
}

pub(super) fn uuid(document: &Document, name: &str) -> Result<Uuid, DurableError> {
    match field(document, name)? {
        Bson::Binary(binary) => Uuid::from_slice(&binary.bytes).map_err(|_| damaged(name)),
        _ => Err(damaged(name)),
    }
}

pub(super) fn from_counters(counters: &Counters) -> Document {
    let (mut all, mut taps) = (Document::new(), Document::new());
    for (counter, n) in counters.iter() {
        match counter {
            Counter::Taps(kind) => taps.insert(kind.as_str(), n),
            Counter::Likes | Counter::Comments => all.insert(counter.to_string(), n),
        };
    }
    if !taps.is_empty() {
        all.insert("taps", taps);
    }
    all
}

/// Counters of a field; none where there is no such field, since `$inc` makes it with the first one.
pub(super) fn counters(document: &Document, name: &str) -> Result<Counters, DurableError> {
    let Some(all) = document.get(name) else { return Ok(Counters::default()) };
    let mut pairs = Vec::new();
    for (group, value) in all.as_document().ok_or_else(|| damaged(name))? {
        match value {
            Bson::Document(inner) => {
                for (kind, value) in inner {
                    pairs.push(counter(&format!("{group}.{kind}"), value)?);
                }
            }
            value => pairs.push(counter(group, value)?),
        }
    }
    Ok(pairs.into_iter().collect())
}

fn counter(name: &str, value: &Bson) -> Result<(Counter, i64), DurableError> {
    let counter: Counter = name.parse().map_err(|_| damaged(name))?;
    Ok((counter, whole(value).ok_or_else(|| damaged(name))?))
}

pub(super) fn from_vector(vector: &Vector) -> Result<Document, DurableError> {
    vector.iter().map(|(writer, op)| Ok((writer.to_string(), Bson::Int64(signed(*op)?)))).collect()
}

pub(super) fn vector(document: &Document, name: &str) -> Result<Vector, DurableError> {
    let stored = field(document, name)?.as_document().ok_or_else(|| damaged(name))?;
    let pair = |key: &String| {
        let writer = Uuid::parse_str(key).map_err(|_| damaged(key))?;
        Ok((WriterId(writer), unsigned(stored, key)?))
    };
    stored.keys().map(pair).collect()
}

fn whole(value: &Bson) -> Option<i64> {
    match value {
        Bson::Int64(n) => Some(*n),
        Bson::Int32(n) => Some(i64::from(*n)),
        _ => None,
    }
}

pub(super) fn damaged(name: &str) -> DurableError {
    DurableError(format!("{name} of a stored document is missing or damaged"))
}

/// Whether a single write met its own id.
pub(super) fn is_duplicate(error: &Error) -> bool {
    match &*error.kind {
        ErrorKind::Write(WriteFailure::WriteError(write)) => write.code == DUPLICATE_KEY,
        _ => false,
    }
}

impl From<mongodb::error::Error> for DurableError {
    fn from(error: mongodb::error::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<mongodb::bson::error::Error> for DurableError {
    fn from(error: mongodb::bson::error::Error) -> Self {
        Self(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use mongodb::bson::doc;

    use super::*;
    use crate::protocol::Kind;

    /// Numbers past 2^53 and both kinds of counters, there and back; then numbers with a point, and names that nobody knows.
    #[test]
    fn counters_come_back_exact_and_damaged_ones_are_errors() {
        let counters: Counters =
            [(Counter::Taps(Kind::HEART), i64::MAX), (Counter::Likes, -1), (Counter::Comments, (1 << 53) + 1)]
                .into_iter()
                .collect();
        let stored = doc! { "totals": from_counters(&counters) };
        assert_eq!(super::counters(&stored, "totals").unwrap(), counters);
        assert_eq!(super::counters(&doc! {}, "totals").unwrap(), Counters::default());
        for bad in [doc! { "likes": 1.0 }, doc! { "hats": 1_i64 }, doc! { "taps": { "": 1_i64 } }] {
            assert!(super::counters(&doc! { "totals": bad }, "totals").is_err());
        }
    }

    /// A vector there and back, and one with a key that is no writer.
    #[test]
    fn a_vector_comes_back_and_a_damaged_one_is_an_error() {
        let vector: Vector = [(WriterId(Uuid::from_u128(7)), 9)].into_iter().collect();
        let stored = doc! { "folded": from_vector(&vector).unwrap() };
        assert_eq!(super::vector(&stored, "folded").unwrap(), vector);
        assert!(super::vector(&doc! { "folded": { "x": 1_i64 } }, "folded").is_err());
        assert!(super::vector(&doc! {}, "folded").is_err());
    }
}
