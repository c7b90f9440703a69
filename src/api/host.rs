//! Which host names and origins are answered. Asked for REST by a middleware and, with the same functions, before a socket's upgrade.

use actix_web::Error;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Uri;
use actix_web::http::header::{self, HeaderMap};
use actix_web::middleware::Next;
use actix_web::{ResponseError, web};

use super::Gate;
use crate::config::{Origin, ServerConfig};
use crate::protocol::{ApiError, Code};

/// In development mode anybody may get any token, so a page of some other site must not reach the server by a name of its own that
/// it points at 127.0.0.1 (DNS rebinding): only loopback names are answered.
pub async fn guard<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let gate = request.app_data::<web::Data<Gate>>();
    let known = gate.is_some_and(|gate| host_allowed(&gate.config.server, request.uri(), request.headers()));
    if known {
        return next.call(request).await.map(ServiceResponse::map_into_boxed_body);
    }
    let refusal =
        ApiError::new(Code::Forbidden, "in development mode only localhost, 127.0.0.1 and [::1] are answered");
    Ok(request.into_response(refusal.error_response()))
}

/// Whether a request to this host name is answered at all.
pub fn host_allowed(server: &ServerConfig, uri: &Uri, headers: &HeaderMap) -> bool {
    if !server.development {
        return true;
    }
    let mut hosts = headers.get_all(header::HOST);
    let named = hosts.next().and_then(|host| host.to_str().ok());
    // An absolute request target would override the header (RFC 9112, 3.2.2), so both have to be loopback.
    named.is_some_and(is_loopback) && hosts.next().is_none() && uri.authority().is_none_or(|a| is_loopback(a.as_str()))
}

/// Whether a `Host` names this machine, on any port.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !host.ends_with(']') => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether a page of this origin may open a socket. None passes: it is no browser. `null` and several are foreign.
pub fn origin_allowed(server: &ServerConfig, headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(header::ORIGIN);
    let Some(origin) = origins.next() else { return true };
    let (Ok(origin), None) = (origin.to_str(), origins.next()) else { return false };
    own(origin, headers) || server.allowed_origins.iter().map(Origin::as_str).any(|allowed| allowed == origin)
}

/// The page came from the host that it now calls. The scheme is not compared: a proxy in front may have taken TLS off.
fn own(origin: &str, headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let of_page = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    host.zip(of_page).is_some_and(|(host, page)| host.eq_ignore_ascii_case(page))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;
    use crate::config::Config;

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    fn server(args: &[&str]) -> ServerConfig {
        Config::from_layers([&["heartline"], args].concat(), &|_| None).unwrap().server
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(header::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        map
    }

    /// Scenario: a foreign page points a name of its own at 127.0.0.1. Method: names that are and are not loopback.
    #[test]
    fn a_rebound_host_name_is_not_answered_in_development_mode() {
        let (development, keyed) = (server(&[]), server(&["--jwt-secret", KEY]));
        let path = Uri::from_static("/v1/items");
        for host in ["localhost", "LocalHost:8080", "127.0.0.1:1", "127.0.0.1", "[::1]", "[::1]:8080"] {
            assert!(host_allowed(&development, &path, &headers(&[("host", host)])), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example:8080",
            "127.0.0.1.evil.example",
            "127.0.0.2",
            "::1",
            "localhost:x",
            "",
        ] {
            assert!(!host_allowed(&development, &path, &headers(&[("host", host)])), "{host}");
            assert!(host_allowed(&keyed, &path, &headers(&[("host", host)])), "{host}");
        }
        assert!(!host_allowed(&development, &path, &headers(&[])));
        assert!(!host_allowed(&development, &path, &headers(&[("host", "localhost"), ("host", "evil.example")])));
        let absolute = Uri::from_static("http://evil.example/v1/items");
        assert!(!host_allowed(&development, &absolute, &headers(&[("host", "localhost")])));
    }

    /// Scenario: a foreign page opens a socket with the viewer's rights. Method: origins that are and are not allowed.
    #[test]
    fn a_foreign_origin_opens_no_socket() {
        let server = server(&["--allowed-origins", "https://shop.example"]);
        let allowed =
            |origin: &str| origin_allowed(&server, &headers(&[("host", "live.example:8080"), ("origin", origin)]));
        assert!(
            allowed("https://shop.example")
                && allowed("http://live.example:8080")
                && allowed("https://live.example:8080")
        );
        for origin in [
            "null",
            "",
            "http://shop.example",
            "https://shop.example.evil",
            "http://live.example",
            "https://evil.example",
        ] {
            assert!(!allowed(origin), "{origin}");
        }
        assert!(origin_allowed(&server, &headers(&[("host", "live.example")])), "no browser sent this");
        let two = headers(&[("host", "a"), ("origin", "http://a"), ("origin", "http://b")]);
        assert!(!origin_allowed(&server, &two));
    }
}
