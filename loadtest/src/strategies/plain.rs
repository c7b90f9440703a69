//! The plain way, done by the generator itself: every tap goes to the store when it comes.
//!
//! Open loop as far as the store takes it: taps follow from the clock, and a bounded number of them is under way; what
//! the store has not answered when the time is over was not taken. The books are checked here too: the store's totals are the answered taps.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use mongodb::bson::{Document, doc};
use serde::Serialize;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::ours::Load;
use super::stores::{Mongo, Redis};
use crate::report::Violations;
use crate::schedule::Plan;

/// Taps under way to Redis at once, over so many connections.
const REDIS_SENDERS: usize = 256;
const REDIS_CONNECTIONS: usize = 8;
/// Taps under way to MongoDB at once: as many as the server's own pool.
const MONGO_SENDERS: usize = 64;
/// From now to the first tap: all senders stand ready by then.
const START_DELAY: Duration = Duration::from_millis(100);
/// The counter's field.
const FIELD: &str = "taps_heart";

/// What one load came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it; README.md explains how to read them")]
pub struct PlainWindow {
    pub seconds: f64,
    pub taps_offered: u64,
    /// Answered within the time.
    pub taps_accepted: u64,
    /// Answered at all: what is stored.
    pub taps_answered: u64,
    /// Statements on the durable store.
    pub durable_writes: u64,
    pub redis_cpu_s: f64,
}

/// One `HINCRBY` and one `SADD` per tap, sent together. Nothing of it is durable in the sense of the other two.
pub async fn redis(redis: &Redis, load: &Load, items: usize, violations: &mut Violations) -> Result<PlainWindow> {
    let mut connections = Vec::with_capacity(REDIS_CONNECTIONS);
    for _ in 0..REDIS_CONNECTIONS {
        connections.push(redis.connect().await?);
    }
    let cpu_s = redis.cpu_s().await?;
    let window = drive(load, REDIS_SENDERS, move |sender, tap| {
        let connection = connections.get(sender % REDIS_CONNECTIONS).cloned();
        let item = format!("plain-{}", tap % items as u64);
        async move {
            let mut commands = redis::pipe();
            commands.hincr(&item, FIELD, 1).ignore().sadd("dirty", &item).ignore();
            Ok(commands.exec_async(&mut connection.context("no connection")?).await?)
        }
    })
    .await?;
    let redis_cpu_s = redis.cpu_s().await? - cpu_s;
    let mut connection = redis.connect().await?;
    let mut stored = 0;
    for item in 0..items {
        let one: Option<u64> =
            redis::cmd("HGET").arg(format!("plain-{item}")).arg(FIELD).query_async(&mut connection).await?;
        stored += one.unwrap_or(0);
    }
    violations.check("plain Redis", window.check(stored));
    Ok(PlainWindow { redis_cpu_s, ..window })
}

/// One `$inc` per tap, acknowledged as the server's folds are.
pub async fn mongo(mongo: &Mongo, load: &Load, items: usize, violations: &mut Violations) -> Result<PlainWindow> {
    let collection = mongo.database().collection::<Document>("plain");
    for item in 0..items {
        collection.insert_one(doc! { "_id": format!("plain-{item}"), FIELD: 0_i64 }).await?;
    }
    let tapped = collection.clone();
    let window = drive(load, MONGO_SENDERS, move |_, tap| {
        let (tapped, item) = (tapped.clone(), format!("plain-{}", tap % items as u64));
        async move {
            tapped.update_one(doc! { "_id": item }, doc! { "$inc": { FIELD: 1_i64 } }).await?;
            Ok(())
        }
    })
    .await?;
    let mut stored = 0;
    for item in 0..items {
        let one = collection.find_one(doc! { "_id": format!("plain-{item}") }).await?.context("a document is gone")?;
        stored += u64::try_from(one.get_i64(FIELD)?)?;
    }
    violations.check("plain MongoDB", window.check(stored));
    Ok(PlainWindow { durable_writes: window.taps_answered, ..window })
}

/// Sends each tap (its sender, its number) when it is due, or as soon after as its sender is free.
async fn drive<F, T>(load: &Load, senders: usize, tap: F) -> Result<PlainWindow>
where
    F: Fn(usize, u64) -> T + Send + Sync + 'static,
    T: Future<Output = Result<()>> + Send + 'static,
{
    let start = Instant::now() + START_DELAY;
    let (end, tap) = (start + load.length, Arc::new(tap));
    let mut window = PlainWindow { seconds: load.length.as_secs_f64(), ..PlainWindow::default() };
    let mut sending = JoinSet::new();
    for sender in 0..senders {
        let plan = Plan::shared(sender, senders, load.taps_per_s, load.length);
        window.taps_offered += plan.messages;
        sending.spawn(send(plan, start, end, sender, senders, Arc::clone(&tap)));
    }
    while let Some(sent) = sending.join_next().await {
        let (in_time, answered) = sent.context("a sender has died")??;
        window.taps_accepted += in_time;
        window.taps_answered += answered;
    }
    Ok(window)
}

/// One sender's taps; answers how many were answered in time, and at all.
async fn send<F, T>(
    plan: Plan,
    start: Instant,
    end: Instant,
    sender: usize,
    senders: usize,
    tap: Arc<F>,
) -> Result<(u64, u64)>
where
    F: Fn(usize, u64) -> T,
    T: Future<Output = Result<()>>,
{
    let (mut in_time, mut answered) = (0, 0);
    for j in 0..plan.messages {
        sleep_until(start + plan.at(j)).await;
        if Instant::now() >= end {
            break;
        }
        tap(sender, j * senders as u64 + sender as u64).await?;
        answered += 1;
        in_time += u64::from(Instant::now() < end);
    }
    Ok((in_time, answered))
}

impl PlainWindow {
    /// What was answered must be what is stored.
    fn check(&self, stored: u64) -> Result<(), String> {
        let answered = self.taps_answered;
        if stored == answered { Ok(()) } else { Err(format!("{stored} taps are stored, {answered} were answered")) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    const SENDERS: usize = 7;
    const LENGTH: Duration = Duration::from_millis(400);

    /// All senders of 500 taps a second, until `end`; answers what each was answered in time, and at all.
    async fn send_all<F, T>(end: Instant, tap: F) -> Vec<(u64, u64)>
    where
        F: Fn(usize, u64) -> T,
        T: Future<Output = Result<()>>,
    {
        let (start, tap) = (Instant::now(), Arc::new(tap));
        let sending = (0..SENDERS).map(|sender| {
            let plan = Plan::shared(sender, SENDERS, 500.0, LENGTH);
            send(plan, start, end, sender, SENDERS, Arc::clone(&tap))
        });
        futures_util::future::try_join_all(sending).await.unwrap_or_default()
    }

    /// Scenario: a store that keeps up. Method: every tap of the plan once, each by the sender whose turn it is. The end is far away, so that
    /// a busy machine makes the test late and not wrong.
    #[tokio::test]
    async fn a_quick_store_is_sent_the_whole_plan() {
        let taps = Mutex::new(Vec::new());
        let sent = send_all(Instant::now() + Duration::from_secs(600), |sender, tap| {
            assert_eq!(tap % SENDERS as u64, sender as u64);
            taps.lock().map(|mut taps| taps.push(tap)).unwrap_or_default();
            std::future::ready(Ok(()))
        })
        .await;
        let mut taps = taps.into_inner().unwrap_or_default();
        taps.sort_unstable();
        assert_eq!(taps, (0..200).collect::<Vec<u64>>());
        assert_eq!(sent.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)), (200, 200));
    }

    /// Scenario: a store that answers when the time is over. Method: no sender has more than one tap under way, and none of them counts as
    /// accepted, though they were answered.
    #[tokio::test]
    async fn a_slow_store_is_sent_no_more_than_the_bound_and_credited_with_what_it_took_in_time() {
        let end = Instant::now() + LENGTH;
        let sent = send_all(end, |_, _| async move {
            sleep_until(end).await;
            Ok(())
        })
        .await;
        assert_eq!(sent.first(), Some(&(0, 1)));
        assert!(sent.iter().all(|(in_time, answered)| *in_time == 0 && *answered <= 1), "{sent:?}");
        let window = PlainWindow { taps_answered: 7, ..PlainWindow::default() };
        assert!(window.check(7).is_ok() && window.check(6).is_err());
    }
}
