//! The flush: folds what the hot store holds into the durable store, a trickle of one write per item and interval.
//!
//! Owns no counts: everything it knows may be lost at any step, and the next round carries on with what the stores say
//! (I2). Pure parts decide ([`round`], [`plan`], [`absence`]); [`carry`] talks to the stores; [`actor`] takes messages and
//! keeps the interval; [`realign`] is an operator's decision. It does not know rooms, and it does not let items go: that is for who knows whether a room lives.

pub mod absence;
pub mod actor;
pub mod carry;
pub mod plan;
pub mod realign;
pub mod round;
pub mod stats;

pub use actor::{FlushActor, FlushAll, FlushItem};
pub use carry::{Drained, FlushError};
pub use stats::FlushStats;
