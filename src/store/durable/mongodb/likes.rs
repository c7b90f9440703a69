//! Likes: a document per person and item, and the bulk of conditional upserts that makes a batch's facts.
//!
//! A fact is `{_id: "item|user", item, user, liked, at, by}`; no item has a `|`, so that the first one is where they meet. A like is an
//! upsert where `liked` is not true, an unlike one where it is not false, which leaves a tombstone, so that every statement of the bulk is
//! told by the reply: *inserted* (nothing was there: a like changed, an unlike did not), *met its own id* (it is so already), else
//! *updated* (it changed). Tombstones go after a day, by an index.
//!
//! Two upserts of one fact at once can meet each other's id while the fact is the opposite of what one of them wants. So a statement
//! that met its id is looked up, and given again where it is not so. The look also shows `by`, which is how a batch that is repeated after
//! its reply was lost knows its own changes; `absent` marks a tombstone where nothing was, which is no change.

use std::collections::{HashMap, HashSet};

use futures_util::TryStreamExt;
use mongodb::Collection;
use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{Binary, Bson, DateTime, Document, doc};

use super::open::{MAJORITY_TIMEOUT, Tables};
use super::reply::{DUPLICATE_KEY, acknowledged, entries, unexpected};
use super::value::{damaged, integer, signed, text, unsigned};
use crate::clock::wall;
use crate::protocol::{ItemId, Millis, UserId};
use crate::store::durable::contract::DurableError;
use crate::store::durable::likes::{BatchId, LikeBatch, LikeCommand, Liker, Liking};

/// Commands of one bulk: enough that the round trip is the smaller part of it, few enough that a server which makes only fifty upserts a
/// second answers before it is given up. With ids of the longest kind it is 250 KB, of 16 MiB that a command may have.
pub(super) const BULK_COMMANDS_MAX: usize = 250;
/// How often statements that met the opposite of what they want are given. Each round needs another writer that turned the fact around
/// in between; people cannot do that so often.
const ROUNDS_MAX: usize = 8;
/// How long an unlike leaves a trace, in seconds: longer than any batch is repeated.
pub(super) const TOMBSTONE_S: u64 = 24 * 60 * 60;

/// What a bulk came to, command by command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Changed,
    Unchanged,
    /// The fact is there; whether it is as the command says, and since which batch, has to be looked up.
    Met,
}

/// Makes the facts of at most [`BULK_COMMANDS_MAX`] commands and tells which changed something. The driver repeats no command of this
/// kind by itself.
pub(super) async fn like(tables: &Tables, batch: &LikeBatch) -> Result<Vec<bool>, DurableError> {
    let mut changed = vec![false; batch.commands.len()];
    let mut open: Vec<(usize, &LikeCommand)> = batch.commands.iter().enumerate().collect();
    for _ in 0..ROUNDS_MAX {
        let told = bulk(tables, batch, &open).await?;
        let met: Vec<_> =
            open.iter().zip(&told).filter(|(_, told)| **told == Told::Met).map(|(given, _)| *given).collect();
        for ((place, _), told) in open.iter().zip(told) {
            *changed.get_mut(*place).ok_or_else(|| unexpected("index"))? = told == Told::Changed;
        }
        if met.is_empty() {
            return Ok(changed);
        }
        let found = look_up(&tables.likes, batch, &met).await?;
        open.clear();
        for (place, command) in met {
            match found.get(command.user.as_str()) {
                Some(fact) if fact.liked == command.liked => {
                    *changed.get_mut(place).ok_or_else(|| unexpected("index"))? = fact.is_own_change;
                }
                // It was turned around, or the tombstone that it met is gone.
                _ => open.push((place, command)),
            }
        }
        if open.is_empty() {
            return Ok(changed);
        }
    }
    Err(DurableError(format!("{} facts of {} were turned around again and again", open.len(), batch.item)))
}

async fn bulk(tables: &Tables, batch: &LikeBatch, given: &[(usize, &LikeCommand)]) -> Result<Vec<Told>, DurableError> {
    let by = from_batch(batch.by)?;
    let statements: Vec<_> = given.iter().map(|(_, command)| statement(batch, command, &by)).collect();
    let majority = doc! { "w": "majority", "j": true, "wtimeout": MAJORITY_TIMEOUT.as_millis() as i64 };
    let command = doc! {
        "update": tables.likes.name(),
        "updates": statements,
        "ordered": false,
        "writeConcern": majority,
    };
    let reply = tables.database.run_command(command).await?;
    let likes: Vec<_> = given.iter().map(|(_, command)| command.liked).collect();
    tell(&reply, &likes)
}

fn statement(batch: &LikeBatch, command: &LikeCommand, by: &Bson) -> Document {
    let mut set = doc! { "liked": command.liked, "at": batch.at.0, "by": by };
    let mut on_insert = doc! { "item": batch.item.as_str(), "user": command.user.as_str() };
    let mut update = Document::new();
    if command.liked {
        update.insert("$unset", doc! { "gone": "", "absent": "" });
    } else {
        // Not the batch's time, which may be long ago: the trace is to last from now on.
        set.insert("gone", DateTime::from_millis(wall().0));
        on_insert.insert("absent", true);
    }
    update.insert("$set", set);
    update.insert("$setOnInsert", on_insert);
    let id = id(&batch.item, &command.user);
    doc! { "q": { "_id": id, "liked": { "$ne": command.liked } }, "u": update, "upsert": true }
}

/// Reads the reply to statements of which `likes` says what they are.
fn tell(reply: &Document, likes: &[bool]) -> Result<Vec<Told>, DurableError> {
    acknowledged(reply)?;
    let mut told = vec![Told::Changed; likes.len()];
    for (index, _) in entries(reply, "upserted")? {
        let liked = likes.get(index).ok_or_else(|| unexpected("upserted"))?;
        let inserted = if *liked { Told::Changed } else { Told::Unchanged };
        *told.get_mut(index).ok_or_else(|| unexpected("upserted"))? = inserted;
    }
    let errors = entries(reply, "writeErrors")?;
    for (index, error) in &errors {
        if integer(error, "code")? != DUPLICATE_KEY {
            return Err(DurableError(text(error, "errmsg")?));
        }
        *told.get_mut(*index).ok_or_else(|| unexpected("writeErrors"))? = Told::Met;
    }
    // Every other statement must have matched: a server that answers differently must not make changes up.
    let done = likes.len().saturating_sub(errors.len()) as u64;
    if unsigned(reply, "n")? == done { Ok(told) } else { Err(unexpected("n")) }
}

/// A fact as it is, to a batch that wanted to make it so.
struct Found {
    liked: bool,
    is_own_change: bool,
}

async fn look_up(
    likes: &Collection<Document>,
    batch: &LikeBatch,
    met: &[(usize, &LikeCommand)],
) -> Result<HashMap<String, Found>, DurableError> {
    let by = from_batch(batch.by)?;
    let ids: Vec<_> = met.iter().map(|(_, command)| id(&batch.item, &command.user)).collect();
    let fields = doc! { "user": 1, "liked": 1, "by": 1, "absent": 1 };
    let mut cursor = likes.find(doc! { "_id": { "$in": ids } }).projection(fields).await?;
    let mut found = HashMap::with_capacity(met.len());
    while let Some(stored) = cursor.try_next().await? {
        let liked = stored.get_bool("liked").map_err(|_| damaged("liked"))?;
        let is_own_change = stored.get("by") == Some(&by) && !stored.contains_key("absent");
        found.insert(text(&stored, "user")?, Found { liked, is_own_change });
    }
    Ok(found)
}

pub(super) async fn count(tables: &Tables, item: &ItemId) -> Result<u64, DurableError> {
    Ok(tables.likes.count_documents(doc! { "item": item.as_str(), "liked": true }).await?)
}

pub(super) async fn likers(
    tables: &Tables,
    item: &ItemId,
    before: Option<&Liker>,
    limit: usize,
) -> Result<Vec<Liker>, DurableError> {
    let before = before.map(|before| (before.at, before.user.as_str()));
    let found = page(tables, ("item", item.as_str()), "user", before, limit).await?;
    let liker = |stored: &Document| Ok(Liker { user: user(stored)?, at: Millis(integer(stored, "at")?) });
    found.iter().map(liker).collect()
}

pub(super) async fn likings(
    tables: &Tables,
    user: &UserId,
    before: Option<&Liking>,
    limit: usize,
) -> Result<Vec<Liking>, DurableError> {
    let before = before.map(|before| (before.at, before.item.as_str()));
    let found = page(tables, ("user", user.as_str()), "item", before, limit).await?;
    found
        .iter()
        .map(|stored| {
            let item = ItemId::parse(&text(stored, "item")?).map_err(|_| damaged("item"))?;
            Ok(Liking { item, at: Millis(integer(stored, "at")?) })
        })
        .collect()
}

/// Newest first: the index's order, backwards. The first bound lets the index begin at the cursor.
async fn page(
    tables: &Tables,
    (of, name): (&str, &str),
    then_by: &str,
    before: Option<(Millis, &str)>,
    limit: usize,
) -> Result<Vec<Document>, DurableError> {
    if limit == 0 {
        // To MongoDB a limit of 0 is none.
        return Ok(Vec::new());
    }
    let mut filter = doc! { of: name, "liked": true };
    if let Some((at, last)) = before {
        filter.insert("at", doc! { "$lte": at.0 });
        filter.insert("$or", [doc! { "at": { "$lt": at.0 } }, doc! { then_by: { "$lt": last } }].to_vec());
    }
    let rows = i64::try_from(limit).unwrap_or(i64::MAX);
    let find = tables.likes.find(filter).sort(doc! { "at": -1, then_by: -1 }).limit(rows);
    Ok(find.projection(doc! { then_by: 1, "at": 1 }).await?.try_collect().await?)
}

pub(super) async fn likers_among(
    tables: &Tables,
    item: &ItemId,
    users: &[UserId],
) -> Result<Vec<UserId>, DurableError> {
    let there = there(tables, users.iter().map(|user| id(item, user)).collect(), "user").await?;
    Ok(users.iter().filter(|user| there.contains(user.as_str())).cloned().collect())
}

pub(super) async fn liked_among(tables: &Tables, user: &UserId, items: &[ItemId]) -> Result<Vec<ItemId>, DurableError> {
    let there = there(tables, items.iter().map(|item| id(item, user)).collect(), "item").await?;
    Ok(items.iter().filter(|item| there.contains(item.as_str())).cloned().collect())
}

/// A field of those of the facts that are likes.
async fn there(tables: &Tables, ids: Vec<String>, field: &str) -> Result<HashSet<String>, DurableError> {
    if ids.is_empty() {
        return Ok(HashSet::new());
    }
    let find = tables.likes.find(doc! { "_id": { "$in": ids }, "liked": true }).projection(doc! { field: 1 });
    let found: Vec<Document> = find.await?.try_collect().await?;
    found.iter().map(|stored| text(stored, field)).collect()
}

fn id(item: &ItemId, user: &UserId) -> String {
    format!("{item}|{user}")
}

fn user(stored: &Document) -> Result<UserId, DurableError> {
    UserId::parse(&text(stored, "user")?).map_err(|_| damaged("user"))
}

/// A batch's id in 24 bytes: the writer's 16, then its number, most significant byte first.
fn from_batch(by: BatchId) -> Result<Bson, DurableError> {
    let mut bytes = by.writer.0.into_bytes().to_vec();
    bytes.extend(signed(by.number)?.to_be_bytes());
    Ok(Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replies as servers give them, all of them `ok`: to a like and an unlike that inserted, that met their id, and that updated.
    #[test]
    fn each_statement_of_a_reply_is_told() {
        let likes = [true, false, true, false, true, false];
        let reply = doc! { "ok": 1.0, "n": 4, "nModified": 2,
            "upserted": [{ "index": 0, "_id": "a" }, { "index": 1, "_id": "b" }],
            "writeErrors": [{ "index": 2, "code": 11_000, "errmsg": "" }, { "index": 3, "code": 11_000, "errmsg": "" }],
        };
        let told = tell(&reply, &likes).unwrap();
        use Told::{Changed, Met, Unchanged};
        assert_eq!(told, [Changed, Unchanged, Met, Met, Changed, Changed]);
    }

    /// The majority has not acknowledged; a statement failed otherwise; fewer matched than there are; one is named that there is not.
    #[test]
    fn what_is_not_acknowledged_or_makes_no_sense_is_an_error() {
        for reply in [
            doc! { "n": 1, "writeConcernError": { "code": 64 } },
            doc! { "n": 0, "writeErrors": [{ "index": 0, "code": 121, "errmsg": "validation" }] },
            doc! { "n": 0 },
            doc! { "n": 1, "upserted": [{ "index": 9 }] },
            doc! { "ok": 1.0 },
        ] {
            assert!(tell(&reply, &[true]).is_err(), "{reply}");
        }
    }
}
