//! Takes likes in and gathers them into batches, one after the other per item.
//!
//! A batch is written whole before the next one's facts are, so a person's commands keep their order; the way to the counter, which
//! takes a tick, is walked beside it ([`super::writing`]).

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::batch::Done;
use super::counter::LikeCounter;
use super::queues::{Entered, Queues};
use crate::clock;
use crate::protocol::{ApiError, Code, ItemId, UserId, WriterId};
use crate::reconcile::LikeSide;
use crate::store::durable::LikeStore;
use crate::store::hot::LikesHot;

/// How long a batch is held back for more commands to come: half of what nobody notices, and a storm fills it sooner.
pub const GATHER: Duration = Duration::from_millis(10);
/// How long a like waits for its outcome, as every other act does.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long an end waits for likes that are under way; what comes later is counted by a recount.
pub const STILL_TIMEOUT: Duration = Duration::from_secs(5);

/// How often a stop looks whether all likes have landed.
const LOOK_WAIT: Duration = Duration::from_millis(10);

/// What a like or an unlike came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Liked {
    /// Whether the person likes the item now.
    pub liked: bool,
    /// Whether this call made it so.
    pub changed: bool,
    /// People who like it, this one counted.
    pub likes: i64,
}

pub(super) type Waiter = oneshot::Sender<Result<Liked, ApiError>>;

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Likes {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub counter: Arc<dyn LikeCounter>,
    pub store: Arc<dyn LikeStore>,
    pub hot: Arc<dyn LikesHot>,
    pub writer: WriterId,
    /// The last batch's number.
    pub numbers: AtomicU64,
    pub queues: Mutex<Queues<Waiter>>,
    /// Where batches are driven: never on a worker that writes to ten thousand sockets.
    pub runtime: Handle,
}

impl Likes {
    /// Over the node's counters and stores.
    pub fn new(
        counter: Arc<dyn LikeCounter>,
        store: Arc<dyn LikeStore>,
        hot: Arc<dyn LikesHot>,
        writer: WriterId,
        runtime: Handle,
    ) -> Self {
        let (numbers, queues) = (AtomicU64::new(0), Mutex::default());
        Self { shared: Arc::new(Shared { counter, store, hot, writer, numbers, queues, runtime }) }
    }

    /// Makes it so that the person likes the item, or does not. Answers when the fact is durable and the counter has it.
    pub async fn set(&self, item: &ItemId, user: UserId, liked: bool) -> Result<Liked, ApiError> {
        let (tell, told) = oneshot::channel();
        let entered = self.shared.queues.lock().enter(item, user, liked, tell, clock::monotonic());
        match entered {
            Entered::Waits => {}
            Entered::Drive => self.drive(item.clone()),
            Entered::Full => {
                let error = ApiError::new(Code::Unavailable, "as many likes of this item wait as may");
                return Err(error.retry_after(1_000));
            }
        }
        match timeout(ANSWER_TIMEOUT, told).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(ApiError::outcome_unknown("the stores did not answer in time")),
        }
    }

    /// Nothing new of the item is written from here on; answers when nothing is under way, or [`STILL_TIMEOUT`] has passed. Commands
    /// wait until what is answered is dropped.
    pub async fn hold_still(&self, item: &ItemId) -> Still {
        self.shared.queues.lock().hold(item);
        let still = Still { likes: self.clone(), item: item.clone() };
        // Past the deadline the end goes on: a recount finds what came late.
        let _ = timeout(STILL_TIMEOUT, self.quiet(item)).await;
        still
    }

    /// Answers when every like that came in is answered: for a stop, when nothing comes in any more.
    pub async fn all_landed(&self) {
        while !self.shared.queues.lock().are_empty() {
            sleep(LOOK_WAIT).await;
        }
    }

    /// Answers when nothing of the item is between fact and counter.
    async fn quiet(&self, item: &ItemId) {
        loop {
            let Some(bell) = self.shared.queues.lock().bell(item) else { return };
            let rung = bell.notified();
            tokio::pin!(rung);
            // Enabled before the look, so that a landing in between is not missed.
            rung.as_mut().enable();
            if self.shared.queues.lock().is_quiet(item) {
                return;
            }
            rung.await;
        }
    }

    fn drive(&self, item: ItemId) {
        let likes = self.clone();
        self.shared.runtime.spawn(async move {
            loop {
                likes.gather(&item).await;
                let taken = likes.shared.queues.lock().take(&item);
                match taken {
                    Some(batch) => likes.write(&item, batch).await,
                    None => return,
                }
            }
        });
    }

    async fn gather(&self, item: &ItemId) {
        let gathers = self.shared.queues.lock().gathers(item);
        if let Some((since, bell)) = gathers {
            let left = (since + GATHER).saturating_duration_since(clock::monotonic());
            // Full, or long enough.
            let _ = timeout(left, bell.notified()).await;
        }
    }
}

/// What a recount needs of likes on this node.
#[async_trait]
impl LikeSide for Likes {
    async fn settle(&self, item: &ItemId) -> Result<(), ApiError> {
        self.quiet(item).await;
        self.shared.counter.settle(item).await
    }

    async fn likes(&self, item: &ItemId) -> Result<i64, ApiError> {
        self.shared.counter.stored(item).await
    }

    fn take_changed(&self, limit: usize) -> Vec<ItemId> {
        self.shared.queues.lock().take_changed(limit)
    }

    async fn correct(&self, item: &ItemId, by: i64) -> Result<(), ApiError> {
        self.shared.counter.add(item, by).await.map(drop)
    }
}

/// While it lives, no like of the item is written.
pub struct Still {
    likes: Likes,
    item: ItemId,
}

impl Drop for Still {
    fn drop(&mut self) {
        if self.likes.shared.queues.lock().let_go(&self.item) {
            self.likes.drive(self.item.clone());
        }
    }
}

/// Answers everybody alike.
pub(super) fn refuse(waiting: impl Iterator<Item = Waiter>, error: &ApiError) {
    for tell in waiting {
        // Who waited may have given up.
        let _ = tell.send(Err(error.clone()));
    }
}

/// Tells each what their command did.
pub(super) fn answer(done: Vec<(Waiter, Done)>, likes: i64) {
    for (tell, Done { liked, changed }) in done {
        let _ = tell.send(Ok(Liked { liked, changed, likes }));
    }
}
