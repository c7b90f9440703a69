//! What kind of Redis this is: whether it may be used at all, and what it keeps when it is lost.

use std::collections::BTreeMap;
use std::fmt;

use ::redis::{Cmd, ErrorKind, RedisError, Value, cmd};

use super::link::{ConnectError, Link};
use super::reply;

/// The policy under which Redis refuses writes instead of dropping keys.
const KEEPS_ALL: &str = "noeviction";

/// Why the store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL is malformed, or asks for what this build does not have.
    #[error("malformed Redis URL: {0}")]
    Url(String),
    /// The prefix of keys has a brace.
    #[error("the prefix of Redis keys must not have braces: they decide where keys live")]
    Space,
    /// Nobody answered, or nobody listens.
    #[error("Redis at {address} cannot be reached: {why}")]
    Unreachable {
        /// Host and port.
        address: String,
        /// What happened.
        why: String,
    },
    /// User or password are wrong, or are asked for.
    #[error("Redis at {address} refuses the credentials: {why}")]
    Credentials {
        /// Host and port.
        address: String,
        /// What the server said.
        why: String,
    },
    /// It would drop counts when it is full.
    #[error("Redis drops keys when it is full (maxmemory-policy {policy}); set it to {KEEPS_ALL}")]
    Evicts {
        /// Its policy.
        policy: String,
    },
    /// It is a member of a cluster, which needs another client.
    #[error("Redis at {address} is a member of a cluster; a single Redis is needed")]
    Cluster {
        /// Host and port.
        address: String,
    },
    /// It answered, and not with what is needed.
    #[error("Redis cannot be used: {0}")]
    Unusable(String),
}

/// What a Redis keeps when it is stopped or lost; displayed as one line for the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persistence {
    /// Whether every write goes to an append-only file.
    pub append_only: bool,
    /// When that file reaches the disk: `always`, `everysec`, `no`; `None`: the server does not tell.
    pub fsync: Option<String>,
    /// The rules by which it is dumped; empty: never; `None`: the server does not tell.
    pub snapshots: Option<String>,
}

impl fmt::Display for Persistence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.append_only, &self.fsync, self.snapshots.as_deref()) {
            (true, Some(fsync), _) => write!(f, "append-only file, fsync {fsync}"),
            (true, None, _) => f.write_str("append-only file"),
            (false, _, Some("")) => f.write_str("none"),
            (false, _, Some(rules)) => write!(f, "snapshots only ({rules})"),
            (false, _, None) => f.write_str("no append-only file"),
        }
    }
}

/// Connects for the first time and looks.
pub(super) async fn inspect(link: &Link) -> Result<Persistence, OpenError> {
    // Apart from the store's connection, to tell one failure from another.
    drop(link.connect().await.map_err(|why| refused(link, &why))?);
    let settings = settings(link).await?;
    let get = |name: &str| settings.get(name).cloned();
    if get("cluster_enabled").is_some_and(|enabled| enabled == "1") {
        return Err(OpenError::Cluster { address: link.address() });
    }
    let policy = get("maxmemory_policy").unwrap_or_else(|| KEEPS_ALL.to_owned());
    if policy != KEEPS_ALL {
        if get("maxmemory").is_some_and(|bytes| bytes != "0") {
            return Err(OpenError::Evicts { policy });
        }
        tracing::warn!(%policy, "Redis would drop counts if it were given a maxmemory; set maxmemory-policy noeviction");
    }
    Ok(Persistence {
        append_only: get("aof_enabled").is_some_and(|enabled| enabled == "1"),
        fsync: get("appendfsync"),
        snapshots: get("save"),
    })
}

fn refused(link: &Link, why: &ConnectError) -> OpenError {
    let address = link.address();
    match why {
        ConnectError::Refused(error) if asks_for_credentials(error) => {
            OpenError::Credentials { address, why: error.to_string() }
        }
        ConnectError::Refused(error) if error.kind() == ErrorKind::InvalidClientConfig => {
            OpenError::Url(error.to_string())
        }
        why => OpenError::Unreachable { address, why: why.to_string() },
    }
}

fn asks_for_credentials(error: &RedisError) -> bool {
    error.kind() == ErrorKind::AuthenticationFailed || matches!(error.code(), Some("NOAUTH" | "WRONGPASS" | "NOPERM"))
}

/// Everything that the server tells of itself. `CONFIG` is closed at some providers, `INFO` is not.
async fn settings(link: &Link) -> Result<BTreeMap<String, String>, OpenError> {
    let asked = ["memory", "persistence", "cluster"].map(|section| two("INFO", section));
    let config = ["appendfsync", "save"].map(|name| three("CONFIG", "GET", name));
    let unusable = |why: String| OpenError::Unusable(why);
    let requests = asked.into_iter().chain(config).collect();
    let replies = link.send(requests).await.map_err(|failure| unusable(failure.to_string()))?;
    let mut settings = BTreeMap::new();
    for reply in replies {
        match reply {
            Value::ServerError(error) if error.code() != "NOPERM" && error.code() != "ERR" => {
                return Err(unusable(RedisError::from(error).to_string()));
            }
            Value::ServerError(_) => {}
            Value::Map(pairs) => settings.extend(
                pairs.into_iter().filter_map(|(name, value)| Some((reply::text(name).ok()?, reply::text(value).ok()?))),
            ),
            told => {
                let told = reply::text(told).map_err(|failure| unusable(failure.to_string()))?;
                let lines = told.lines().filter_map(|line| line.split_once(':'));
                settings.extend(lines.map(|(name, value)| (name.to_owned(), value.to_owned())));
            }
        }
    }
    Ok(settings)
}

fn two(name: &str, of: &str) -> Cmd {
    let mut asking = cmd(name);
    asking.arg(of);
    asking
}

fn three(name: &str, verb: &str, of: &str) -> Cmd {
    let mut asking = two(name, verb);
    asking.arg(of);
    asking
}
