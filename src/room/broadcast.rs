//! What a room tells its subscribers: when, and in which form. Pure but for the frames' encoding.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use actix::Recipient;
use bytes::Bytes;

use super::encode;
use super::messages::{Frame, Frames, SubscriberId};
use super::outlet::{CountsFrames, Loss, Outlet};
use crate::protocol::server::ServerOut;
use crate::protocol::{Counts, ItemId};

/// One relay or studio session of the room.
pub struct Subscriber {
    /// Where it takes frames.
    pub frames: Recipient<Frames>,
    /// How many sockets it has here.
    pub sockets: u32,
    outlet: Outlet,
}

/// The room's subscribers and the last counts that they were told.
pub struct Broadcast {
    item: ItemId,
    subscribers: BTreeMap<SubscriberId, Subscriber>,
    counts: CountsFrames,
    frames_max: usize,
}

impl Broadcast {
    /// Nobody yet.
    pub fn new(item: ItemId, counts: Counts, frames_max: usize) -> Self {
        let counts = CountsFrames { moved: Bytes::new(), all_encoded: Bytes::new(), all: Arc::new(counts), version: 0 };
        Self { item, subscribers: BTreeMap::new(), counts, frames_max }
    }

    /// The last counts that were told, and their version.
    pub fn told(&self) -> (Arc<Counts>, u64) {
        (self.counts.all.clone(), self.counts.version)
    }

    /// A socket of this subscriber came in; its snapshot has the counts told last, or later ones.
    pub fn enter(&mut self, id: SubscriberId, frames: Recipient<Frames>) {
        let (version, frames_max) = (self.counts.version, self.frames_max);
        let subscriber = self.subscribers.entry(id).or_insert_with(|| Subscriber {
            frames,
            sockets: 0,
            outlet: Outlet::new(frames_max, version),
        });
        subscriber.sockets += 1;
    }

    /// A socket of this subscriber has gone; with the last one the subscriber goes too.
    pub fn exit(&mut self, id: SubscriberId) {
        if let Some(subscriber) = self.subscribers.get_mut(&id) {
            subscriber.sockets = subscriber.sockets.saturating_sub(1);
            if subscriber.sockets == 0 {
                self.subscribers.remove(&id);
            }
        }
    }

    /// The subscriber is gone with all its sockets.
    pub fn remove(&mut self, id: SubscriberId) -> Option<Subscriber> {
        self.subscribers.remove(&id)
    }

    /// Everybody.
    pub fn subscribers(&self) -> impl Iterator<Item = (SubscriberId, &Subscriber)> {
        self.subscribers.iter().map(|(id, subscriber)| (*id, subscriber))
    }

    /// Keeps a frame for everybody's next turn.
    pub fn push(&mut self, frame: &Frame, now: Instant) {
        for subscriber in self.subscribers.values_mut() {
            subscriber.outlet.push(frame.clone(), now);
        }
    }

    /// Takes the counts as they now are; answers whether they moved.
    pub fn update(&mut self, counts: Counts, seq: u64) -> bool {
        let moved = counts.moved_since(&self.counts.all);
        if moved.is_empty() {
            return false;
        }
        let encode = |counts| encode::frame(&ServerOut::Counts { item: &self.item, seq, counts });
        self.counts = CountsFrames {
            moved: encode(&moved),
            all_encoded: encode(&counts),
            all: Arc::new(counts),
            version: self.counts.version + 1,
        };
        true
    }

    /// Whether `counts`, or a frame, waits for a subscriber that could take it.
    pub fn is_behind(&self, counts: &Counts) -> bool {
        !counts.moved_since(&self.counts.all).is_empty()
            || self.subscribers.values().any(|subscriber| subscriber.outlet.is_ready(self.counts.version))
    }

    /// What this subscriber is to be given now, if it is free, and the comments that were declared lost with it.
    pub fn take(&mut self, id: SubscriberId, seq: u64, now: Instant) -> Option<(Recipient<Frames>, Frames, u64)> {
        let subscriber = self.subscribers.get_mut(&id)?;
        let (item, mut lost) = (&self.item, 0);
        let declare = |loss: Loss| {
            lost = loss.comments;
            let since_ms = u64::try_from((now - loss.since).as_millis()).unwrap_or(u64::MAX);
            encode::frame(&ServerOut::Dropped { item, seq: loss.seq, comments: loss.comments, since_ms })
        };
        let list = subscriber.outlet.take(Some(&self.counts), seq, declare)?;
        Some((subscriber.frames.clone(), Frames { item: self.item.clone(), list }, lost))
    }

    /// The subscriber has taken what it was given.
    pub fn answered(&mut self, id: SubscriberId) {
        if let Some(subscriber) = self.subscribers.get_mut(&id) {
            subscriber.outlet.answered();
        }
    }
}
