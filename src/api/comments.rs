//! `/v1/items/{item}/comments`: write one, read pages back in time.

use actix_web::{HttpResponse, web};
use serde::Serialize;

use super::caller::{Actor, Reader};
use super::extract::{Body, ItemPath, Page, Query};
use super::items::unexpected;
use crate::acts::{Act, Acts, Outcome};
use crate::protocol::client::CommentBody;
use crate::protocol::{ApiError, Comment, CommentId, Millis};

/// `POST /v1/items/{item}/comments`: 201, or 200 where the same key was there before.
pub async fn post(
    Actor(caller): Actor,
    ItemPath(item): ItemPath,
    Body(body): Body<CommentBody>,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    match acts.perform(&caller, &item, Act::Comment(body.check()?)).await? {
        Outcome::Commented { id, at, created } => {
            let mut answer = if created { HttpResponse::Created() } else { HttpResponse::Ok() };
            Ok(answer.json(Commented { id, at }))
        }
        other => Err(unexpected(&other)),
    }
}

/// `GET /v1/items/{item}/comments`.
pub async fn list(
    _: Reader,
    ItemPath(item): ItemPath,
    Query(page): Query<Page>,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    let (comments, next) = acts.comments(&item, page.cursor.as_deref(), page.limit()?).await?;
    Ok(HttpResponse::Ok().json(List { comments, next }))
}

#[derive(Serialize)]
struct Commented {
    id: CommentId,
    at: Millis,
}

#[derive(Serialize)]
struct List {
    comments: Vec<Comment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}
