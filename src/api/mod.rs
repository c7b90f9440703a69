//! The REST door: one file per resource. It reads a request, finds out who asks, lets `acts` decide and do, and writes the answer.
//!
//! It decides nothing about rights and rates, and [`error`] is the only place that knows HTTP's status codes. The sockets' upgrade
//! is not here; it asks [`host`] the same two questions that are asked here.

pub mod audit;
pub mod batch;
pub mod caller;
pub mod comments;
pub mod error;
pub mod extract;
pub mod headers;
pub mod health;
pub mod host;
pub mod items;
pub mod likes;
pub mod metrics;
pub mod page;
pub mod pages;
pub mod routes;
pub mod taps;
pub mod tokens;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use actix_web::web;

use crate::acts::Acts;
use crate::auth::Auth;
use crate::config::Config;
use crate::telemetry::Metrics;

/// What the door stands on.
#[derive(Clone)]
pub struct Door {
    /// Everything that a person can do.
    pub acts: Arc<Acts>,
    /// What does not touch an item.
    pub gate: Gate,
}

/// The part of the door that is there before any item is touched.
#[derive(Clone)]
pub struct Gate {
    /// Tokens.
    pub auth: Arc<Auth>,
    /// As validated at start.
    pub config: Arc<Config>,
    /// What is scraped.
    pub metrics: Arc<Metrics>,
    /// Whether the server takes work: set when it does, cleared when the stop begins.
    pub ready: Arc<AtomicBool>,
}

/// Puts the whole door into an application: `App::new().configure(api::configure(door))`.
pub fn configure(door: Door) -> impl Fn(&mut web::ServiceConfig) + Clone {
    move |app| {
        app.app_data(web::Data::from(Arc::clone(&door.acts)));
        routes::mount(app, &door.gate);
    }
}

#[cfg(test)]
mod tests;
