//! `/v1/items/{item}/taps`.

use actix_web::{HttpResponse, web};
use serde::Serialize;

use super::caller::Actor;
use super::extract::{Body, ItemPath};
use super::items::unexpected;
use crate::acts::{Act, Acts, Outcome};
use crate::protocol::client::TapBody;
use crate::protocol::{ApiError, Counts};

/// `POST /v1/items/{item}/taps`: `{kind?, n?}` → `{accepted, counts}`.
pub async fn post(
    Actor(caller): Actor,
    ItemPath(item): ItemPath,
    Body(body): Body<TapBody>,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    match acts.perform(&caller, &item, Act::Tap(body.check()?)).await? {
        Outcome::Tapped { accepted, counts } => Ok(HttpResponse::Ok().json(Tapped { accepted, counts: &counts })),
        other => Err(unexpected(&other)),
    }
}

#[derive(Serialize)]
struct Tapped<'a> {
    accepted: u32,
    counts: &'a Counts,
}
