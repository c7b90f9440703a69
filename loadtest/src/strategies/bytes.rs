//! What a live item takes in Redis: by its own keys, and by all that the server has given out.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures_util::{StreamExt, TryStreamExt, stream};
use redis::AsyncIter;
use redis::aio::MultiplexedConnection;
use serde::Serialize;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::StrategiesConfig;
use super::scrape::Scrape;
use super::stores::Redis;
use crate::api::{self, Api};
use crate::http::Http;
use crate::process::Server;
use crate::target::Target;
use crate::text::line_text;

/// Kinds of reactions of each item; each is tapped.
const KINDS: [&str; 3] = ["heart", "wow", "fire"];
/// Code points and bytes of a comment.
const COMMENT_LENGTH: (usize, usize) = (40, 60);
/// Items that are made and talked in at once: as many as the server writes to MongoDB at once, so that none waits long for its turn.
const AT_ONCE: usize = 64;
/// For everything to be durable, beyond three flush intervals.
const SETTLE_MAX: Duration = Duration::from_secs(20);

/// Bytes of Redis for one live item with nothing unflushed, on average.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it; README.md explains how to read them")]
pub struct ItemBytes {
    pub items: usize,
    pub comments: usize,
    /// `MEMORY USAGE` over the item's keys.
    pub keys_tapped: f64,
    /// The growth of `used_memory`.
    pub used_tapped: f64,
    pub keys_talked: f64,
    pub used_talked: f64,
}

/// Two lots of live items, one tapped alone, one with comments too.
pub async fn measure(config: &StrategiesConfig, server: &Server, redis: &Redis) -> Result<ItemBytes> {
    let (keys_tapped, used_tapped) = lot(config, "tapped", 0, server, redis).await?;
    let (keys_talked, used_talked) = lot(config, "talked", config.comments, server, redis).await?;
    let (items, comments) = (config.live_items, config.comments);
    Ok(ItemBytes { items, comments, keys_tapped, used_tapped, keys_talked, used_talked })
}

async fn lot(
    config: &StrategiesConfig,
    name: &str,
    comments: usize,
    server: &Server,
    redis: &Redis,
) -> Result<(f64, f64)> {
    let (before, target) = (redis.used_bytes().await?, server.target()?);
    stream::iter(0..config.live_items)
        .map(|item| enliven(target.clone(), format!("{name}-{item}"), comments))
        .buffer_unordered(AT_ONCE)
        .try_collect::<()>()
        .await?;
    await_durable(&target, config.flush * 3 + SETTLE_MAX).await?;
    let used = redis.used_bytes().await? - before;
    let keys = keys_bytes(&mut redis.connect().await?, &format!(":{name}-")).await?;
    let items = config.live_items as f64;
    Ok((keys as f64 / items, used / items))
}

/// Makes an item, taps each of its kinds and comments.
async fn enliven(target: Target, item: String, comments: usize) -> Result<()> {
    let settings = json!({"title": "Friday night", "reactions": KINDS}).to_string();
    let mut api = Api::make(&target, &item, &settings).await?;
    for kind in KINDS {
        api.tap(kind, 50).await?;
    }
    if comments > 0 {
        let mut http = Http::new(target);
        let token = api::token(&mut http, &format!("viewer-of-{item}"), "viewer").await?;
        for line in 0..comments as u64 {
            api::comment(&mut http, &item, &token, &line_text(line, COMMENT_LENGTH.0, COMMENT_LENGTH.1)).await?;
        }
    }
    Ok(())
}

/// Level-triggered: until the server says that nothing is unflushed.
async fn await_durable(target: &Target, within: Duration) -> Result<()> {
    let (mut http, deadline) = (Http::new(target.clone()), Instant::now() + within);
    loop {
        let unflushed = Scrape::take(&mut http).await?.sum("heartline_unflushed")?;
        if unflushed == 0.0 {
            return Ok(());
        }
        if Instant::now() >= deadline {
            bail!("{unflushed} changes are still unflushed after {} s", within.as_secs());
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// `MEMORY USAGE`, every element counted, of all keys that belong to items with this in their name.
async fn keys_bytes(connection: &mut MultiplexedConnection, of: &str) -> Result<u64> {
    let mut scan = redis::cmd("SCAN");
    scan.cursor_arg(0).arg("MATCH").arg(format!("*{of}*")).arg("COUNT").arg(1_000);
    let found: AsyncIter<'_, String> = scan.iter_async(connection).await?;
    let keys: Vec<String> = found.try_collect().await?;
    if keys.is_empty() {
        bail!("Redis has no keys of live items");
    }
    let mut bytes = 0;
    for key in keys {
        let one: Option<u64> =
            redis::cmd("MEMORY").arg("USAGE").arg(&key).arg("SAMPLES").arg(0).query_async(connection).await?;
        bytes += one.with_context(|| format!("{key} has gone"))?;
    }
    Ok(bytes)
}
