//! Names of things, each checked once where it enters and trusted from then on.
//!
//! Grammar and lengths are those of the wire contract (`docs/protocol.md`). No IO.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Why a name was refused; the doors answer it as `bad_request`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("malformed {what}: {rule}")]
pub struct BadId {
    what: &'static str,
    rule: &'static str,
}

/// Bytes of the longest item id and of the longest user id.
pub const ID_MAX_BYTES: usize = 128;

/// The thing engaged with: 1-128 of `A-Z a-z 0-9 . _ : -`, neither `.` nor `..`. Cloning is a reference count.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ItemId(Arc<str>);

impl ItemId {
    const RULE: &'static str = "1-128 of A-Z a-z 0-9 . _ : -, not . or ..";

    /// Checks the grammar.
    pub fn parse(text: &str) -> Result<Self, BadId> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'-');
        let fits = (1..=ID_MAX_BYTES).contains(&text.len());
        if fits && text != "." && text != ".." && text.bytes().all(allowed) {
            Ok(Self(text.into()))
        } else {
            Err(BadId { what: "item", rule: Self::RULE })
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A person, as the token's `sub` names them: 1-128 bytes without control characters.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UserId(Arc<str>);

impl UserId {
    /// What the ids of anonymous people begin with; refused in tokens of any other role.
    pub const ANONYMOUS_PREFIX: &'static str = "anon:";

    /// Checks the grammar.
    pub fn parse(text: &str) -> Result<Self, BadId> {
        let fits = (1..=ID_MAX_BYTES).contains(&text.len());
        if fits && !text.chars().any(char::is_control) {
            Ok(Self(text.into()))
        } else {
            Err(BadId { what: "user", rule: "1-128 bytes without control characters" })
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the id of somebody who has no account.
    pub fn is_anonymous(&self) -> bool {
        self.0.starts_with(Self::ANONYMOUS_PREFIX)
    }
}

/// A kind of tap: `[a-z][a-z0-9_]{0,23}`, not ending in `_str`. `Copy`, since it rides on every tap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Kind {
    bytes: [u8; Self::MAX_BYTES],
    len: u8,
}

impl Kind {
    /// Bytes of the longest kind.
    pub const MAX_BYTES: usize = 24;

    /// The kind of a tap that names none.
    pub const HEART: Self = Self { bytes: *b"heart\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", len: 5 };

    /// Checks the grammar. `_str` is refused as an ending because `<kind>_str` carries counts past 2^53-1.
    pub fn parse(text: &str) -> Result<Self, BadId> {
        let starts = text.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        let mut bytes = [0; Self::MAX_BYTES];
        match bytes.get_mut(..text.len()) {
            Some(room) if starts && text.bytes().all(allowed) && !text.ends_with("_str") => {
                room.copy_from_slice(text.as_bytes());
                Ok(Self { bytes, len: text.len() as u8 })
            }
            _ => Err(BadId { what: "kind", rule: "[a-z][a-z0-9_]{0,23}, not ending in _str" }),
        }
    }

    /// The kind as text.
    pub fn as_str(&self) -> &str {
        let named = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        std::str::from_utf8(named).unwrap_or_default()
    }
}

macro_rules! text_id {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.as_str())
            }
        }
        impl TryFrom<String> for $name {
            type Error = BadId;
            fn try_from(text: String) -> Result<Self, BadId> {
                Self::parse(&text)
            }
        }
        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.as_str().to_owned()
            }
        }
        impl std::str::FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                Self::parse(text)
            }
        }
    };
}
text_id!(ItemId);
text_id!(UserId);
text_id!(Kind);

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.simple().fmt(f)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.simple().fmt(f)
            }
        }
        impl std::str::FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                Uuid::try_parse(text)
                    .map(Self)
                    .map_err(|_| BadId { what: stringify!($name), rule: "a UUID" })
            }
        }
    };
}
uuid_id! {
    /// One comment. The server's: a UUID v7, or the hash of (item, user, key) where the sender gave a key.
    CommentId
}
uuid_id! {
    /// One run of one server process; fresh at every start (UUID v7), never configured.
    WriterId
}
uuid_id! {
    /// One unbroken numbering of a room's events. Sequence numbers of different epochs do not compare.
    Epoch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_ids_outside_the_grammar_are_refused() {
        for good in ["a", "live-1", "A.b_c:d-9", "...", &"x".repeat(128)] {
            assert!(ItemId::parse(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "a b", "a/b", "é", "a#1", &"x".repeat(129)] {
            assert!(ItemId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn kinds_outside_the_grammar_are_refused() {
        for good in ["heart", "a", "wow_2", &"k".repeat(24)] {
            assert_eq!(Kind::parse(good).map(|k| k.as_str().to_owned()).as_deref(), Ok(good));
        }
        for bad in ["", "Heart", "2x", "_a", "heart_str", "a-b", &"k".repeat(25)] {
            assert!(Kind::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(Kind::HEART, Kind::parse("heart").unwrap());
    }
}
