//! The hot store: counts, unflushed comments and numbered events of live items. See [`contract`].

pub mod contract;
pub mod fence;
pub mod journal;
pub mod memory;
mod pace;
pub mod readers;
pub mod redis;

pub use contract::{Add, Aligned, Audit, Event, Flight, HotError, HotStore, Standing, Step, Stood};
pub use fence::{LikeFence, Raised};
pub use journal::Journal;
pub use readers::{LikeFilter, LikeMarks};

/// All that likes need of a hot store beside their counters.
pub trait LikesHot: LikeFence + LikeMarks + LikeFilter {}

impl<S: LikeFence + LikeMarks + LikeFilter> LikesHot for S {}
