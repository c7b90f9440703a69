//! The hot store: counts, unflushed comments and numbered events of live items. See [`contract`].

pub mod contract;

pub use contract::{Add, Aligned, Audit, Event, Flight, HotError, HotStore, Standing, Step, Stood};
