//! Heartline's load generator: loads a server on this machine and checks that it kept its promises while loaded.
//!
//! Purpose: to find lost, doubled, reordered or backward-going numbers first, and to measure speed second. It owns nothing of the
//! server's: it speaks the public wire contract and keeps its own books of what it sent and what it was told.
//! Every run is bounded in sockets and time, stops by itself and talks to loopback addresses alone. Load is *open loop*: what is
//! sent when follows from the plan and the clock, never from the answers, and latency counts from the planned moment, so that a
//! slow server cannot hide behind a generator that waited for it (coordinated omission).
//!
//! It loads Redis and MongoDB by itself only to compare (`strategies`), and it is no benchmark of other servers: those live in `peers/`.

pub mod storm;

pub mod replay;

pub mod fanout;

pub mod likes;

pub mod bench;

pub mod soak;

pub mod strategies;

pub mod trace;

pub mod text;

pub mod ledger;

pub mod order;

pub mod watch;

pub mod rising;

pub mod schedule;

pub mod latency;

pub mod api;

pub mod client;

pub mod http;

pub mod inbound;

pub mod target;

pub mod progress;

pub mod report;

pub mod seeded;

pub mod usage;

pub mod process;

pub mod cli;
