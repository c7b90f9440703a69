//! Who asks: the bearer token of a request. One that is sent must be good, also where none is needed.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use actix_web::{FromRequest, HttpRequest};

use super::extract::gate;
use crate::auth::{Auth, Caller};
use crate::clock;
use crate::protocol::{ApiError, Code, Millis};

/// Somebody who reads: with a token, or without where that is allowed.
#[derive(Debug)]
pub struct Reader(pub Option<Caller>);

/// Somebody who acts: only with a token.
#[derive(Debug)]
pub struct Actor(pub Caller);

impl FromRequest for Reader {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(identified(request).and_then(|(caller, allowed)| match caller {
            None if !allowed => Err(token_needed()),
            caller => Ok(Self(caller)),
        }))
    }
}

impl FromRequest for Actor {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(identified(request).and_then(|(caller, _)| caller.map(Self).ok_or_else(token_needed)))
    }
}

fn identified(request: &HttpRequest) -> Result<(Option<Caller>, bool), ApiError> {
    let auth = &gate(request)?.auth;
    Ok((identify(request.headers(), auth, clock::wall())?, auth.anonymous_allowed()))
}

/// The caller whom the `Authorization` header names; `None` without one.
pub fn identify(headers: &HeaderMap, auth: &Auth, now: Millis) -> Result<Option<Caller>, ApiError> {
    let mut sent = headers.get_all(AUTHORIZATION);
    let Some(value) = sent.next() else { return Ok(None) };
    let token = match (value.to_str().ok().and_then(|text| text.split_once(' ')), sent.next()) {
        (Some((scheme, token)), None) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
        _ => return Err(ApiError::new(Code::Unauthorized, "Authorization is one bearer token")),
    };
    auth.verify(token, now).map(Some).map_err(|why| ApiError::new(Code::Unauthorized, why.to_string()))
}

fn token_needed() -> ApiError {
    ApiError::new(Code::Unauthorized, "a token is needed")
}
