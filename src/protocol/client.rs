//! What clients send, checked once: a message becomes a [`ClientIn`] or a coded refusal that still carries its `id`.
//!
//! Wrong types, missing fields and malformed ids are `bad_request`; known types outside their range are `unprocessable`; unknown
//! fields are ignored. The bodies are shared with REST, so that both doors refuse alike.

use std::borrow::Cow;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};

use super::error::{ApiError, Code};
use super::ids::{ItemId, Kind};
use super::text;

/// Taps in one message, at most: what a fast pair of thumbs makes in a tick of a large room, with head-room.
pub const TAP_N_MAX: u32 = 100;
/// Bytes of a request id.
pub const REQUEST_ID_MAX_BYTES: usize = 64;
/// Bytes of an idempotency key.
pub const KEY_MAX_BYTES: usize = 128;

/// The client's own mark on a message, repeated in its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RequestId {
    /// An integer of 64 bits.
    Number(i64),
    /// A string of at most [`REQUEST_ID_MAX_BYTES`].
    Text(Box<str>),
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Raw {
            Number(i64),
            Text(Box<str>),
        }
        match Raw::deserialize(deserializer)? {
            Raw::Number(n) => Ok(Self::Number(n)),
            Raw::Text(text) if text.len() <= REQUEST_ID_MAX_BYTES => Ok(Self::Text(text)),
            Raw::Text(_) => Err(D::Error::custom("id is a string of at most 64 bytes, or an integer")),
        }
    }
}

/// One message of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The mark to answer with; without one only refusals are told.
    pub id: Option<RequestId>,
    /// Which item it is for: the studio's messages name one, a viewer's socket has one.
    pub item: Option<ItemId>,
    /// What is asked.
    pub message: ClientIn,
}

/// What a client can ask over a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientIn {
    /// Increments of a reaction counter.
    Tap(Tap),
    /// A comment.
    Comment(NewComment),
    /// The person likes the item from now on, or does not.
    Like(bool),
    /// A new token for the same person, in place.
    Auth {
        /// The new token.
        token: String,
    },
    /// Answered by `pong`.
    Ping,
}

/// `n` taps of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tap {
    /// Which counter.
    pub kind: Kind,
    /// 1 to [`TAP_N_MAX`].
    pub n: u32,
}

/// A comment whose text is normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewComment {
    /// Normalised, within bounds.
    pub text: String,
    /// Makes a retry harmless: the same key of the same person answers the same comment.
    pub key: Option<String>,
}

/// A message that was refused before it was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its mark, if that much could be read.
    pub id: Option<RequestId>,
    /// Its `t`, if it is a known one.
    pub act: Option<&'static str>,
    /// Why.
    pub error: ApiError,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    t: Cow<'a, str>,
    id: Option<RequestId>,
    #[serde(borrow)]
    item: Option<Cow<'a, str>>,
}

impl Envelope {
    /// Reads one JSON object.
    pub fn parse(json: &str) -> Result<Self, Refused> {
        let head: Head<'_> = read(json).map_err(|error| Refused { id: None, act: None, error })?;
        let act = known(&head.t);
        let parsed = message(&head.t, json).and_then(|message| {
            let item = head.item.as_deref().map(ItemId::parse).transpose()?;
            Ok((item, message))
        });
        match parsed {
            Ok((item, message)) => Ok(Self { id: head.id, item, message }),
            Err(error) => Err(Refused { id: head.id, act, error }),
        }
    }
}

fn known(t: &str) -> Option<&'static str> {
    ["tap", "like", "unlike", "comment", "auth", "ping"].into_iter().find(|name| *name == t)
}

fn message(t: &str, json: &str) -> Result<ClientIn, ApiError> {
    match t {
        "tap" => read::<TapBody>(json)?.check().map(ClientIn::Tap),
        "comment" => read::<CommentBody>(json)?.check().map(ClientIn::Comment),
        "like" => Ok(ClientIn::Like(true)),
        "unlike" => Ok(ClientIn::Like(false)),
        "auth" => read::<AuthBody>(json).map(|body| ClientIn::Auth { token: body.token }),
        "ping" => Ok(ClientIn::Ping),
        _ => Err(ApiError::new(Code::BadRequest, "unknown t")),
    }
}

fn read<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, ApiError> {
    serde_json::from_str(json).map_err(|e| malformed(&e))
}

/// The refusal of JSON that does not fit, which tells where but never repeats what was sent.
pub fn malformed(error: &serde_json::Error) -> ApiError {
    ApiError::new(Code::BadRequest, format!("malformed JSON: {error}"))
}

/// Reads a REST body: absent where no field is required.
pub fn read_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    let body = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(body).map_err(|e| malformed(&e))
}

/// `{kind?, n?}` as sent.
#[derive(Debug, Deserialize)]
pub struct TapBody {
    kind: Option<String>,
    n: Option<i128>,
}

impl TapBody {
    /// One heart unless it says otherwise.
    pub fn check(self) -> Result<Tap, ApiError> {
        let kind = self.kind.as_deref().map_or(Ok(Kind::HEART), Kind::parse)?;
        let n = self.n.unwrap_or(1);
        if n < i128::from(i64::MIN) || n > i128::from(u64::MAX) {
            return Err(ApiError::new(Code::BadRequest, "n is beyond 64 bits"));
        }
        match u32::try_from(n) {
            Ok(n @ 1..=TAP_N_MAX) => Ok(Tap { kind, n }),
            _ => Err(ApiError::new(Code::Unprocessable, "n is 1 to 100")),
        }
    }
}

/// `{text, key?}` as sent.
#[derive(Debug, Deserialize)]
pub struct CommentBody {
    text: String,
    key: Option<String>,
}

impl CommentBody {
    /// Normalises the text.
    pub fn check(self) -> Result<NewComment, ApiError> {
        let text =
            text::normalize(&self.text).map_err(|why| ApiError::new(Code::Unprocessable, format!("text: {why}")))?;
        if self.key.as_ref().is_some_and(|key| key.is_empty() || key.len() > KEY_MAX_BYTES) {
            return Err(ApiError::new(Code::Unprocessable, "key is 1 to 128 bytes"));
        }
        Ok(NewComment { text, key: self.key })
    }
}

#[derive(Deserialize)]
struct AuthBody {
    token: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(json: &str) -> (Option<RequestId>, Code) {
        let refused = Envelope::parse(json).unwrap_err();
        (refused.id, refused.error.code)
    }

    #[test]
    fn a_tap_is_one_heart_unless_it_says_otherwise() {
        let tap = |json| Envelope::parse(json).unwrap();
        let plain = tap(r#"{"t":"tap"}"#);
        assert_eq!(plain, Envelope { id: None, item: None, message: ClientIn::Tap(Tap { kind: Kind::HEART, n: 1 }) });
        let full = tap(r#"{"t":"tap","kind":"wow","n":100,"id":"a","later":[1]}"#);
        assert_eq!(full.id, Some(RequestId::Text("a".into())));
    }

    #[test]
    fn values_out_of_range_and_wrong_types_have_different_codes() {
        for n in ["0", "-1", "101", "18446744073709551615"] {
            assert_eq!(
                refused(&format!(r#"{{"t":"tap","n":{n},"id":7}}"#)),
                (Some(RequestId::Number(7)), Code::Unprocessable)
            );
        }
        for n in ["1.5", "\"1\"", "18446744073709551616", "1e99", "[]"] {
            assert_eq!(
                refused(&format!(r#"{{"t":"tap","n":{n},"id":7}}"#)),
                (Some(RequestId::Number(7)), Code::BadRequest),
                "{n}"
            );
        }
        assert_eq!(refused(r#"{"t":"tap","kind":"NO"}"#).1, Code::BadRequest);
        assert_eq!(refused(r#"{"t":"comment","text":" "}"#).1, Code::Unprocessable);
        assert_eq!(refused(r#"{"t":"comment"}"#).1, Code::BadRequest);
    }

    #[test]
    fn what_is_no_message_is_a_bad_request_and_never_a_panic() {
        let long_id = format!(r#"{{"t":"tap","id":"{}"}}"#, "x".repeat(65));
        for json in ["", "[]", "{}", "null", "{\"t\":1}", "{\"t\":\"no\"}", "{\"t\":\"tap\",\"id\":{}}", &long_id] {
            assert_eq!(refused(json), (None, Code::BadRequest), "{json}");
        }
    }
}
