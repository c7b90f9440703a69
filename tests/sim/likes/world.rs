//! The world that the nodes share: facts, counter, fence; what befalls it; and the judgement at its end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use heartline::protocol::{ItemId, UserId, WriterId};
use heartline::store::durable::BatchId;
use heartline::store::hot::memory::FenceCore;
use parking_lot::Mutex;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::hints::Hints;
use super::node::Node;

pub const NODES: usize = 3;
/// How long a writer that shows no life is taken for alive.
pub const LEASE: Duration = Duration::from_secs(3);
/// How long faults happen, and how long a mended world has to come to rest.
const TROUBLE_MAX_S: u64 = 40;
const REST: Duration = Duration::from_secs(400);
const PEOPLE: usize = 5;

/// What keeps a counter with its facts, each to be taken out alone. That a fence keeps batches out, that a recount waits until everybody is
/// quiet, and that a repeated batch leaves the counter alone are not among them: what slips through finds its entry gone, and the item is
/// recounted. They only let recounts come to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Recounts look for what the dead left.
    Entries,
    /// Who finds the entry gone has the item recounted.
    Gone,
    /// A store that lost state has the item recounted.
    Lost,
    /// People are noted in the filter before their facts are written.
    Noted,
    /// An item that is doubted loses its filter.
    Doubt,
    /// A like takes its person's mark away.
    Marks,
}

impl Guard {
    pub const ALL: [Self; 6] = [Self::Entries, Self::Gone, Self::Lost, Self::Noted, Self::Doubt, Self::Marks];
}

pub struct World {
    pub item: ItemId,
    pub without: Option<Guard>,
    pub facts: Mutex<BTreeMap<UserId, (bool, BatchId)>>,
    pub fence: Mutex<FenceCore>,
    pub hints: Mutex<Hints>,
    /// By person: acts that began, and acts under way.
    pub acts: Mutex<BTreeMap<UserId, (u64, u64)>>,
    /// What somebody was told wrong.
    pub wrong: Mutex<Option<String>>,
    pub counter: Mutex<Counter>,
    pub life: Mutex<[Life; NODES]>,
    pub rng: Mutex<Xoshiro256PlusPlus>,
    pub seen: Mutex<BTreeMap<&'static str, u64>>,
    /// Nothing befalls anybody any more.
    pub mended: Mutex<bool>,
    past: Mutex<Vec<(FenceCore, Hints, [usize; NODES])>>,
    fate: Fate,
    /// Whether replies get lost. Where they do, recounts are so frequent that they cover up for each other.
    is_faulty: bool,
    began: Mutex<Option<Instant>>,
    /// What happened, if somebody wants to read it.
    told: Option<Mutex<Vec<String>>>,
}

/// What befalls a history. The hot store's loss takes the list of recounts with it; together with another fault that may be the only trace
/// of a batch. Then the comparison of what changed finds it within minutes, or the daily one, and nothing sooner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Deaths,
    Losses,
    Both,
}

/// What each node contributed, in order, and how far the hot store has it and the durable one folded it.
#[derive(Default)]
pub struct Counter {
    pub given: [Vec<i64>; NODES],
    pub taken: [usize; NODES],
    pub folded: [usize; NODES],
}

impl Counter {
    pub fn stands(&self, n: usize) -> bool {
        self.taken[n] == self.given[n].len()
    }

    pub fn likes(&self) -> i64 {
        self.given.iter().zip(self.taken).map(|(given, taken)| given[..taken].iter().sum::<i64>()).sum()
    }
}

#[derive(Clone, Copy)]
pub enum Life {
    Well,
    Frozen { since: Instant, until: Instant },
    Dead { since: Instant },
}

impl World {
    /// One history; what is wrong at its end, and what happened in it.
    pub fn live(seed: u64, without: Option<Guard>) -> (Option<String>, BTreeMap<&'static str, u64>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let world = Arc::new(Self {
            item: ItemId::parse("a").unwrap(),
            without,
            facts: Mutex::default(),
            fence: Mutex::default(),
            hints: Mutex::default(),
            acts: Mutex::default(),
            wrong: Mutex::default(),
            counter: Mutex::default(),
            life: Mutex::new([Life::Well; NODES]),
            rng: Mutex::new(Xoshiro256PlusPlus::seed_from_u64(seed)),
            seen: Mutex::default(),
            mended: Mutex::default(),
            past: Mutex::default(),
            began: Mutex::default(),
            told: std::env::var_os("HEARTLINE_SIM_SEED").map(|_| Mutex::default()),
            fate: [Fate::Deaths, Fate::Losses, Fate::Both][(seed % 3) as usize],
            is_faulty: seed.is_multiple_of(2),
        });
        let fault = runtime.block_on(async {
            *world.began.lock() = Some(Instant::now());
            let nodes: Vec<_> = (0..NODES).map(|n| Node::start(&world, n)).collect();
            world.trouble(&nodes).await;
            let fault = world.rest(&nodes).await;
            if nodes.iter().any(|node| node.stats.kept() > 0) {
                world.saw("own likes kept");
            }
            fault
        });
        if let (Some(told), Some(_)) = (&world.told, &fault) {
            told.lock().iter().for_each(|line| println!("{line}"));
        }
        let seen = std::mem::take(&mut *world.seen.lock());
        (fault, seen)
    }

    async fn trouble(self: &Arc<Self>, nodes: &[Node]) {
        // Short ones, too: in a long one some later recount covers up for what an earlier one missed.
        let until = Instant::now() + Duration::from_secs(self.pick(1..TROUBLE_MAX_S));
        while Instant::now() < until {
            sleep(Duration::from_millis(self.pick(1..120))).await;
            let node = &nodes[self.pick(0..NODES as u64) as usize];
            match self.pick(0..100) {
                0..80 => {
                    let user = UserId::parse(&format!("u{}", self.pick(0..PEOPLE as u64))).unwrap();
                    node.like(user, self.chance(60), &nodes[self.pick(0..NODES as u64) as usize]);
                }
                80..88 => self.counter.lock().fold(),
                88..94 => self.remember(),
                94..96 if self.fate != Fate::Deaths => self.fall_back(),
                96..98 => self.freeze(node.number),
                98 if self.fate != Fate::Losses => self.die(node.number),
                _ => node.recount(),
            }
        }
    }

    /// Everybody who lives comes to rest; then the counter is where the facts are.
    async fn rest(self: &Arc<Self>, nodes: &[Node]) -> Option<String> {
        *self.mended.lock() = true;
        if self.fate == Fate::Both || (self.fate == Fate::Losses && self.is_faulty) {
            self.fence.lock().ask_recount(&self.item, Uuid::new_v4());
        }
        let until = Instant::now() + REST;
        let is_at_rest = || {
            let (fence, counter) = (self.fence.lock(), self.counter.lock());
            let frozen = self.life.lock().iter().any(|life| matches!(life, Life::Frozen { .. }));
            let given = (0..NODES).all(|n| self.is_dead(n) || counter.stands(n));
            !frozen && given && fence.recounts(1).is_empty() && self.abandoned(&fence) == 0
        };
        // A while longer than the first quiet moment: somebody may be between two steps.
        while Instant::now() < until {
            sleep(Duration::from_secs(20)).await;
            if is_at_rest() {
                sleep(Duration::from_secs(20)).await;
                if is_at_rest() {
                    break;
                }
            }
        }
        let facts = self.facts.lock().values().filter(|(liked, _)| *liked).count() as i64;
        let likes = self.counter.lock().likes();
        if likes != facts {
            return Some(format!("{likes} likes, {facts} facts"));
        }
        if let Some(wrong) = self.wrong.lock().clone() {
            return Some(wrong);
        }
        if let Some(wrong) = nodes[0].reads_wrong(PEOPLE).await {
            return Some(wrong);
        }
        (!is_at_rest() && self.without.is_none()).then(|| {
            let fence = self.fence.lock();
            let frozen = self.life.lock().iter().filter(|life| matches!(life, Life::Frozen { .. })).count();
            let waiting = (0..NODES).filter(|n| !self.is_dead(*n) && !self.counter.lock().stands(*n)).count();
            format!(
                "no rest: {frozen} frozen, {waiting} do not stand, listed {:?}, {} abandoned",
                fence.recounts(9),
                self.abandoned(&fence)
            )
        })
    }

    /// Who likes the item.
    pub fn liking(&self) -> BTreeSet<UserId> {
        self.facts.lock().iter().filter(|(_, (liked, _))| *liked).map(|(user, _)| user.clone()).collect()
    }

    /// Whether what was acknowledged is to be read at once: not after the hot store fell back, until the room has noticed.
    pub fn reads_own_writes(&self) -> bool {
        self.fate == Fate::Deaths
    }

    fn abandoned(&self, fence: &FenceCore) -> usize {
        let entries = fence.entries(9);
        entries
            .iter()
            .flat_map(|(_, whose)| whose)
            .filter(|writer| (0..NODES).any(|n| writer_of(n) == **writer && self.is_dead(n)))
            .count()
    }

    /// The hot store is as it was at some earlier moment, or empty; what is folded stays.
    fn fall_back(&self) {
        self.saw("hot store set back");
        self.tell(|| "SET BACK".to_owned());
        let past = self.past.lock();
        let (fence, hints, taken) = match past.len() {
            0 => (FenceCore::default(), Hints::default(), [0; NODES]),
            n => past[self.pick(0..n as u64) as usize].clone(),
        };
        let Counter { taken: stands, folded, .. } = &mut *self.counter.lock();
        *self.fence.lock() = fence;
        *self.hints.lock() = hints;
        for ((stands, was), folded) in stands.iter_mut().zip(taken).zip(folded) {
            *stands = was.max(*folded).min(*stands);
        }
    }

    fn remember(&self) {
        let (fence, hints) = (self.fence.lock().clone(), self.hints.lock().clone());
        self.past.lock().push((fence, hints, self.counter.lock().taken));
    }

    fn freeze(&self, n: usize) {
        let now = Instant::now();
        let mut life = self.life.lock();
        if matches!(life[n], Life::Well) {
            let longest_ms = if self.fate == Fate::Losses { 2_500 } else { 20_000 };
            let until = now + Duration::from_millis(self.pick(100..longest_ms));
            life[n] = Life::Frozen { since: now, until };
            self.tell(|| format!("{n} FROZE for {:?}", until - now));
            if until - now > LEASE {
                self.saw("a node froze past its lease");
            }
        }
    }

    /// The first one lives through everything, so that somebody is left.
    fn die(&self, n: usize) {
        if n > 0 && !self.is_dead(n) {
            self.saw("a node died");
            self.tell(|| format!("{n} DIED"));
            self.life.lock()[n] = Life::Dead { since: Instant::now() };
        }
    }

    pub fn is_dead(&self, n: usize) -> bool {
        matches!(self.life.lock()[n], Life::Dead { .. })
    }

    pub fn living(&self) -> Vec<WriterId> {
        let now = Instant::now();
        let lives = |life: &Life| match life {
            Life::Well => true,
            Life::Frozen { since, .. } | Life::Dead { since } => now - *since < LEASE,
        };
        self.life.lock().iter().enumerate().filter(|(_, life)| lives(life)).map(|(n, _)| writer_of(n)).collect()
    }

    /// Time passes on a node; on one that is dead, for ever.
    pub async fn pass(&self, n: usize) {
        sleep(Duration::from_millis(self.pick(0..25))).await;
        loop {
            let life = self.life.lock()[n];
            match life {
                Life::Well => return,
                Life::Frozen { until, .. } if Instant::now() >= until => self.life.lock()[n] = Life::Well,
                Life::Frozen { until, .. } => tokio::time::sleep_until(until).await,
                Life::Dead { .. } => std::future::pending().await,
            }
        }
    }

    /// In the mended world nothing that may go wrong does.
    pub fn goes_wrong(&self, percent: u64) -> bool {
        self.is_faulty && self.chance(percent) && !*self.mended.lock()
    }

    pub fn chance(&self, percent: u64) -> bool {
        self.pick(0..100) < percent
    }

    pub fn pick(&self, of: std::ops::Range<u64>) -> u64 {
        self.rng.lock().random_range(of)
    }

    pub fn tell(&self, what: impl FnOnce() -> String) {
        if let Some(told) = &self.told {
            let since = self.began.lock().map(|began| began.elapsed().as_millis()).unwrap_or_default();
            let counter = self.counter.lock();
            let (likes, taken) = (counter.likes(), counter.taken);
            told.lock().push(format!("{since:>7} ms, {likes} likes, {taken:?}: {}", what()));
        }
    }

    pub fn saw(&self, what: &'static str) {
        *self.seen.lock().entry(what).or_default() += 1;
    }
}

impl Counter {
    pub fn take_all(&mut self, n: usize) -> usize {
        self.taken[n] = self.given[n].len();
        self.taken[n]
    }

    fn fold(&mut self) {
        self.folded = self.taken;
    }
}

pub fn writer_of(n: usize) -> WriterId {
    WriterId(Uuid::from_u128(n as u128 + 1))
}
