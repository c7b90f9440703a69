//! One seeded history: writers, flushers, a hot and a durable store for one item, and everything that can go wrong between
//! any two steps. The seed decides all of it; the same seed is the same history.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use heartline::protocol::{Comment, Counter, ItemId, WriterId};
use heartline::store::durable::Document;
use heartline::store::hot::{Flight, Step};
use heartline::store::log::LogRow;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use uuid::Uuid;

use crate::durable::{Durable, MALFORMED};
use crate::flusher::Flusher;
use crate::guards::Guard;
use crate::hot::Hot;
use crate::writer::{Doing, Writer, comment, hearts};

/// Writers of a history, the later born included: a vector of more is no new case.
const WRITERS_MAX: usize = 6;
/// Intervals after the last fault, by which everything must have come to rest.
const INTERVALS_TO_REST: usize = 80;

/// What kind of history a seed makes.
#[derive(Debug, Clone, Copy)]
pub struct Flavour {
    /// Only positive increments, and each contribution counts 1 under a kind of its own; else increments of both signs,
    /// which may cancel out.
    pub rising: bool,
    /// The hot store may be emptied and set back.
    pub hot_loses: bool,
    /// One process with a log that outlives it: a restart takes the hot store, the writer and the flusher; no fail-over.
    pub embedded: bool,
}

/// A message that was given up on and may still arrive.
pub enum Ghost {
    Add(Step),
    Claim(Vec<WriterId>),
    Insert(Vec<Comment>),
    Apply(Vec<Flight>),
    Align(Document),
}

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Answered,
    /// It never arrives.
    RequestLost,
    ReplyLost,
    /// It may arrive later; the sender has given up on it.
    Stalled,
}

pub struct World {
    pub rng: Xoshiro256PlusPlus,
    pub flavour: Flavour,
    pub item: ItemId,
    pub now: Instant,
    pub hot: Hot,
    /// Rows of the embedded store's log: survive what the hot store does not.
    pub rows: Vec<LogRow>,
    pub durable: Durable,
    pub writers: Vec<Writer>,
    pub flushers: Vec<Flusher>,
    pub ghosts: Vec<Ghost>,
    pub without: Option<Guard>,
    /// The hot store lost state: of a dead writer, what was not folded may be gone.
    pub hot_lost: bool,
    /// An item may stand lower than it did, by a loss or by an old document that a sleeper laid in place of an item let go;
    /// nothing is lost by the latter, but what is promised of every moment does not hold until the next align.
    pub may_be_low: bool,
    /// The highest total of hearts that any room was told.
    pub shown: i64,
    pub faults: Vec<String>,
    /// Only faults that begin like this count; the history goes on past others.
    looks_for: &'static str,
    /// The history in words, if it is asked for: a violation is replayed for it.
    pub log: Option<Vec<String>>,
    pub steps: u64,
    /// How often each thing happened that a history must be able to come to.
    pub seen: BTreeMap<&'static str, u64>,
    comments_made: u128,
}

/// Writes a line of the history, if anybody wants it.
macro_rules! note {
    ($world:expr, $($arg:tt)*) => {
        if let Some(log) = &mut $world.log { log.push(format!($($arg)*)); }
    };
}
pub(crate) use note;

impl World {
    pub fn new(seed: u64, without: Option<Guard>, looks_for: &'static str) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let embedded = without.is_none() && rng.random_bool(0.2);
        let calm = embedded || rng.random_bool(0.3);
        let flavour = Flavour { rising: rng.random_bool(0.5), hot_loses: !calm, embedded };
        let item = ItemId::parse("item").unwrap();
        let (writers, flushers) = if embedded { (1, 1) } else { (3, 2) };
        Self {
            hot: Hot::new(item.clone(), seed, flavour.hot_loses, without),
            durable: Durable::without(without),
            writers: (1..=writers).map(|n| Writer::new(WriterId(Uuid::from_u128(n)))).collect(),
            flushers: (0..flushers).map(|_| Flusher::new()).collect(),
            now: Instant::now(),
            rows: Vec::new(),
            ghosts: Vec::new(),
            hot_lost: false,
            may_be_low: false,
            shown: i64::MIN,
            faults: Vec::new(),
            log: None,
            looks_for,
            steps: 0,
            seen: BTreeMap::new(),
            comments_made: 0,
            rng,
            flavour,
            item,
            without,
        }
    }

    /// The whole history: faults first, then rest, then the verdict.
    pub fn run(mut self) -> Self {
        let steps = 80 + self.rng.random_range(0..240);
        for _ in 0..steps {
            self.now += Duration::from_millis(self.rng.random_range(0..20_000));
            self.anything();
            self.judge_now();
            if !self.faults.is_empty() {
                return self;
            }
        }
        self.come_to_rest();
        self.judge_at_rest();
        self
    }

    fn anything(&mut self) {
        self.steps += 1;
        match self.rng.random_range(0..1000) {
            0..150 => self.contribute(),
            150..500 => self.tick(true),
            500..830 => self.flush(true),
            830..845 => self.flusher_crashes(),
            845..895 => self.durable.replicate(),
            895..910 => self.fail_over(),
            910..925 => self.let_go(),
            925..945 => self.set_back(),
            945..953 => self.empty(),
            953..963 => self.writer_dies(),
            963..970 => self.writer_is_born(),
            970..985 => self.ghost_arrives(),
            985..992 => self.room_crashes(),
            992..997 => self.restart(),
            _ => self.prune_alone(),
        }
    }

    pub fn fault(&mut self, fault: String) {
        if fault.starts_with(self.looks_for) {
            self.faults.push(fault);
        }
    }

    pub fn see(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    pub fn fate(&mut self, faulty: bool) -> Fate {
        match self.rng.random_range(0..100) {
            _ if !faulty => Fate::Answered,
            0..6 => Fate::RequestLost,
            6..16 => Fate::ReplyLost,
            16..22 => Fate::Stalled,
            _ => Fate::Answered,
        }
    }

    pub fn living(&self) -> Vec<usize> {
        (0..self.writers.len()).filter(|n| self.writers[*n].alive).collect()
    }

    pub fn some_living(&mut self) -> Option<usize> {
        let living = self.living();
        (!living.is_empty()).then(|| living[self.rng.random_range(0..living.len())])
    }

    fn contribute(&mut self) {
        let Some(n) = self.some_living() else { return };
        let comments: Vec<_> = (0..[0, 0, 0, 1, 2][self.rng.random_range(0..5)]).map(|_| self.comment()).collect();
        let (least, own_kind) = if self.flavour.rising { (0, 1) } else { (-9, 0) };
        let increments = [
            hearts(self.rng.random_range(least..=9)),
            (Counter::Comments, comments.len() as i64),
            (Counter::Likes, own_kind),
        ];
        note!(self, "{} contributes {increments:?}", name(self.writers[n].id));
        self.writers[n].contribute(increments.into_iter().collect(), comments, self.now);
    }

    fn comment(&mut self) -> (Comment, bool) {
        self.comments_made += 1;
        let refused = self.rng.random_bool(0.1);
        (comment(self.comments_made, if refused { MALFORMED } else { "hi" }), refused)
    }

    fn flusher_crashes(&mut self) {
        let n = self.rng.random_range(0..self.flushers.len());
        let forgets = self.rng.random_bool(0.7);
        note!(self, "flusher {n} {}", if forgets { "CRASHES" } else { "breaks its round off" });
        if forgets {
            self.flushers[n] = Flusher::new();
        } else {
            self.flushers[n].break_off();
        }
    }

    fn fail_over(&mut self) {
        if !self.flavour.embedded {
            let lost = self.durable.primary(&self.item).document != self.durable.read(&self.item);
            self.durable.fail_over();
            self.see(if lost { "a fail-over lost a fold" } else { "a fail-over lost nothing" });
            note!(self, "FAIL-OVER to {:?}", self.durable.read(&self.item));
        }
    }

    /// An item is let go when it was cold for an hour: whoever held an older document for it has long given up. Where the
    /// hot store loses state anyway, it may happen at any time.
    fn let_go(&mut self) {
        if !self.hot.let_go() {
            return;
        }
        self.see("cold item let go");
        note!(self, "cold item let go");
        if self.flavour.hot_loses {
            self.may_be_low = true;
        } else {
            self.ghosts.retain(|ghost| !matches!(ghost, Ghost::Align(_)));
            self.flushers.iter_mut().for_each(Flusher::break_off);
            let aligning = self.writers.iter_mut().filter(|writer| matches!(writer.doing, Doing::Aligning(_)));
            aligning.for_each(|writer| writer.doing = Doing::Reading);
        }
    }

    fn set_back(&mut self) {
        let kept = [2, 5, 20, 200][self.rng.random_range(0..4)].min(self.hot.past());
        if self.flavour.hot_loses && kept > 0 {
            self.hot.set_back(self.rng.random_range(1..=kept));
            (self.hot_lost, self.may_be_low) = (true, true);
            self.see("hot store set back");
            note!(self, "hot store SET BACK to {:?}", self.hot.audit());
        }
    }

    fn empty(&mut self) {
        if self.flavour.hot_loses {
            self.hot.lose();
            (self.hot_lost, self.may_be_low) = (true, true);
            self.see("hot store emptied");
            note!(self, "hot store EMPTIED");
        }
    }

    /// Dead for good, and for so long that nothing of it can arrive any more: that is what two hours of absence are for.
    fn writer_dies(&mut self) {
        let living = self.living();
        if living.len() > 1 {
            let n = living[self.rng.random_range(1..living.len())];
            self.bury(n);
        }
    }

    pub fn bury(&mut self, n: usize) {
        let id = self.writers[n].id;
        (self.writers[n].alive, self.writers[n].doing) = (false, Doing::Nothing);
        self.ghosts.retain(|ghost| !matches!(ghost, Ghost::Add(Step { add: Some(add), .. }) if add.writer == id));
        note!(self, "{} DIES", name(id));
    }

    pub fn writer_is_born(&mut self) {
        if self.writers.len() < WRITERS_MAX {
            let id = WriterId(Uuid::from_u128(self.writers.len() as u128 + 1));
            self.writers.push(Writer::new(id));
            note!(self, "{} is born", name(id));
        }
    }

    fn room_crashes(&mut self) {
        if let Some(n) = self.some_living() {
            (self.writers[n].doing, self.writers[n].known) = (Doing::Nothing, None);
            note!(self, "room of {} starts anew", name(self.writers[n].id));
        }
    }

    /// Everything of the process is gone; its log is kept, and the durable store.
    pub fn restart(&mut self) {
        if !self.flavour.embedded || self.writers.len() == WRITERS_MAX {
            return;
        }
        if let Some(n) = self.some_living() {
            self.bury(n);
        }
        self.ghosts.clear();
        self.flushers = vec![Flusher::new()];
        if self.hot.recover(self.durable.clone(), self.rows.clone()) > 0 {
            self.see("a row that does not join on");
        }
        self.writer_is_born();
        self.see("restart from the log");
        note!(self, "RESTART from the log: {:?}", self.hot.audit());
    }

    fn prune_alone(&mut self) {
        for id in self.writers.iter().filter(|writer| !writer.alive).map(|writer| writer.id) {
            if self.hot.prunes_alone(&id, &mut self.durable) {
                note!(self, "{} pruned from the document", name(id));
            }
        }
    }

    fn come_to_rest(&mut self) {
        while !self.ghosts.is_empty() {
            self.ghost_arrives();
        }
        for _ in 0..INTERVALS_TO_REST {
            self.now += Duration::from_secs(10);
            for _ in 0..4 * self.writers.len() {
                self.tick(false);
            }
            for _ in 0..10 {
                self.flush(false);
                self.durable.replicate();
            }
            if self.is_at_rest() || !self.faults.is_empty() {
                break;
            }
        }
        // What a live room asks for that reads a lower fold than before.
        let document = self.durable.read(&self.item);
        let aligned = self.hot.align(&document);
        note!(self, "at rest; aligned: {aligned:?}");
    }

    fn is_at_rest(&mut self) -> bool {
        let settled = |writer: &Writer| writer.journal.is_empty() && matches!(writer.doing, Doing::Nothing);
        self.writers.iter().filter(|writer| writer.alive).all(settled)
            && self.flushers.iter().all(Flusher::is_idle)
            && self.hot.dirty(1).is_empty()
    }
}

/// A short name for the history.
pub fn name(id: WriterId) -> String {
    format!("w{}", id.0.as_u128())
}
