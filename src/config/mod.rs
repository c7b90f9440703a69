//! Configuration: raw values from flags, environment and file become one validated struct per concern, once.
//!
//! Flag before environment before file before default. Whatever is wrong is told with its field's name before any port is
//! bound. Nothing reads the environment later, and tests pass their environment in.

pub mod auth;
pub mod bounds;
pub mod error;
#[cfg(debug_assertions)]
pub mod fail_point;
mod flags;
mod layers;
pub mod log;
pub mod rates;
pub mod realign;
pub mod recounts;
pub mod rooms;
pub mod server;
pub mod sockets;
pub mod stores;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub use auth::{AuthConfig, Secret};
pub use error::ConfigError;
pub use log::{LogConfig, LogFormat};
pub use rates::RateConfig;
pub use recounts::RecountConfig;
pub use rooms::RoomConfig;
pub use server::{Origin, ServerConfig};
pub use sockets::SocketConfig;
pub use stores::StoresConfig;

use flags::{Anonymous, Flags, Limits};
use layers::{Layers, Sections};

/// Everything that the server is told, valid as a whole.
#[derive(Debug, Clone)]
pub struct Config {
    /// Addresses, origins, bounds of requests and of the stop.
    pub server: ServerConfig,
    /// Where the embedded stores and the development key live.
    pub data_dir: PathBuf,
    /// Redis and MongoDB; `None`: the embedded stores.
    pub stores: Option<StoresConfig>,
    /// Rooms, ticks and flushes.
    pub rooms: RoomConfig,
    /// When likes are recounted without anybody asking.
    pub recounts: RecountConfig,
    /// Sockets.
    pub sockets: SocketConfig,
    /// Rates per person.
    pub rates: RateConfig,
    /// Keys of tokens.
    pub auth: AuthConfig,
    /// What is logged, and how.
    pub log: LogConfig,
    /// Where the process is to die, for tests.
    #[cfg(debug_assertions)]
    pub fail_point: Option<fail_point::FailPoint>,
}

impl Config {
    /// Reads the arguments (the first is the program's name), the process environment, and the file that they name.
    pub fn from_args<I, T>(args: I) -> Result<Self, ConfigError>
    where
        I: IntoIterator<Item = T>,
        T: Into<OsString> + Clone,
    {
        Self::from_layers(args, &|name| std::env::var_os(name))
    }

    /// The same with the environment as a function.
    pub fn from_layers<I, T>(args: I, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError>
    where
        I: IntoIterator<Item = T>,
        T: Into<OsString> + Clone,
    {
        Layers::read(args, env).and_then(|Layers { flags, sections }| Self::validate(flags, &sections))
    }

    fn validate(flags: Flags, sections: &Sections) -> Result<Self, ConfigError> {
        let auth = AuthConfig::validate(flags.jwt_secret, flags.anonymous != Some(Anonymous::Deny))?;
        let log =
            LogConfig { format: flags.log_format.unwrap_or_default(), level: flags.log_level.unwrap_or_default() };
        let data_dir = flags.data_dir.unwrap_or_else(|| PathBuf::from("heartline-data"));
        if data_dir.as_os_str().is_empty() {
            return Err(ConfigError::bad("data_dir", "is empty"));
        }

        let mut server = ServerConfig::validate(server::Raw {
            listen: flags.listen,
            metrics_listen: flags.metrics_listen,
            allowed_origins: flags.allowed_origins,
            node_id: flags.node_id,
            workers: flags.workers,
            development: auth.development(),
        })?;
        sections
            .server
            .iter()
            .try_for_each(|(key, value)| bounds::set(server::BOUNDS, &mut server, "server", key, value))?;

        let mut rates = RateConfig { off: flags.limits == Some(Limits::Off), ..RateConfig::default() };
        sections
            .rates
            .iter()
            .try_for_each(|(key, value)| bounds::set(rates::BOUNDS, &mut rates, "rates", key, value))?;

        let mut sockets = SocketConfig::default();
        let table = sections.sockets.iter();
        table
            .into_iter()
            .try_for_each(|(key, value)| bounds::set(sockets::BOUNDS, &mut sockets, "sockets", key, value))?;

        let auto_create = flags.auto_create.unwrap_or(auth.development());
        let mut rooms = RoomConfig { auto_create, ..RoomConfig::default() };
        rooms.set_intervals(flags.tick_ms, flags.flush_ms)?;
        sections
            .rooms
            .iter()
            .try_for_each(|(key, value)| bounds::set(rooms::BOUNDS, &mut rooms, "rooms", key, value))?;

        let recounts = RecountConfig::validate(flags.recount_at.as_deref())?;
        let stores = StoresConfig::validate(flags.redis_url, flags.mongodb_url)?;
        Ok(Self {
            server,
            data_dir,
            stores,
            rooms,
            recounts,
            sockets,
            rates,
            auth,
            log,
            #[cfg(debug_assertions)]
            fail_point: fail_point::FailPoint::validate(flags.fail_point)?,
        })
    }
}

/// Milliseconds of a bound as a duration.
const fn ms(value: u64) -> Duration {
    Duration::from_millis(value)
}

#[cfg(test)]
mod tests;
