//! Flushers: the steps of real rounds, one per move.

use heartline::flush::round::{Answer, Ask, Outcome, Round};
use heartline::protocol::WriterId;
use heartline::store::durable::Applied;
use heartline::store::hot::{Aligned, Flight};

use super::write::author;
use super::{History, Pair, note};

impl<P: Pair> History<P> {
    /// The flusher's next step, and how its round ended if it has; `is_lost`: if it is a write of the durable store, its reply never
    /// comes.
    pub async fn flush(&mut self, flusher: usize, is_lost: bool, gone: &[WriterId]) -> Option<Outcome> {
        let round = self.flushers[flusher].take();
        let mut round = round.unwrap_or_else(|| Round::new([self.item.clone()]));
        let ask = round.ask()?;
        let is_align = matches!(ask, Ask::Align(..));
        note!(self, "flusher {flusher}: {ask:?} {}", if is_lost { "(lost, if it writes)" } else { "" });
        round.told(self.carry_out(ask, is_lost, gone).await);
        // What an align leads to only reads.
        if let Some(ask) = is_align.then(|| round.ask()).flatten() {
            round.told(self.carry_out(ask, false, gone).await);
        }
        if round.is_over() {
            return self.ended(round);
        }
        self.flushers[flusher] = Some(round);
        None
    }

    pub fn flusher_is_gone(&mut self, flusher: usize) {
        if self.flushers[flusher].take().is_some() {
            note!(self, "flusher {flusher} is GONE");
        }
    }

    /// Both flushers finish what they hold, or make a round, in turns. Answers whether both found nothing to do.
    pub async fn flush_whole(&mut self) -> bool {
        let mut outcomes = [None, None];
        while outcomes.contains(&None) {
            for (flusher, outcome) in outcomes.iter_mut().enumerate().filter(|(_, outcome)| outcome.is_none()) {
                *outcome = self.flush(flusher, false, &[]).await;
                self.pair.replicate();
            }
        }
        outcomes.iter().all(|outcome| *outcome == Some(Outcome::Clean))
    }

    async fn carry_out(&mut self, ask: Ask, is_lost: bool, gone: &[WriterId]) -> Answer {
        match ask {
            Ask::Claim(item) => {
                let claimed = self.pair.hot().claim(&item, gone).await;
                self.pair.keep().await;
                if let Ok(Some(flight)) = &claimed {
                    self.look_at(flight, gone);
                }
                Answer::Claimed(item, claimed.map_err(|error| error.to_string()))
            }
            Ask::Insert(item, comments) => {
                let inserted = self.pair.durable().insert_comments(&item, &comments).await;
                Answer::Inserted(item, self.unless_lost(is_lost, inserted))
            }
            Ask::Apply(flights) => {
                let items = flights.iter().map(|flight| flight.item.clone()).collect();
                let applied = self.pair.durable().apply(&flights).await;
                self.told.see(match &applied {
                    Ok(applied) if applied.contains(&Applied::NoMatch) => "no match",
                    Ok(_) => "applied",
                    Err(_) => "an apply failed",
                });
                Answer::Applied(items, self.unless_lost(is_lost, applied))
            }
            Ask::Read(item) => {
                let document = self.pair.durable().document(&item).await;
                Answer::Read(item, document.map_err(|error| error.to_string()))
            }
            Ask::Align(item, document) => {
                let aligned = self.pair.hot().align(&item, &document).await;
                self.pair.keep().await;
                self.told.see(match aligned {
                    Ok(Aligned::Settled) => "settled",
                    Ok(Aligned::LaidAnew) => "laid anew",
                    Ok(Aligned::Nothing) => "nothing to align",
                    Ok(Aligned::DurableBehind) => "aligned with an old document",
                    Err(_) => "an align failed",
                });
                note!(self, "    {aligned:?}");
                Answer::Aligned(item, aligned.map_err(|error| error.to_string()))
            }
            Ask::Audit(item) => {
                let audit = self.pair.hot().audit(&item).await;
                Answer::Audited(item, audit.map_err(|error| error.to_string()))
            }
        }
    }

    fn unless_lost<T>(
        &mut self,
        is_lost: bool,
        answer: Result<T, heartline::store::durable::DurableError>,
    ) -> Result<T, String> {
        if is_lost {
            self.told.see("a durable write's reply lost");
            return Err("lost".to_owned());
        }
        answer.map_err(|error| error.to_string())
    }

    /// Comments leave the hot store each once, and those of a writer in their order.
    fn look_at(&mut self, flight: &Flight, gone: &[WriterId]) {
        for writer in &self.writers {
            let id = writer.id;
            let own = || flight.comments.iter().filter(|comment| comment.user == author(id));
            if !own().zip(own().skip(1)).all(|(earlier, later)| earlier.id < later.id) {
                self.told.faults.push(format!("comment: out of order, or twice, in a flight: {:?}", flight.comments));
            }
            if gone.contains(&id) && writer.record.acknowledged > 0 && !flight.w.contains_key(&id) {
                self.told.see("a dead writer left out");
            }
        }
    }

    fn ended(&mut self, round: Round) -> Option<Outcome> {
        let (outcomes, findings) = round.finish();
        if findings.drift.values().any(|drift| *drift > 0) {
            self.told.faults.push(format!("I2: the item's base is off its document at one fold: {:?}", findings.drift));
        }
        if !findings.rejected.is_empty() {
            self.told.faults.push(format!("comment: refused: {:?}", findings.rejected));
        }
        let outcome = outcomes.into_values().next();
        if outcome == Some(Outcome::Behind) {
            self.told.faults.push("alarm: the durable store is behind the item".to_owned());
        }
        outcome
    }
}
