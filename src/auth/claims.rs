//! The claims of a token, and what makes them a caller.

use serde::{Deserialize, Serialize};

use super::{AuthError, Caller};
use crate::protocol::{ItemId, Millis, Role, UserId, text};

/// As they stand in a token. Times are seconds, whole or not (RFC 7519, `NumericDate`); unknown claims are ignored.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Claims {
    sub: String,
    role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    items: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    exp: Seconds,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nbf: Option<Seconds>,
}

/// Seconds since 1970 UTC.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
enum Seconds {
    Whole(i64),
    Fraction(f64),
}

impl Seconds {
    fn millis(self) -> Millis {
        match self {
            Self::Whole(seconds) => Millis(seconds.saturating_mul(1_000)),
            // `as` saturates, which is what a time at the end of the world wants.
            Self::Fraction(seconds) => Millis((seconds * 1_000.0) as i64),
        }
    }
}

impl Claims {
    /// The claims that say what the caller is.
    pub fn of(caller: &Caller) -> Self {
        Self {
            sub: caller.user.as_str().to_owned(),
            role: caller.role,
            items: caller.items.as_ref().map(|items| items.iter().map(|item| item.as_str().to_owned()).collect()),
            name: caller.name.as_deref().map(str::to_owned),
            exp: Seconds::Whole(caller.expires.0 / 1_000),
            nbf: None,
        }
    }

    /// The caller whom they name, if every claim is allowed and it is their time.
    pub fn check(self, now: Millis) -> Result<Caller, AuthError> {
        let user = UserId::parse(&self.sub).map_err(|_| AuthError::Claim("sub is malformed"))?;
        check_prefix(&user, self.role)?;
        let items = self.items.map(|items| items.iter().map(|item| ItemId::parse(item)).collect::<Result<_, _>>());
        let caller = Caller {
            user,
            role: self.role,
            items: items.transpose().map_err(|_| AuthError::Claim("items has a malformed id"))?,
            name: self.name.as_deref().map(display_name).transpose()?.flatten(),
            expires: self.exp.millis(),
        };
        if self.nbf.is_some_and(|nbf| nbf.millis() > now) {
            return Err(AuthError::Early);
        }
        if caller.expired(now) { Err(AuthError::Expired) } else { Ok(caller) }
    }
}

/// Anonymous ids are the server's own: nobody with an account may look like one, and the reverse.
pub fn check_prefix(user: &UserId, role: Role) -> Result<(), AuthError> {
    match (user.is_anonymous(), role == Role::Anonymous) {
        (true, false) => Err(AuthError::Claim("sub begins with anon:, which is for the role anonymous")),
        (false, true) => Err(AuthError::Claim("the role anonymous needs a sub that begins with anon:")),
        _ => Ok(()),
    }
}

/// A display name is a text that other people see: the rules of titles. Blank is none.
pub fn display_name(name: &str) -> Result<Option<std::sync::Arc<str>>, AuthError> {
    let name =
        text::normalize_title(name).map_err(|_| AuthError::Claim("name is too long or has control characters"))?;
    Ok(if name.is_empty() { None } else { Some(name.into()) })
}
