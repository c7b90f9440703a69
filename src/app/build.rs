//! Builds a node out of its configuration: stores opened and recovered, actors not yet started, no port bound.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use uuid::Uuid;

use super::fold::FoldThroughFlush;
use crate::auth::Auth;
use crate::config::Config;
use crate::flush::FlushStats;
use crate::limits::Limits;
use crate::protocol::WriterId;
use crate::room::{RoomDeps, RoomStats, Ticker};
use crate::session::SocketStats;
use crate::store::durable::sqlite::{OpenError, SqliteStore};
use crate::store::hot::HotStore;
use crate::store::hot::memory::{MemoryHot, RecoverError, Settings};
use crate::telemetry::Metrics;

/// Threads that stores run on, beside their own: batches and replies must not wait for a worker that writes to ten thousand sockets.
const STORE_THREADS: usize = 2;

/// Why a node could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The data folder cannot be this process's; as bad as any other configuration.
    #[error("data_dir: {0}")]
    DataDir(#[source] OpenError),
    /// The key of development mode.
    #[error("data_dir: {0}")]
    Key(#[source] crate::auth::KeyError),
    /// What the embedded store kept could not be read.
    #[error("recovering the hot store")]
    Recover(#[from] RecoverError),
    /// No threads, or no port.
    #[error("starting")]
    Start(#[from] std::io::Error),
}

/// A node that is ready to be started.
pub struct App {
    pub(super) config: Config,
    /// Lives as long as the node: batches and replies of the stores run on it.
    _stores: StoreThreads,
    pub(super) sqlite: Arc<SqliteStore>,
    pub(super) hot: Arc<MemoryHot>,
    pub(super) rooms: Arc<RoomDeps>,
    pub(super) fold: Arc<FoldThroughFlush>,
    pub(super) flush_stats: Arc<FlushStats>,
    pub(super) socket_stats: Arc<SocketStats>,
    pub(super) auth: Arc<Auth>,
    pub(super) limits: Arc<Limits>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) ready: Arc<AtomicBool>,
}

impl App {
    /// Opens and recovers the stores. Takes as long as reading the log of contributions does.
    pub async fn build(config: Config) -> Result<Self, BuildError> {
        let stores = StoreThreads::start()?;
        let sqlite = open(config.data_dir.clone()).await?;
        let auth = Auth::open(&config.auth, &config.data_dir).map_err(BuildError::Key)?;
        let writer = WriterId(Uuid::now_v7());
        let settings = Settings { writer, tick: config.rooms.tick, seed: rand::random() };
        let log = sqlite.clone();
        let recovering =
            stores.handle().spawn(async move { MemoryHot::recover(log.clone(), log.as_ref(), settings).await });
        let (hot, recovered) = recovering.await.map_err(std::io::Error::other)??;
        if recovered.rows > 0 {
            tracing::info!(
                items = recovered.items,
                rows = recovered.rows,
                "took up what an earlier run had not folded"
            );
        }
        let (hot, fold) = (Arc::new(hot), Arc::new(FoldThroughFlush::default()));
        let rooms = RoomDeps {
            hot: hot.clone(),
            durable: sqlite.clone(),
            fold: fold.clone(),
            ticker: Ticker::default(),
            writer,
            config: config.rooms.clone(),
            stats: Arc::new(RoomStats::default()),
        };
        let app = Self {
            rooms: Arc::new(rooms),
            fold,
            flush_stats: Arc::default(),
            socket_stats: Arc::default(),
            auth: Arc::new(auth),
            limits: Arc::new(Limits::new(&config.rates)),
            metrics: Arc::new(Metrics::new()),
            ready: Arc::default(),
            _stores: stores,
            sqlite,
            hot,
            config,
        };
        Ok(app)
    }

    /// The hot store as rooms and acts see it.
    pub(super) fn hot_store(&self) -> Arc<dyn HotStore> {
        self.hot.clone()
    }
}

/// The runtime of the stores. Dropping it waits for nobody: a call that hangs must not hold up the stop, nor a failed start.
pub(super) struct StoreThreads(Option<tokio::runtime::Runtime>);

impl StoreThreads {
    fn start() -> std::io::Result<Self> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(STORE_THREADS).thread_name("stores").enable_all().build().map(Some).map(Self)
    }

    fn handle(&self) -> tokio::runtime::Handle {
        self.0.as_ref().map_or_else(tokio::runtime::Handle::current, |runtime| runtime.handle().clone())
    }
}

impl Drop for StoreThreads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

async fn open(data_dir: PathBuf) -> Result<Arc<SqliteStore>, BuildError> {
    let opened = tokio::task::spawn_blocking(move || SqliteStore::open(&data_dir)).await;
    opened.map_err(std::io::Error::other)?.map(Arc::new).map_err(BuildError::DataDir)
}
