//! Parts of a request, each checked once: the item in the path, the query, the body. All refuse in the one error shape.

use std::future::{Future, Ready, ready};
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::{FromRequest, HttpRequest, web};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Gate;
use crate::protocol::client::read_body;
use crate::protocol::{ApiError, Code, ItemId};

/// Entries of a page where none are asked for.
const LIMIT_DEFAULT: usize = 50;
/// Entries of a page, at most.
const LIMIT_MAX: usize = 100;

/// What the door stands on, from inside an extractor.
pub(super) fn gate(request: &HttpRequest) -> Result<&Gate, ApiError> {
    let gate = request.app_data::<web::Data<Gate>>().map(|data| data.get_ref());
    gate.ok_or_else(|| ApiError::new(Code::Internal, "the door was not configured"))
}

/// `{item}` of the path.
#[derive(Debug)]
pub struct ItemPath(pub ItemId);

impl FromRequest for ItemPath {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    /// What the router could not decode stays as it is, and `%` is in no id: bad encodings are malformed ids.
    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let text = request.match_info().get("item").unwrap_or_default();
        ready(ItemId::parse(text).map(Self).map_err(ApiError::from))
    }
}

/// The query, read into `T`; unknown parameters are ignored.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequest for Query<T> {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let query = web::Query::<T>::from_query(request.query_string());
        ready(
            query.map(|query| Self(query.into_inner())).map_err(|why| ApiError::new(Code::BadRequest, why.to_string())),
        )
    }
}

/// `cursor` and `limit` of a list.
#[derive(Debug, Default, Deserialize)]
pub struct Page {
    /// The last page's `next`.
    pub cursor: Option<String>,
    limit: Option<String>,
}

impl Page {
    /// 50 unless it says otherwise, 100 at most.
    pub fn limit(&self) -> Result<usize, ApiError> {
        let Some(text) = &self.limit else { return Ok(LIMIT_DEFAULT) };
        let limit: i64 = text.parse().map_err(|_| ApiError::new(Code::BadRequest, "limit is an integer"))?;
        match usize::try_from(limit) {
            Ok(limit @ 1..=LIMIT_MAX) => Ok(limit),
            _ => Err(ApiError::new(Code::Unprocessable, "limit is 1 to 100")),
        }
    }
}

/// A JSON body, read into `T`; absent where no field is required.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<T: DeserializeOwned> FromRequest for Body<T> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let max = gate(request).map(|gate| gate.config.server.body_max_bytes);
        let declared = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        let payload = payload.take();
        Box::pin(async move {
            let body = read(payload, declared, max?).await?;
            read_body(&body).map(Self)
        })
    }
}

/// The whole body, or a refusal as soon as it is known to be over `max`: a declared length is not waited for.
async fn read(mut payload: Payload, declared: Option<u64>, max: usize) -> Result<Bytes, ApiError> {
    let too_large = || ApiError::new(Code::TooLarge, format!("the body is over {max} bytes"));
    if declared.is_some_and(|length| length > max as u64) {
        return Err(too_large());
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|why| ApiError::new(Code::BadRequest, format!("body: {why}")))?;
        if body.len() + chunk.len() > max {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// An integer field within its range: beyond 64 bits it is no integer of ours, outside the range it is refused as a value.
pub fn integer(field: &str, value: i128, range: std::ops::RangeInclusive<u64>) -> Result<u64, ApiError> {
    if value < i128::from(i64::MIN) || value > i128::from(u64::MAX) {
        return Err(ApiError::new(Code::BadRequest, format!("{field} is beyond 64 bits")));
    }
    match u64::try_from(value) {
        Ok(value) if range.contains(&value) => Ok(value),
        _ => Err(ApiError::new(Code::Unprocessable, format!("{field} is {} to {}", range.start(), range.end()))),
    }
}
