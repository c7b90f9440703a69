//! Rooms: one actor per live item on this node.

pub mod messages;

pub use messages::{Frame, Frames, Join, Joined, Leave, RoomHandle, SubscriberId, TapSums};
