//! How a room comes to be: its item is laid in the hot store if it is cold, and what late comers are shown is read.

use std::sync::Arc;

use parking_lot::Mutex;

use super::actor::Loaded;
use super::deps::RoomDeps;
use super::history::History;
use super::intake::Intake;
use super::shown::Shown;
use crate::clock;
use crate::protocol::server::SNAPSHOT_COMMENTS;
use crate::protocol::{ApiError, Code, Comment, Counts, ItemId, ItemSettings, ItemView};
use crate::store::durable::{Document, ItemChange};
use crate::store::hot::journal::Journal;
use crate::store::hot::{Aligned, Standing, Step, Stood};

/// The item's record; made, where that is allowed, if there is none.
pub(super) async fn record(deps: &RoomDeps, item: &ItemId, may_create: bool) -> Result<ItemView, ApiError> {
    if let Some(view) = deps.durable.item(item).await.map_err(unavailable)? {
        return Ok(view);
    }
    if !may_create {
        return Err(ApiError::new(Code::NotFound, "no such item"));
    }
    let fresh = ItemView::create(item.clone(), ItemSettings::default(), clock::wall());
    let created = deps.durable.change_item(ItemChange::Create(fresh)).await.map_err(unavailable)?;
    created.map(|(view, _)| view).ok_or_else(|| ApiError::new(Code::Internal, "created item is gone"))
}

/// Everything that a room starts with.
///
/// `journal` finds the node's journal of the item, or makes one from the writer's number that is folded.
pub(super) async fn load(
    deps: &RoomDeps,
    view: ItemView,
    journal: impl FnOnce(u64) -> Arc<Mutex<Journal>>,
) -> Result<Loaded, ApiError> {
    let item = &view.item;
    let document = deps.durable.document(item).await.map_err(unavailable)?;
    let aligned = deps.hot.align(item, &document).await.map_err(unavailable)?;
    let folded = folded(deps, item, &document, aligned).await?;
    let stood = read(deps, item).await?;
    let comments = known_comments(deps, item).await?;
    let totals = deps.durable.final_totals(item).await.map_err(unavailable)?;
    let final_counts = totals.map(|totals| Counts::all(&view.reactions, &totals, 0));
    let journal = journal(folded);
    Ok(Loaded {
        intake: Intake::new(journal, &comments),
        history: History::new(stood.epoch, stood.seq, deps.config.history_events, comments),
        shown: Shown::new(stood.totals, stood.epoch, deps.config.flush),
        final_counts,
        view,
    })
}

/// The writer's number that is folded. A document that somebody put back knows a lower one, which must not be given a second time: then
/// the item knows better.
async fn folded(deps: &RoomDeps, item: &ItemId, document: &Document, aligned: Aligned) -> Result<u64, ApiError> {
    let number = |of: &Document| of.folded.get(&deps.writer).copied().unwrap_or(0);
    if aligned != Aligned::DurableBehind {
        return Ok(number(document));
    }
    let held = deps.hot.base(item).await.map_err(unavailable)?;
    Ok(held.as_ref().map_or(0, number).max(number(document)))
}

async fn read(deps: &RoomDeps, item: &ItemId) -> Result<Stood, ApiError> {
    let step = Step { item: item.clone(), add: None, events: Vec::new(), after: None, watching: None };
    match deps.hot.step(step).await.map_err(unavailable)? {
        Standing::At(stood) => Ok(stood),
        Standing::Missing => Err(unavailable("the item was let go while its room started")),
    }
}

/// All comments that are not yet flushed, and the latest flushed ones; oldest first.
async fn known_comments(deps: &RoomDeps, item: &ItemId) -> Result<Vec<Comment>, ApiError> {
    // In this order: a comment that is flushed in between is then in both, not in neither.
    let unflushed = deps.hot.unflushed_comments(item).await.map_err(unavailable)?;
    let mut recent = deps.durable.comments(item, None, SNAPSHOT_COMMENTS).await.map_err(unavailable)?;
    recent.reverse();
    recent.retain(|comment| !unflushed.iter().any(|other| other.id == comment.id));
    recent.extend(unflushed);
    Ok(recent)
}

fn unavailable(error: impl std::fmt::Display) -> ApiError {
    ApiError::new(Code::Unavailable, error.to_string()).retry_after(1_000)
}
