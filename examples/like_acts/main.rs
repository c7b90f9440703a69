//! How many likes a second one process takes through its acts, and how many items of pages it reads; without a network in between.
//!
//! `like_acts [--people N] [--seconds N] [--items N] [--window N]`: a node with embedded stores in a temporary folder; so many people at a
//! time like or unlike, each waiting for the answer; then pages of 50 items with what their reader likes, one after the other. In the end
//! the counters must be what was answered. Then the plain way, for a yardstick: a transaction per like that counts itself, and a query per item
//! of a page.
// The figures on standard output are this program's purpose.
#![allow(clippy::print_stdout)]

#[path = "../support/clocks.rs"]
mod clocks;
mod plain;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Parser;
use clocks::Clocks;
use futures_util::future::join_all;
use heartline::acts::{Act, Acts, Outcome};
use heartline::app::App;
use heartline::auth::Caller;
use heartline::config::Config;
use heartline::protocol::{ItemId, Millis, Role, UserId};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Items of one page, and how long pages are read.
const PAGE: usize = 50;
const READS: Duration = Duration::from_secs(5);

#[derive(Parser)]
struct Arguments {
    #[arg(long, default_value_t = 1_000_000)]
    people: usize,
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    #[arg(long, default_value_t = 1)]
    items: usize,
    /// Acts under way.
    #[arg(long, default_value_t = 30_000)]
    window: usize,
}

/// What was answered so far.
#[derive(Default)]
struct Answered {
    acts: Cell<u64>,
    likes: Cell<i64>,
}

#[actix_rt::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let data = folder.path().to_str().context("a folder's name")?;
    let args = ["heartline", "--listen", "127.0.0.1:0", "--limits", "off", "--data-dir", data];
    let running = App::build(Config::from_layers(args, &|_| None)?).await?.start().await?;
    let acts = running.acts();
    let items = (0..arguments.items).map(|n| ItemId::parse(&format!("item-{n}"))).collect::<Result<Vec<_>, _>>()?;
    let answered = like(&arguments, &acts, &Rc::new(items.clone())).await?;
    read(&acts, &items).await?;
    let mut likes = 0;
    for item in &items {
        likes += acts.item(item).await?.1.likes.unwrap_or_default();
    }
    ensure!(likes == answered, "{likes} likes, {answered} answered");
    println!("{likes} likes, as answered; {}", running.stop().await);
    plain::run(arguments.people, READS)
}

/// Answers by how much the likes must have moved.
async fn like(arguments: &Arguments, acts: &Arc<Acts>, items: &Rc<Vec<ItemId>>) -> anyhow::Result<i64> {
    let (since, answered) = (Clocks::now()?, Rc::new(Answered::default()));
    let until = Instant::now() + Duration::from_secs(arguments.seconds);
    let givers = (0..arguments.window).map(|n| {
        let (acts, items, answered) = (acts.clone(), items.clone(), answered.clone());
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(n as u64);
        // People are shared out, so that nobody changes their mind twice at once.
        let (first, step, people) = (n, arguments.window, arguments.people);
        actix_rt::spawn(async move {
            while Instant::now() < until {
                let who = caller(first + step * rng.random_range(0..(people / step).max(1)))?;
                let Some(item) = items.get(rng.random_range(0..items.len())) else { break };
                let liked = rng.random_range(0..10) > 0;
                if let Outcome::Liked(done) = acts.perform(&who, item, Act::Like(liked)).await? {
                    answered.acts.set(answered.acts.get() + 1);
                    let moved = i64::from(done.changed) * if liked { 1 } else { -1 };
                    answered.likes.set(answered.likes.get() + moved);
                }
            }
            anyhow::Ok(())
        })
    });
    for giver in join_all(givers).await {
        giver??;
    }
    let Arguments { people, items, window, seconds } = arguments;
    let (per_s, cost) = since.rate_and_cost(answered.acts.get())?;
    println!(
        "{per_s:.0} likes a second, {cost:.2} us of CPU each; {items} items, {people} people, {window} under way, {seconds} s"
    );
    Ok(answered.likes.get())
}

/// Pages of the first items, again and again, by people in turn.
async fn read(acts: &Acts, items: &[ItemId]) -> anyhow::Result<()> {
    let page: Vec<ItemId> = items.iter().cycle().take(PAGE).cloned().collect();
    let (since, until, mut reads) = (Clocks::now()?, Instant::now() + READS, 0_usize);
    while Instant::now() < until {
        let reader = caller(reads % 1_000)?;
        ensure!(acts.page(Some(&reader), &page).await?.len() == PAGE, "a page is short");
        reads += 1;
    }
    let (per_s, cost) = since.rate_and_cost((reads * PAGE) as u64)?;
    println!("{per_s:.0} item reads a second in pages of {PAGE}, one after the other, {cost:.2} us of CPU each");
    Ok(())
}

fn caller(n: usize) -> anyhow::Result<Caller> {
    let user = UserId::parse(&format!("u{n}"))?;
    Ok(Caller { user, role: Role::Viewer, items: None, name: None, expires: Millis(i64::MAX) })
}
