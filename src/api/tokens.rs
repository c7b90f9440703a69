//! Tokens that the server gives: to anonymous people, and in development mode to anybody.

use std::time::Duration;

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};

use super::Gate;
use super::error::no_such_path;
use super::extract::{Body, integer};
use crate::auth::claims::{check_prefix, display_name};
use crate::auth::{self, AuthError, Caller, Issued};
use crate::clock;
use crate::protocol::{ApiError, Code, ItemId, Millis, Role, UserId};

/// How long a development token lasts where nothing is said.
const DEV_TTL_S: i128 = 24 * 60 * 60;
/// And at most: nobody develops longer without a restart.
const DEV_TTL_MAX_S: u64 = 30 * 24 * 60 * 60;

/// `POST /v1/anonymous`: `{token, user, exp}`; `exp` in milliseconds, like every time of the contract.
pub async fn anonymous(gate: web::Data<Gate>) -> Result<HttpResponse, ApiError> {
    if !gate.auth.anonymous_allowed() {
        return Err(ApiError::new(Code::Forbidden, "anonymous people are not allowed here"));
    }
    let Issued { token, caller } = gate.auth.anonymous(clock::wall()).map_err(fault)?;
    Ok(HttpResponse::Ok().json(Anonymous { token, user: caller.user, exp: caller.expires }))
}

/// `POST /v1/dev/token`: any token for whoever asks; only loopback can ask.
pub async fn development(gate: web::Data<Gate>, Body(body): Body<DevBody>) -> Result<HttpResponse, ApiError> {
    if !gate.auth.development() {
        return Err(no_such_path());
    }
    let Issued { token, .. } = gate.auth.issue(body.check(clock::wall())?).map_err(fault)?;
    Ok(HttpResponse::Ok().json(Development { token }))
}

/// In the order of the contract: outside development mode there is no such path, whatever the body says.
pub async fn no_development() -> Result<HttpResponse, ApiError> {
    Err(no_such_path())
}

fn fault(why: AuthError) -> ApiError {
    ApiError::new(Code::Internal, why.to_string())
}

#[derive(Serialize)]
struct Anonymous {
    token: String,
    user: UserId,
    exp: Millis,
}

#[derive(Serialize)]
struct Development {
    token: String,
}

/// `{sub, role, items?, ttl_s?, name?}` as sent.
#[derive(Debug, Deserialize)]
pub struct DevBody {
    sub: String,
    role: String,
    items: Option<Vec<String>>,
    ttl_s: Option<i128>,
    name: Option<String>,
}

impl DevBody {
    fn check(self, now: Millis) -> Result<Caller, ApiError> {
        let user = UserId::parse(&self.sub)?;
        let role = role(&self.role)?;
        check_prefix(&user, role).map_err(not_allowed)?;
        let items = self.items.map(|items| items.iter().map(|item| ItemId::parse(item)).collect::<Result<_, _>>());
        let ttl_s = integer("ttl_s", self.ttl_s.unwrap_or(DEV_TTL_S), 1..=DEV_TTL_MAX_S)?;
        let name = self.name.as_deref().map(display_name).transpose().map_err(not_allowed)?.flatten();
        Ok(Caller {
            user,
            role,
            items: items.transpose()?,
            name,
            expires: auth::after(now, Duration::from_secs(ttl_s)),
        })
    }
}

fn role(name: &str) -> Result<Role, ApiError> {
    match name {
        "viewer" => Ok(Role::Viewer),
        "host" => Ok(Role::Host),
        "service" => Ok(Role::Service),
        "anonymous" => Ok(Role::Anonymous),
        _ => Err(ApiError::new(Code::Unprocessable, "role is viewer, host, service or anonymous")),
    }
}

fn not_allowed(why: AuthError) -> ApiError {
    ApiError::new(Code::Unprocessable, why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::client::read_body;

    const NOW: Millis = Millis(1_800_000_000_500);

    fn caller(json: &str) -> Result<Caller, Code> {
        read_body::<DevBody>(json.as_bytes()).and_then(|body| body.check(NOW)).map_err(|error| error.code)
    }

    /// Scenario: a developer asks for a host's token. Method: each field arrives.
    #[test]
    fn a_development_token_says_what_was_asked_for() {
        let host = caller(r#"{"sub":"ann","role":"host","items":["a"],"ttl_s":60,"name":"Ann"}"#).unwrap();
        assert_eq!((host.user.as_str(), host.role, host.name.as_deref()), ("ann", Role::Host, Some("Ann")));
        assert_eq!(host.expires, Millis(1_800_000_060_000));
        assert_eq!(host.items.as_deref().map(<[_]>::len), Some(1));
        assert_eq!(caller(r#"{"sub":"ann","role":"viewer"}"#).unwrap().items, None);
    }

    /// Scenario: a token that the server itself would refuse. Method: it is not given out.
    #[test]
    fn no_token_is_given_that_would_not_be_taken() {
        for json in [
            "",
            r#"{"sub":"ann"}"#,
            r#"{"sub":"","role":"viewer"}"#,
            r#"{"sub":"ann","role":"host","items":["a/b"]}"#,
            r#"{"sub":"ann","role":"viewer","ttl_s":"1"}"#,
        ] {
            assert_eq!(caller(json), Err(Code::BadRequest), "{json}");
        }
        for json in [
            r#"{"sub":"ann","role":"admin"}"#,
            r#"{"sub":"ann","role":"anonymous"}"#,
            r#"{"sub":"anon:1","role":"viewer"}"#,
            r#"{"sub":"ann","role":"viewer","ttl_s":0}"#,
            r#"{"sub":"ann","role":"viewer","ttl_s":2592001}"#,
            r#"{"sub":"ann","role":"viewer","name":"a\u0007b"}"#,
        ] {
            assert_eq!(caller(json), Err(Code::Unprocessable), "{json}");
        }
    }
}
