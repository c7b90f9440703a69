//! Keys of tokens, and who may come without one.

use std::fmt;

use super::error::ConfigError;

/// Bytes of the shortest key: HS256 wants one as long as its hash (RFC 7518, 3.2).
pub const SECRET_MIN_BYTES: usize = 32;
/// Bytes of the longest key: nothing sane is longer, and a file given by mistake is noticed.
pub const SECRET_MAX_BYTES: usize = 4_096;

/// What tokens are checked by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthConfig {
    /// The key of HS256; `None`: development mode, with a random key in the data folder.
    pub secret: Option<Secret>,
    /// Whether people without a token may read, and get one to tap with.
    pub anonymous_allowed: bool,
}

impl AuthConfig {
    /// Whether no key is configured: loopback only, and tokens for whoever asks.
    pub fn development(&self) -> bool {
        self.secret.is_none()
    }

    pub(super) fn validate(secret: Option<String>, anonymous_allowed: bool) -> Result<Self, ConfigError> {
        match secret.as_ref().map(String::len) {
            None | Some(SECRET_MIN_BYTES..=SECRET_MAX_BYTES) => {}
            Some(_) => {
                let why = format!("has {SECRET_MIN_BYTES} to {SECRET_MAX_BYTES} bytes");
                return Err(ConfigError::bad("jwt_secret", why));
            }
        }
        Ok(Self { secret: secret.map(Secret), anonymous_allowed })
    }
}

/// A key that does not show itself in logs.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Its UTF-8 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
