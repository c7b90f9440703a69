//! Reads: overlay over table. The overlay is looked at first: a fact that leaves it afterwards is in the table when that is read.
//!
//! With likes under way each fact is as it was at some moment of the read; without, and whatever is being folded, all are as they are.

use rusqlite::Connection;

use super::overlay::Fact;
use super::{Shared, merge, table};
use crate::protocol::{ItemId, UserId};
use crate::store::durable::likes::{Liker, Liking};

/// Counts the table, and corrects it by what the overlay says differently: on one snapshot, whatever is folded meanwhile.
pub(super) fn count(shared: &Shared, connection: &Connection, item: &ItemId) -> rusqlite::Result<u64> {
    let mut known: Vec<(UserId, Fact)> = {
        let overlay = shared.overlay.read();
        overlay.of(item).all().map(|(user, fact)| (user.clone(), fact)).collect()
    };
    // In the table's order its pages are read once.
    known.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let likes = known.iter().filter(|(_, fact)| fact.is_some()).count() as u64;
    let snapshot = connection.unchecked_transaction()?;
    let Some(no) = table::item_no(&snapshot, item)? else { return Ok(likes) };
    let stored = table::count(&snapshot, no)?;
    let mut overruled = 0;
    for (user, _) in &known {
        overruled += u64::from(table::likes(&snapshot, no, user)?);
    }
    Ok(stored.saturating_sub(overruled) + likes)
}

/// No fact leaves the overlay while the page is read, or one that it overrules could be taken from the table.
pub(super) fn likers(
    shared: &Shared,
    connection: &Connection,
    item: &ItemId,
    before: Option<&Liker>,
    limit: usize,
) -> rusqlite::Result<Vec<Liker>> {
    let _pin = shared.pins.read();
    let accepted = shared.overlay.read().of(item).newest(before, limit);
    let Some(no) = table::item_no(connection, item)? else { return Ok(accepted) };
    let overruled = |user: &UserId| shared.overlay.read().of(item).get(user).is_some();
    let stored = table::likers(connection, no, before, limit, overruled)?;
    Ok(merge::pages(accepted, stored, limit))
}

pub(super) fn likings(
    shared: &Shared,
    connection: &Connection,
    user: &UserId,
    before: Option<&Liking>,
    limit: usize,
) -> rusqlite::Result<Vec<Liking>> {
    let known = shared.overlay.read().of_user(user);
    let accepted = known.iter().filter_map(|(item, fact)| Some(Liking { item: item.clone(), at: (*fact)? }));
    let mut accepted: Vec<_> =
        accepted.filter(|one| before.is_none_or(|before| (one.at, &one.item) < (before.at, &before.item))).collect();
    accepted.sort_unstable_by(|a, b| (b.at, &b.item).cmp(&(a.at, &a.item)));
    let stored = table::likings(connection, user, before, limit, |item| known.contains_key(item))?;
    Ok(merge::pages(accepted, stored, limit))
}

pub(super) fn likers_among(
    shared: &Shared,
    connection: &Connection,
    item: &ItemId,
    users: Vec<UserId>,
) -> rusqlite::Result<Vec<UserId>> {
    let known: Vec<Option<Fact>> = {
        let overlay = shared.overlay.read();
        let of = overlay.of(item);
        users.iter().map(|user| of.get(user)).collect()
    };
    let snapshot = connection.unchecked_transaction()?;
    let no = table::item_no(&snapshot, item)?;
    let mut among = Vec::new();
    for (user, known) in users.into_iter().zip(known) {
        if is_liked(&snapshot, no, &user, known)? {
            among.push(user);
        }
    }
    Ok(among)
}

pub(super) fn liked_among(
    shared: &Shared,
    connection: &Connection,
    user: &UserId,
    items: Vec<ItemId>,
) -> rusqlite::Result<Vec<ItemId>> {
    let known: Vec<Option<Fact>> = {
        let overlay = shared.overlay.read();
        items.iter().map(|item| overlay.of(item).get(user)).collect()
    };
    let snapshot = connection.unchecked_transaction()?;
    let mut among = Vec::new();
    for (item, known) in items.into_iter().zip(known) {
        let no = if known.is_none() { table::item_no(&snapshot, &item)? } else { None };
        if is_liked(&snapshot, no, user, known)? {
            among.push(item);
        }
    }
    Ok(among)
}

fn is_liked(
    connection: &Connection,
    no: Option<table::ItemNo>,
    user: &UserId,
    known: Option<Fact>,
) -> rusqlite::Result<bool> {
    match (known, no) {
        (Some(fact), _) => Ok(fact.is_some()),
        (None, Some(no)) => table::likes(connection, no, user),
        (None, None) => Ok(false),
    }
}
