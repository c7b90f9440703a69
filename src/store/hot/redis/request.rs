//! What is sent: a command per step of the contract. Numbers go as decimal text, randomness as arguments.

use std::time::Duration;

use ::redis::{Cmd, cmd};

use super::keys::{Keys, SHARDS, Space};
use super::lease::Term;
use super::scripts::{Scripts, call};
use crate::protocol::{ItemId, WriterId};
use crate::store::durable::Document;
use crate::store::hot::contract::{Add, HotError, Step};
use crate::store::hot::memory::EVENTS_MAX;

/// Makes requests within one space of keys.
pub(super) struct Requests {
    space: Space,
    scripts: Scripts,
    node: Node,
}

/// Who tells how many people watch, and how long that lasts.
pub(super) struct Node {
    pub name: String,
    pub presence: Duration,
}

impl Requests {
    pub fn new(space: Space, node: Node) -> Self {
        Self { space, scripts: Scripts::new(), node }
    }

    pub fn space(&self) -> &Space {
        &self.space
    }

    pub fn scripts(&self) -> &Scripts {
        &self.scripts
    }

    /// Of every shard some members of one of its sets (`SRANDMEMBER`), or fields of a hash (`HRANDFIELD`), at most `limit` each: random ones where there are more, so that repeated listings
    /// come by all.
    pub fn listed(&self, command: &str, key: impl Fn(u64) -> String, limit: usize) -> Vec<Cmd> {
        let of_shard = |shard| {
            let mut some = cmd(command);
            some.arg(key(shard)).arg(limit);
            some
        };
        (0..SHARDS).map(of_shard).collect()
    }

    /// See [`Scripts::loading`].
    pub fn loading(&self) -> Vec<Cmd> {
        self.scripts.loading()
    }

    pub fn step(&self, step: &Step) -> Result<Cmd, HotError> {
        let Keys { item, dirty, comments, events, presence } = self.space.of(&step.item);
        let mut call = call(&self.scripts.step, &[&item, &dirty, &comments, &events, &presence]);
        call.arg(step.item.as_str());
        match &step.add {
            Some(add) => call.arg(add.writer.to_string()).arg(add.prev).arg(add.op),
            None => call.arg("").arg(0).arg(0),
        };
        match step.after {
            Some((epoch, seq)) => call.arg(epoch.to_string()).arg(seq),
            None => call.arg("").arg(0),
        };
        call.arg(EVENTS_MAX);
        let watching = step.watching.map_or_else(String::new, |people| people.to_string());
        call.arg(&self.node.name).arg(watching).arg(self.node.presence.as_millis().to_string());
        contents(&mut call, step.add.as_ref())?;
        call.arg(tag());
        call.arg(step.events.len());
        for event in &step.events {
            call.arg(tag()).arg(json(event)?);
        }
        Ok(call)
    }

    pub fn claim(&self, item: &ItemId, gone: &[WriterId]) -> Cmd {
        let keys = self.space.of(item);
        let mut call = call(&self.scripts.claim, &[&keys.item, &keys.comments]);
        for writer in gone {
            call.arg(writer.to_string());
        }
        call
    }

    pub fn align(&self, item: &ItemId, document: &Document) -> Cmd {
        let Keys { item: key, dirty, comments, events, .. } = self.space.of(item);
        let mut call = call(&self.scripts.align, &[&key, &dirty, &comments, &events]);
        call.arg(item.as_str()).arg(uuid::Uuid::new_v4().simple().to_string()).arg(document.fold);
        call.arg(document.totals.iter().count());
        for (counter, n) in document.totals.iter() {
            call.arg(counter.to_string()).arg(n);
        }
        call.arg(document.folded.len());
        for (writer, op) in &document.folded {
            call.arg(writer.to_string()).arg(*op);
        }
        call
    }

    pub fn let_go(&self, item: &ItemId) -> Cmd {
        let Keys { item: key, dirty, comments, events, presence } = self.space.of(item);
        let mut call = call(&self.scripts.let_go, &[&key, &dirty, &comments, &events, &presence]);
        call.arg(item.as_str());
        call
    }

    /// Of every shard some dirty items.
    pub fn dirty(&self, limit: usize) -> Vec<Cmd> {
        self.listed("SRANDMEMBER", |shard| self.space.dirty(shard), limit)
    }

    /// All of an item's hash: a single command, and so one moment.
    pub fn item(&self, item: &ItemId) -> Cmd {
        all_of(&self.space.of(item).item)
    }

    /// All of an item's write-ahead.
    pub fn comments(&self, item: &ItemId) -> Cmd {
        all_of(&self.space.of(item).comments)
    }

    /// What each node told of the people who watch, and the server's clock before it.
    pub fn presence(&self, item: &ItemId) -> Vec<Cmd> {
        vec![cmd("TIME"), all_of(&self.space.of(item).presence)]
    }

    pub fn lease(&self, term: Term) -> Cmd {
        let mut call = call(&self.scripts.lease, &[&self.space.writers()]);
        call.arg(term.writer.to_string()).arg(term.lease.as_millis().to_string());
        call
    }

    pub fn living(&self) -> Cmd {
        let mut call = call(&self.scripts.lease, &[&self.space.writers()]);
        call.arg("").arg(0);
        call
    }
}

fn contents(call: &mut Cmd, add: Option<&Add>) -> Result<(), HotError> {
    let Some(add) = add else {
        call.arg(0).arg(0);
        return Ok(());
    };
    call.arg(add.increments.iter().count());
    for (counter, n) in add.increments.iter() {
        call.arg(counter.to_string()).arg(n);
    }
    call.arg(add.comments.len());
    for (number, comment) in &add.comments {
        call.arg(*number).arg(comment.id.to_string()).arg(json(comment)?);
    }
    Ok(())
}

fn all_of(key: &str) -> Cmd {
    let mut all = cmd("HGETALL");
    all.arg(key);
    all
}

fn tag() -> String {
    rand::random::<u64>().to_string()
}

fn json(value: &impl serde::Serialize) -> Result<String, HotError> {
    // Nothing of these types refuses to be written; were it so, nothing would have been sent.
    serde_json::to_string(value).map_err(|failure| HotError::Unavailable(failure.to_string()))
}
