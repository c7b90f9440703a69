//! `/v1/page`: counts of many items, and which of them the reader likes, in one request.

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};

use super::caller::Reader;
use super::extract::{Body, Query};
use crate::acts::Acts;
use crate::acts::page::{PAGE_ITEMS_MAX, PageItem};
use crate::auth::Caller;
use crate::protocol::counts::Display;
use crate::protocol::{ApiError, Code, Counts, ItemId};

/// `GET /v1/page?items=a,b,…`.
pub async fn get(
    Reader(caller): Reader,
    Query(query): Query<PageQuery>,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    page(caller, query.items.split(','), &acts).await
}

/// `POST /v1/page`: `{items}`.
pub async fn post(
    Reader(caller): Reader,
    Body(body): Body<PageBody>,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    page(caller, body.items.iter().map(String::as_str), &acts).await
}

async fn page<'a>(
    caller: Option<Caller>,
    items: impl Iterator<Item = &'a str>,
    acts: &Acts,
) -> Result<HttpResponse, ApiError> {
    let items = items.map(ItemId::parse).collect::<Result<Vec<_>, _>>()?;
    if !(1..=PAGE_ITEMS_MAX).contains(&items.len()) {
        return Err(ApiError::new(Code::Unprocessable, "items are 1 to 100"));
    }
    let items = acts.page(caller.as_ref(), &items).await?;
    Ok(HttpResponse::Ok().json(Page { items: items.iter().map(entry).collect() }))
}

fn entry(of: &PageItem) -> Entry<'_> {
    match &of.counts {
        Some(counts) => Entry::Known { item: &of.item, counts, display: counts.display(), liked: of.liked },
        None => Entry::Unknown { item: &of.item, error: "not_found" },
    }
}

/// `?items=`.
#[derive(Debug, Deserialize)]
pub struct PageQuery {
    items: String,
}

/// `{items}` as sent.
#[derive(Debug, Deserialize)]
pub struct PageBody {
    items: Vec<String>,
}

#[derive(Serialize)]
struct Page<'a> {
    items: Vec<Entry<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Known { item: &'a ItemId, counts: &'a Counts, display: Display<'a>, liked: bool },
    Unknown { item: &'a ItemId, error: &'static str },
}
