//! A durable store in memory that knows what a majority has: writes reach it at once, a majority later, and a fail-over
//! loses what no majority has yet. Reads are majority reads. It also counts its statements and refuses marked comments.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use heartline::protocol::{Comment, CommentId, Counters, ItemId, ItemState, ItemView};
use heartline::store::durable::{
    Applied, CommentCursor, Document, DurableError, DurableStore, Inserted, ItemChange, ItemPage, Rejected,
};
use heartline::store::hot::Flight;
use parking_lot::Mutex;

use crate::guards::Guard;

/// A comment with this text is one that the store refuses for what it is.
pub const MALFORMED: &str = "malformed";

#[derive(Debug, Clone, Default)]
pub struct Stored {
    pub document: Document,
    pub comments: BTreeMap<CommentId, Arc<Comment>>,
}

type State = BTreeMap<ItemId, Stored>;

#[derive(Debug, Clone, Default)]
pub struct Durable {
    primary: State,
    majority: State,
    moved: bool,
    without: Option<Guard>,
    /// Statements of kind `fold` and `comments` per item.
    pub statements: BTreeMap<(ItemId, &'static str), u64>,
}

impl Durable {
    pub fn without(guard: Option<Guard>) -> Self {
        Self { without: guard, ..Self::default() }
    }

    fn stored(&mut self, item: &ItemId) -> &mut Stored {
        self.moved = true;
        if !self.primary.contains_key(item) {
            self.primary.insert(item.clone(), Stored::default());
        }
        self.primary.get_mut(item).unwrap()
    }

    pub fn apply(&mut self, flight: &Flight) -> Applied {
        *self.statements.entry((flight.item.clone(), "fold")).or_default() += 1;
        let unchecked = self.without == Some(Guard::Fold);
        let document = &mut self.stored(&flight.item).document;
        if document.fold != flight.fold && !unchecked {
            return Applied::NoMatch;
        }
        document.totals = document.totals.plus(&flight.increments).expect("the simulation stays within 64 bits");
        document.folded = flight.w.clone();
        document.fold += 1;
        Applied::Done
    }

    pub fn replace(&mut self, item: &ItemId, fold: u64, with: &Document) -> bool {
        let document = &mut self.stored(item).document;
        let stands = document.fold == fold;
        if stands {
            document.clone_from(with);
        }
        stands
    }

    pub fn insert(&mut self, item: &ItemId, comments: &[Comment]) -> Inserted {
        *self.statements.entry((item.clone(), "comments")).or_default() += 1;
        let stored = self.stored(item);
        let mut inserted = Inserted::default();
        for comment in comments {
            if comment.text == MALFORMED {
                inserted.rejected.push(Rejected { id: comment.id, reason: MALFORMED.to_owned() });
            } else if stored.comments.insert(comment.id, Arc::new(comment.clone())).is_none() {
                inserted.new += 1;
            }
        }
        inserted
    }

    /// The document as a majority has it, which is the only way to read it.
    pub fn read(&self, item: &ItemId) -> Document {
        let state = if self.without == Some(Guard::Majority) { &self.primary } else { &self.majority };
        state.get(item).map(|stored| stored.document.clone()).unwrap_or_default()
    }

    pub fn primary(&self, item: &ItemId) -> Stored {
        self.primary.get(item).cloned().unwrap_or_default()
    }

    /// Takes a writer off the document on its own: what only a claim may do.
    pub fn prune_alone(&mut self, item: &ItemId, writer: &heartline::protocol::WriterId) {
        self.stored(item).document.folded.remove(writer);
    }

    pub fn replicate(&mut self) {
        if std::mem::take(&mut self.moved) {
            self.majority.clone_from(&self.primary);
        }
    }

    pub fn fail_over(&mut self) {
        self.primary.clone_from(&self.majority);
        self.moved = false;
    }
}

/// The same for what speaks the trait; answers to writes wait for the majority, but for those of folds where it `lags`. Errors while
/// it is `down`.
#[derive(Debug, Default)]
pub struct SharedDurable {
    pub state: Mutex<Durable>,
    pub down: std::sync::atomic::AtomicBool,
    pub lags: bool,
}

impl SharedDurable {
    fn up(&self) -> Result<(), DurableError> {
        if self.down.load(std::sync::atomic::Ordering::SeqCst) { Err(DurableError("down".to_owned())) } else { Ok(()) }
    }
}

#[async_trait]
impl DurableStore for SharedDurable {
    async fn change_item(&self, _: ItemChange) -> Result<Option<(ItemView, bool)>, DurableError> {
        Err(DurableError("the flush changes no item".to_owned()))
    }

    async fn item(&self, _: &ItemId) -> Result<Option<ItemView>, DurableError> {
        Err(DurableError("the flush reads no item".to_owned()))
    }

    async fn final_totals(&self, _: &ItemId) -> Result<Option<Counters>, DurableError> {
        Err(DurableError("the flush reads no final totals".to_owned()))
    }

    async fn items(&self, _: Option<ItemState>, _: Option<&ItemId>, _: usize) -> Result<ItemPage, DurableError> {
        Err(DurableError("the flush lists no items".to_owned()))
    }

    async fn document(&self, item: &ItemId) -> Result<Document, DurableError> {
        self.up()?;
        Ok(self.state.lock().read(item))
    }

    async fn insert_comments(&self, item: &ItemId, comments: &[Comment]) -> Result<Inserted, DurableError> {
        self.up()?;
        let mut state = self.state.lock();
        let inserted = state.insert(item, comments);
        state.replicate();
        Ok(inserted)
    }

    async fn apply(&self, flights: &[Flight]) -> Result<Vec<Applied>, DurableError> {
        self.up()?;
        let mut state = self.state.lock();
        let applied = flights.iter().map(|flight| state.apply(flight)).collect();
        if !self.lags {
            state.replicate();
        }
        Ok(applied)
    }

    async fn replace_document(&self, item: &ItemId, fold: u64, with: &Document) -> Result<bool, DurableError> {
        self.up()?;
        let mut state = self.state.lock();
        let replaced = state.replace(item, fold, with);
        state.replicate();
        Ok(replaced)
    }

    async fn comments(
        &self,
        item: &ItemId,
        before: Option<CommentCursor>,
        limit: usize,
    ) -> Result<Vec<Comment>, DurableError> {
        let stored = self.state.lock().primary(item).comments;
        let is_asked_for =
            |comment: &Arc<Comment>| before.is_none_or(|before| CommentCursor::from(comment.as_ref()) < before);
        let mut comments: Vec<_> = stored.into_values().filter(is_asked_for).collect();
        comments.sort_by_key(|comment| std::cmp::Reverse(CommentCursor::from(comment.as_ref())));
        Ok(comments.into_iter().take(limit).map(|comment| comment.as_ref().clone()).collect())
    }

    async fn comment(&self, _: &ItemId, _: CommentId) -> Result<Option<Comment>, DurableError> {
        Err(DurableError("the flush reads no comments".to_owned()))
    }

    async fn close(&self) {}
}
