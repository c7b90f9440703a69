//! Posting a trace: a bounded pool of connections, each taking the next line and sending it at its moment.
//!
//! Open loop as long as a connection is free when a line is due; where the pool is exhausted the line is late, and its lateness
//! is part of its latency and is reported by itself.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::time::{Instant, sleep_until};

use super::ReplayConfig;
use crate::api;
use crate::http::Http;
use crate::text::line_text;
use crate::trace::Line;

/// Connections that fetch tokens side by side.
const TOKENS_AT_ONCE: usize = 16;

/// What became of one line.
#[derive(Debug, Clone)]
pub(super) struct Posted {
    /// Which line.
    pub line: usize,
    /// When it was due, from the start.
    pub due: Duration,
    /// When it really went out.
    pub sent: Duration,
    /// When its answer was here.
    pub answered: Duration,
    /// The comment's id as a JSON token, or what came instead.
    pub outcome: Result<Box<str>, String>,
}

/// Viewers' tokens, by viewer.
pub(super) type Tokens = std::collections::HashMap<u64, String>;

/// A token for each person of the trace.
pub(super) async fn tokens(config: &ReplayConfig) -> Result<Tokens> {
    let people: Vec<u64> = config.lines.iter().map(|line| line.viewer).collect::<BTreeSet<_>>().into_iter().collect();
    let bar = crate::progress::bar(people.len() as u64, "tokens", config.is_quiet);
    let shares = people.chunks(people.len().div_ceil(TOKENS_AT_ONCE).max(1)).map(<[u64]>::to_vec).collect::<Vec<_>>();
    let fetches = shares.into_iter().map(|share| {
        let (mut http, bar) = (Http::new(config.target.clone()), bar.clone());
        async move {
            let mut tokens = Vec::with_capacity(share.len());
            for viewer in share {
                tokens.push((viewer, api::token(&mut http, &name_of(viewer), "viewer").await?));
                bar.inc(1);
            }
            anyhow::Ok(tokens)
        }
    });
    let tokens: Vec<_> = stream::iter(fetches).buffer_unordered(TOKENS_AT_ONCE).try_collect().await?;
    bar.finish_and_clear();
    Ok(tokens.into_iter().flatten().collect())
}

/// The user id of a viewer of the trace.
pub(super) fn name_of(viewer: u64) -> String {
    format!("viewer-{viewer}")
}

/// When a line is due.
fn due_of(line: &Line, speed: f64) -> Duration {
    Duration::from_secs_f64(line.offset_ms as f64 / 1e3 / speed)
}

/// Posts all lines; answers what became of each, in the order of the trace.
pub(super) async fn all(config: &Arc<ReplayConfig>, tokens: Tokens, start: Instant) -> Vec<Posted> {
    let bar = crate::progress::bar(config.lines.len() as u64, "comments", config.is_quiet);
    let tokens = Arc::new(tokens);
    let next = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..config.connections)
        .map(|_| {
            let (config, tokens, next, bar) = (Arc::clone(config), Arc::clone(&tokens), Arc::clone(&next), bar.clone());
            tokio::spawn(async move { work(&config, &tokens, &next, start, &bar).await })
        })
        .collect();
    let mut posted = Vec::with_capacity(config.lines.len());
    for worker in workers {
        // Lines of a worker that panicked are missing, which the comparison tells.
        posted.extend(worker.await.unwrap_or_default());
    }
    posted.sort_by_key(|posted| posted.line);
    bar.finish_and_clear();
    posted
}

async fn work(
    config: &ReplayConfig,
    tokens: &Tokens,
    next: &AtomicUsize,
    start: Instant,
    bar: &indicatif::ProgressBar,
) -> Vec<Posted> {
    let mut http = Http::new(config.target.clone());
    let mut posted = Vec::new();
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(line) = config.lines.get(index) else { return posted };
        let due = due_of(line, config.speed);
        sleep_until(start + due).await;
        let text = line_text(index as u64, line.chars, line.bytes);
        let token = tokens.get(&line.viewer).map_or("", String::as_str);
        let sent = start.elapsed();
        let outcome = api::comment(&mut http, &config.item, token, &text).await.map_err(|e| format!("{e:#}"));
        posted.push(Posted { line: index, due, sent, answered: start.elapsed(), outcome });
        bar.inc(1);
    }
}
