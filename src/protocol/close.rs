//! Close codes. 4000-4499 ask the client to come back, 4500-4999 to stay away; the rest are RFC 6455's.

/// Why a socket is closed by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum CloseCode {
    /// The client's own close is answered with this (RFC 6455, 7.4.1).
    Normal = 1000,
    /// The WebSocket protocol was violated.
    Protocol = 1002,
    /// A binary frame.
    Unsupported = 1003,
    /// A text frame that is not UTF-8.
    InvalidUtf8 = 1007,
    /// A frame or message over the limit.
    TooBig = 1009,
    /// The server stops; come back after the delay that `bye` told.
    Shutdown = 4000,
    /// The client reads too slowly; its loss was declared before.
    Slow = 4001,
    /// Nothing came from the client for 2.5 pings.
    Idle = 4002,
    /// The room was started anew; come back.
    RoomRestart = 4003,
    /// The token is bad or has expired, or the role may not.
    BadToken = 4500,
    /// The person is banned from the item.
    Banned = 4501,
    /// There is no such item.
    UnknownItem = 4502,
    /// The item has ended; sent after `snapshot` and `ended`.
    Ended = 4504,
}

impl CloseCode {
    /// The number on the wire.
    pub const fn as_u16(self) -> u16 {
        self as u16
    }

    /// A short reason for people, at most 123 bytes (RFC 6455, 5.5).
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Normal => "",
            Self::Protocol => "websocket protocol violation",
            Self::Unsupported => "text frames only",
            Self::InvalidUtf8 => "invalid UTF-8",
            Self::TooBig => "message too big",
            Self::Shutdown => "server shutting down, reconnect",
            Self::Slow => "reading too slowly, reconnect",
            Self::Idle => "idle",
            Self::RoomRestart => "room restarted, reconnect",
            Self::BadToken => "token not accepted",
            Self::Banned => "banned",
            Self::UnknownItem => "unknown item",
            Self::Ended => "ended",
        }
    }
}
