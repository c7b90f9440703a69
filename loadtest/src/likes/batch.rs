//! One connection of a service: batch after batch, each made while none is under way.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tokio::time::Instant;

use super::books::Books;
use super::{Course, Sent};
use crate::http::{Http, Request};
use crate::report::Violations;
use crate::seeded::Seeded;

/// One act in so many takes a like back.
const UNLIKE_ONE_IN: usize = 10;

#[derive(Deserialize)]
struct Answers<'a> {
    #[serde(borrow)]
    results: Vec<One<'a>>,
}

#[derive(Deserialize)]
struct One<'a> {
    changed: Option<bool>,
    liked: Option<bool>,
    #[serde(borrow)]
    error: Option<&'a serde_json::value::RawValue>,
}

/// Sends until the time is over. People of this connection are those whose number leaves its own as the rest.
pub(super) async fn send(course: Arc<Course>, number: usize, token: String) -> Result<Sent> {
    let config = &course.config;
    let mut http = Http::new(config.target.clone());
    let mut random = Seeded::new(config.seed.wrapping_add(number as u64));
    let mut sent = Sent { accepted: 0, changed: 0, books: Books::default(), violations: Violations::default() };
    while Instant::now() < course.until {
        let (body, expected) = make(&course, number, &mut random, &mut sent.books);
        let asked = Instant::now();
        let request = Request { method: "POST", path: "/v1/batch", token: Some(&token), body: Some(&body) };
        let answer = http.ask(request).await?;
        course.answers.record(asked.elapsed());
        if answer.status != 200 {
            bail!("status {}: {}", answer.status, answer.body.chars().take(200).collect::<String>());
        }
        let answers: Answers<'_> = serde_json::from_str(&answer.body).context("the answer to a batch")?;
        if answers.results.len() != expected.len() {
            bail!("{} answers to {} acts", answers.results.len(), expected.len());
        }
        for (one, (liked, changed)) in answers.results.iter().zip(&expected) {
            match (one.liked, one.changed, one.error) {
                (Some(is), Some(did), None) if (is, did) == (*liked, *changed) => sent.accepted += 1,
                (is, did, error) => sent.violations.add(format!(
                    "liked {is:?}, changed {did:?}, expected {liked} and {changed}; {}",
                    error.map_or("", |error| error.get())
                )),
            }
            sent.changed += u64::from(*changed);
        }
    }
    Ok(sent)
}

/// A batch and what must be answered: liked, changed.
fn make(course: &Course, number: usize, random: &mut Seeded, books: &mut Books) -> (String, Vec<(bool, bool)>) {
    let config = &course.config;
    let (senders, of_sender) = (config.connections, config.people / config.connections);
    let mut body = String::with_capacity(config.batch * 64);
    let mut expected = Vec::with_capacity(config.batch);
    for act in 0..config.batch {
        let (item, person) = (random.below(config.items), random.below(of_sender) * senders + number);
        let liked = random.below(UNLIKE_ONE_IN) != 0;
        let t = if liked { "like" } else { "unlike" };
        body.push(if act == 0 { '[' } else { ',' });
        // Writing to a string cannot fail.
        let _ = write!(body, r#"{{"item":"{}-{item}","user":"u{person}","t":"{t}"}}"#, config.prefix);
        expected.push((liked, books.act(item as u32, person as u32, liked)));
    }
    body.push(']');
    (body, expected)
}
