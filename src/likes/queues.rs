//! Which items have commands waiting, who drives each, and what is still on its way to a counter. Pure but for the bell.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Notify;

use super::batch::Batch;
use crate::protocol::{ItemId, UserId};

/// Commands of one item that may wait; one more is refused before it enters. Two seconds of the storm that this is built for.
pub const WAITING_MAX: usize = 131_072;
/// Items that are remembered as changed; some 10 MB.
const CHANGED_MAX: usize = 100_000;
/// At so many a batch is not held back for more to come.
pub const FULL: usize = 1_000;

/// See the module. `W` is who waits for a command.
pub(super) struct Queues<W> {
    items: HashMap<ItemId, Queue<W>>,
    /// Items that a batch was taken of, for the next survey; past the bound the nightly one finds them.
    changed: BTreeSet<ItemId>,
}

struct Queue<W> {
    batch: Batch<W>,
    first_at: Option<Instant>,
    /// Rung when the batch is full, or somebody who waits for stillness should look again.
    bell: Arc<Notify>,
    driven: bool,
    /// Batches whose net is not known to be in the counter.
    under_way: usize,
    /// Ends that wait for stillness: until they are over nothing new is written.
    held: usize,
}

/// What became of a command that came in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// It waits; somebody drives the item already.
    Waits,
    /// It waits, and whoever brought it has to see to a driver.
    Drive,
    /// As many wait as may.
    Full,
}

impl<W> Default for Queues<W> {
    fn default() -> Self {
        Self { items: HashMap::new(), changed: BTreeSet::new() }
    }
}

impl<W> Queues<W> {
    pub fn enter(&mut self, item: &ItemId, user: UserId, liked: bool, who: W, now: Instant) -> Entered {
        let queue = self.of(item);
        if queue.batch.len() >= WAITING_MAX {
            return Entered::Full;
        }
        queue.first_at.get_or_insert(now);
        queue.batch.push(user, liked, who);
        if queue.batch.len() == FULL {
            queue.bell.notify_waiters();
        }
        let drive = !queue.driven && queue.held == 0;
        queue.driven |= drive;
        if drive { Entered::Drive } else { Entered::Waits }
    }

    /// Since when the oldest command waits, unless the batch is full; with the bell that tells of that.
    pub fn gathers(&mut self, item: &ItemId) -> Option<(Instant, Arc<Notify>)> {
        let queue = self.items.get(item).filter(|queue| queue.batch.len() < FULL && queue.held == 0)?;
        queue.first_at.map(|at| (at, queue.bell.clone()))
    }

    /// What waits. `None`: nothing, and the item is driven no more.
    pub fn take(&mut self, item: &ItemId) -> Option<Batch<W>> {
        let queue = self.of(item);
        if queue.batch.is_empty() || queue.held > 0 {
            queue.driven = false;
            self.changed(item);
            return None;
        }
        queue.first_at = None;
        Some(std::mem::take(&mut queue.batch))
    }

    /// Some of the items that changed; they are forgotten here.
    pub fn take_changed(&mut self, limit: usize) -> Vec<ItemId> {
        let rest = self.changed.iter().nth(limit).cloned();
        let rest = rest.map_or_else(BTreeSet::new, |first| self.changed.split_off(&first));
        std::mem::replace(&mut self.changed, rest).into_iter().collect()
    }

    /// A batch is about to be entered at the fence: the item is not quiet from here on. `false`: an end waits for stillness, which a batch
    /// that was taken before must not break.
    pub fn set_out(&mut self, item: &ItemId) -> bool {
        let queue = self.of(item);
        let may = queue.held == 0;
        queue.under_way += usize::from(may);
        may
    }

    /// A batch that had set out is in the counter, or its item will be recounted, or the fence kept it out.
    pub fn landed(&mut self, item: &ItemId) {
        if self.changed.len() < CHANGED_MAX {
            self.changed.insert(item.clone());
        }
        let queue = self.of(item);
        queue.under_way = queue.under_way.saturating_sub(1);
        self.changed(item);
    }

    /// Whether nothing of the item is between fact and counter.
    pub fn is_quiet(&self, item: &ItemId) -> bool {
        self.items.get(item).is_none_or(|queue| queue.under_way == 0)
    }

    /// Whether nothing waits and nothing is under way, of any item.
    pub fn are_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The bell of an item that is not quiet.
    pub fn bell(&self, item: &ItemId) -> Option<Arc<Notify>> {
        self.items.get(item).filter(|queue| queue.under_way > 0).map(|queue| queue.bell.clone())
    }

    /// From here on nothing new of the item is written.
    pub fn hold(&mut self, item: &ItemId) {
        self.of(item).held += 1;
    }

    /// Undoes a hold; `true`: commands came meanwhile, and whoever lets go has to see to a driver.
    pub fn let_go(&mut self, item: &ItemId) -> bool {
        let queue = self.of(item);
        queue.held = queue.held.saturating_sub(1);
        let drive = queue.held == 0 && !queue.driven && !queue.batch.is_empty();
        queue.driven |= drive;
        self.changed(item);
        drive
    }

    fn of(&mut self, item: &ItemId) -> &mut Queue<W> {
        self.items.entry(item.clone()).or_insert_with(|| Queue {
            batch: Batch::default(),
            first_at: None,
            bell: Arc::default(),
            driven: false,
            under_way: 0,
            held: 0,
        })
    }

    fn changed(&mut self, item: &ItemId) {
        let Some(queue) = self.items.get(item) else { return };
        queue.bell.notify_waiters();
        if queue.batch.is_empty() && !queue.driven && queue.under_way == 0 && queue.held == 0 {
            self.items.remove(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item() -> ItemId {
        ItemId::parse("a").unwrap()
    }

    fn enter(queues: &mut Queues<u32>, who: u32) -> Entered {
        queues.enter(&item(), UserId::parse(&format!("u{who}")).unwrap(), true, who, Instant::now())
    }

    #[test]
    fn each_item_has_one_driver_and_none_when_nothing_waits() {
        let mut queues = Queues::default();
        assert_eq!((enter(&mut queues, 1), enter(&mut queues, 2)), (Entered::Drive, Entered::Waits));
        assert_eq!(queues.take(&item()).map(|batch| batch.len()), Some(2));
        assert_eq!(enter(&mut queues, 3), Entered::Waits, "its driver comes by again");
        assert_eq!(queues.take(&item()).map(|batch| batch.len()), Some(1));
        assert!(queues.take(&item()).is_none());
        assert!(queues.set_out(&item()));
        assert!(!queues.is_quiet(&item()) && !queues.are_empty());
        queues.landed(&item());
        assert!(queues.is_quiet(&item()) && queues.are_empty());
        assert_eq!(enter(&mut queues, 4), Entered::Drive);
    }

    #[test]
    fn nothing_is_taken_while_an_end_waits_and_nothing_is_forgotten_after_it() {
        let mut queues = Queues::default();
        queues.hold(&item());
        assert_eq!(enter(&mut queues, 1), Entered::Waits);
        assert!(!queues.set_out(&item()), "nor does a batch that was taken before go on");
        assert!(queues.take(&item()).is_none());
        assert!(queues.let_go(&item()), "somebody has to drive what came meanwhile");
        assert_eq!(queues.take(&item()).map(|batch| batch.len()), Some(1));
    }

    #[test]
    fn past_the_bound_commands_are_refused_before_they_enter() {
        let mut queues = Queues::default();
        for n in 0..WAITING_MAX as u32 {
            assert_ne!(enter(&mut queues, n), Entered::Full);
        }
        assert_eq!(enter(&mut queues, 0), Entered::Full);
        assert_eq!(queues.take(&item()).map(|batch| batch.len()), Some(WAITING_MAX));
    }
}
