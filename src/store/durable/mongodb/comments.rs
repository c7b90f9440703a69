//! Comments, and those that were set aside.

use futures_util::TryStreamExt;
use mongodb::Collection;
use mongodb::bson::{Bson, Document, doc};
use mongodb::error::{ErrorKind, IndexedWriteError, InsertManyError};

use super::open::Tables;
use super::value::{damaged, from_uuid, integer, text, uuid};
use crate::protocol::text::COMMENT_MAX_BYTES;
use crate::protocol::{Comment, CommentId, ItemId, Millis, UserId};
use crate::store::durable::contract::{CommentCursor, DurableError, Inserted, Rejected};

/// Bytes of a display name that a token may give; the doors refuse longer ones.
const NAME_MAX_BYTES: usize = 800;
const DUPLICATE_KEY: i32 = 11_000;
/// The document breaks a validator, which an operator may have set on the collection.
const DOCUMENT_VALIDATION_FAILURE: i32 = 121;

/// Inserts each on its own terms: one that is there stays as it is, one that is refused is set aside. What this store itself asks of a
/// comment is checked here, as one rule that holds on servers without validators too.
pub(super) async fn insert(tables: &Tables, item: &ItemId, comments: &[Comment]) -> Result<Inserted, DurableError> {
    let (mut rejected, mut sent) = (Vec::new(), Vec::new());
    for comment in comments {
        match refusal(comment) {
            Some(reason) => rejected.push((comment, reason)),
            None => sent.push(comment),
        }
    }
    let refused = write(&tables.comments, item, &sent).await?;
    let new = sent.len().saturating_sub(refused.len());
    let (duplicates, others): (Vec<_>, Vec<_>) =
        refused.into_iter().partition(|(_, error)| error.code == DUPLICATE_KEY);
    rejected.extend(others.into_iter().chain(strangers(tables, item, duplicates).await?).map(|(comment, error)| {
        let details = error.details.map(|details| format!(": {details}")).unwrap_or_default();
        (comment, format!("{}{details}", error.message))
    }));
    set_aside(tables, item, &rejected).await?;
    let place = |id| comments.iter().position(|comment| comment.id == id);
    let mut rejected: Vec<_> =
        rejected.into_iter().map(|(comment, reason)| Rejected { id: comment.id, reason }).collect();
    rejected.sort_by_key(|one| place(one.id));
    Ok(Inserted { new, rejected })
}

/// Why the store does not take it: the checks of the wire contract, once more.
fn refusal(comment: &Comment) -> Option<String> {
    let (text_bytes, name_bytes) = (comment.text.len(), comment.name.as_ref().map_or(0, String::len));
    if !(1..=COMMENT_MAX_BYTES).contains(&text_bytes) {
        return Some(format!("the text has {text_bytes} bytes, not 1 to {COMMENT_MAX_BYTES}"));
    }
    (name_bytes > NAME_MAX_BYTES).then(|| format!("the name has {name_bytes} bytes, more than {NAME_MAX_BYTES}"))
}

/// Inserts unordered and answers what the server refused for what it is; anything else that went wrong is an error of the whole,
/// and what did go in is a duplicate when it is asked again.
async fn write<'a>(
    into: &Collection<Document>,
    item: &ItemId,
    comments: &[&'a Comment],
) -> Result<Vec<(&'a Comment, IndexedWriteError)>, DurableError> {
    if comments.is_empty() {
        return Ok(Vec::new());
    }
    let documents = comments.iter().map(|comment| to_document(item, comment));
    let Err(error) = into.insert_many(documents).ordered(false).await else { return Ok(Vec::new()) };
    let ErrorKind::InsertMany(InsertManyError { write_errors, write_concern_error: None, .. }) = &*error.kind else {
        return Err(error.into());
    };
    let write_errors = write_errors.iter().flatten();
    let refused = write_errors.map(|refused| match (comments.get(refused.index), refused.code) {
        (Some(comment), DUPLICATE_KEY | DOCUMENT_VALIDATION_FAILURE) => Ok((*comment, refused.clone())),
        _ => Err(DurableError::from(error.clone())),
    });
    refused.collect()
}

/// Of the duplicates those that are not there under their item: something else is in their way, an index of somebody's own or a comment
/// of another item. The error came when the majority had what it is about, so that reading tells the truth.
async fn strangers<'a>(
    tables: &Tables,
    item: &ItemId,
    duplicates: Vec<(&'a Comment, IndexedWriteError)>,
) -> Result<Vec<(&'a Comment, IndexedWriteError)>, DurableError> {
    if duplicates.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Bson> = duplicates.iter().map(|(comment, _)| from_uuid(comment.id.0)).collect();
    let filter = doc! { "item": item.as_str(), "_id": { "$in": ids } };
    let found: Vec<Document> = tables.comments.find(filter).projection(doc! { "_id": 1 }).await?.try_collect().await?;
    let there = found.iter().map(|stored| uuid(stored, "_id")).collect::<Result<std::collections::HashSet<_>, _>>()?;
    Ok(duplicates.into_iter().filter(|(comment, _)| !there.contains(&comment.id.0)).collect())
}

/// Keeps comments as they came, for whoever looks into them; they are never served.
async fn set_aside(tables: &Tables, item: &ItemId, rejected: &[(&Comment, String)]) -> Result<(), DurableError> {
    if rejected.is_empty() {
        return Ok(());
    }
    let documents = rejected.iter().map(|(comment, reason)| {
        let mut document = to_document(item, comment);
        document.insert("reason", reason);
        document
    });
    let Err(error) = tables.rejected.insert_many(documents).ordered(false).await else { return Ok(()) };
    match &*error.kind {
        ErrorKind::InsertMany(InsertManyError { write_errors, write_concern_error: None, .. })
            if write_errors.iter().flatten().all(|one| one.code == DUPLICATE_KEY) =>
        {
            Ok(())
        }
        _ => Err(error.into()),
    }
}

/// Newest first: the index's order, backwards. The first bound lets the index begin at the cursor.
pub(super) async fn page(
    tables: &Tables,
    item: &ItemId,
    before: Option<CommentCursor>,
    limit: usize,
) -> Result<Vec<Comment>, DurableError> {
    let mut filter = doc! { "item": item.as_str() };
    if let Some(CommentCursor { at, id }) = before {
        filter.insert("at", doc! { "$lte": at.0 });
        filter.insert("$or", [doc! { "at": { "$lt": at.0 } }, doc! { "_id": { "$lt": from_uuid(id.0) } }].to_vec());
    }
    if limit == 0 {
        // To MongoDB a limit of 0 is none.
        return Ok(Vec::new());
    }
    let rows = i64::try_from(limit).unwrap_or(i64::MAX);
    let find = tables.comments.find(filter).sort(doc! { "at": -1, "_id": -1 }).limit(rows);
    let found: Vec<Document> = find.await?.try_collect().await?;
    found.iter().map(comment).collect()
}

pub(super) async fn one(tables: &Tables, item: &ItemId, id: CommentId) -> Result<Option<Comment>, DurableError> {
    let filter = doc! { "item": item.as_str(), "_id": from_uuid(id.0) };
    tables.comments.find_one(filter).await?.as_ref().map(comment).transpose()
}

fn to_document(item: &ItemId, comment: &Comment) -> Document {
    let mut document = doc! {
        "_id": from_uuid(comment.id.0),
        "item": item.as_str(),
        "at": comment.at.0,
        "user": comment.user.as_str(),
        "text": &comment.text,
    };
    if let Some(name) = &comment.name {
        document.insert("name", name);
    }
    document
}

fn comment(stored: &Document) -> Result<Comment, DurableError> {
    let name = if stored.contains_key("name") { Some(text(stored, "name")?) } else { None };
    Ok(Comment {
        id: CommentId(uuid(stored, "_id")?),
        user: UserId::parse(&text(stored, "user")?).map_err(|_| damaged("user"))?,
        text: text(stored, "text")?,
        at: Millis(integer(stored, "at")?),
        name,
    })
}
