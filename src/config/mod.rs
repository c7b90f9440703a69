//! Configuration: raw values from flags, environment and file become one validated struct per concern, once.
//! Nothing reads the environment later.

pub mod rates;
pub mod rooms;
pub mod sockets;

pub use rates::RateConfig;
pub use rooms::RoomConfig;
pub use sockets::SocketConfig;
