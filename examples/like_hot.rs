//! What a like costs Redis beside its counter: the fence, the filter of who likes the item, people's marks.
//!
//! `like_hot --redis-url URL [--likes N] [--batch N]`: batches of one item as the like service makes them, first without a filter, then with one
//! for as many people; Redis's own CPU time for each like, by `INFO cpu`. It leaves its keys under `like_hot:` behind, which end by themselves.
// The figures on standard output are this program's purpose.
#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Parser;
use heartline::protocol::{ItemId, UserId, WriterId};
use heartline::store::durable::BatchId;
use heartline::store::hot::readers::filter_bytes;
use heartline::store::hot::redis::{RedisHot, Settings};
use heartline::store::hot::{LikeFence, LikeFilter, LikeMarks};
use tokio::runtime::Handle;
use uuid::Uuid;

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    redis_url: String,
    #[arg(long, default_value_t = 1_000_000)]
    likes: usize,
    #[arg(long, default_value_t = 1_000)]
    batch: usize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let writer = WriterId(Uuid::now_v7());
    let settings = Settings::new(arguments.redis_url.as_str(), writer, Duration::from_millis(100));
    let hot = RedisHot::open(Settings { space: "like_hot:".to_owned(), ..settings }, Handle::current()).await?;
    let item = ItemId::parse(&Uuid::new_v4().simple().to_string())?;
    println!("{} likes in batches of {}", arguments.likes, arguments.batch);
    let before = likes(&hot, &arguments, writer, &item, 0).await?;
    let (fence, bytes) = (Uuid::new_v4(), filter_bytes(i64::try_from(arguments.likes)?));
    hot.raise(&item, fence, Duration::from_secs(8)).await?.context("somebody else's fence")?;
    ensure!(hot.begin(&item, fence, bytes).await? && hot.lift(&item, fence, None).await?, "no filter");
    let with = likes(&hot, &arguments, writer, &item, bytes).await?;
    println!("{before:.2} µs of Redis's CPU each without a filter, {with:.2} µs with one of {bytes} bytes");
    Ok(())
}

/// Microseconds of Redis's CPU for each.
async fn likes(
    hot: &RedisHot,
    arguments: &Arguments,
    writer: WriterId,
    item: &ItemId,
    filter: u64,
) -> anyhow::Result<f64> {
    let (cpu, since) = (redis_cpu(&arguments.redis_url).await?, Instant::now());
    for number in 0..(arguments.likes / arguments.batch) as u64 {
        let first = number as usize * arguments.batch;
        let users = (first..first + arguments.batch).map(|n| UserId::parse(&format!("u{n}")));
        let users = users.collect::<Result<Vec<_>, _>>()?;
        let batch = BatchId { writer, number: number + filter };
        ensure!(hot.open(item, batch).await?, "fenced");
        ensure!(hot.note(item, &users).await? == filter, "another filter");
        hot.unmark(&users).await?;
        hot.close(item, batch).await?;
    }
    let cpu = redis_cpu(&arguments.redis_url).await? - cpu;
    let per_s = arguments.likes as f64 / since.elapsed().as_secs_f64();
    println!("{per_s:.0} a second, one batch after the other");
    Ok(cpu * 1e6 / arguments.likes as f64)
}

/// Seconds, of user and system.
async fn redis_cpu(url: &str) -> anyhow::Result<f64> {
    let mut connection = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
    let info: String = redis::cmd("INFO").arg("cpu").query_async(&mut connection).await?;
    let read = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)?.parse::<f64>().ok());
    let parts = ["used_cpu_user:", "used_cpu_sys:"].map(read);
    parts.into_iter().sum::<Option<f64>>().context("INFO cpu")
}
