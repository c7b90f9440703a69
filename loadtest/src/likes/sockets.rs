//! Viewers who like and unlike one item over their sockets, each with so many acts under way.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use futures_util::future::try_join_all;
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::protocol::Message;

use super::books::Books;
use super::{Course, LikesConfig, Sent};
use crate::api;
use crate::client::{self, Socket};
use crate::http::Http;
use crate::report::Violations;

/// The fields of an `ack` or `error` that are looked at.
#[derive(Deserialize)]
struct Answer {
    id: Option<u64>,
    liked: Option<bool>,
    changed: Option<bool>,
}

/// Brings the viewers in; the clock of the run begins after it.
pub(super) async fn join(config: &LikesConfig) -> Result<Vec<Socket>> {
    crate::usage::allow_sockets(config.sockets)?;
    let mut http = Http::new(config.target.clone());
    let mut tokens = Vec::with_capacity(config.sockets);
    for n in 0..config.sockets {
        tokens.push(Some(api::token(&mut http, &format!("u{n}"), "viewer").await?));
    }
    let joined = client::join_all(&config.target, &config.item(0), tokens).await?;
    Ok(joined.into_iter().map(|joined| joined.socket).collect())
}

pub(super) async fn send(course: &Arc<Course>, sockets: Vec<Socket>) -> Result<Vec<Sent>> {
    let viewers = sockets.into_iter().enumerate().map(|(n, socket)| {
        let course = course.clone();
        async move { tokio::spawn(view(course, n, socket)).await.context("a viewer")? }
    });
    try_join_all(viewers).await
}

/// An act that has no answer yet.
struct Act {
    liked: bool,
    /// Whether it must change something.
    changed: bool,
    since: Instant,
}

/// Likes and unlikes in turn; the n-th act is a like if n is even. Acts are done in the order in which they are sent; their answers
/// may come in another one, so each finds its act by the id.
async fn view(course: Arc<Course>, person: usize, mut socket: Socket) -> Result<Sent> {
    let mut sent = Sent { accepted: 0, changed: 0, books: Books::default(), violations: Violations::default() };
    let mut under_way = HashMap::with_capacity(course.config.window);
    let mut next = 0_u64;
    loop {
        while under_way.len() < course.config.window && Instant::now() < course.until {
            let liked = next.is_multiple_of(2);
            let t = if liked { "like" } else { "unlike" };
            socket.feed(Message::text(format!(r#"{{"t":"{t}","id":{next}}}"#))).await?;
            let changed = sent.books.act(0, person as u32, liked);
            under_way.insert(next, Act { liked, changed, since: Instant::now() });
            next += 1;
        }
        socket.flush().await?;
        if under_way.is_empty() {
            return Ok(sent);
        }
        let Some(message) = socket.next().await else { bail!("viewer {person}: closed") };
        if let Message::Text(text) = message? {
            for line in text.lines().filter(|line| line.contains(r#""id":"#)) {
                let answer: Answer = serde_json::from_str(line).context("an answer")?;
                let act = answer.id.and_then(|id| under_way.remove(&id));
                take(&course, person, act, &mut sent, &answer, line);
            }
        }
    }
}

fn take(course: &Course, person: usize, act: Option<Act>, sent: &mut Sent, answer: &Answer, line: &str) {
    let Some(Act { liked, changed, since }) = act else {
        return sent.violations.add(format!("viewer {person}: answers no act: {line}"));
    };
    course.answers.record(since.elapsed());
    if (answer.liked, answer.changed) == (Some(liked), Some(changed)) {
        sent.accepted += 1;
        sent.changed += u64::from(changed);
    } else {
        sent.violations.add(format!("viewer {person}: must be {liked}, {changed}: {line}"));
    }
}
