//! Tokens to rights.

pub mod caller;

pub use caller::Caller;
