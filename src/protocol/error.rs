//! The one error shape of REST and WebSocket. Which HTTP status a code becomes is `api/error`'s business alone.

use std::borrow::Cow;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::ids::BadId;

/// The closed list of error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Not JSON, a wrong type, a missing field, a malformed id.
    BadRequest,
    /// Well formed, but the value is not allowed.
    Unprocessable,
    /// No token, or one that is not good.
    Unauthorized,
    /// Role, ban, closed chat.
    Forbidden,
    /// No such thing.
    NotFound,
    /// The state of the thing forbids it now.
    Conflict,
    /// The item or activity has ended.
    Gone,
    /// The body is over the limit.
    TooLarge,
    /// A rate or slow mode.
    RateLimited,
    /// A fault of the server's.
    Internal,
    /// A store or the server cannot answer now.
    Unavailable,
}

impl Code {
    /// Whether the same request may succeed later, unchanged.
    pub const fn retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Unavailable)
    }
}

/// A coded refusal. Unless [`ApiError::outcome_unknown`] is set, what was asked has not been applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code:?}: {message}")]
pub struct ApiError {
    /// What kind of refusal.
    pub code: Code,
    /// For people; names the field or the limit.
    pub message: Cow<'static, str>,
    /// Whether a client may send the same again.
    pub retryable: bool,
    /// When to send it again, where that is known. Milliseconds.
    pub retry_after_ms: Option<u64>,
    /// It may have been applied: `outcome: "unknown"` on the wire.
    pub outcome_unknown: bool,
}

impl ApiError {
    /// A refusal whose `retryable` follows from its code.
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            retryable: code.retryable(),
            retry_after_ms: None,
            outcome_unknown: false,
        }
    }

    /// The same, with the time after which it is worth asking again. Milliseconds.
    #[must_use]
    pub fn retry_after(mut self, ms: u64) -> Self {
        self.retry_after_ms = Some(ms);
        self
    }

    /// The answer to an act that entered a contribution whose fate is not known in time: never offered for retry.
    pub fn outcome_unknown(message: impl Into<Cow<'static, str>>) -> Self {
        Self { retryable: false, outcome_unknown: true, ..Self::new(Code::Unavailable, message) }
    }
}

impl From<BadId> for ApiError {
    fn from(bad: BadId) -> Self {
        Self::new(Code::BadRequest, bad.to_string())
    }
}

/// The inner object; REST wraps it as `{"error": …}`, sockets add `t`, `id` and `act`.
impl Serialize for ApiError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("error", 5)?;
        object.serialize_field("code", &self.code)?;
        object.serialize_field("message", &self.message)?;
        object.serialize_field("retryable", &self.retryable)?;
        if let Some(ms) = self.retry_after_ms {
            object.serialize_field("retry_after_ms", &ms)?;
        }
        if self.outcome_unknown {
            object.serialize_field("outcome", "unknown")?;
        }
        object.end()
    }
}
