//! The end of a storm: waits until the server has everything and has shown it to everybody, then compares.
//!
//! Level-triggered: the whole state is looked at again and again until it is right or the deadline has passed; what is not right
//! then is a violation. Nothing is taken as settled because some time went by.

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::Duration;

use anyhow::Result;
use tokio::time::Instant;

use super::sender::{Seat, lock};
use super::{KIND, Storm};
use crate::api::{Api, Audit};
use crate::client;
use crate::ledger::Ledger;
use crate::report::Violations;
use crate::target::Target;
use crate::watch::Watch;

/// Between two looks. An audit is a read; twenty a second do not disturb.
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Storm {
    /// Waits for the end state. What is missing at the deadline is found again by the report.
    ///
    /// # Errors
    /// The audit cannot be read.
    pub async fn settle(&mut self) -> Result<()> {
        let deadline = Instant::now() + self.config.settle_max;
        loop {
            let audit = self.api.audit().await?;
            let is_settled = self.unsettled(&audit).is_empty();
            self.end_audit = Some(audit);
            if is_settled || Instant::now() >= deadline {
                break;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        self.join_late().await
    }

    /// Who joins now must be shown the same total.
    async fn join_late(&mut self) -> Result<()> {
        let joined = client::join_all(&self.config.target, &self.config.item, vec![None]).await?;
        for late in joined {
            let watch = Watch::new("a socket that joined at the end".to_owned(), KIND);
            let mut seat = Seat { watch, asks: super::Asks::new(self.config.intent_of(self.config.sockets)) };
            late.frames.iter().for_each(|frame| seat.take(frame, &self.shared));
            let total = self.end_audit.as_ref().map_or(0, taps_of);
            let shown = seat.watch.taps_shown();
            if shown != total {
                seat.watch.broken(Err(format!("is shown {shown}, the ledger says {total}")));
            }
            self.seats.push(std::sync::Arc::new(std::sync::Mutex::new(seat)));
        }
        Ok(())
    }

    /// Compares with a server that came back after a crash (`target`, on the same data): every acknowledged tap and comment is there
    /// once, none is there that was not sent, and no socket had been shown more than is there now.
    ///
    /// # Errors
    /// The server cannot be asked.
    pub async fn compare_after_crash(&self, target: &Target) -> Result<Violations> {
        let mut api = Api::open(target, &self.config.item).await?;
        let (audit, history) = (api.audit().await?, api.history().await?);
        let mut found = Violations::default();
        self.seats.iter().for_each(|seat| found.merge(lock(seat).watch.violations.clone()));
        found.check("audit", audit.check());
        found.check("taps", self.ledger().check(self.taps_before(), taps_of(&audit)));
        self.check_comments(&audit, &mut found);
        let shown = self.seats.iter().map(|seat| lock(seat).watch.taps_shown()).max().unwrap_or(0);
        if shown > taps_of(&audit) {
            found.add(format!("{shown} taps had been shown, {} are left", taps_of(&audit)));
        }
        let mut times: HashMap<&str, u32> = HashMap::new();
        history.iter().for_each(|comment| *times.entry(comment.id.get()).or_default() += 1);
        for id in self.comments_acked() {
            match times.get(&*id) {
                Some(1) => {}
                Some(n) => found.add(format!("{id} is {n} times in the history")),
                None => found.add(format!("{id} was acknowledged and is lost")),
            }
        }
        Ok(found)
    }

    /// Everything that is not as it must be in the end, given the server's ledger.
    pub(super) fn unsettled(&self, audit: &Audit) -> Violations {
        let mut found = Violations::default();
        let ledger = self.ledger();
        found.check("audit", audit.check());
        found.check("taps", ledger.check(self.taps_before(), taps_of(audit)));
        self.check_cuts(&ledger, &mut found);
        self.check_comments(audit, &mut found);
        self.check_shown(audit, &mut found);
        for name in [format!("taps.{KIND}"), "comments".to_owned()] {
            let unflushed = audit.counter(&name).unflushed;
            if unflushed != 0 {
                found.add(format!("{name}: {unflushed} still unflushed"));
            }
        }
        found
    }

    fn check_cuts(&self, ledger: &Ledger, found: &mut Violations) {
        if self.config.may_be_cut {
            return;
        }
        let cut = self.seats.iter().filter(|seat| lock(seat).asks.books.cut).count();
        if cut > 0 {
            found.add(format!("{cut} sockets were cut"));
        }
        if ledger.unanswered > 0 {
            found.add(format!("{} taps with an id were never answered", ledger.unanswered));
        }
    }

    fn check_comments(&self, audit: &Audit, found: &mut Violations) {
        let (mut acked, mut open, mut unknown) = (0, 0, 0);
        for seat in &self.seats {
            let asks = &lock(seat).asks;
            acked += asks.comments_acked.len() as u64;
            unknown += asks.comments_unknown;
            open += asks.comments_open();
        }
        if open > 0 && !self.config.may_be_cut {
            found.add(format!("{open} comments were never answered"));
        }
        let before = self.start_audit.counter("comments").total;
        let added = audit.counter("comments").total - before;
        let allowed = acked..=acked + unknown + open;
        if !u64::try_from(added).is_ok_and(|added| allowed.contains(&added)) {
            found.add(format!(
                "the ledger has {added} more comments, {} to {} were made",
                allowed.start(),
                allowed.end()
            ));
        }
        if self.config.may_be_cut {
            // An ack may have been the last thing that a socket heard.
            return;
        }
        // Taken before the order is locked: a reader holds its seat while it waits for the order.
        let acked = self.comments_acked();
        let order = self.shared.order.lock().unwrap_or_else(PoisonError::into_inner);
        let unshown = acked.iter().filter(|id| order.place_of(id).is_none()).count();
        if unshown > 0 {
            found.add(format!("{unshown} acknowledged comments were shown to nobody"));
        }
    }

    /// Every socket that lives shows the ledger's total and has seen every comment that any has seen.
    fn check_shown(&self, audit: &Audit, found: &mut Violations) {
        let total = taps_of(audit);
        let comments = self.shared.order.lock().unwrap_or_else(PoisonError::into_inner).placed().len();
        for (index, seat) in self.seats.iter().enumerate().take(self.config.sockets) {
            let seat = lock(seat);
            if seat.asks.books.cut {
                continue;
            }
            let (shown, seen) = (seat.watch.taps_shown(), seat.watch.comments_seen());
            if shown != total {
                found.add(format!("socket {index} ends at {shown}, the ledger says {total}"));
            }
            if seen != comments {
                found.add(format!("socket {index} has seen {seen} comments of {comments}"));
            }
        }
    }
}

pub(super) fn taps_of(audit: &Audit) -> i64 {
    audit.counter(&format!("taps.{KIND}")).total
}
