//! The contracts of the stores, each one suite that runs against every implementation.
//!
//! A suite is a list of functions that are generic over a factory; an implementation brings its factory and one line. What
//! only one implementation promises stands in a file under its name.

mod durable;
mod fence;
mod hot;
mod kill;
mod likes;
mod memory;
#[cfg(test_mongodb)]
mod mongodb;
#[cfg(all(test_redis, test_mongodb))]
mod pair;
#[cfg(test_redis)]
mod readers;
mod realign;
#[cfg(test_redis)]
mod redis;
mod sqlite;
mod support;

use std::sync::Arc;

use async_trait::async_trait;
use heartline::store::durable::DurableStore;
use heartline::store::hot::HotStore;

/// Makes hot stores. Dropping it takes down whatever it started.
#[async_trait]
pub trait HotFactory: Send + Sync {
    /// With a store that has no items.
    async fn fresh() -> Self;
    /// The store.
    fn store(&self) -> Arc<dyn HotStore>;
}

/// Makes durable stores. Dropping it takes down whatever it started.
#[async_trait]
pub trait DurableFactory: Send + Sync {
    /// With a store that has no items.
    async fn fresh() -> Self;
    /// The store.
    fn store(&self) -> Arc<dyn DurableStore>;
}

/// One test per function of a suite, against one factory.
macro_rules! suite {
    ($factory:ty: $suite:path => $($promise:ident),+ $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $promise() {
                use $suite as suite;
                suite::$promise::<$factory>().await;
            }
        )+
    };
}
pub(crate) use suite;
