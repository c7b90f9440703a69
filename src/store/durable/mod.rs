//! The durable store: items, folded counts, comments. See [`contract`].

pub mod contract;
pub mod mongodb;
pub mod sqlite;

pub use contract::{
    Applied, CommentCursor, Document, DurableError, DurableStore, Inserted, ItemChange, ItemPage, Rejected,
};
