//! The durable store: items, folded counts, comments ([`contract`]) and likes ([`likes`]).

pub mod contract;
mod counts;
pub mod likes;
pub mod mongodb;
pub mod sqlite;

pub use contract::{
    Applied, CommentCursor, Document, DurableError, DurableStore, Inserted, ItemChange, ItemPage, Rejected,
};
pub use counts::WriteCounts;
pub use likes::{BatchId, LikeBatch, LikeCommand, LikeStore, Liker, Liking};
