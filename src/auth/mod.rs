//! Tokens to rights: a token becomes a [`Caller`] or is refused. What a caller may do is `acts`' business.

pub mod caller;
pub mod claims;
pub mod key;

use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use jsonwebtoken::crypto::{CryptoProvider, rust_crypto};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use uuid::Uuid;

pub use caller::Caller;
pub use key::KeyError;

use crate::config::AuthConfig;
use crate::protocol::{Millis, Role, UserId};
use claims::Claims;

/// Bytes of the longest token that is looked at: a thousand items of a moderator, and less than any proxy's header limit.
pub const TOKEN_MAX_BYTES: usize = 8 * 1024;
/// How long an anonymous token lasts: longer than any show, shorter than a person would want to be followed.
pub const ANONYMOUS_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// Why a token is not good. All are answered alike; the log tells them apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// Not a token, another algorithm, or not signed by the key.
    #[error("token is malformed or not signed by this server's key")]
    Forged,
    /// Its `exp` has passed.
    #[error("token has expired")]
    Expired,
    /// Its `nbf` has not come.
    #[error("token is not yet valid")]
    Early,
    /// A claim is missing or not allowed.
    #[error("token: {0}")]
    Claim(&'static str),
}

/// A token and what it says.
#[derive(Debug, Clone)]
pub struct Issued {
    /// The token's text.
    pub token: String,
    /// Whose it is.
    pub caller: Caller,
}

/// The keys of one node. Tokens are HS256, whatever their header says.
pub struct Auth {
    signing: EncodingKey,
    checking: DecodingKey,
    validation: Validation,
    development: bool,
    anonymous_allowed: bool,
}

impl Auth {
    /// Takes the configured key, or in development mode the one in the data folder, made at random where there is none.
    pub fn open(config: &AuthConfig, data_dir: &Path) -> Result<Self, KeyError> {
        match &config.secret {
            Some(secret) => Self::with_key(config, secret.as_bytes()),
            None => Self::with_key(config, &key::development(data_dir)?),
        }
    }

    fn with_key(config: &AuthConfig, key: &[u8]) -> Result<Self, KeyError> {
        install_provider();
        Ok(Self {
            signing: EncodingKey::from_secret(key).map_err(|_| KeyError::Refused)?,
            checking: DecodingKey::from_secret(key).map_err(|_| KeyError::Refused)?,
            validation: signature_only(),
            development: config.development(),
            anonymous_allowed: config.anonymous_allowed,
        })
    }

    /// Whether anybody may be given any token.
    pub fn development(&self) -> bool {
        self.development
    }

    /// Whether people without a token may read.
    pub fn anonymous_allowed(&self) -> bool {
        self.anonymous_allowed
    }

    /// Checks a token.
    pub fn verify(&self, token: &str, now: Millis) -> Result<Caller, AuthError> {
        if token.len() > TOKEN_MAX_BYTES {
            return Err(AuthError::Forged);
        }
        let decoded = jsonwebtoken::decode::<Claims>(token, &self.checking, &self.validation);
        let claims = decoded.map_err(|error| refusal(token, &error))?;
        let caller = claims.claims.check(now)?;
        if caller.role == Role::Anonymous && !self.anonymous_allowed {
            return Err(AuthError::Claim("anonymous people are not allowed"));
        }
        Ok(caller)
    }

    /// A token for somebody without an account.
    pub fn anonymous(&self, now: Millis) -> Result<Issued, AuthError> {
        let random = Uuid::new_v4();
        let user = UserId::parse(&format!("{}{}", UserId::ANONYMOUS_PREFIX, random.simple()))
            .map_err(|_| AuthError::Claim("sub is malformed"))?;
        self.issue(Caller { user, role: Role::Anonymous, items: None, name: None, expires: after(now, ANONYMOUS_TTL) })
    }

    /// Signs a token that says this. Who may have it is the caller's question.
    pub fn issue(&self, caller: Caller) -> Result<Issued, AuthError> {
        let claims = Claims::of(&caller);
        let token = jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.signing)
            .map_err(|_| AuthError::Forged)?;
        Ok(Issued { token, caller })
    }
}

/// A time later by so much. Tokens count in whole seconds, so the end does too.
pub fn after(now: Millis, ttl: Duration) -> Millis {
    let ms = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
    Millis(now.0.saturating_add(ms) / 1_000 * 1_000)
}

/// The signature is the library's to check, time and claims are ours: time comes in as a value.
fn signature_only() -> Validation {
    let mut validation = Validation::new(Algorithm::HS256);
    validation.validate_exp = false;
    validation.required_spec_claims.clear();
    // Identity providers name audiences that this server has no say in; the key is what is shared with it.
    validation.validate_aud = false;
    validation
}

/// Claims that cannot be read are told apart from tokens that cannot: the former are signed, and their maker wants to know.
fn refusal(token: &str, error: &jsonwebtoken::errors::Error) -> AuthError {
    let of_claims = matches!(error.kind(), jsonwebtoken::errors::ErrorKind::Json(_));
    if of_claims && jsonwebtoken::decode_header(token).is_ok() {
        AuthError::Claim("a claim is missing or of the wrong type")
    } else {
        AuthError::Forged
    }
}

/// The library wants its cryptography named once per process; a second call would be an error that means nothing.
fn install_provider() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        if CryptoProvider::install_default(&rust_crypto::DEFAULT_PROVIDER).is_err() {
            tracing::debug!("a crypto provider was installed before");
        }
    });
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auth").field("development", &self.development).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
