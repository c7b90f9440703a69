//! Builds a node out of its configuration: stores opened and recovered, actors not yet started, no port bound.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use uuid::Uuid;

use super::fold::FoldThroughFlush;
use super::stores::Stores;
use crate::auth::Auth;
use crate::config::Config;
use crate::flush::FlushStats;
use crate::likes::ReadStats;
use crate::limits::Limits;
use crate::protocol::WriterId;
use crate::reconcile::ReconcileStats;
use crate::room::{RoomDeps, RoomStats, Ticker};
use crate::session::SocketStats;
use crate::store::durable::sqlite::OpenError;
use crate::store::hot::memory::RecoverError;
use crate::telemetry::Metrics;

/// Why a node could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The data folder cannot be this process's; as bad as any other configuration.
    #[error("data_dir: {0}")]
    DataDir(#[source] OpenError),
    /// There is nothing in the data folder that could be worked on.
    #[error("data_dir: {} holds no database", .0.display())]
    NoData(std::path::PathBuf),
    /// The key of development mode.
    #[error("data_dir: {0}")]
    Key(#[source] crate::auth::KeyError),
    /// Redis cannot be used.
    #[error("redis_url: {0}")]
    Redis(#[source] crate::store::hot::redis::OpenError),
    /// MongoDB cannot be used.
    #[error("mongodb_url: {0}")]
    Mongodb(#[source] crate::store::durable::mongodb::OpenError),
    /// What the embedded store kept could not be read.
    #[error("recovering the hot store")]
    Recover(#[from] RecoverError),
    /// No threads, or no port.
    #[error("starting")]
    Start(#[from] std::io::Error),
}

impl BuildError {
    /// Whether the configuration named something that cannot be used, as bad as a wrong value in it.
    pub fn is_configuration(&self) -> bool {
        matches!(self, Self::DataDir(_) | Self::NoData(_) | Self::Key(_) | Self::Redis(_) | Self::Mongodb(_))
    }
}

/// A node that is ready to be started.
pub struct App {
    pub(super) config: Config,
    pub(super) stores: Stores,
    pub(super) rooms: Arc<RoomDeps>,
    pub(super) fold: Arc<FoldThroughFlush>,
    pub(super) flush_stats: Arc<FlushStats>,
    pub(super) reconcile_stats: Arc<ReconcileStats>,
    pub(super) read_stats: Arc<ReadStats>,
    pub(super) socket_stats: Arc<SocketStats>,
    pub(super) auth: Arc<Auth>,
    pub(super) limits: Arc<Limits>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) ready: Arc<AtomicBool>,
}

impl App {
    /// Opens and recovers the stores, and reads or makes the keys.
    pub async fn build(config: Config) -> Result<Self, BuildError> {
        let writer = WriterId(Uuid::now_v7());
        let stores = Stores::open(&config, writer).await?;
        let auth = Auth::open(&config.auth, &config.data_dir).map_err(BuildError::Key)?;
        let fold = Arc::new(FoldThroughFlush::default());
        let rooms = RoomDeps {
            hot: stores.hot.clone(),
            fence: stores.likes_hot.clone(),
            durable: stores.durable.clone(),
            fold: fold.clone(),
            ticker: Ticker::default(),
            writer,
            config: config.rooms.clone(),
            stats: Arc::new(RoomStats::default()),
        };
        Ok(Self {
            rooms: Arc::new(rooms),
            fold,
            flush_stats: Arc::default(),
            reconcile_stats: Arc::default(),
            read_stats: Arc::default(),
            socket_stats: Arc::default(),
            auth: Arc::new(auth),
            limits: Arc::new(Limits::new(&config.rates)),
            metrics: Arc::new(Metrics::new()),
            ready: Arc::default(),
            stores,
            config,
        })
    }
}
