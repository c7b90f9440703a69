//! A hot store with a fail point in its way.

use std::sync::Arc;

use async_trait::async_trait;

use super::Trap;
use crate::config::fail_point::FailStep;
use crate::protocol::{Comment, Counters, ItemId, WriterId};
use crate::store::durable::Document;
use crate::store::hot::{Aligned, Audit, Flight, HotError, HotStore, Standing, Step};

/// See the module.
pub(super) struct FailingHot {
    pub inner: Arc<dyn HotStore>,
    pub trap: Arc<Trap>,
}

#[async_trait]
impl HotStore for FailingHot {
    async fn step(&self, step: Step) -> Result<Standing, HotError> {
        let Some(add) = &step.add else { return self.inner.step(step).await };
        let (op, kind) = (add.op, if add.comments.is_empty() { FailStep::Add } else { FailStep::Append });
        let is_in = move |standing: &Standing| matches!(standing, Standing::At(stood) if stood.at >= op);
        self.trap.around(kind, self.inner.step(step), is_in).await
    }

    async fn claim(&self, item: &ItemId, gone: &[WriterId]) -> Result<Option<Flight>, HotError> {
        let note = |flight: &Option<Flight>| {
            if flight.as_ref().is_some_and(|flight| !flight.comments.is_empty()) {
                self.trap.commented.lock().insert(item.clone());
            } else {
                self.trap.commented.lock().remove(item);
            }
            flight.is_some()
        };
        self.trap.around(FailStep::Claim, self.inner.claim(item, gone), note).await
    }

    async fn align(&self, item: &ItemId, document: &Document) -> Result<Aligned, HotError> {
        let commented = self.trap.commented.lock().contains(item);
        let kind = if commented { FailStep::Trim } else { FailStep::Align };
        let moved = |aligned: &Aligned| matches!(aligned, Aligned::Settled | Aligned::LaidAnew);
        self.trap.around(kind, self.inner.align(item, document), moved).await
    }

    async fn dirty(&self, limit: usize) -> Result<Vec<ItemId>, HotError> {
        self.inner.dirty(limit).await
    }

    async fn totals(&self, items: &[ItemId]) -> Result<Vec<Option<Counters>>, HotError> {
        self.inner.totals(items).await
    }

    async fn unflushed_comments(&self, item: &ItemId) -> Result<Vec<Comment>, HotError> {
        self.inner.unflushed_comments(item).await
    }

    async fn audit(&self, item: &ItemId) -> Result<Option<Audit>, HotError> {
        self.inner.audit(item).await
    }

    async fn base(&self, item: &ItemId) -> Result<Option<Document>, HotError> {
        self.inner.base(item).await
    }

    fn shared(&self) -> bool {
        self.inner.shared()
    }

    async fn viewers(&self, item: &ItemId) -> Result<u64, HotError> {
        self.inner.viewers(item).await
    }

    async fn let_go(&self, item: &ItemId) -> Result<bool, HotError> {
        self.inner.let_go(item).await
    }

    async fn living(&self) -> Result<Vec<WriterId>, HotError> {
        self.inner.living().await
    }
}
