//! Likes: `/v1/items/{item}/like`, `…/likes`, `…/likes/among`, `…/recount`, `/v1/users/{user}/likes`.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};

use super::caller::{Actor, Reader};
use super::extract::{Body, ItemPath, Page, Query};
use super::items::unexpected;
use crate::acts::{Act, Acts, Outcome};
use crate::auth::Caller;
use crate::protocol::{ApiError, Code, ItemId, Millis, UserId};

/// People that one call may ask about.
const AMONG_MAX: usize = 1_000;

/// `PUT /v1/items/{item}/like`: `{liked, changed, likes}`.
pub async fn put(
    Actor(caller): Actor,
    ItemPath(item): ItemPath,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    set(&caller, &item, true, &acts).await
}

/// `DELETE /v1/items/{item}/like`: the same.
pub async fn delete(
    Actor(caller): Actor,
    ItemPath(item): ItemPath,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    set(&caller, &item, false, &acts).await
}

async fn set(caller: &Caller, item: &ItemId, liked: bool, acts: &Acts) -> Result<HttpResponse, ApiError> {
    match acts.perform(caller, item, Act::Like(liked)).await? {
        Outcome::Liked(done) => {
            let (liked, changed, likes) = (done.liked, done.changed, done.likes);
            Ok(HttpResponse::Ok().json(LikeAnswer { liked, changed, likes }))
        }
        other => Err(unexpected(&other)),
    }
}

/// `GET /v1/items/{item}/likes`: newest first.
pub async fn likers(
    _: Reader,
    ItemPath(item): ItemPath,
    Query(page): Query<Page>,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    let (likers, next) = acts.likers(&item, page.cursor.as_deref(), page.limit()?).await?;
    let likes = likers.iter().map(|liker| ByUser { user: &liker.user, at: liker.at }).collect();
    Ok(HttpResponse::Ok().json(List { likes, next }))
}

/// `POST /v1/items/{item}/likes/among`: `{users}` → `{count, users}`.
pub async fn among(
    _: Reader,
    ItemPath(item): ItemPath,
    Body(body): Body<AmongBody>,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    if body.users.len() > AMONG_MAX {
        return Err(ApiError::new(Code::Unprocessable, "users are at most 1,000"));
    }
    let users = body.users.iter().map(|user| UserId::parse(user)).collect::<Result<Vec<_>, _>>()?;
    let users = acts.likers_among(&item, &users).await?;
    Ok(HttpResponse::Ok().json(Among { count: users.len(), users }))
}

/// `GET /v1/users/{user}/likes`: newest first; for themselves and for services.
pub async fn likings(
    Actor(caller): Actor,
    request: HttpRequest,
    Query(page): Query<Page>,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    let user = UserId::parse(request.match_info().get("user").unwrap_or_default())?;
    let (likings, next) = acts.likings(&caller, &user, page.cursor.as_deref(), page.limit()?).await?;
    let likes = likings.iter().map(|liking| ByItem { item: &liking.item, at: liking.at }).collect();
    Ok(HttpResponse::Ok().json(List { likes, next }))
}

/// `POST /v1/items/{item}/recount`: `{likes, repaired}`.
pub async fn recount(
    Actor(caller): Actor,
    ItemPath(item): ItemPath,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    let done = acts.recount(&caller, &item).await?;
    Ok(HttpResponse::Ok().json(RecountAnswer { likes: done.likes, repaired: done.repaired }))
}

/// `{users}` as sent.
#[derive(Debug, Deserialize)]
pub struct AmongBody {
    users: Vec<String>,
}

#[derive(Serialize)]
struct LikeAnswer {
    liked: bool,
    changed: bool,
    likes: i64,
}

#[derive(Serialize)]
struct List<T> {
    likes: Vec<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize)]
struct ByUser<'a> {
    user: &'a UserId,
    at: Millis,
}

#[derive(Serialize)]
struct ByItem<'a> {
    item: &'a ItemId,
    at: Millis,
}

#[derive(Serialize)]
struct Among {
    count: usize,
    users: Vec<UserId>,
}

#[derive(Serialize)]
struct RecountAnswer {
    likes: i64,
    repaired: i64,
}
