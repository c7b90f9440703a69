//! Heartline: a real-time engagement server. `ARCHITECTURE.md` is the map; the modules below stand on floors, and a module
//! imports only from the floors under its own.

pub mod acts;
pub mod api;
pub mod app;
pub mod auth;
pub mod cli;
pub mod clock;
pub mod comments;
pub mod config;
pub mod flush;
pub mod likes;
pub mod limits;
pub mod protocol;
pub mod reconcile;
pub mod relay;
pub mod room;
pub mod session;
pub mod store;
pub mod studio;
pub mod telemetry;
pub mod wire;
