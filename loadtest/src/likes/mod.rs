//! Likes: many people like and unlike items as fast as they are answered; every answer, every counter and every fact must fit the books.
//!
//! Closed loop, unlike the other runs: the question is how many likes a second the server takes, so each sender has its next ones under way
//! as soon as the last are answered. People are shared out to senders, so that each person's acts have one order, and the books
//! of a sender say what every answer must be.

mod batch;
mod books;
mod config;
mod report;
mod sockets;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use futures_util::future::try_join_all;
use tokio::time::Instant;

pub use config::{LikesConfig, Way};
pub use report::LikesReport;

use crate::api::{self, Api};
use crate::http::Http;
use crate::latency::Latencies;
use books::Books;

/// Items whose ledger is read in the end; more would only be more of the same.
const AUDITED_MAX: usize = 20;

/// What senders share.
struct Course {
    config: LikesConfig,
    until: Instant,
    answers: Latencies,
}

/// What one sender came to.
struct Sent {
    accepted: u64,
    changed: u64,
    books: Books,
    violations: crate::report::Violations,
}

/// Runs it: makes the items, sends, compares.
///
/// # Errors
/// The configuration is not allowed, or the server could not be reached. Broken promises are no error but the report's violations.
pub async fn run(config: LikesConfig) -> Result<LikesReport> {
    config.check()?;
    let items: Vec<String> = (0..config.items).map(|n| config.item(n)).collect();
    for item in items.iter().take(AUDITED_MAX) {
        Api::open(&config.target, item).await?;
    }
    let mut http = Http::new(config.target.clone());
    let token = api::token(&mut http, "loadtest-service", "service").await?;
    let sockets = match config.way {
        Way::Batch => Vec::new(),
        Way::Sockets => sockets::join(&config).await?,
    };
    let cpu_before = crate::usage::own_cpu();
    let (length, senders) = (config.length, config.senders());
    let course = Course { until: Instant::now() + length, answers: Latencies::default(), config };
    let course = Arc::new(course);
    let started = Instant::now();
    let sent = match course.config.way {
        Way::Batch => try_join_all((0..senders).map(|n| batch::send(course.clone(), n, token.clone()))).await?,
        Way::Sockets => sockets::send(&course, sockets).await?,
    };
    let took: Duration = started.elapsed();
    let mut report = LikesReport::new(&course, &sent, took, crate::usage::own_cpu().saturating_sub(cpu_before));
    for (n, item) in items.iter().take(AUDITED_MAX).enumerate() {
        let expected: i64 = sent.iter().map(|sent| sent.books.likes_of(n)).sum();
        let audit = Api::open(&course.config.target, item).await?.audit().await?;
        report.compare(item, expected, &audit);
    }
    Ok(report)
}
