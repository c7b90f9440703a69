//! Every path, the methods that it takes, and what stands around all of them.

use actix_cors::Cors;
use actix_web::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use actix_web::middleware::{Compress, from_fn};
use actix_web::{HttpRequest, HttpResponse, Resource, Route, guard, web};

use super::error::method_not_allowed;
use super::{Gate, audit, batch, comments, headers, health, host, items, likes, metrics, page, pages, taps, tokens};
use crate::config::{Origin, ServerConfig};
use crate::protocol::{ApiError, Code};

/// How long a browser may remember what a preflight allowed. Seconds.
const PREFLIGHT_S: usize = 3_600;

/// The door without its items' state, which `api::configure` adds.
pub(super) fn mount(app: &mut web::ServiceConfig, gate: &Gate) {
    let server = &gate.config.server;
    app.app_data(web::Data::new(gate.clone()));
    let dev_token =
        if server.development { web::post().to(tokens::development) } else { web::route().to(tokens::no_development) };
    let mut all = web::scope("")
        .wrap(cors(server))
        .wrap(from_fn(host::guard))
        .wrap(from_fn(headers::secure))
        .service(path("/v1/items", "GET", [read(items::list)]))
        .service(path("/v1/items/{item}", "GET, PUT", [read(items::get), web::put().to(items::put)]))
        .service(path("/v1/items/{item}/end", "POST", [web::post().to(items::end)]))
        .service(path("/v1/items/{item}/taps", "POST", [web::post().to(taps::post)]))
        .service(path(
            "/v1/items/{item}/like",
            "PUT, DELETE",
            [web::put().to(likes::put), web::delete().to(likes::delete)],
        ))
        .service(path("/v1/items/{item}/likes", "GET", [read(likes::likers)]))
        .service(path("/v1/items/{item}/likes/among", "POST", [web::post().to(likes::among)]))
        .service(path("/v1/items/{item}/recount", "POST", [web::post().to(likes::recount)]))
        .service(path("/v1/users/{user}/likes", "GET", [read(likes::likings)]))
        .service(path("/v1/batch", "POST", [web::post().to(batch::post)]))
        .service(path("/v1/page", "GET, POST", [read(page::get), web::post().to(page::post)]))
        .service(path("/v1/items/{item}/comments", "GET, POST", [read(comments::list), web::post().to(comments::post)]))
        .service(path("/v1/items/{item}/ws", "GET", [read(no_upgrade)]))
        .service(path("/v1/studio/ws", "GET", [read(no_upgrade)]))
        .service(path("/v1/items/{item}/audit", "GET", [read(audit::get)]))
        .service(path("/v1/anonymous", "POST", [web::post().to(tokens::anonymous)]))
        .service(path("/v1/dev/token", "POST", [dev_token]))
        .service(path("/v1/limits", "GET", [read(health::limits)]))
        .service(path("/healthz", "GET", [read(health::alive)]))
        .service(path("/readyz", "GET", [read(health::ready)]));
    if server.metrics_listen.is_none() {
        all = all.service(path("/metrics", "GET", [read(metrics::get)]));
    }
    app.service(all.service(web::resource("/{path:.*}").wrap(Compress::default()).to(pages::get)));
}

/// Only `/metrics`, for a listener of its own: `App::new().configure(api::routes::metrics_only(gate))`.
pub fn metrics_only(gate: Gate) -> impl Fn(&mut web::ServiceConfig) + Clone {
    move |app| {
        app.app_data(web::Data::new(gate.clone()));
        app.service(path("/metrics", "GET", [read(metrics::get)]));
    }
}

/// A socket's path without `Upgrade: websocket`: with it, the request would not have come here.
async fn no_upgrade() -> Result<HttpResponse, ApiError> {
    Err(ApiError::new(Code::BadRequest, "this path is a WebSocket; the request has no upgrade"))
}

/// A path with its methods; any other is told what there is.
fn path<const N: usize>(path: &str, allow: &'static str, routes: [Route; N]) -> Resource {
    let resource = routes.into_iter().fold(web::resource(path), Resource::route);
    resource.default_service(web::to(
        move |request: HttpRequest| async move { method_not_allowed(request.method(), allow) },
    ))
}

/// `GET`, and `HEAD` with it (RFC 9110, 9.3.2).
fn read<F, Args>(handler: F) -> Route
where
    F: actix_web::Handler<Args>,
    Args: actix_web::FromRequest + 'static,
    F::Output: actix_web::Responder + 'static,
{
    web::route().guard(guard::Any(guard::Get()).or(guard::Head())).to(handler)
}

/// Pages of the configured origins may call; tokens travel in a header, so no credentials of the browser's are needed.
fn cors(server: &ServerConfig) -> Cors {
    let none = Cors::default()
        .allowed_methods(["GET", "POST", "PUT", "DELETE"])
        .allowed_headers([AUTHORIZATION, CONTENT_TYPE])
        .expose_headers([RETRY_AFTER])
        .max_age(PREFLIGHT_S);
    server.allowed_origins.iter().map(Origin::as_str).fold(none, Cors::allowed_origin)
}
