//! What an upgrade request asks for, read from its head alone. Pure.

use actix_http::Method;
use actix_http::header::{self, HeaderMap};
use actix_web::http::Uri;
use actix_web::web::Query;
use serde::Deserialize;

use crate::protocol::{ApiError, ItemId};
use crate::relay::Opening;
use crate::session::opening;
use crate::studio;

/// Where the socket is to go.
#[derive(Debug)]
pub enum Asked {
    /// To the worker's relay.
    Viewer(Opening),
    /// To a session of its own.
    Studio(studio::Studio),
}

/// Why there is no upgrade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The path, the query or a header is malformed.
    Malformed,
    /// The page that asks is not of this server nor of an allowed origin.
    ForeignOrigin,
    /// No such door.
    NotFound,
    /// Another method than GET.
    Method,
    /// As many sockets as may be.
    Full,
}

impl From<ApiError> for Refusal {
    fn from(_: ApiError) -> Self {
        Self::Malformed
    }
}

#[derive(Deserialize)]
struct Params {
    token: Option<String>,
    resume: Option<String>,
    observe: Option<String>,
    items: Option<String>,
}

/// Reads method, path, query and token.
pub fn read(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Asked, Refusal> {
    let item = match door(uri.path()) {
        Some(Door::Viewer(raw)) => Some(item(raw)?),
        Some(Door::Studio) => None,
        None => return Err(Refusal::NotFound),
    };
    if method != Method::GET {
        return Err(Refusal::Method);
    }
    let params =
        Query::<Params>::from_query(uri.query().unwrap_or_default()).map_err(|_| Refusal::Malformed)?.into_inner();
    let token = bearer(headers)?.or(params.token);
    match item {
        Some(item) => {
            let resume = params.resume.as_deref().map(opening::resume).transpose()?;
            let observe = params.observe.as_deref() == Some("1");
            Ok(Asked::Viewer(Opening { item, token, resume, observe }))
        }
        None => {
            let items = opening::items(params.items.as_deref().unwrap_or_default())?;
            let resumes = opening::studio_resume(params.resume.as_deref().unwrap_or_default(), &items)?;
            Ok(Asked::Studio(studio::Studio { items, token, resumes }))
        }
    }
}

enum Door<'a> {
    Viewer(&'a str),
    Studio,
}

fn door(path: &str) -> Option<Door<'_>> {
    if path == "/v1/studio/ws" {
        return Some(Door::Studio);
    }
    let item = path.strip_prefix("/v1/items/")?.strip_suffix("/ws")?;
    (!item.contains('/')).then_some(Door::Viewer(item))
}

/// Percent-decodes as the routes of the app do, then checks the id.
fn item(raw: &str) -> Result<ItemId, Refusal> {
    let decoded = percent_encoding::percent_decode_str(raw).decode_utf8().map_err(|_| Refusal::Malformed)?;
    Ok(ItemId::parse(&decoded).map_err(ApiError::from)?)
}

fn bearer(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let token = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer ")).ok_or(Refusal::Malformed)?;
    Ok(Some(token.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(uri: &str) -> Result<Asked, Refusal> {
        read(&Method::GET, &uri.parse().unwrap(), &HeaderMap::new())
    }

    #[test]
    fn each_path_leads_to_its_door_and_no_other() {
        assert!(matches!(asked("/v1/items/a%3Ab/ws"), Ok(Asked::Viewer(o)) if o.item.as_str() == "a:b"));
        assert!(matches!(asked("/v1/studio/ws?items=a,b"), Ok(Asked::Studio(o)) if o.items.len() == 2));
        for path in ["/", "/v1/items/a", "/v1/items/a/b/ws", "/v1/items/ws", "/ws"] {
            assert_eq!(asked(path).unwrap_err(), Refusal::NotFound, "{path}");
        }
        for path in [
            "/v1/items/a%20b/ws",
            "/v1/items/%ff/ws",
            "/v1/items/%2e%2e/ws",
            "/v1/items/a/ws?resume=x",
            "/v1/studio/ws",
        ] {
            assert_eq!(asked(path).unwrap_err(), Refusal::Malformed, "{path}");
        }
        let connect = read(&Method::CONNECT, &"/v1/items/a/ws".parse().unwrap(), &HeaderMap::new());
        assert_eq!(connect.unwrap_err(), Refusal::Method);
    }
}
