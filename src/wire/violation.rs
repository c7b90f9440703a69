//! What a client can do wrong on the wire, and the close code that tells it.

use crate::protocol::CloseCode;

/// A violation of RFC 6455, or of one of this server's bounds. The socket is closed with [`Violation::close_code`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A client's frame came without a mask (5.1).
    #[error("frame without a mask")]
    Unmasked,
    /// A reserved bit is set although no extension was agreed on (5.2).
    #[error("reserved bit set")]
    ReservedBits,
    /// Opcode 3-7 or 11-15 (5.2).
    #[error("reserved opcode")]
    ReservedOpcode,
    /// A control frame is fragmented or longer than 125 bytes (5.5).
    #[error("control frame fragmented or too long")]
    Control,
    /// A continuation of nothing, or a new message inside another one (5.4).
    #[error("fragments out of order")]
    Sequence,
    /// More empty fragments in one message than [`super::decode::EMPTY_FRAGMENTS_MAX`].
    #[error("too many empty fragments")]
    EmptyFragments,
    /// A length that is not in its shortest form, or has the top bit set (5.2).
    #[error("length not in its shortest form")]
    LengthEncoding,
    /// A close payload of one byte, or a code that must not be sent (5.5.1, 7.4).
    #[error("invalid close payload")]
    ClosePayload,
    /// Text or a close reason is not UTF-8 (8.1).
    #[error("invalid UTF-8")]
    InvalidUtf8,
    /// A binary frame, where only text is spoken.
    #[error("binary frame")]
    Binary,
    /// A frame's declared payload, or the message that it would complete, is over the bound.
    #[error("message over the bound")]
    TooBig,
}

impl Violation {
    /// The code to close with (RFC 6455, 7.4.1).
    pub const fn close_code(&self) -> CloseCode {
        match self {
            Self::Unmasked
            | Self::ReservedBits
            | Self::ReservedOpcode
            | Self::Control
            | Self::Sequence
            | Self::EmptyFragments
            | Self::LengthEncoding
            | Self::ClosePayload => CloseCode::Protocol,
            Self::InvalidUtf8 => CloseCode::InvalidUtf8,
            Self::Binary => CloseCode::Unsupported,
            Self::TooBig => CloseCode::TooBig,
        }
    }
}
