//! Where the load goes: a server on this very machine, and nowhere else.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// A server on a loopback address. That it is one is checked where it is made, so whoever holds a `Target` may load it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where sockets connect to.
    pub address: SocketAddr,
    /// What the `Host` header names.
    pub host: String,
}

/// An argument that is out of bounds: the run was not begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAllowed(pub String);

impl std::error::Error for NotAllowed {}

impl std::fmt::Display for NotAllowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Passes if an argument is allowed.
///
/// # Errors
/// It is not; `what` says which one and what is allowed.
pub fn allow(is_allowed: bool, what: impl Into<String>) -> Result<(), NotAllowed> {
    if is_allowed { Ok(()) } else { Err(NotAllowed(what.into())) }
}

/// Why a URL is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadTarget {
    /// Not `http://HOST:PORT`.
    Malformed(String),
    /// Some other machine: a load generator must not be a weapon.
    NotLoopback(String),
}

impl std::error::Error for BadTarget {}

impl std::fmt::Display for BadTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Malformed(url) => write!(f, "{url}: not of the form http://127.0.0.1:PORT"),
            Self::NotLoopback(host) => write!(f, "{host}: only loopback addresses may be loaded"),
        }
    }
}

impl FromStr for Target {
    type Err = BadTarget;

    /// Reads `http://HOST:PORT`, HOST being `localhost` or a literal loopback address. Names are not resolved: what a resolver
    /// says today it may not say tomorrow.
    fn from_str(url: &str) -> Result<Self, BadTarget> {
        let malformed = || BadTarget::Malformed(url.to_owned());
        let authority = url.strip_prefix("http://").ok_or_else(malformed)?;
        let host = authority.strip_suffix('/').unwrap_or(authority);
        let (name, port) = host.rsplit_once(':').ok_or_else(malformed)?;
        let port: u16 = port.parse().ok().filter(|port| *port != 0).ok_or_else(malformed)?;
        if name.is_empty() || name.contains(['/', '?', '#', '@']) {
            return Err(malformed());
        }
        let ip = loopback(name).ok_or_else(|| BadTarget::NotLoopback(name.to_owned()))?;
        Ok(Self { address: SocketAddr::new(ip, port), host: host.to_owned() })
    }
}

fn loopback(name: &str) -> Option<IpAddr> {
    if name.eq_ignore_ascii_case("localhost") {
        return Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    let literal = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
    literal.parse::<IpAddr>().ok().filter(IpAddr::is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loaded() {
        for url in ["http://127.0.0.1:8080", "http://localhost:80/", "http://[::1]:9", "http://127.9.0.4:1"] {
            assert!(url.parse::<Target>().is_ok_and(|t| t.address.ip().is_loopback()), "{url}");
        }
        for url in
            ["http://10.0.0.1:80", "http://example.org:80", "http://127.0.0.1.example.org:80", "http://0.0.0.0:80"]
        {
            assert!(matches!(url.parse::<Target>(), Err(BadTarget::NotLoopback(_))), "{url}");
        }
        for url in
            ["127.0.0.1:80", "https://127.0.0.1:80", "http://127.0.0.1", "http://127.0.0.1:0", "http://a@127.0.0.1:1"]
        {
            assert!(matches!(url.parse::<Target>(), Err(BadTarget::Malformed(_))), "{url}");
        }
    }
}
