//! The acts themselves: rights, then rates, then the room.

use std::future::Future;

use actix::MailboxError;

use super::rights::{self, Needs};
use super::{Act, Acts, Admitted, Outcome};
use crate::auth::Caller;
use crate::clock;
use crate::comments::Posted;
use crate::limits::CommentRefused;
use crate::protocol::client::{NewComment, Tap};
use crate::protocol::{ApiError, Code, ItemId, ItemPatch, ItemView, Role};
use crate::room::messages::{Configure, End, Knows, unreachable_room};
use crate::room::{Contribute, Contributed, RoomHandle};
use crate::store::durable::ItemChange;

impl Acts {
    /// Does one thing, or refuses it with a code. Answers when it is applied (I1).
    pub async fn perform(&self, caller: &Caller, item: &ItemId, act: Act) -> Result<Outcome, ApiError> {
        self.perform_rated(caller, caller.role, item, act).await
    }

    /// The same, at the rates of another role: a service's, for whom it forwards.
    pub(super) async fn perform_rated(
        &self,
        caller: &Caller,
        rated: Role,
        item: &ItemId,
        act: Act,
    ) -> Result<Outcome, ApiError> {
        match act {
            Act::Tap(tap) => self.tap(caller, rated, item, tap).await,
            Act::Comment(comment) => self.comment(caller, rated, item, comment).await,
            Act::Like(liked) => self.like(caller, item, liked).await,
            Act::PutItem(patch) => self.put_item(caller, item, patch).await,
            Act::EndItem => self.end_item(caller, item).await,
        }
    }

    /// The rights and the rate of taps that get no answer of their own. `Err`: none may pass, whatever the rate.
    pub fn admit_taps(&self, caller: &Caller, item: &ItemId, n: u32) -> Result<Admitted, ApiError> {
        self.admit_taps_rated(caller, caller.role, item, n)
    }

    fn admit_taps_rated(&self, caller: &Caller, rated: Role, item: &ItemId, n: u32) -> Result<Admitted, ApiError> {
        rights::check(caller, item, Needs::Anybody)?;
        let admitted = self.limits.admit_taps(&caller.user, rated, n);
        Ok(Admitted { accepted: admitted.accepted, retry_after_ms: admitted.retry_after_ms })
    }

    /// The room of an item, started if need be, for a socket that opens; `not_found` where the item is unknown and may not be made.
    pub async fn open(&self, item: &ItemId) -> Result<RoomHandle, ApiError> {
        self.registry.open(item, true).await
    }

    async fn tap(&self, caller: &Caller, rated: Role, item: &ItemId, tap: Tap) -> Result<Outcome, ApiError> {
        let admitted = self.admit_taps_rated(caller, rated, item, tap.n)?;
        if admitted.accepted == 0 {
            return Err(ApiError::new(Code::RateLimited, "tapping too fast").retry_after(admitted.retry_after_ms));
        }
        let taps = Contribute::Taps(Tap { n: admitted.accepted, ..tap });
        match self.with_room(item, |room| room.contribute.send(taps.clone())).await? {
            Contributed::Taps(counts) => Ok(Outcome::Tapped { accepted: admitted.accepted, counts }),
            Contributed::Likes(_) | Contributed::Comment { .. } => Err(mixed_up()),
        }
    }

    /// A repeat is answered before its rate is looked at: it costs nothing and must stay harmless.
    async fn comment(&self, caller: &Caller, rated: Role, item: &ItemId, new: NewComment) -> Result<Outcome, ApiError> {
        rights::check(caller, item, Needs::Person)?;
        let keyed = new.key.is_some();
        let draft = self.comments.draft(item, caller, new);
        let posted = if keyed { self.comments.posted(item, &draft).await? } else { None };
        if let Some(Posted { id, at, created }) = posted {
            return Ok(Outcome::Commented { id, at, created });
        }
        let (room, id) = (self.registry.open(item, true).await?, draft.id);
        let repeated = keyed && room.knows.send(Knows(id)).await.unwrap_or(false);
        if !repeated {
            let seen = room.seen();
            rights::check_chat(caller, &seen.item)?;
            self.admit_comment(caller, rated, &seen.item)?;
        }
        match self.with_room(item, |room| room.contribute.send(Contribute::Comment(draft.clone()))).await? {
            Contributed::Comment { at, created } => Ok(Outcome::Commented { id, at, created }),
            Contributed::Taps(_) | Contributed::Likes(_) => Err(mixed_up()),
        }
    }

    fn admit_comment(&self, caller: &Caller, rated: Role, item: &ItemView) -> Result<(), ApiError> {
        let admitted = self.limits.admit_comment(&caller.user, rated, &item.item, item.slow_mode_ms);
        admitted.map_err(|refused| {
            let (message, ms) = match refused {
                CommentRefused::Rate { retry_after_ms } => ("commenting too fast", retry_after_ms),
                CommentRefused::Slow { retry_after_ms } => ("the chat is in slow mode", retry_after_ms),
            };
            ApiError::new(Code::RateLimited, message).retry_after(ms)
        })
    }

    async fn put_item(&self, caller: &Caller, item: &ItemId, patch: ItemPatch) -> Result<Outcome, ApiError> {
        rights::check(caller, item, Needs::Host)?;
        if self.durable.item(item).await.map_err(unavailable)?.is_none() {
            let fresh = ItemView::create(item.clone(), patch.clone().apply(Default::default()), clock::wall());
            if let Some((item, true)) =
                self.durable.change_item(ItemChange::Create(fresh)).await.map_err(unavailable)?
            {
                return Ok(Outcome::ItemPut { item, created: true });
            }
        }
        let item = self.with_room(item, |room| room.configure.send(Configure { patch: patch.clone() })).await?;
        Ok(Outcome::ItemPut { item, created: false })
    }

    async fn end_item(&self, caller: &Caller, item: &ItemId) -> Result<Outcome, ApiError> {
        rights::check(caller, item, Needs::Host)?;
        if self.durable.item(item).await.map_err(unavailable)?.is_none() {
            return Err(ApiError::new(Code::NotFound, "no such item"));
        }
        // Likes whose facts are durable are in the final counts; those that come now find the item ended.
        let _still = self.likes.hold_still(item).await;
        let counts = self.with_room(item, |room| room.end.send(End)).await?;
        Ok(Outcome::Ended { counts })
    }

    /// Asks the item's room, started if need be. A room that ended just then has taken nothing: its successor is asked, once.
    async fn with_room<T, F>(&self, item: &ItemId, ask: impl Fn(&RoomHandle) -> F) -> Result<T, ApiError>
    where
        F: Future<Output = Result<Result<T, ApiError>, MailboxError>>,
    {
        let room = self.registry.open(item, true).await?;
        match ask(&room).await {
            Ok(answer) => answer,
            Err(_) if !room.is_open() => {
                let successor = self.registry.open(item, true).await?;
                ask(&successor).await.map_err(unreachable_room)?
            }
            Err(error) => Err(unreachable_room(error)),
        }
    }
}

fn mixed_up() -> ApiError {
    ApiError::new(Code::Internal, "the room answered another act")
}

pub(super) fn unavailable(error: impl std::fmt::Display) -> ApiError {
    ApiError::new(Code::Unavailable, error.to_string()).retry_after(1_000)
}
