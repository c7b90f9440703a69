//! What the server says over a socket, as far as the generator looks at it.
//!
//! One flat shape for all messages, borrowed from the frame: hundreds of sockets read every frame of a room, so nothing is
//! copied and nothing is read that no check needs. Ids of comments stay the JSON tokens that they came as.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Taps by kind.
pub type Taps<'a> = BTreeMap<Cow<'a, str>, i64>;

/// One message of any type; a field is there if the type has it.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are the wire contract's, in docs/protocol.md")]
pub struct Inbound<'a> {
    #[serde(borrow)]
    pub t: Cow<'a, str>,
    pub id: Option<u64>,
    pub seq: Option<u64>,
    #[serde(borrow, default)]
    pub taps: Option<Taps<'a>>,
    #[serde(borrow, default)]
    pub counts: Option<CountsIn<'a>>,
    /// A number in `counts` and `dropped`, a list in `snapshot`.
    #[serde(borrow, default)]
    pub comments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub list: Vec<CommentIn<'a>>,
    pub accepted: Option<u64>,
    /// The id of an acknowledged comment.
    #[serde(borrow, default)]
    pub comment: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub act: Option<Cow<'a, str>>,
    /// Text in `error`, a number in `bye`.
    #[serde(borrow, default)]
    pub code: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub outcome: Option<Cow<'a, str>>,
    pub refused: Option<u64>,
}

/// The `counts` object.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are the wire contract's, in docs/protocol.md")]
pub struct CountsIn<'a> {
    #[serde(borrow, default)]
    pub taps: Option<Taps<'a>>,
    pub comments: Option<i64>,
}

/// One comment.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are the wire contract's, in docs/protocol.md")]
pub struct CommentIn<'a> {
    #[serde(borrow)]
    pub id: &'a RawValue,
    #[serde(borrow)]
    pub user: Cow<'a, str>,
    #[serde(borrow, default)]
    pub text: Option<Cow<'a, str>>,
}

impl<'a> Inbound<'a> {
    /// The messages of one frame, which has one object a line.
    pub fn of_frame(frame: &'a str) -> impl Iterator<Item = Result<Self, String>> {
        frame.split('\n').filter(|line| !line.is_empty()).map(|line| {
            serde_json::from_str(line).map_err(|e| format!("a message that cannot be read ({e}): {}", head(line)))
        })
    }

    /// The total of one kind of tap, in `counts`, `snapshot` and acks of taps.
    pub fn taps_of(&self, kind: &str) -> Option<i64> {
        let taps = self.taps.as_ref().or_else(|| self.counts.as_ref().and_then(|counts| counts.taps.as_ref()));
        taps.and_then(|taps| taps.get(kind).copied())
    }

    /// The total of comments, in `counts`, `snapshot` and acks.
    pub fn comments_total(&self) -> Option<i64> {
        let of_object = self.counts.as_ref().and_then(|counts| counts.comments);
        of_object.or_else(|| self.comments.and_then(|raw| raw.get().parse().ok()))
    }
}

/// The first characters of what cannot be read, for the report.
fn head(line: &str) -> String {
    line.chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(frame: &str) -> Inbound<'_> {
        Inbound::of_frame(frame).next().and_then(Result::ok).unwrap_or_else(|| unreachable!("{frame}"))
    }

    #[test]
    fn totals_are_found_wherever_they_stand() {
        let counts = only(r#"{"t":"counts","item":"a","seq":4,"taps":{"heart":12},"comments":3}"#);
        assert_eq!((counts.taps_of("heart"), counts.comments_total(), counts.seq), (Some(12), Some(3), Some(4)));
        let snapshot =
            only(r#"{"t":"snapshot","epoch":"x","seq":0,"counts":{"taps":{"heart":7},"comments":1},"comments":[]}"#);
        assert_eq!((snapshot.taps_of("heart"), snapshot.comments_total()), (Some(7), Some(1)));
        let ack = only(r#"{"t":"ack","id":9,"accepted":2,"counts":{"taps":{"heart":9}}}"#);
        assert_eq!((ack.id, ack.accepted, ack.taps_of("heart")), (Some(9), Some(2), Some(9)));
    }

    #[test]
    fn a_frame_may_hold_several_messages() {
        let frame = "{\"t\":\"pong\"}\n{\"t\":\"bye\",\"code\":4000,\"reconnect_after_ms\":5}\n{\"t\":";
        let read: Vec<bool> = Inbound::of_frame(frame).map(|message| message.is_ok()).collect();
        assert_eq!(read, [true, true, false]);
    }

    #[test]
    fn ids_of_comments_stay_tokens() {
        let comments =
            only(r#"{"t":"comments","item":"a","seq":1,"list":[{"id":"c1","user":"u","text":"a\"b","at":1}]}"#);
        assert_eq!(comments.list.first().map(|c| (c.id.get(), c.text.as_deref())), Some(("\"c1\"", Some("a\"b"))));
        assert_eq!(only(r#"{"t":"ack","id":1,"comment":"c1","at":5}"#).comment.map(RawValue::get), Some("\"c1\""));
    }
}
