//! Rooms: one actor per live item on this node. It buffers taps and comments, applies them once a tick, and tells its subscribers what
//! moved. The parts that decide are pure; `actor` and its handlers carry out.

pub mod actor;
pub mod messages;
pub mod registry;
pub mod ticker;

mod audience;
mod broadcast;
mod cold;
pub mod deps;
mod encode;
mod ending;
pub mod handlers;
mod history;
mod intake;
mod load;
mod neighbours;
mod outlet;
mod pacing;
mod schedule;
mod shown;
mod stepping;

pub use deps::{FoldNow, RoomDeps, RoomStats};
pub use messages::{
    Contribute, Contributed, Frame, Frames, Join, Joined, Leave, RoomHandle, Seen, SubscriberId, TapSums,
};
pub use registry::Registry;
pub use ticker::{Gather, Ticker};
