//! The steps of rooms and flushers against the two stores, each with its own fate.

use heartline::flush::round::{Answer, Ask};
use heartline::protocol::{Counter, Kind, WriterId};
use heartline::store::durable::{Applied, Document};
use heartline::store::hot::{Add, Aligned, Flight, Standing, Step, Stood};
use heartline::store::log::LogRow;
use rand::RngExt;

use crate::guards::Guard;
use crate::hot::Hot;
use crate::world::{Fate, Ghost, World, name, note};
use crate::writer::Doing;

impl World {
    /// One step of some living room.
    pub fn tick(&mut self, faulty: bool) {
        let Some(n) = self.some_living() else { return };
        match std::mem::replace(&mut self.writers[n].doing, Doing::Nothing) {
            Doing::Nothing => match self.writers[n].journal.offer(self.now) {
                Some(add) => self.writers[n].doing = Doing::Sending(add),
                None if self.writers[n].journal.is_empty() && self.rng.random_bool(0.05) => self.make_journal_again(n),
                None => self.poll(n),
            },
            Doing::Sending(add) => self.send(n, add, faulty),
            Doing::Reading => self.read_for_room(n, faulty),
            Doing::Aligning(document) => self.align_for_room(n, document, faulty),
        }
    }

    /// A room ended with an empty journal, which was dropped; its successor numbers on from what the document says.
    fn make_journal_again(&mut self, n: usize) {
        let folded = self.durable.read(&self.item).folded.get(&self.writers[n].id).copied().unwrap_or(0);
        note!(self, "{} makes its journal again from {folded}", name(self.writers[n].id));
        self.writers[n].make_journal_again(folded);
        self.see("a journal made again");
    }

    /// A room without anything to send reads on.
    fn poll(&mut self, n: usize) {
        let step = self.writers[n].step(&self.item, None);
        match self.hot.step(&step) {
            Standing::Missing => self.writers[n].doing = Doing::Reading,
            Standing::At(stood) => self.room_reads(n, &stood),
        }
    }

    fn send(&mut self, n: usize, add: Add, faulty: bool) {
        let fate = self.fate(faulty);
        note!(self, "{} adds {}..{} {:?}: {fate:?}", name(add.writer), add.prev, add.op, add.increments);
        let step = self.writers[n].step(&self.item, Some(add));
        match fate {
            Fate::RequestLost => {}
            Fate::Stalled => self.ghosts.push(Ghost::Add(step)),
            Fate::ReplyLost => {
                self.add(&step);
            }
            Fate::Answered => {
                let Some(standing) = self.add(&step) else { return };
                note!(self, "    {}", standing_in_words(&standing));
                if let Standing::At(stood) = &standing {
                    self.room_reads(n, stood);
                }
                let (now, across_gaps) = (self.now, self.without == Some(Guard::Gap));
                self.writers[n].answered(&standing, now, across_gaps);
                if self.writers[n].journal.stale_since() == Some(now) {
                    self.see("a writer before a gap");
                }
            }
        }
    }

    /// The embedded store logs what it will take before it takes it. The process may die in between, or not learn that the row
    /// was logged: then nothing is taken, and the writer will give the same again under other bounds.
    fn add(&mut self, step: &Step) -> Option<Standing> {
        if self.flavour.embedded
            && let Some(add) = &step.add
            && self.hot.stood(&add.writer).is_some_and(|stood| stood.at == add.prev && add.op > stood.at)
        {
            self.rows.push(LogRow { item: self.item.clone(), add: add.clone() });
            match self.rng.random_range(0..100) {
                0..2 => {
                    note!(self, "    dies between log and memory");
                    self.restart();
                    return None;
                }
                2..7 => {
                    self.see("a row of unknown outcome");
                    note!(self, "    logged, but nobody knows");
                    return None;
                }
                _ => {}
            }
        }
        Some(self.hot.step(step))
    }

    fn room_reads(&mut self, n: usize, stood: &Stood) {
        let hearts = stood.totals.get(Counter::Taps(Kind::HEART));
        if self.flavour.rising && !self.may_be_low && hearts < self.shown {
            self.fault(format!("I4: a room was told {} hearts, then {hearts}", self.shown));
        }
        self.shown = self.shown.max(hearts);
        if let Some(fault) = self.writers[n].reads_events(stood, self.may_be_low) {
            self.fault(fault);
        }
        let writer = &mut self.writers[n];
        if stood.fold < writer.fold && matches!(writer.doing, Doing::Nothing) {
            writer.doing = Doing::Reading;
        } else {
            writer.fold = stood.fold;
        }
    }

    fn read_for_room(&mut self, n: usize, faulty: bool) {
        self.writers[n].doing = match self.fate(faulty) {
            Fate::Answered => Doing::Aligning(self.durable.read(&self.item)),
            Fate::RequestLost => Doing::Nothing,
            Fate::ReplyLost | Fate::Stalled => Doing::Reading,
        };
    }

    fn align_for_room(&mut self, n: usize, document: Document, faulty: bool) {
        let fate = self.fate(faulty);
        note!(self, "{} aligns with {document:?}: {fate:?}", name(self.writers[n].id));
        // Whatever comes of it: a room that laid the item lower on purpose does not take that for another loss.
        self.writers[n].fold = 0;
        self.align(document, fate);
    }

    fn align(&mut self, document: Document, fate: Fate) -> Option<Aligned> {
        match fate {
            Fate::RequestLost => None,
            Fate::Stalled => {
                self.ghosts.push(Ghost::Align(document));
                None
            }
            Fate::ReplyLost | Fate::Answered => {
                let aligned = self.hot_aligns(&document);
                note!(self, "    {aligned:?} {:?}", self.hot.audit());
                (fate == Fate::Answered).then_some(aligned)
            }
        }
    }

    fn hot_aligns(&mut self, document: &Document) -> Aligned {
        let aligned = self.hot.align(document);
        self.see(match aligned {
            Aligned::Settled => "settled",
            Aligned::LaidAnew => "laid anew",
            Aligned::Nothing => "nothing to align",
            Aligned::DurableBehind => "aligned with an old document",
        });
        aligned
    }

    /// One step of some flusher.
    pub fn flush(&mut self, faulty: bool) {
        let n = self.rng.random_range(0..self.flushers.len());
        if self.flushers[n].is_idle() {
            let living: Vec<_> = self.writers.iter().filter(|writer| writer.alive).map(|writer| writer.id).collect();
            let seen = self.rng.random_bool(0.9).then_some(living);
            self.flushers[n].begin(&mut self.hot, seen, self.now);
            return;
        }
        let rng = &mut self.rng;
        let Some(ask) = self.flushers[n].ask(|asks| rng.random_range(0..asks)) else { return };
        let fate = self.fate(faulty);
        note!(self, "flusher {n}: {ask:?}: {fate:?}");
        let answer = self.step_of_flusher(n, ask, fate);
        note!(self, "    {answer:?}");
        if self.flushers[n].told(answer, self.now) {
            self.fault("alarm: the durable store is behind the item".to_owned());
        }
    }

    fn step_of_flusher(&mut self, n: usize, ask: Ask, fate: Fate) -> Answer {
        match ask {
            Ask::Claim(item) => {
                let gone = self.gone(n);
                Answer::Claimed(item, self.claim(gone, fate).ok_or_else(lost))
            }
            Ask::Insert(item, comments) if self.without == Some(Guard::CommentsFirst) => {
                self.flushers[n].held_back = comments;
                Answer::Inserted(item, Ok(Default::default()))
            }
            Ask::Insert(item, comments) => {
                if fate == Fate::Stalled {
                    self.ghosts.push(Ghost::Insert(comments));
                    return Answer::Inserted(item, Err(lost()));
                }
                let inserted = (fate != Fate::RequestLost).then(|| self.durable.insert(&item, &comments));
                // Comments are durable when they are answered: a majority has them.
                let answered = inserted.filter(|_| fate == Fate::Answered).inspect(|_| self.durable.replicate());
                Answer::Inserted(item, answered.ok_or_else(lost))
            }
            Ask::Apply(flights) => {
                let items = flights.iter().map(|flight| flight.item.clone()).collect();
                Answer::Applied(items, self.apply(n, flights, fate).ok_or_else(lost))
            }
            Ask::Read(item) => {
                let document = self.durable.read(&item);
                Answer::Read(item, Some(document).filter(|_| fate == Fate::Answered).ok_or_else(lost))
            }
            Ask::Align(item, document) => Answer::Aligned(item, self.align(document, fate).ok_or_else(lost)),
            Ask::Audit(item) => {
                let audit = self.hot.audit();
                Answer::Audited(item, Some(audit).filter(|_| fate == Fate::Answered).ok_or_else(lost))
            }
        }
    }

    /// What the plan has seen as gone; and at times all the dead, as if the two hours had passed.
    fn gone(&mut self, n: usize) -> Vec<WriterId> {
        let mut gone = self.flushers[n].plan.gone(self.now);
        if self.rng.random_bool(0.3) {
            gone.extend(self.writers.iter().filter(|writer| !writer.alive).map(|writer| writer.id));
        }
        gone
    }

    fn claim(&mut self, gone: Vec<WriterId>, fate: Fate) -> Option<Option<Flight>> {
        match fate {
            Fate::RequestLost => None,
            Fate::Stalled => {
                self.ghosts.push(Ghost::Claim(gone));
                None
            }
            Fate::ReplyLost | Fate::Answered => {
                let claimed = self.hot_claims(&gone);
                (fate == Fate::Answered).then_some(claimed)
            }
        }
    }

    fn hot_claims(&mut self, gone: &[WriterId]) -> Option<Flight> {
        let known = |hot: &mut Hot| gone.iter().filter(|id| hot.stood(id).is_some_and(|stood| stood.at > 0)).count();
        let (known_before, before) = (known(&mut self.hot), self.hot.audit());
        let claimed = self.hot.claim(gone);
        if known(&mut self.hot) < known_before {
            self.see("a gone writer left out");
        }
        if before.is_some_and(|audit| audit.flight.is_some()) {
            self.see("a crashed flight carried on with");
        }
        claimed
    }

    fn apply(&mut self, n: usize, flights: Vec<Flight>, fate: Fate) -> Option<Vec<Applied>> {
        match fate {
            Fate::RequestLost => return None,
            Fate::Stalled => {
                self.ghosts.push(Ghost::Apply(flights));
                return None;
            }
            Fate::ReplyLost | Fate::Answered => {}
        }
        let applied = self.apply_all(&flights);
        if fate == Fate::ReplyLost {
            return None;
        }
        let late = std::mem::take(&mut self.flushers[n].held_back);
        if !late.is_empty() {
            self.durable.insert(&self.item, &late);
        }
        Some(applied)
    }

    fn apply_all(&mut self, flights: &[Flight]) -> Vec<Applied> {
        let applied: Vec<_> = flights.iter().map(|flight| self.durable.apply(flight)).collect();
        self.see(if applied.contains(&Applied::NoMatch) { "no match" } else { "applied" });
        if self.flavour.embedded {
            // One transaction: the rows that are folded go with it.
            self.durable.replicate();
            let folded = self.durable.read(&self.item).folded;
            self.rows.retain(|row| folded.get(&row.add.writer).is_none_or(|op| row.add.op > *op));
        }
        applied
    }

    /// A message that was given up on arrives after all.
    pub fn ghost_arrives(&mut self) {
        if self.ghosts.is_empty() {
            return;
        }
        let pick = self.rng.random_range(0..self.ghosts.len());
        self.see("a late arrival");
        match self.ghosts.swap_remove(pick) {
            Ghost::Add(step) => {
                note!(self, "late: add {:?}", step.add);
                self.add(&step);
            }
            Ghost::Claim(gone) => {
                note!(self, "late: claim");
                self.hot_claims(&gone);
            }
            Ghost::Insert(comments) => {
                note!(self, "late: insert");
                let item = self.item.clone();
                self.durable.insert(&item, &comments);
            }
            Ghost::Apply(flights) => {
                let applied = self.apply_all(&flights);
                note!(self, "late: apply {flights:?}: {applied:?}");
            }
            Ghost::Align(document) => {
                let aligned = self.hot_aligns(&document);
                note!(self, "late: align with {document:?}: {aligned:?}");
            }
        }
    }
}

fn lost() -> String {
    "lost".to_owned()
}

fn standing_in_words(standing: &Standing) -> String {
    match standing {
        Standing::Missing => "no item".to_owned(),
        Standing::At(stood) => format!("at {} folded {} fold {}", stood.at, stood.folded, stood.fold),
    }
}
