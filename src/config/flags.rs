//! Every field that has a flag, raw: what was said, if anything was. The same parser reads all three layers.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use super::log::{LogFormat, LogLevel};

/// Real-time engagement server: taps, comments and live counts for live shows.
///
/// Every flag is also read from the environment (HEARTLINE_TICK_MS for --tick-ms) and, with underscores, from the file that --config names.
#[derive(Debug, Default, Parser)]
#[command(name = "heartline", version, about, max_term_width = 120)]
pub(super) struct Flags {
    /// Address to serve; port 0: any free one, told on standard output [default: 127.0.0.1:8080]
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Option<String>,
    /// Folder of the embedded stores and of the development key [default: heartline-data]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Redis as the hot store, redis[s]://[USER:PASSWORD@]HOST[:PORT][/DB]; together with --mongodb-url [default: embedded]
    #[arg(long, value_name = "URL")]
    pub redis_url: Option<String>,
    /// MongoDB as the durable store, mongodb://[USER:PASSWORD@]HOST[:PORT]/DATABASE; together with --redis-url [default: embedded]
    #[arg(long, value_name = "URL")]
    pub mongodb_url: Option<String>,
    /// How often deltas are folded into the durable store, 10 to 600000 and not below the tick [default: 5000]
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub flush_ms: Option<u64>,
    /// When all likes are compared with their facts, every day, UTC; off: never [default: 04:00]
    #[arg(long, value_name = "HH:MM|off")]
    pub recount_at: Option<String>,
    /// How often a room broadcasts, 10 to 1000 [default: 100]
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub tick_ms: Option<u64>,
    /// Key of the tokens (HS256), at least 32 bytes; without one: development mode, loopback only
    #[arg(long, value_name = "SECRET")]
    pub jwt_secret: Option<String>,
    /// Whether people without a token may read and tap [default: allow]
    #[arg(long)]
    pub anonymous: Option<Anonymous>,
    /// Origins, with scheme, whose pages may use this server beside its own
    #[arg(long, value_name = "ORIGIN,…", value_delimiter = ',')]
    pub allowed_origins: Option<Vec<String>>,
    /// A name of this node for people [default: node]
    #[arg(long, value_name = "NAME")]
    pub node_id: Option<String>,
    /// Form of the log on standard error [default: text]
    #[arg(long)]
    pub log_format: Option<LogFormat>,
    /// Least severity that is logged [default: info]
    #[arg(long)]
    pub log_level: Option<LogLevel>,
    /// Whether an unknown item is made by whoever first opens it or acts on it [default: true in development mode]
    #[arg(long, value_name = "BOOL")]
    pub auto_create: Option<bool>,
    /// off: no rates and no bounds per person, address and item, for load tests [default: default]
    #[arg(long)]
    pub limits: Option<Limits>,
    /// Address that serves /metrics instead of the main one
    #[arg(long, value_name = "HOST:PORT")]
    pub metrics_listen: Option<String>,
    /// Worker threads, 1 to 1024 [default: one per processor]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub workers: Option<usize>,
    /// File with any of these as keys, and the tables [server], [rooms], [sockets] and [rates] for the other bounds
    #[arg(long, value_name = "FILE.toml")]
    pub config: Option<PathBuf>,
    /// Where to die, for tests
    #[cfg(debug_assertions)]
    #[arg(long, hide = true, value_name = "POINT")]
    pub fail_point: Option<String>,
}

impl Flags {
    /// What this layer says, else what `lower` says. Names every field, so that a new one cannot be forgotten.
    pub fn or(self, lower: Self) -> Self {
        Self {
            listen: self.listen.or(lower.listen),
            data_dir: self.data_dir.or(lower.data_dir),
            redis_url: self.redis_url.or(lower.redis_url),
            mongodb_url: self.mongodb_url.or(lower.mongodb_url),
            flush_ms: self.flush_ms.or(lower.flush_ms),
            recount_at: self.recount_at.or(lower.recount_at),
            tick_ms: self.tick_ms.or(lower.tick_ms),
            jwt_secret: self.jwt_secret.or(lower.jwt_secret),
            anonymous: self.anonymous.or(lower.anonymous),
            allowed_origins: self.allowed_origins.or(lower.allowed_origins),
            node_id: self.node_id.or(lower.node_id),
            log_format: self.log_format.or(lower.log_format),
            log_level: self.log_level.or(lower.log_level),
            auto_create: self.auto_create.or(lower.auto_create),
            limits: self.limits.or(lower.limits),
            metrics_listen: self.metrics_listen.or(lower.metrics_listen),
            workers: self.workers.or(lower.workers),
            config: self.config.or(lower.config),
            #[cfg(debug_assertions)]
            fail_point: self.fail_point.or(lower.fail_point),
        }
    }
}

/// `--anonymous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Anonymous {
    Allow,
    Deny,
}

/// `--limits`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Limits {
    Default,
    Off,
}
