//! The rooms of a node: found, or loaded and started. It owns the journals, so that a room that panicked loses nothing that was
//! acknowledged: whoever comes next, or the sweep, starts a new one that goes on with the same numbers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use actix::{Actor, ArbiterHandle, Context};
use futures_util::future::join_all;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::actor::Room;
use super::cold::Cold;
use super::deps::RoomDeps;
use super::load;
use super::messages::{HandOver, RoomHandle, Seen};
use crate::protocol::{ApiError, Code, Counters, ItemId};
use crate::store::hot::journal::{Bounds, Journal};

type Place = Arc<OnceCell<RoomHandle>>;

/// See the module. Shared by everybody who looks for a room.
pub struct Registry {
    deps: Arc<RoomDeps>,
    arbiters: Vec<ArbiterHandle>,
    rooms: Arc<Mutex<HashMap<ItemId, Place>>>,
    journals: Mutex<HashMap<ItemId, Arc<Mutex<Journal>>>>,
    cold: Mutex<Cold>,
}

impl Registry {
    /// Rooms will run on these arbiters, at least one.
    pub fn new(deps: Arc<RoomDeps>, arbiters: Vec<ArbiterHandle>) -> Self {
        Self { deps, arbiters, rooms: Arc::default(), journals: Mutex::default(), cold: Mutex::default() }
    }

    /// The room of an item if it runs here.
    pub fn find(&self, item: &ItemId) -> Option<RoomHandle> {
        let place = self.rooms.lock().get(item).cloned()?;
        place.get().filter(|room| room.is_open()).cloned()
    }

    /// What the item's room last showed, if it runs here: cheaper than its handle.
    pub fn seen(&self, item: &ItemId) -> Option<Arc<Seen>> {
        let place = self.rooms.lock().get(item).cloned()?;
        place.get().filter(|room| room.is_open()).map(RoomHandle::seen)
    }

    /// The room of an item, started if need be; `may_create`: an unknown item is made, where the node's settings allow it.
    pub async fn open(&self, item: &ItemId, may_create: bool) -> Result<RoomHandle, ApiError> {
        if let Some(room) = self.find(item) {
            return Ok(room);
        }
        let place = self.place(item)?;
        let started = place.get_or_try_init(|| self.start(item, &place, may_create)).await;
        if started.is_err() {
            forget(&self.rooms, item, &place);
        }
        started.cloned()
    }

    /// What this process contributed and has not read as folded, over all items.
    pub fn unfolded(&self) -> Counters {
        let journals = self.journals.lock();
        let unfolded = journals.values().map(|journal| journal.lock().unfolded());
        unfolded.fold(Counters::default(), |sum, some| sum.plus(&some).unwrap_or(sum))
    }

    /// Whether the hot store has all that this node contributed to the item, as far as its journal knows.
    pub fn stands(&self, item: &ItemId) -> bool {
        self.journals.lock().get(item).is_none_or(|journal| {
            let journal = journal.lock();
            journal.acked() >= journal.op()
        })
    }

    /// Rooms now.
    pub fn len(&self) -> usize {
        self.rooms.lock().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the room is or will be; a place whose room is gone is given anew.
    fn place(&self, item: &ItemId) -> Result<Place, ApiError> {
        let mut rooms = self.rooms.lock();
        if let Some(place) = rooms.get(item)
            && place.get().is_none_or(RoomHandle::is_open)
        {
            return Ok(place.clone());
        }
        if rooms.len() >= self.deps.config.rooms_max {
            return Err(ApiError::new(Code::Unavailable, "this node has as many rooms as it may").retry_after(1_000));
        }
        let place = Place::default();
        rooms.insert(item.clone(), place.clone());
        Ok(place)
    }

    async fn start(&self, item: &ItemId, place: &Place, may_create: bool) -> Result<RoomHandle, ApiError> {
        let view = load::record(&self.deps, item, may_create && self.deps.config.auto_create).await?;
        let loaded = load::load(&self.deps, view, |folded| self.journal(item, folded)).await?;
        let (rooms, name, mine) = (self.rooms.clone(), item.clone(), Arc::downgrade(place));
        let retire = Box::new(move || {
            if let Some(place) = mine.upgrade() {
                forget(&rooms, &name, &place);
            }
        });
        let room = Room::new(self.deps.clone(), loaded, retire);
        let seen = room.seen.clone();
        let arbiter = self.arbiter(item).ok_or_else(|| ApiError::new(Code::Internal, "no thread for rooms"))?;
        let address = Room::start_in_arbiter(arbiter, move |_: &mut Context<Room>| room);
        Ok(Room::handle(&address, seen))
    }

    /// The node's journal of an item; made when first asked for.
    fn journal(&self, item: &ItemId, folded: u64) -> Arc<Mutex<Journal>> {
        let config = &self.deps.config;
        let bounds = Bounds { numbers_max: config.journal_numbers_max, reoffer: config.flush };
        let fresh = || Arc::new(Mutex::new(Journal::new(self.deps.writer, folded, bounds)));
        self.journals.lock().entry(item.clone()).or_insert_with(fresh).clone()
    }

    fn arbiter(&self, item: &ItemId) -> Option<&ArbiterHandle> {
        let hash =
            item.as_str().bytes().fold(0_usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte)));
        self.arbiters.get(hash % self.arbiters.len().max(1))
    }

    /// Once in a while: journals of rooms that ended are dropped, a room that is gone before its journal was empty is started anew, and
    /// items that have had no room for long are let go from the hot store.
    pub async fn sweep(&self, now: Instant) {
        for item in self.orphans(now) {
            self.deps.stats.restarts.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            match self.open(&item, false).await {
                Ok(_) => tracing::error!(%item, "a room had died; started anew"),
                Err(error) => tracing::error!(%item, %error, "a room has died and does not start"),
            }
        }
        let due = self.cold.lock().due(now, |item| self.rooms.lock().contains_key(item));
        for item in due {
            if let Err(error) = self.deps.hot.let_go(&item).await {
                tracing::warn!(%item, %error, "a cold item was not let go");
            }
        }
    }

    /// Items that the hot store holds though no room is theirs: an earlier run left them. They will be let go like any other.
    pub fn note_cold(&self, items: impl IntoIterator<Item = ItemId>, now: Instant) {
        let mut cold = self.cold.lock();
        items.into_iter().for_each(|item| cold.note(item, now));
    }

    /// Drops the journals that nobody needs, and names the items whose room died before its journal was empty.
    fn orphans(&self, now: Instant) -> Vec<ItemId> {
        let (mut orphans, mut cold) = (Vec::new(), self.cold.lock());
        self.journals.lock().retain(|item, journal| {
            let held = Arc::strong_count(journal) > 1;
            let unfolded = !journal.lock().is_empty();
            match (held, unfolded) {
                (true, _) => return true,
                (false, true) => orphans.push(item.clone()),
                (false, false) => cold.note(item.clone(), now),
            }
            unfolded
        });
        orphans
    }

    /// The node stops: every room contributes what it buffered. Answers when the hot store has it all.
    pub async fn hand_over(&self) {
        let rooms: Vec<RoomHandle> = self.rooms.lock().values().filter_map(|place| place.get().cloned()).collect();
        join_all(rooms.iter().map(|room| room.hand_over.send(HandOver))).await;
    }
}

/// Takes the room's place away, unless another room has it by now.
fn forget(rooms: &Mutex<HashMap<ItemId, Place>>, item: &ItemId, place: &Place) {
    let mut rooms = rooms.lock();
    if rooms.get(item).is_some_and(|current| Arc::ptr_eq(current, place)) {
        rooms.remove(item);
    }
}
