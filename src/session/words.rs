//! The frames that a session makes for its client alone.

use bytes::Bytes;

use crate::auth::Caller;
use crate::protocol::client::RequestId;
use crate::protocol::server::{ClientLimits, NoVotes};
use crate::protocol::{ApiError, CloseCode, Code, Counts, ItemId, ServerOut};
use crate::wire::encode;

/// What every `hello` of a node tells alike.
#[derive(Debug, Clone)]
pub struct HelloRules {
    /// How often the server pings.
    pub ping_ms: u64,
    /// The interval of rooms that did not change theirs.
    pub tick_ms: u64,
    /// Rates and bounds that clients pace themselves by.
    pub limits: ClientLimits,
}

/// One message as a frame.
pub fn frame(message: &ServerOut<'_>) -> Bytes {
    encode::text(&message.encode())
}

/// The first message; `token` is for a client that came without one.
pub fn hello(conn: &str, caller: &Caller, rules: &HelloRules, token: Option<&str>) -> Bytes {
    frame(&ServerOut::Hello {
        conn,
        user: &caller.user,
        role: caller.role,
        ping_ms: rules.ping_ms,
        tick_ms: rules.tick_ms,
        limits: &rules.limits,
        token,
    })
}

/// What concerns this person alone.
pub fn you(item: &ItemId, liked: bool) -> Bytes {
    frame(&ServerOut::You { item, liked, votes: NoVotes {}, entered: [] })
}

/// A refusal.
pub fn error(id: Option<&RequestId>, act: Option<&'static str>, error: &ApiError, refused: Option<u64>) -> Bytes {
    frame(&ServerOut::Error { id, act, error, refused })
}

/// All counts of a room, for a client that missed some.
pub fn counts(item: &ItemId, seq: u64, counts: &Counts) -> Bytes {
    frame(&ServerOut::Counts { item, seq, counts })
}

/// The room's interval, if it is not the one that `hello` told.
pub fn pace(item: &ItemId, seq: u64, tick_ms: u64) -> Bytes {
    frame(&ServerOut::Pace { item, seq, tick_ms })
}

/// Declared loss.
pub fn dropped(item: &ItemId, seq: u64, comments: u64, since_ms: u64) -> Bytes {
    frame(&ServerOut::Dropped { item, seq, comments, since_ms })
}

/// The end of a connection: `bye` with the delay for codes that ask the client to come back, then the close frame.
pub fn farewell(code: CloseCode, reconnect_after_ms: u64) -> Vec<Bytes> {
    let bye = comes_back(code).then(|| frame(&ServerOut::Bye { code: code.as_u16(), reconnect_after_ms }));
    bye.into_iter().chain([encode::close(code)]).collect()
}

/// Whether a client that is closed with this code is to come back by itself: 4000-4499.
pub const fn comes_back(code: CloseCode) -> bool {
    let code = code.as_u16();
    4_000 <= code && code < 4_500
}

/// The close code that tells a client that its room could not be opened for it.
pub const fn close_code_of(error: &ApiError) -> CloseCode {
    match error.code {
        Code::NotFound | Code::BadRequest => CloseCode::UnknownItem,
        Code::Gone => CloseCode::Ended,
        Code::Forbidden => CloseCode::Banned,
        Code::Unauthorized => CloseCode::BadToken,
        _ => CloseCode::RoomRestart,
    }
}
