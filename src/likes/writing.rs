//! A batch's way: entry at the fence, facts, counter, answers.
//!
//! Whatever goes wrong after the facts may be durable ends with the item on the list of recounts, and the entry goes only after that
//! is certain: so a fact never stays uncounted.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join;
use tokio::time::sleep;

use super::batch::{Batch, Done};
use super::service::{Likes, Waiter, answer, refuse};
use crate::clock;
use crate::protocol::{ApiError, Code, ItemId, UserId};
use crate::store::durable::{BatchId, LikeBatch};
use crate::store::hot::readers::wants_filter;

/// How long likes wait at a fence before they are refused, and how often they look: a recount takes tens of milliseconds.
pub const FENCED_TIMEOUT: Duration = Duration::from_secs(10);
const FENCED_WAIT: Duration = Duration::from_millis(20);
/// A batch whose fate is unknown is written again so often, after waits from the first to twice the last; then people are told so.
const REPEATS_MAX: u32 = 5;
const REPEAT_WAIT: Duration = Duration::from_millis(100);
/// How often the hot store is asked to note a recount that it did not take.
const INSIST_WAIT: Duration = Duration::from_secs(1);

/// A batch whose facts are durable.
struct Counting {
    id: BatchId,
    users: Vec<UserId>,
    /// Of the item's filter when it was noted there.
    filter_bytes: u64,
    done: Vec<(Waiter, Done)>,
    /// By how much the likes moved, if that is sure.
    net: Option<i64>,
}

impl Likes {
    /// Answers when the facts are durable, or nothing is known to be; the counter is moved beside.
    pub(super) async fn write(&self, item: &ItemId, mut batch: Batch<Waiter>) {
        let number = self.shared.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let id = BatchId { writer: self.shared.writer, number };
        if let Err(error) = self.enter(item, id).await {
            return refuse(batch.into_waiting(), &error);
        }
        let commands = batch.take_commands();
        let users: Vec<UserId> = commands.iter().map(|command| command.user.clone()).collect();
        let filter_bytes = match self.shared.hot.note(item, &users).await {
            Ok(bytes) => bytes,
            Err(error) => {
                // Nothing of it is written, but its entry stands.
                refuse(batch.into_waiting(), &unavailable(error));
                let (likes, item) = (self.clone(), item.clone());
                self.shared.runtime.spawn(async move { likes.leave_to_recount(&item, id).await });
                return;
            }
        };
        let facts = LikeBatch { item: item.clone(), by: id, at: clock::wall(), commands };
        let (likes, item) = (self.clone(), item.clone());
        match self.write_facts(&facts).await {
            Some((changed, sure)) => {
                let (done, net) = batch.done(&facts.commands, &changed);
                let counting = Counting { id, users, filter_bytes, done, net: sure.then_some(net) };
                self.shared.runtime.spawn(async move { likes.count(&item, counting).await });
            }
            None => {
                refuse(batch.into_waiting(), &ApiError::outcome_unknown("the facts were not acknowledged"));
                self.shared.runtime.spawn(async move { likes.leave_to_recount(&item, id).await });
            }
        }
    }

    /// The item takes likes, and the batch stands at its fence.
    async fn enter(&self, item: &ItemId, id: BatchId) -> Result<(), ApiError> {
        let until = clock::monotonic() + FENCED_TIMEOUT;
        // Under way from before each try on, so that nobody takes the node for quiet whose entry is being made; while it waits it is not,
        // for a recount, or an end, waits for that. After an end the item takes no likes any more.
        loop {
            self.shared.counter.ready(item).await?;
            if self.shared.queues.lock().set_out(item) {
                let opened = self.shared.hot.open(item, id).await;
                if matches!(opened, Ok(true)) {
                    return Ok(());
                }
                self.shared.queues.lock().landed(item);
                opened.map_err(unavailable)?;
            }
            if clock::monotonic() > until {
                return Err(unavailable("the item is being recounted"));
            }
            sleep(FENCED_WAIT).await;
        }
    }

    /// Which commands changed something, and whether that is sure: after a repeat it is as far as the store can tell. `None`: the
    /// facts' fate is unknown.
    async fn write_facts(&self, facts: &LikeBatch) -> Option<(Vec<bool>, bool)> {
        for repeat in 0..=REPEATS_MAX {
            match self.shared.store.like(facts).await {
                Ok(changed) => return Some((changed, repeat == 0)),
                Err(error) => tracing::warn!(item = %facts.item, %error, repeat, "likes were not acknowledged"),
            }
            sleep(REPEAT_WAIT * 2_u32.saturating_pow(repeat)).await;
        }
        None
    }

    /// Moves the counter by the net, if that is sure, and tells everybody, once nobody keeps an older state of what these people like.
    async fn count(&self, item: &ItemId, counting: Counting) {
        let Counting { id, users, filter_bytes, done, net } = counting;
        let counter = async {
            match net {
                Some(0) | None => self.shared.counter.shown(item).await,
                Some(net) => self.shared.counter.add(item, net).await,
            }
        };
        let (counted, unmarked) = join(counter, self.shared.hot.unmark(&users)).await;
        let counted = unmarked.map_err(unavailable).and(counted);
        // Closed before it is answered: where its entry was taken for a dead one's, a filter may lack these people, and goes now.
        let exact = net.is_some() && counted.is_ok() && self.shared.hot.close(item, id).await.is_ok();
        match counted {
            Ok(likes) => {
                answer(done, likes);
                self.see_to_filter(item, likes, filter_bytes).await;
            }
            Err(error) => refuse(done.into_iter().map(|(tell, _)| tell), &uncertain(&error)),
        }
        if exact {
            self.shared.store.settled(item, id).await;
            self.shared.queues.lock().landed(item);
        } else {
            self.leave_to_recount(item, id).await;
        }
    }

    /// Filters are made behind the fences of recounts. If this look is not noted, the next batch asks again.
    async fn see_to_filter(&self, item: &ItemId, likes: i64, bytes: u64) {
        if wants_filter(likes, bytes, self.shared.hot.filtered_from()) {
            let _ = self.shared.hot.ask_look(item).await;
        }
    }

    /// The counter may lack the batch: the item is put on the list, and only then the entry goes.
    async fn leave_to_recount(&self, item: &ItemId, id: BatchId) {
        while let Err(error) = self.shared.hot.ask_recount(item).await {
            tracing::warn!(%item, %error, "a recount was not noted; asked again");
            sleep(INSIST_WAIT).await;
        }
        // One that stays is taken away by the recount.
        let _ = self.shared.hot.close(item, id).await;
        self.shared.store.settled(item, id).await;
        self.shared.queues.lock().landed(item);
    }
}

/// The facts are durable: whatever the counter's trouble, it is not as if nothing had happened.
fn uncertain(error: &ApiError) -> ApiError {
    ApiError::outcome_unknown(format!("the count did not follow: {}", error.message))
}

fn unavailable(error: impl std::fmt::Display) -> ApiError {
    ApiError::new(Code::Unavailable, error.to_string()).retry_after(1_000)
}
