//! The REST door over the production composition: what it promises, seen from outside.

mod acting;
mod bad_input;
mod exits;
mod items;
mod rights;
