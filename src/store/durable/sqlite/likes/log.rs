//! The log of accepted batches: a row each, as it came; read back at start, deleted when its facts are in the table.
//!
//! One row of a blob is what makes accepting cheap: its pages lie side by side, however many people and wherever their facts belong.

use rusqlite::types::Type;
use rusqlite::{Connection, params};

use super::open_batches::RowNo;
use super::overlay::{Fact, Overlay};
use super::table::{self, ItemNo};
use crate::protocol::{ItemId, Millis, UserId};
use crate::store::durable::sqlite::value::{damaged, item_id};

/// A row as it is written.
pub(super) struct Entry {
    pub item: ItemId,
    pub at: Millis,
    /// What is new, as [`encode`] has it.
    pub facts: Vec<u8>,
}

/// Appends a row and answers the item's number.
pub(super) fn append(connection: &Connection, row: RowNo, entry: &Entry) -> rusqlite::Result<ItemNo> {
    let no = table::item_no_or_new(connection, &entry.item)?;
    let sql = "INSERT INTO like_log (no, item, at, facts) VALUES (?1, ?2, ?3, ?4)";
    connection.prepare_cached(sql)?.execute(params![row, no, entry.at.0, entry.facts])?;
    Ok(no)
}

/// Deletes the rows up to one.
pub(super) fn delete_up_to(connection: &Connection, row: RowNo) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM like_log WHERE no <= ?1")?.execute([row])?;
    Ok(())
}

/// All rows, in their order.
pub(super) fn read(connection: &Connection) -> rusqlite::Result<Overlay> {
    let sql = "SELECT like_log.no, liked_items.item, at, facts FROM like_log
        JOIN liked_items ON liked_items.no = like_log.item ORDER BY like_log.no";
    let mut overlay = Overlay::default();
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let at = Millis(row.get(2)?);
        let facts = decode(row.get_ref(3)?.as_blob()?, at).map_err(|e| damaged(3, Type::Blob, e))?;
        overlay.apply(&item_id(row, 1)?, facts, row.get(0)?);
    }
    Ok(overlay)
}

/// Each fact is a byte, twice the length of the name less one, and one more for a like; then the name, of 1 to 128 bytes.
pub(super) fn encode<'a>(facts: impl Iterator<Item = (&'a UserId, bool)>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (user, liked) in facts {
        let name = user.as_str().as_bytes();
        // The grammar bounds names to what fits.
        bytes.push((((name.len() - 1) as u8) << 1) | u8::from(liked));
        bytes.extend_from_slice(name);
    }
    bytes
}

/// Why a row does not read back.
#[derive(Debug, thiserror::Error)]
#[error("the facts of a batch are cut off or no names")]
pub(super) struct BadFacts;

fn decode(mut bytes: &[u8], at: Millis) -> Result<Vec<(UserId, Fact)>, BadFacts> {
    let mut facts = Vec::new();
    while let Some((tag, rest)) = bytes.split_first() {
        let (name, rest) = rest.split_at_checked(usize::from(tag >> 1) + 1).ok_or(BadFacts)?;
        let name = std::str::from_utf8(name).map_err(|_| BadFacts)?;
        facts.push((UserId::parse(name).map_err(|_| BadFacts)?, (tag & 1 == 1).then_some(at)));
        bytes = rest;
    }
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of every length there is, some of more bytes than characters.
    #[test]
    fn facts_come_back_as_they_went_and_cut_ones_are_errors() {
        let names = (1..=128_usize).map(|n| if n % 2 == 0 { "é".repeat(n / 2) } else { "x".repeat(n) });
        let facts: Vec<_> = names.map(|name| (UserId::parse(&name).unwrap(), name.len() % 3 == 0)).collect();
        let bytes = encode(facts.iter().map(|(user, liked)| (user, *liked)));
        let expected: Vec<_> = facts.iter().map(|(user, liked)| (user.clone(), liked.then_some(Millis(7)))).collect();
        assert_eq!(decode(&bytes, Millis(7)).unwrap(), expected);
        assert_eq!(decode(&[], Millis(7)).unwrap(), []);
        assert!(decode(&bytes[..bytes.len() - 1], Millis(7)).is_err());
        assert!(decode(&[0, 0xff], Millis(7)).is_err(), "no UTF-8");
        assert!(decode(&[0, 7], Millis(7)).is_err(), "a control character");
    }
}
