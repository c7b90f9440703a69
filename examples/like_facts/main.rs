//! How many likes the durable stores take: facts committed, all indexes, one item or several.
//!
//! `like_facts [--people N] [--seconds N] [--batch N] [--items N] [--mongodb-url URL]`: everybody likes once (*fill*), then random people
//! like and unlike by turns for the given time (*sustain*), each item's batches one after the other, items at once. What was answered is
//! added up, and must be what the store counts and tells of everybody. Embedded in a temporary folder, unless a MongoDB is named, in a database of its own.
// The figures on standard output are this program's purpose.
#![allow(clippy::print_stdout)]

#[path = "../support/clocks.rs"]
mod clocks;
mod report;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Parser;
use clocks::Clocks;
use futures_util::future::try_join_all;
use heartline::protocol::{ItemId, Millis, UserId, WriterId};
use heartline::store::durable::mongodb::{MongoStore, Settings};
use heartline::store::durable::sqlite::SqliteStore;
use heartline::store::durable::{BatchId, DurableStore, LikeBatch, LikeCommand, LikeStore};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use report::{mongodb_size, sqlite_size, tell};
use uuid::Uuid;

/// Items that one reader asks about at once: a page.
const PAGE: usize = 50;

#[derive(Parser)]
struct Arguments {
    #[arg(long, default_value_t = 1_000_000)]
    people: usize,
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    #[arg(long, default_value_t = 4_000)]
    batch: usize,
    #[arg(long, default_value_t = 1)]
    items: usize,
    #[arg(long)]
    mongodb_url: Option<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let folder = tempfile::tempdir()?;
    if let Some(url) = &arguments.mongodb_url {
        let database = format!("heartline_bench_{}", Uuid::new_v4().simple());
        let settings = Settings { url: url.clone(), database: Some(database.clone()) };
        let store = Arc::new(MongoStore::open(&settings).await?);
        run(&arguments, store.clone()).await?;
        store.close().await;
        return mongodb_size(url, &database, arguments.people * arguments.items).await;
    }
    let store = Arc::new(SqliteStore::open(folder.path())?);
    run(&arguments, store.clone()).await?;
    store.close().await;
    sqlite_size(folder.path())
}

async fn run(arguments: &Arguments, store: Arc<dyn LikeStore>) -> anyhow::Result<()> {
    let people: Arc<Vec<UserId>> = Arc::new((0..arguments.people).map(name).collect::<Result<_, _>>()?);
    let mut givers = Vec::new();
    for n in 0..arguments.items {
        let rng = Xoshiro256PlusPlus::seed_from_u64(n as u64);
        let item = ItemId::parse(&format!("item-{n}"))?;
        let (store, people) = (store.clone(), people.clone());
        let people_count = people.len();
        givers.push(Giver {
            store,
            people,
            item,
            rng,
            number: 0,
            liked: vec![false; people_count],
            batch: arguments.batch,
            latencies: Vec::new(),
        });
    }
    let since = Clocks::now()?;
    givers = try_join_all(givers.into_iter().map(|giver| tokio::spawn(giver.fill())))
        .await?
        .into_iter()
        .collect::<Result<_, _>>()?;
    tell("fill", &since, batches(&mut givers))?;
    if arguments.seconds > 0 {
        let since = Clocks::now()?;
        let time = Duration::from_secs(arguments.seconds);
        let sustaining = givers.into_iter().map(|giver| tokio::spawn(giver.sustain(time)));
        givers = try_join_all(sustaining).await?.into_iter().collect::<Result<_, _>>()?;
        tell("sustain", &since, batches(&mut givers))?;
    }
    for giver in &givers {
        giver.check().await?;
    }
    read(&*store, &givers, &people).await
}

/// Numbers that are neighbours get names that are not.
fn name(n: usize) -> Result<UserId, heartline::protocol::ids::BadId> {
    UserId::parse(&format!("u{}", (n as u64).wrapping_mul(2_654_435_761) % (1 << 32)))
}

/// Gives one item's batches.
struct Giver {
    store: Arc<dyn LikeStore>,
    people: Arc<Vec<UserId>>,
    item: ItemId,
    rng: Xoshiro256PlusPlus,
    number: u64,
    /// By person, as was answered.
    liked: Vec<bool>,
    batch: usize,
    latencies: Vec<Duration>,
}

impl Giver {
    async fn fill(mut self) -> anyhow::Result<Self> {
        for first in (0..self.people.len()).step_by(self.batch) {
            let last = (first + self.batch).min(self.people.len());
            self.give((first..last).map(|n| (n, true)).collect()).await?;
        }
        Ok(self)
    }

    async fn sustain(mut self, time: Duration) -> anyhow::Result<Self> {
        let since = Instant::now();
        while since.elapsed() < time {
            // A stride that has no divisor in common with the people visits nobody twice.
            let (first, liked) = (self.rng.random_range(0..self.people.len()), self.rng.random::<u64>());
            let act = |n: usize| ((first + n * 7_919) % self.people.len(), (liked >> (n % 64)) & 1 == 1);
            self.give((0..self.batch).map(act).collect()).await?;
        }
        Ok(self)
    }

    async fn give(&mut self, acts: Vec<(usize, bool)>) -> anyhow::Result<()> {
        self.number += 1;
        let command = |(n, liked): &(usize, bool)| {
            let user = self.people.get(*n)?.clone();
            Some(LikeCommand { user, liked: *liked })
        };
        let commands = acts.iter().filter_map(command).collect();
        let by = BatchId { writer: WriterId(Uuid::from_u128(1)), number: self.number };
        let batch =
            LikeBatch { item: self.item.clone(), by, at: Millis::from_system(std::time::SystemTime::now()), commands };
        let since = Instant::now();
        let changed = self.store.like(&batch).await?;
        self.latencies.push(since.elapsed());
        self.store.settled(&self.item, by).await;
        for ((n, liked), changed) in acts.into_iter().zip(changed) {
            let state = self.liked.get_mut(n).context("nobody")?;
            ensure!(changed == (std::mem::replace(state, liked) != liked), "{n}: changed {changed}");
        }
        Ok(())
    }

    /// The store tells of everybody what was answered.
    async fn check(&self) -> anyhow::Result<()> {
        let since = Instant::now();
        let counted = self.store.count_likes(&self.item).await?;
        println!("count of {counted}, right after: {:.1?}", since.elapsed());
        let likes = self.liked.iter().filter(|liked| **liked).count();
        ensure!(counted == likes as u64, "{likes} answered");
        let since = Instant::now();
        for (users, liked) in self.people.chunks(1_000).zip(self.liked.chunks(1_000)) {
            let among = self.store.likers_among(&self.item, users).await?;
            let answered = users.iter().zip(liked).filter(|(_, liked)| **liked).map(|(user, _)| user);
            ensure!(among.iter().eq(answered), "somebody is told otherwise");
        }
        println!("of all {} it is told right whether they like it: {:.1?}", self.people.len(), since.elapsed());
        Ok(())
    }
}

/// How many commands were given since the last time, and how long each batch took.
fn batches(givers: &mut [Giver]) -> (usize, Vec<Duration>) {
    let (mut commands, mut latencies) = (0, Vec::new());
    for giver in givers {
        commands += giver.latencies.len() * giver.batch;
        latencies.append(&mut giver.latencies);
    }
    (commands, latencies)
}

async fn read(store: &dyn LikeStore, givers: &[Giver], people: &[UserId]) -> anyhow::Result<()> {
    let giver = givers.first().context("no item")?;
    let mut before = None;
    for what in ["first", "second"] {
        let since = Instant::now();
        let page = store.likers(&giver.item, before.as_ref(), 100).await?;
        println!("{what} page of 100 likers: {:.1?}", since.elapsed());
        before = page.last().cloned();
    }
    let items: Vec<_> = (0..PAGE).map(|n| ItemId::parse(&format!("item-{n}"))).collect::<Result<_, _>>()?;
    let mut took = Vec::new();
    for user in people.iter().step_by(people.len().div_ceil(1_000)) {
        let since = Instant::now();
        store.liked_among(user, &items).await?;
        took.push(since.elapsed());
    }
    took.sort_unstable();
    println!("liked among {PAGE} items, median of {}: {:.1?}", took.len(), took.get(took.len() / 2).context("nobody")?);
    Ok(())
}
