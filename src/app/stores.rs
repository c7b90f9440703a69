//! The two stores that a node runs on, chosen by its configuration, as everybody else sees them; and the numbers that they keep.

use std::path::PathBuf;
use std::sync::Arc;

use super::build::BuildError;
use crate::config::{Config, StoresConfig};
use crate::protocol::{Counters, ItemId, WriterId};
use crate::store::durable::mongodb::{self, MongoStore};
use crate::store::durable::sqlite::SqliteStore;
use crate::store::durable::{DurableStore, LikeStore, WriteCounts};
use crate::store::hot::memory::{self, MemoryFence, MemoryHot, RecoverError};
use crate::store::hot::redis::{self, RedisHot};
use crate::store::hot::{HotStore, LikesHot};
use crate::telemetry::read::Read;

/// Threads that stores run on, beside their own: batches and replies must not wait for a worker that writes to ten thousand sockets.
const STORE_THREADS: usize = 2;

/// See the module.
pub(super) struct Stores {
    pub hot: Arc<dyn HotStore>,
    pub durable: Arc<dyn DurableStore>,
    pub facts: Arc<dyn LikeStore>,
    pub likes_hot: Arc<dyn LikesHot>,
    pub figures: Arc<Figures>,
    /// Items that an earlier run left in the hot store without a room.
    pub left_over: Vec<ItemId>,
    /// Which they are and what they promise, for whoever starts the server.
    pub told: String,
    /// Lives as long as the stores: batches and replies run on it.
    threads: StoreThreads,
}

/// Numbers of one sort, each with the name that tells it from the others.
pub(super) type Named = Vec<(&'static str, Read<u64>)>;

/// What the stores count; read when somebody scrapes.
pub(super) struct Figures {
    /// Round trips of ticks to the hot store.
    pub round_trips: Read<u64>,
    /// Accepted and not yet folded, if the hot store can say it without being asked over the network; else this process's journals do.
    pub unflushed: Option<Read<Counters>>,
    /// Bytes of filters of who likes an item, as far as this process came by them.
    pub filter_bytes: Read<u64>,
    /// Durable statements by kind.
    pub writes: Named,
    /// Calls that a store over the network did not answer, by store; none of embedded ones.
    pub failures: Named,
}

impl Stores {
    /// What runs beside the stores, off the workers.
    pub fn runtime(&self) -> tokio::runtime::Handle {
        self.threads.handle()
    }

    /// Opens and recovers the ones that the configuration names.
    pub async fn open(config: &Config, writer: WriterId) -> Result<Self, BuildError> {
        let threads = StoreThreads::start()?;
        let stores = match &config.stores {
            None => Self::embedded(config, writer, threads).await?,
            Some(urls) => Self::distributed(config, urls, writer, threads).await?,
        };
        #[cfg(debug_assertions)]
        let stores = super::failing::with_point(stores, config.fail_point.as_ref());
        Ok(stores)
    }

    /// Memory behind a log, and SQLite. Takes as long as reading the log of contributions does.
    async fn embedded(config: &Config, writer: WriterId, threads: StoreThreads) -> Result<Self, BuildError> {
        let sqlite = sqlite(config.data_dir.clone()).await?;
        let settings = memory::Settings { writer, tick: config.rooms.tick, seed: rand::random() };
        let log = sqlite.clone();
        let recovering = async move { MemoryHot::recover(log.clone(), log.as_ref(), settings).await };
        let (hot, recovered) = threads.handle().spawn(recovering).await.map_err(std::io::Error::other)??;
        if recovered.rows > 0 {
            let (items, rows) = (recovered.items, recovered.rows);
            tracing::info!(items, rows, "took up what an earlier run had not folded");
        }
        let fence = uncounted(sqlite.as_ref(), writer).await?;
        let hot = Arc::new(hot);
        Ok(Self {
            left_over: hot.dirty(usize::MAX).await.unwrap_or_default(),
            figures: Arc::new(embedded_figures(&hot, &sqlite)),
            hot,
            durable: sqlite.clone(),
            facts: sqlite,
            likes_hot: Arc::new(fence),
            told: format!(
                "embedded stores in {}\nnothing acknowledged is lost by kill -9 or power loss",
                config.data_dir.display()
            ),
            threads,
        })
    }

    /// Redis and MongoDB, opened on the runtime that they then live on.
    async fn distributed(
        config: &Config,
        urls: &StoresConfig,
        writer: WriterId,
        threads: StoreThreads,
    ) -> Result<Self, BuildError> {
        let (runtime, tick) = (threads.handle(), config.rooms.tick);
        let presence = config.rooms.presence;
        let redis = redis::Settings { presence, ..redis::Settings::new(urls.redis_url.as_str(), writer, tick) };
        let mongodb = mongodb::Settings { url: urls.mongodb_url.as_str().to_owned(), database: None };
        let hot = RedisHot::open(redis, runtime.clone());
        let hot = runtime.spawn(hot).await.map_err(std::io::Error::other)?.map_err(BuildError::Redis)?;
        let durable = runtime.spawn(async move { MongoStore::open(&mongodb).await });
        let durable = durable.await.map_err(std::io::Error::other)?.map_err(BuildError::Mongodb)?;
        let told = format!(
            "Redis {} ({}) and MongoDB {} ({})\nkill -9 of a process, and Redis lost or set back while the processes live, \
             lose nothing acknowledged;\na process and Redis lost together lose what Redis had not kept",
            urls.redis_url,
            hot.persistence(),
            urls.mongodb_url,
            durable.deployment(),
        );
        let (hot, durable) = (Arc::new(hot), Arc::new(durable));
        Ok(Self {
            left_over: Vec::new(),
            figures: Arc::new(distributed_figures(&hot, &durable)),
            likes_hot: hot.clone(),
            facts: durable.clone(),
            hot,
            durable,
            told,
            threads,
        })
    }
}

fn distributed_figures(hot: &Arc<RedisHot>, durable: &Arc<MongoStore>) -> Figures {
    let writes = |read: fn(&WriteCounts) -> u64| -> Read<u64> {
        let durable = durable.clone();
        Box::new(move || read(durable.counts()))
    };
    let (trips, filters, failing_hot, failing_durable) = (hot.clone(), hot.clone(), hot.clone(), durable.clone());
    Figures {
        round_trips: Box::new(move || trips.round_trips()),
        unflushed: None,
        filter_bytes: Box::new(move || filters.filter_bytes()),
        writes: vec![
            ("fold", writes(WriteCounts::fold)),
            ("comments", writes(WriteCounts::comments)),
            ("likes", writes(WriteCounts::likes)),
        ],
        failures: vec![
            ("hot", Box::new(move || failing_hot.failures())),
            ("durable", Box::new(move || failing_durable.failures())),
        ],
    }
}

fn embedded_figures(hot: &Arc<MemoryHot>, sqlite: &Arc<SqliteStore>) -> Figures {
    let writes = |read: fn(&WriteCounts) -> u64| -> Read<u64> {
        let sqlite = sqlite.clone();
        Box::new(move || read(sqlite.counts()))
    };
    let (trips, unflushed) = (hot.clone(), hot.clone());
    Figures {
        round_trips: Box::new(move || trips.round_trips()),
        filter_bytes: Box::new(|| 0),
        unflushed: Some(Box::new(move || unflushed.unflushed())),
        writes: vec![
            ("fold", writes(WriteCounts::fold)),
            ("comments", writes(WriteCounts::comments)),
            ("likes", writes(WriteCounts::likes)),
            ("log", writes(WriteCounts::log)),
        ],
        failures: Vec::new(),
    }
}

/// Fences of a new run, which recounts what an earlier one left between fact and counter.
async fn uncounted(facts: &dyn LikeStore, writer: WriterId) -> Result<MemoryFence, BuildError> {
    let fence = MemoryFence::new(writer);
    for item in facts.unsettled().await.map_err(RecoverError::from)? {
        tracing::info!(%item, "likes of an earlier run may not be counted; recounted");
        fence.ask_recount(&item);
    }
    Ok(fence)
}

async fn sqlite(data_dir: PathBuf) -> Result<Arc<SqliteStore>, BuildError> {
    let opened = tokio::task::spawn_blocking(move || SqliteStore::open(&data_dir)).await;
    opened.map_err(std::io::Error::other)?.map(Arc::new).map_err(BuildError::DataDir)
}

/// The runtime of the stores. Dropping it waits for nobody: a call that hangs must not hold up the stop, nor a failed start.
struct StoreThreads(Option<tokio::runtime::Runtime>);

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
