//! The composition root: the only place that knows concrete types. `main` and the tests build and run the same [`App`].

pub mod build;
pub mod drain;
pub mod knock;
pub mod realign;
pub mod serve;
pub mod upgrade;

#[cfg(debug_assertions)]
mod failing;
mod fold;
mod metrics;
mod stores;

pub use build::{App, BuildError};
pub use drain::DrainReport;
pub use serve::Running;
