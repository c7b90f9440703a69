//! The numbers of one item: what is folded, what is not, what is in flight, and how far each writer is in each.
//!
//! Invariants: the total `base + delta` and what a settle will compute fit 64 bits, checked before an add changes anything;
//! `folded ≤ flight.w ≤ w` per writer, but for a document that an operator restored; no flight is ever changed.

use crate::protocol::{Counters, WriterId};
use crate::store::durable::Document;
use crate::store::hot::contract::{Add, Aligned, HotError, Vector};

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger {
    pub base: Counters,
    pub delta: Counters,
    pub fold: u64,
    pub w: Vector,
    pub folded: Vector,
    pub flight: Option<Claimed>,
}

/// What was claimed.
#[derive(Debug, Clone)]
pub(super) struct Claimed {
    pub increments: Counters,
    pub w: Vector,
}

impl Ledger {
    /// As the document has it: nothing unfolded.
    pub fn lay(document: &Document) -> Self {
        Self {
            base: document.totals.clone(),
            delta: Counters::default(),
            fold: document.fold,
            w: document.folded.clone(),
            folded: document.folded.clone(),
            flight: None,
        }
    }

    /// The writer's number that the item stands at.
    pub fn at(&self, writer: &WriterId) -> u64 {
        self.w.get(writer).copied().unwrap_or(0)
    }

    /// Takes the add if the item stands at `prev`; answers whether it did. On an overflow nothing has changed.
    pub fn add(&mut self, add: &Add) -> Result<bool, HotError> {
        let at = self.at(&add.writer);
        if at != add.prev || add.op <= at {
            return Ok(false);
        }
        let delta = self.delta.plus(&add.increments).ok_or(HotError::Overflow)?;
        self.base.plus(&delta).ok_or(HotError::Overflow)?;
        if let Some(flight) = &self.flight {
            delta.minus(&flight.increments).ok_or(HotError::Overflow)?;
        }
        self.delta = delta;
        self.w.insert(add.writer, add.op);
        Ok(true)
    }

    /// Puts what is not folded into a flight unless there is one, and answers the flight that there then is.
    ///
    /// Asks for `w ≠ folded`, not for a delta: increments that cancel out still have to be folded, or their writers would keep them
    /// for ever. Folded writers that are gone leave here, so that the document and the item lose them with one and the same flight.
    pub fn claim(&mut self, gone: &[WriterId]) -> Option<&Claimed> {
        if self.flight.is_none() && self.w != self.folded {
            let folded = &self.folded;
            self.w.retain(|writer, op| !gone.contains(writer) || folded.get(writer) != Some(op));
            let w = &self.w;
            self.folded.retain(|writer, _| w.contains_key(writer));
            self.flight = Some(Claimed { increments: self.delta.clone(), w: self.w.clone() });
        }
        self.flight.as_ref()
    }

    /// What aligning with the document has to do. Only the very flight that the document names is settled: after a roll-back
    /// of either store the folds may fit though the contents do not.
    pub fn judge(&self, document: &Document) -> Aligned {
        if self.fold == document.fold {
            return Aligned::Nothing;
        }
        if self.fold > document.fold {
            return Aligned::DurableBehind;
        }
        match &self.flight {
            Some(flight) if self.fold + 1 == document.fold && flight.w == document.folded => Aligned::Settled,
            _ => Aligned::LaidAnew,
        }
    }

    /// Moves the flight from `delta` to `base`, which leaves the total as it is, and answers its `w`.
    pub fn settle(&mut self) -> Option<Vector> {
        let flight = self.flight.take()?;
        // Both were found to fit when the last add came in.
        if let (Some(base), Some(delta)) = (self.base.plus(&flight.increments), self.delta.minus(&flight.increments)) {
            (self.base, self.delta) = (base, delta);
        }
        self.fold += 1;
        self.folded.clone_from(&flight.w);
        Some(flight.w)
    }

    /// `base + delta`: what viewers see.
    pub fn totals(&self) -> Counters {
        // Was found to fit when the last add came in.
        self.base.plus(&self.delta).unwrap_or_default()
    }

    /// Whether there is something to fold or to settle.
    pub fn is_dirty(&self) -> bool {
        self.flight.is_some() || self.w != self.folded
    }
}
