//! `/healthz`, `/readyz` and `/v1/limits`.

use std::sync::atomic::Ordering;

use actix_web::{HttpResponse, web};
use serde::Serialize;

use super::Gate;
use super::caller::Reader;
use crate::config::Config;
use crate::limits::client_limits;
use crate::protocol::server::ClientLimits;
use crate::protocol::{ApiError, Code};

/// `GET /healthz`: the process answers.
pub async fn alive() -> HttpResponse {
    HttpResponse::Ok().json(Status { status: "ok" })
}

/// `GET /readyz`: it takes work. Not while it starts, and not once the stop has begun.
pub async fn ready(gate: web::Data<Gate>) -> Result<HttpResponse, ApiError> {
    if gate.ready.load(Ordering::Acquire) {
        Ok(HttpResponse::Ok().json(Status { status: "ready" }))
    } else {
        Err(ApiError::new(Code::Unavailable, "starting or stopping").retry_after(1_000))
    }
}

/// `GET /v1/limits`: what clients pace themselves by, and the bounds that they can meet.
pub async fn limits(_: Reader, gate: web::Data<Gate>) -> HttpResponse {
    HttpResponse::Ok().json(LimitsView::of(&gate.config))
}

#[derive(Serialize)]
struct Status {
    status: &'static str,
}

#[derive(Serialize)]
struct LimitsView {
    /// Whether rates hold at all.
    rates: bool,
    #[serde(flatten)]
    client: ClientLimits,
    host_comments_per_s: u32,
    body_max_bytes: usize,
    tick_ms: u128,
    flush_ms: u128,
    ping_ms: u128,
    idle_ms: u128,
    rooms_max: usize,
    sockets_max: usize,
    history_events: usize,
    outbox_events_max: usize,
    outbox_bytes_max: usize,
    acts_in_flight_max: usize,
    anonymous: bool,
    auto_create: bool,
}

impl LimitsView {
    fn of(config: &Config) -> Self {
        let Config { rates, rooms, sockets, server, auth, .. } = config;
        Self {
            rates: !rates.off,
            client: client_limits(rates, sockets),
            host_comments_per_s: rates.host_comments_per_s,
            body_max_bytes: server.body_max_bytes,
            tick_ms: rooms.tick.as_millis(),
            flush_ms: rooms.flush.as_millis(),
            ping_ms: sockets.ping.as_millis(),
            idle_ms: sockets.idle().as_millis(),
            rooms_max: rooms.rooms_max,
            sockets_max: sockets.sockets_max,
            history_events: rooms.history_events,
            outbox_events_max: sockets.outbox_events_max,
            outbox_bytes_max: sockets.outbox_bytes_max,
            acts_in_flight_max: sockets.acts_in_flight_max,
            anonymous: auth.anonymous_allowed,
            auto_create: rooms.auto_create,
        }
    }
}
