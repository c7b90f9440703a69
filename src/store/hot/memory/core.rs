//! The hot store as a plain value: every method is one atomic step of the contract, over items in memory.
//!
//! Pure: no IO, no clock, no locks; randomness (epochs, tags) comes from the seed. The owner serialises access. It checks
//! everything, overflow included, before it changes anything. It does not know what is durable: that is the log's part, see [`super`].

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::ledger::Ledger;
use super::stream::{Events, WriteAhead};
use crate::protocol::{Comment, Counters, ItemId, RoomEvent, WriterId};
use crate::store::durable::Document;
use crate::store::hot::contract::{Add, Aligned, Audit, Flight, HotError, Standing, Step, Stood, Vector};

/// See the module. A clone is a snapshot; one that is put back in place must be [reseeded](Self::reseed), or it would make the
/// tags and epochs of the lost future a second time.
#[derive(Debug, Clone)]
pub struct MemoryCore {
    items: HashMap<ItemId, Item>,
    /// Items that have something to fold or to settle.
    dirty: BTreeSet<ItemId>,
    /// Where the last listing of `dirty` stopped, so that none waits for ever behind a limit.
    listed: Option<ItemId>,
    rng: Xoshiro256PlusPlus,
}

#[derive(Debug, Clone)]
struct Item {
    ledger: Ledger,
    write_ahead: WriteAhead,
    events: Events,
}

/// Numbers of items as they will be when the adds admitted so far are applied.
#[derive(Debug, Default)]
pub struct Admitted(HashMap<ItemId, Ledger>);

impl MemoryCore {
    /// An empty store.
    pub fn new(seed: u64) -> Self {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { items: HashMap::new(), dirty: BTreeSet::new(), listed: None, rng }
    }

    /// Other randomness from here on.
    pub fn reseed(&mut self, seed: u64) {
        self.rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    }

    /// See [`HotStore::step`](crate::store::hot::HotStore::step).
    pub fn step(&mut self, step: &Step) -> Result<Standing, HotError> {
        let Some(item) = self.items.get_mut(&step.item) else {
            return Ok(Standing::Missing);
        };
        if let Some(add) = &step.add
            && item.ledger.add(add)?
        {
            let list = item.write_ahead.take_in(add.writer, &add.comments);
            if !list.is_empty() {
                item.events.append(RoomEvent::Comments { list }, &mut self.rng);
            }
            self.dirty.insert(step.item.clone());
        }
        if step.add.as_ref().is_none_or(|add| item.ledger.at(&add.writer) >= add.op) {
            for event in &step.events {
                item.events.append(event.clone(), &mut self.rng);
            }
        }
        Ok(Standing::At(item.stood(step)))
    }

    /// Whether the add would be applied, after those that `admitted` has seen before; without applying it.
    pub fn admit(&self, admitted: &mut Admitted, item: &ItemId, add: &Add) -> Result<bool, HotError> {
        if let Some(ledger) = admitted.0.get_mut(item) {
            return ledger.add(add);
        }
        let Some(stored) = self.items.get(item) else {
            return Ok(false);
        };
        let mut ledger = stored.ledger.clone();
        let taken = ledger.add(add)?;
        admitted.0.insert(item.clone(), ledger);
        Ok(taken)
    }

    /// See [`HotStore::claim`](crate::store::hot::HotStore::claim).
    pub fn claim(&mut self, item: &ItemId, gone: &[WriterId]) -> Option<Flight> {
        let stored = self.items.get_mut(item)?;
        let fold = stored.ledger.fold;
        let claimed = stored.ledger.claim(gone)?;
        Some(Flight {
            item: item.clone(),
            fold,
            increments: claimed.increments.clone(),
            w: claimed.w.clone(),
            comments: stored.write_ahead.covered(&claimed.w),
        })
    }

    /// See [`HotStore::align`](crate::store::hot::HotStore::align).
    pub fn align(&mut self, item: &ItemId, document: &Document) -> Aligned {
        let judged = self.items.get(item).map_or(Aligned::LaidAnew, |stored| stored.ledger.judge(document));
        match judged {
            Aligned::Settled => self.settle(item),
            Aligned::LaidAnew => {
                let events = Events::new(&mut self.rng);
                let fresh = Item { ledger: Ledger::lay(document), write_ahead: WriteAhead::default(), events };
                self.items.insert(item.clone(), fresh);
                self.dirty.remove(item);
            }
            Aligned::Nothing | Aligned::DurableBehind => {}
        }
        judged
    }

    fn settle(&mut self, item: &ItemId) {
        let Some(stored) = self.items.get_mut(item) else { return };
        if let Some(w) = stored.ledger.settle() {
            stored.write_ahead.let_go(&w);
        }
        if !stored.ledger.is_dirty() {
            self.dirty.remove(item);
        }
    }

    /// See [`HotStore::dirty`](crate::store::hot::HotStore::dirty). Goes round: each listing begins where the last one stopped.
    pub fn dirty(&mut self, limit: usize) -> Vec<ItemId> {
        let listed = match &self.listed {
            None => self.dirty.iter().take(limit).cloned().collect::<Vec<_>>(),
            Some(last) => {
                let later = self.dirty.range((Bound::Excluded(last), Bound::Unbounded));
                let earlier = self.dirty.range((Bound::Unbounded, Bound::Included(last)));
                later.chain(earlier).take(limit).cloned().collect()
            }
        };
        self.listed = listed.last().cloned();
        listed
    }

    /// Everything that is not yet folded, over all items; sums that would leave 64 bits stay at their last value.
    pub fn unflushed(&self) -> Counters {
        let deltas = self.dirty.iter().filter_map(|item| self.items.get(item)).map(|stored| &stored.ledger.delta);
        deltas.fold(Counters::default(), |sum, delta| sum.plus(delta).unwrap_or(sum))
    }

    /// See [`HotStore::totals`](crate::store::hot::HotStore::totals).
    pub fn totals(&self, item: &ItemId) -> Option<Counters> {
        self.items.get(item).map(|stored| stored.ledger.totals())
    }

    /// See [`HotStore::unflushed_comments`](crate::store::hot::HotStore::unflushed_comments).
    pub fn unflushed_comments(&self, item: &ItemId) -> Vec<Comment> {
        self.items.get(item).map(|stored| stored.write_ahead.all()).unwrap_or_default()
    }

    /// See [`HotStore::audit`](crate::store::hot::HotStore::audit).
    pub fn audit(&self, item: &ItemId) -> Option<Audit> {
        let ledger = &self.items.get(item)?.ledger;
        Some(Audit {
            fold: ledger.fold,
            base: ledger.base.clone(),
            delta: ledger.delta.clone(),
            flight: ledger.flight.as_ref().map(|flight| flight.increments.clone()),
        })
    }

    /// See [`HotStore::base`](crate::store::hot::HotStore::base).
    pub fn base(&self, item: &ItemId) -> Option<Document> {
        let ledger = &self.items.get(item)?.ledger;
        Some(Document { totals: ledger.base.clone(), fold: ledger.fold, folded: ledger.folded.clone() })
    }

    /// See [`HotStore::let_go`](crate::store::hot::HotStore::let_go).
    pub fn let_go(&mut self, item: &ItemId) -> bool {
        if self.items.get(item).is_some_and(|stored| stored.ledger.is_dirty()) {
            return false;
        }
        self.items.remove(item);
        true
    }
}

impl Item {
    fn stood(&self, step: &Step) -> Stood {
        let number = |of: &Vector| step.add.as_ref().and_then(|add| of.get(&add.writer)).copied().unwrap_or(0);
        Stood {
            at: number(&self.ledger.w),
            folded: number(&self.ledger.folded),
            fold: self.ledger.fold,
            totals: self.ledger.totals(),
            epoch: self.events.epoch,
            seq: self.events.seq,
            events: self.events.after(step.after),
            // Of one process there is no elsewhere.
            elsewhere: 0,
        }
    }
}
