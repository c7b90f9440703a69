//! Addresses, origins, and the bounds of requests and of the stop.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use actix_web::http::Uri;

use super::bounds::{Bound, count};
use super::error::ConfigError;
use super::ms;

/// The server as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Where it serves. Port 0: any free one.
    pub listen: SocketAddr,
    /// Where `/metrics` is served; `None`: beside the rest.
    pub metrics_listen: Option<SocketAddr>,
    /// Origins beside the own host whose pages may call it.
    pub allowed_origins: Vec<Origin>,
    /// A name for people.
    pub node_id: String,
    /// Worker threads, each with a relay of its own.
    pub workers: usize,
    /// Development mode: only loopback host names are answered.
    pub development: bool,
    /// Bytes of a request's body; one more is 413. 256 KiB: a thousand ids of the longest kind, with room.
    pub body_max_bytes: usize,
    /// How long the whole stop may take; what is unflushed then makes the exit code 70. 30 s: what orchestrators grant.
    pub drain_timeout: Duration,
}

/// Bounds that the file can set.
pub(super) const BOUNDS: &[Bound<ServerConfig>] = &[
    Bound { key: "body_max_bytes", least: 8_192, most: 16 << 20, set: |c, n| c.body_max_bytes = count(n) },
    Bound { key: "drain_timeout_ms", least: 100, most: 600_000, set: |c, n| c.drain_timeout = ms(n) },
];

/// Worker threads, at most: more than any machine has processors.
const WORKERS_MAX: usize = 1_024;
/// Bytes of a node's name.
const NODE_ID_MAX_BYTES: usize = 64;

/// What was said about the server.
pub(super) struct Raw {
    pub listen: Option<String>,
    pub metrics_listen: Option<String>,
    pub allowed_origins: Option<Vec<String>>,
    pub node_id: Option<String>,
    pub workers: Option<usize>,
    pub development: bool,
}

impl ServerConfig {
    pub(super) fn validate(raw: Raw) -> Result<Self, ConfigError> {
        let listen = address("listen", raw.listen.as_deref().unwrap_or("127.0.0.1:8080"), raw.development)?;
        let metrics = raw.metrics_listen.as_deref().map(|text| address("metrics_listen", text, raw.development));
        let origins = raw.allowed_origins.unwrap_or_default();
        let origins = origins.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
        Ok(Self {
            listen,
            metrics_listen: metrics.transpose()?,
            allowed_origins: origins.map(Origin::parse).collect::<Result<_, _>>()?,
            node_id: node_id(raw.node_id)?,
            workers: workers(raw.workers)?,
            development: raw.development,
            body_max_bytes: 256 * 1024,
            drain_timeout: Duration::from_secs(30),
        })
    }
}

/// An address to bind. Without a key only loopback will do: whoever reaches the port can get any token.
fn address(field: &str, text: &str, development: bool) -> Result<SocketAddr, ConfigError> {
    let mut found = text.to_socket_addrs().map_err(|why| ConfigError::bad(field, format!("{text:?}: {why}")))?;
    let address = found.next().ok_or_else(|| ConfigError::bad(field, format!("{text:?} has no address")))?;
    if development && !address.ip().is_loopback() {
        return Err(ConfigError::bad(field, format!("{text} is not loopback, which needs --jwt-secret")));
    }
    Ok(address)
}

fn node_id(said: Option<String>) -> Result<String, ConfigError> {
    let name = said.unwrap_or_else(|| "node".to_owned());
    if (1..=NODE_ID_MAX_BYTES).contains(&name.len()) && !name.chars().any(char::is_control) {
        Ok(name)
    } else {
        Err(ConfigError::bad("node_id", format!("has 1 to {NODE_ID_MAX_BYTES} bytes, no control characters")))
    }
}

fn workers(said: Option<usize>) -> Result<usize, ConfigError> {
    let workers = said.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from).min(WORKERS_MAX));
    if (1..=WORKERS_MAX).contains(&workers) {
        Ok(workers)
    } else {
        Err(ConfigError::bad("workers", format!("{workers} is not 1 to {WORKERS_MAX}")))
    }
}

/// A web origin in the form in which browsers send it: lower case, without the scheme's own port (RFC 6454, 6.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// Checks and normalises. Wildcards are refused: whoever may call is named.
    fn parse(text: &str) -> Result<Self, ConfigError> {
        let bad = || {
            ConfigError::bad("allowed_origins", format!("{text:?} is not http://HOST[:PORT] or https://HOST[:PORT]"))
        };
        let uri: Uri = text.to_ascii_lowercase().parse().map_err(|_| bad())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(bad()) };
        let own_port = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => return Err(bad()),
        };
        let authority = authority.as_str();
        if authority.contains(['@', '*']) || text.len() != scheme.len() + "://".len() + authority.len() {
            return Err(bad());
        }
        Ok(Self(format!("{scheme}://{}", authority.strip_suffix(own_port).unwrap_or(authority))))
    }

    /// `scheme://host[:port]`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
