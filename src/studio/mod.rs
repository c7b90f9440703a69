//! Hosts: `GET /v1/studio/ws`, one actor per dashboard, on `actix-web-actors`.
//!
//! A host's socket is one session over several rooms, rich in state and few in number, so it may cost more than a viewer's:
//! an actor with its own timers, subscribed to each of its rooms by itself. The socket under it is ours: a [`pump`] carries
//! bytes both ways with bounded buffers and never stops polling the actor, so that a host who stopped reading cannot freeze
//! the actor's timers. The session core, the outbox and their rules are those of viewers.
//!
//! `actix-web-actors` is deprecated and stays inside this module. Its own parser bounds frames, not messages, and closes
//! without a word; so what reaches it has been through this server's decoder first ([`guard`]): both doors refuse alike.

mod doing;
mod feed;
mod guard;
mod outgo;
mod pump;
mod rooms;
mod session;
mod studios;
#[cfg(test)]
mod tests;

pub use studios::{Studio, Studios};
