//! Fences of the embedded store: one process, so what it enters dies with it. Which batches an earlier run left between fact and
//! counter is remembered beside the facts ([`LikeStore::unsettled`](crate::store::durable::LikeStore::unsettled)).

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;
use uuid::Uuid;

use super::marks::Marks;
use crate::clock;
use crate::protocol::{ItemId, UserId, WriterId};
use crate::store::durable::BatchId;
use crate::store::hot::contract::HotError;
use crate::store::hot::fence::{LikeFence, Raised};
use crate::store::hot::readers::{LikeFilter, LikeMarks};

/// See the module. [`FenceCore`] behind a lock and the clock.
#[derive(Debug)]
pub struct MemoryFence {
    core: Mutex<FenceCore>,
    marks: Mutex<Marks>,
    /// This process run: the only writer that lives.
    writer: WriterId,
}

/// Fences as a plain value: every method is one step of the contract, the time an argument.
#[derive(Debug, Clone, Default)]
pub struct FenceCore {
    items: BTreeMap<ItemId, Behind>,
    /// By item, the mark of the last request.
    recounts: BTreeMap<ItemId, Uuid>,
}

#[derive(Debug, Clone, Default)]
struct Behind {
    entries: BTreeSet<BatchId>,
    fence: Option<Fence>,
}

#[derive(Debug, Clone)]
struct Fence {
    token: Uuid,
    until: Instant,
    quiet: BTreeSet<WriterId>,
}

impl MemoryFence {
    /// Without any fence or entry.
    pub fn new(writer: WriterId) -> Self {
        Self { core: Mutex::default(), marks: Mutex::default(), writer }
    }

    /// As [`LikeFence::ask_recount`], for the start of the process.
    pub fn ask_recount(&self, item: &ItemId) {
        self.core.lock().ask_recount(item, Uuid::new_v4());
    }
}

impl FenceCore {
    /// See [`LikeFence::open`].
    pub fn open(&mut self, item: &ItemId, batch: BatchId, now: Instant) -> bool {
        let behind = self.items.entry(item.clone()).or_default();
        if behind.fence.as_ref().is_some_and(|fence| now < fence.until) {
            return false;
        }
        // One that ran out is gone from here on: its recount must not end as if nothing had happened.
        behind.fence = None;
        behind.entries.insert(batch);
        true
    }

    /// See [`LikeFence::close`]; `mark` is one that nobody had. `false`: its entry was gone.
    pub fn close(&mut self, item: &ItemId, batch: BatchId, mark: Uuid) -> bool {
        let closed = self.items.get_mut(item).is_some_and(|behind| behind.entries.remove(&batch));
        if !closed {
            self.recounts.insert(item.clone(), mark);
        }
        self.forget_if_bare(item);
        closed
    }

    /// Whether this token's fence stands.
    pub fn stands(&self, item: &ItemId, token: Uuid, now: Instant) -> bool {
        let fence = self.items.get(item).and_then(|behind| behind.fence.as_ref());
        fence.is_some_and(|fence| fence.token == token && now < fence.until)
    }

    /// See [`LikeFence::raise`].
    pub fn raise(&mut self, item: &ItemId, token: Uuid, until: Instant, now: Instant) -> Option<Raised> {
        let behind = self.items.entry(item.clone()).or_default();
        if behind.fence.as_ref().is_some_and(|fence| fence.token != token && now < fence.until) {
            return None;
        }
        behind.fence = Some(Fence { token, until, quiet: BTreeSet::new() });
        self.recounts.entry(item.clone()).or_insert(token);
        self.raised(item)
    }

    /// See [`LikeFence::hold`].
    pub fn hold(&mut self, item: &ItemId, token: Uuid, until: Instant) -> Option<Raised> {
        let fence = self.items.get_mut(item)?.fence.as_mut().filter(|fence| fence.token == token)?;
        fence.until = until;
        self.raised(item)
    }

    fn raised(&self, item: &ItemId) -> Option<Raised> {
        let fence = self.items.get(item)?.fence.as_ref()?;
        Some(Raised { asked: *self.recounts.get(item)?, quiet: fence.quiet.clone() })
    }

    /// See [`LikeFence::seal`].
    pub fn seal(&mut self, item: &ItemId, token: Uuid) -> bool {
        let fenced = self.items.get_mut(item).filter(|behind| behind.fence.as_ref().is_some_and(|f| f.token == token));
        fenced.map(|behind| behind.entries.clear()).is_some()
    }

    /// See [`LikeFence::quiet`].
    pub fn quiet(&mut self, item: &ItemId, writer: WriterId) {
        if let Some(fence) = self.items.get_mut(item).and_then(|behind| behind.fence.as_mut()) {
            fence.quiet.insert(writer);
        }
    }

    /// See [`LikeFence::lift`].
    pub fn lift(&mut self, item: &ItemId, token: Uuid, exact: Option<Uuid>) -> bool {
        let fence = self.items.get_mut(item).filter(|behind| behind.fence.as_ref().is_some_and(|f| f.token == token));
        let lifted = fence.is_some();
        if let Some(behind) = fence {
            behind.fence = None;
        }
        match exact {
            Some(asked) if lifted => self.recounts.retain(|listed, mark| listed != item || *mark != asked),
            Some(_) => drop(self.recounts.insert(item.clone(), token)),
            None => {}
        }
        self.forget_if_bare(item);
        lifted
    }

    /// See [`LikeFence::ask_recount`]; `mark` is one that nobody had.
    pub fn ask_recount(&mut self, item: &ItemId, mark: Uuid) {
        self.recounts.insert(item.clone(), mark);
    }

    /// See [`LikeFence::ask_look`]; `mark` is one that nobody had.
    pub fn ask_look(&mut self, item: &ItemId, mark: Uuid) {
        self.recounts.entry(item.clone()).or_insert(mark);
    }

    /// See [`LikeFence::recounts`].
    pub fn recounts(&self, limit: usize) -> Vec<ItemId> {
        self.recounts.keys().take(limit).cloned().collect()
    }

    /// See [`LikeFence::entries`].
    pub fn entries(&self, limit: usize) -> Vec<(ItemId, BTreeSet<WriterId>)> {
        let open = self.items.iter().filter(|(_, behind)| !behind.entries.is_empty());
        let whose = |behind: &Behind| behind.entries.iter().map(|batch| batch.writer).collect();
        open.take(limit).map(|(item, behind)| (item.clone(), whose(behind))).collect()
    }

    fn forget_if_bare(&mut self, item: &ItemId) {
        if self.items.get(item).is_some_and(|behind| behind.entries.is_empty() && behind.fence.is_none()) {
            self.items.remove(item);
        }
    }
}

#[async_trait]
impl LikeMarks for MemoryFence {
    async fn mark(&self, user: &UserId) -> Result<Uuid, HotError> {
        Ok(self.marks.lock().mark(user))
    }

    async fn unmark(&self, users: &[UserId]) -> Result<(), HotError> {
        self.marks.lock().unmark(users);
        Ok(())
    }
}

/// Facts are beside the process: one person is looked up in less time than a filter saves.
impl LikeFilter for MemoryFence {}

#[async_trait]
impl LikeFence for MemoryFence {
    async fn open(&self, item: &ItemId, batch: BatchId) -> Result<bool, HotError> {
        Ok(self.core.lock().open(item, batch, clock::monotonic()))
    }

    async fn close(&self, item: &ItemId, batch: BatchId) -> Result<(), HotError> {
        self.core.lock().close(item, batch, Uuid::new_v4());
        Ok(())
    }

    async fn raise(&self, item: &ItemId, token: Uuid, hold: Duration) -> Result<Option<Raised>, HotError> {
        let now = clock::monotonic();
        Ok(self.core.lock().raise(item, token, now + hold, now))
    }

    async fn hold(&self, item: &ItemId, token: Uuid, hold: Duration) -> Result<Option<Raised>, HotError> {
        Ok(self.core.lock().hold(item, token, clock::monotonic() + hold))
    }

    async fn seal(&self, item: &ItemId, token: Uuid) -> Result<bool, HotError> {
        Ok(self.core.lock().seal(item, token))
    }

    async fn quiet(&self, item: &ItemId, writer: WriterId) -> Result<(), HotError> {
        self.core.lock().quiet(item, writer);
        Ok(())
    }

    async fn lift(&self, item: &ItemId, token: Uuid, exact: Option<Uuid>) -> Result<bool, HotError> {
        Ok(self.core.lock().lift(item, token, exact))
    }

    async fn ask_recount(&self, item: &ItemId) -> Result<(), HotError> {
        self.core.lock().ask_recount(item, Uuid::new_v4());
        Ok(())
    }

    async fn ask_look(&self, item: &ItemId) -> Result<(), HotError> {
        self.core.lock().ask_look(item, Uuid::new_v4());
        Ok(())
    }

    async fn recounts(&self, limit: usize) -> Result<Vec<ItemId>, HotError> {
        Ok(self.core.lock().recounts(limit))
    }

    async fn living(&self) -> Result<Vec<WriterId>, HotError> {
        Ok(vec![self.writer])
    }

    async fn entries(&self, limit: usize) -> Result<Vec<(ItemId, BTreeSet<WriterId>)>, HotError> {
        Ok(self.core.lock().entries(limit))
    }
}
