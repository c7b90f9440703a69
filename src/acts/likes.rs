//! Likes as people see them: liking, who likes what, and a recount on demand.

use actix::Recipient;

use super::perform::unavailable;
use super::reads::ListPage;
use super::rights::{self, Needs};
use super::{Acts, Outcome};
use crate::auth::Caller;
use crate::likes::cursor;
use crate::protocol::{ApiError, Code, ItemId, Role, UserId};
use crate::reconcile::{Recount, RecountError, Recounted};
use crate::store::durable::{Liker, Liking};

/// Where recounts on demand go.
pub type Recounter = Recipient<Recount>;

impl Acts {
    pub(super) async fn like(&self, caller: &Caller, item: &ItemId, liked: bool) -> Result<Outcome, ApiError> {
        rights::check(caller, item, Needs::Person)?;
        self.likes.set(item, caller.user.clone(), liked).await.map(Outcome::Liked)
    }

    /// Whether somebody likes the item: their own latest act is in it.
    pub async fn liked(&self, user: &UserId, item: &ItemId) -> Result<bool, ApiError> {
        if user.is_anonymous() {
            return Ok(false);
        }
        let liked = self.reads.likers_among(item, std::slice::from_ref(user)).await.map_err(unavailable)?;
        Ok(!liked.is_empty())
    }

    /// A page of who likes the item, newest first.
    pub async fn likers(&self, item: &ItemId, after: Option<&str>, limit: usize) -> Result<ListPage<Liker>, ApiError> {
        let before = after.map(cursor::liker).transpose()?;
        self.known(item).await?;
        let mut likers = self.facts.likers(item, before.as_ref(), limit + 1).await.map_err(unavailable)?;
        let next = cut(&mut likers, limit, cursor::after_liker);
        Ok((likers, next))
    }

    /// Who of these people like the item, in the order asked.
    pub async fn likers_among(&self, item: &ItemId, users: &[UserId]) -> Result<Vec<UserId>, ApiError> {
        self.known(item).await?;
        self.reads.likers_among(item, users).await.map_err(unavailable)
    }

    /// A page of what somebody likes, newest first; for themselves, and for services.
    pub async fn likings(
        &self,
        caller: &Caller,
        user: &UserId,
        after: Option<&str>,
        limit: usize,
    ) -> Result<ListPage<Liking>, ApiError> {
        if caller.role != Role::Service && (caller.user != *user || user.is_anonymous()) {
            return Err(ApiError::new(Code::Forbidden, "somebody else's likes are theirs"));
        }
        let before = after.map(cursor::liking).transpose()?;
        let mut likings = self.facts.likings(user, before.as_ref(), limit + 1).await.map_err(unavailable)?;
        let next = cut(&mut likings, limit, cursor::after_liking);
        Ok((likings, next))
    }

    /// Recounts the item's likes from the facts, now.
    pub async fn recount(&self, caller: &Caller, item: &ItemId) -> Result<Recounted, ApiError> {
        rights::check(caller, item, Needs::Host)?;
        self.known(item).await?;
        let recounted = self.recounter.send(Recount(item.clone())).await.map_err(unavailable)?;
        recounted.map_err(|error| match error {
            RecountError::Busy => ApiError::new(Code::Unavailable, error.to_string()).retry_after(1_000),
            error => unavailable(error),
        })
    }

    async fn known(&self, item: &ItemId) -> Result<(), ApiError> {
        match self.registry.find(item) {
            Some(_) => Ok(()),
            None => self.record(item).await.map(drop),
        }
    }
}

/// Takes off the entry past the page, and answers the cursor of the next one if there was one.
fn cut<T>(page: &mut Vec<T>, limit: usize, cursor: impl Fn(&T) -> String) -> Option<String> {
    let more = page.len() > limit;
    page.truncate(limit);
    if more { page.last().map(cursor) } else { None }
}
