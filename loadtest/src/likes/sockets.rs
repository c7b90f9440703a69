//! Viewers who like and unlike one item over their sockets, each with so many acts under way.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use futures_util::future::try_join_all;
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::protocol::Message;

use super::books::Books;
use super::{Course, Sent};
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

pub(super) async fn send(course: &Arc<Course>) -> Result<Vec<Sent>> {
    let config = &course.config;
    crate::usage::allow_sockets(config.sockets)?;
    let mut http = Http::new(config.target.clone());
    let mut tokens = Vec::with_capacity(config.sockets);
    for n in 0..config.sockets {
        tokens.push(Some(api::token(&mut http, &format!("u{n}"), "viewer").await?));
    }
    let joined = client::join_all(&config.target, &config.item(0), tokens).await?;
    // Joining took its time: the clock begins here.
    let until = Instant::now() + config.length;
    let viewers = joined.into_iter().enumerate().map(|(n, joined)| {
        let course = course.clone();
        async move { tokio::spawn(view(course, n, joined.socket, until)).await.context("a viewer")? }
    });
    try_join_all(viewers).await
}

/// Likes and unlikes in turn; the n-th act is a like if n is even.
async fn view(course: Arc<Course>, person: usize, mut socket: Socket, until: Instant) -> Result<Sent> {
    let mut sent = Sent { accepted: 0, changed: 0, books: Books::default(), violations: Violations::default() };
    let mut under_way = std::collections::VecDeque::new();
    let mut next = 0_u64;
    loop {
        while under_way.len() < course.config.window && Instant::now() < until {
            let t = if next.is_multiple_of(2) { "like" } else { "unlike" };
            socket.feed(Message::text(format!(r#"{{"t":"{t}","id":{next}}}"#))).await?;
            under_way.push_back((next, Instant::now()));
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
                take(&course, person, &mut under_way, &mut sent, &answer, line);
            }
        }
    }
}

/// Answers come in the order of the acts: a person's likes are one queue.
fn take(
    course: &Course,
    person: usize,
    under_way: &mut std::collections::VecDeque<(u64, Instant)>,
    sent: &mut Sent,
    answer: &Answer,
    line: &str,
) {
    let Some((id, at)) = under_way.pop_front() else { return };
    course.answers.record(at.elapsed());
    let liked = id.is_multiple_of(2);
    let changed = sent.books.act(0, person as u32, liked);
    if (answer.id, answer.liked, answer.changed) == (Some(id), Some(liked), Some(changed)) {
        sent.accepted += 1;
        sent.changed += u64::from(changed);
    } else {
        sent.violations.add(format!("viewer {person}, act {id}: {line}"));
    }
}
