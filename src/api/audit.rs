//! `/v1/items/{item}/audit`: the item's ledger, for its hosts.

use actix_web::{HttpResponse, web};

use super::caller::Actor;
use super::extract::ItemPath;
use crate::acts::Acts;
use crate::protocol::ApiError;

/// `GET /v1/items/{item}/audit`.
pub async fn get(
    Actor(caller): Actor,
    ItemPath(item): ItemPath,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(acts.audit(&caller, &item).await?))
}
