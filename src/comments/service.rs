//! Posts comments and reads history. The room numbers and tells; this only finds out whether a comment is there already.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::page::{self, Page};
use crate::auth::Caller;
use crate::protocol::client::NewComment;
use crate::protocol::{ApiError, Code, Comment, CommentId, ItemId, Millis, UserId};
use crate::room::handlers::key_reused;
use crate::store::durable::{CommentCursor, DurableStore};
use crate::store::hot::HotStore;

/// A comment that is in the hot store or beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posted {
    /// The server's id.
    pub id: CommentId,
    /// When it was taken.
    pub at: Millis,
    /// Whether this call made it; a repeated key did not.
    pub created: bool,
}

/// See the module.
pub struct Comments {
    hot: Arc<dyn HotStore>,
    durable: Arc<dyn DurableStore>,
}

impl Comments {
    /// Reads from both stores.
    pub fn new(hot: Arc<dyn HotStore>, durable: Arc<dyn DurableStore>) -> Self {
        Self { hot, durable }
    }

    /// The comment to be sent to the room. Its time is the room's to give.
    pub fn draft(&self, item: &ItemId, caller: &Caller, new: NewComment) -> Comment {
        let id = match &new.key {
            Some(key) => keyed_id(item, &caller.user, key),
            None => CommentId(Uuid::now_v7()),
        };
        let name = caller.name.as_deref().map(str::to_owned);
        Comment { id, user: caller.user.clone(), text: new.text, at: Millis::default(), name }
    }

    /// What an earlier call with the same key had made, if that is durable by now; a younger one is known to the room.
    pub async fn posted(&self, item: &ItemId, draft: &Comment) -> Result<Option<Posted>, ApiError> {
        match self.durable.comment(item, draft.id).await.map_err(unavailable)? {
            None => Ok(None),
            Some(known) if known.text == draft.text => Ok(Some(Posted { id: known.id, at: known.at, created: false })),
            Some(_) => Err(key_reused()),
        }
    }

    /// A page of history before `before`, oldest first.
    pub async fn page(&self, item: &ItemId, before: Option<CommentCursor>, limit: usize) -> Result<Page, ApiError> {
        let unflushed = self.hot.unflushed_comments(item).await.map_err(unavailable)?;
        let durable = self.durable.comments(item, before, limit + 1).await.map_err(unavailable)?;
        Ok(page::merge(durable, unflushed, before, limit))
    }
}

/// The id of a comment with a key: SHA-256 over item, user and key, cut to the 122 free bits of a UUID v8 (RFC 9562, 5.8). So a repeat
/// finds the comment by its id, in whatever store it is by then, on whatever node.
fn keyed_id(item: &ItemId, user: &UserId, key: &str) -> CommentId {
    let mut hash = Sha256::new();
    for part in [item.as_str(), user.as_str(), key] {
        hash.update(part.len().to_be_bytes());
        hash.update(part.as_bytes());
    }
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(hash.finalize()).for_each(|(byte, hashed)| *byte = hashed);
    CommentId(uuid::Builder::from_custom_bytes(bytes).into_uuid())
}

fn unavailable(error: impl std::fmt::Display) -> ApiError {
    ApiError::new(Code::Unavailable, error.to_string()).retry_after(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_different_people_and_items_never_meet() {
        let id = |item, user, key| keyed_id(&ItemId::parse(item).unwrap(), &UserId::parse(user).unwrap(), key);
        assert_eq!(id("a", "b", "c"), id("a", "b", "c"));
        assert_ne!(id("a", "b", "c"), id("a", "bc", ""));
        assert_ne!(id("ab", "c", "k"), id("a", "bc", "k"));
        assert_eq!(id("a", "b", "c").0.get_version_num(), 8);
    }
}
