//! What write-behind is worth: the same taps taken by the server over Redis and MongoDB, and taken the plain way, tap by tap.
//!
//! A million taps first: by the server's own metrics its round trips are at most its ticks, its folds at most one per item and flush, and
//! every tap is durable; a run where that is not so has failed. Then one shorter load, offered to the server and to the two stores
//! directly, and what it cost each: ratios are the figures, since the stores' and the machine's speed strike both. Last the
//! bytes of Redis that a live item takes. The run owns its Redis servers, and a database of its own in the MongoDB; all are gone with it.
//! It does not judge which MongoDB it was given.

mod bytes;
mod config;
mod ours;
mod plain;
mod report;
mod scrape;
mod stores;

use anyhow::Result;

pub use bytes::ItemBytes;
pub use config::StrategiesConfig;
pub use ours::OursWindow;
pub use plain::PlainWindow;
pub use report::{Ratios, StrategiesReport};

use crate::process::Server;
use crate::report::Violations;
use ours::{Load, Ours};
use stores::{Mongo, Redis};

/// Runs everything, one after the other, so that nothing measured shares the machine with something else of the run.
///
/// # Errors
/// The configuration is not allowed, or a server or store did not do what the run needs. Broken promises are the report's violations.
pub async fn run(config: StrategiesConfig) -> Result<StrategiesReport> {
    config.check()?;
    crate::usage::allow_sockets(config.items * config.sockets)?;
    let bar = crate::progress::bar(5, "parts", config.is_quiet);
    let mongo = Mongo::open(config.mongodb_url.as_deref()).await?;
    let mut violations = Violations::default();

    let redis = Redis::start(&config.redis_bin)?;
    let mut server = start(&config, &redis, &mongo)?;
    let ours = Ours { server: &server, redis: &redis, flush: config.flush, items: config.items };
    let million = ours.take(&million(&config), &mut violations).await?;
    bar.inc(1);
    let compared = compared(&config);
    let ours = ours.take(&compared, &mut violations).await?;
    bar.inc(1);
    violations.check("server", server.stop());
    drop(redis);

    let redis = Redis::start(&config.redis_bin)?;
    let plain_redis = plain::redis(&redis, &compared, config.items, &mut violations).await?;
    bar.inc(1);
    drop(redis);
    let plain_mongo = plain::mongo(&mongo, &compared, config.items, &mut violations).await?;
    bar.inc(1);

    let redis = Redis::start(&config.redis_bin)?;
    let mut server = start(&config, &redis, &mongo)?;
    let bytes = bytes::measure(&config, &server, &redis).await?;
    bar.finish_and_clear();
    violations.check("server", server.stop());
    mongo.close().await?;
    Ok(report::of(&config, million, ours, plain_redis, plain_mongo, bytes, violations))
}

fn start(config: &StrategiesConfig, redis: &Redis, mongo: &Mongo) -> Result<Server> {
    let flush_ms = config.flush.as_millis().to_string();
    let urls = ["--redis-url", &redis.url(), "--mongodb-url", &mongo.url];
    Server::start(&config.server_bin, &[&urls[..], &["--flush-ms", &flush_ms, "--log-level", "error"]].concat())
}

/// The load whose metrics are checked: several taps in a message, as a page sends them.
fn million(config: &StrategiesConfig) -> Load {
    Load {
        name: "million",
        sockets: config.sockets,
        taps_per_s: config.taps_per_s(),
        n: config.n,
        length: config.length,
    }
}

/// The load that is compared: one tap to a message, so that neither way is spared anything by the clients.
fn compared(config: &StrategiesConfig) -> Load {
    Load { name: "compared", n: 1, length: config.compared, ..million(config) }
}
