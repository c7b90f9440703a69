//! Likes, their counter and their recounts: the real service, fence and recount on three nodes, in virtual time, over stores that
//! stall, lose replies and fall back, while nodes die and freeze. Whatever happened, the counter ends where the facts are.
//!
//! What a mended world must show at the end: the list of recounts is empty, and no dead writer's entry is left. With one guard taken
//! out, some seed must end with a counter that is off.

mod hints;
mod node;
mod stores;
mod world;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use world::{Guard, World};

/// Seeds of an ordinary run.
const SEEDS: u64 = 1_000;
/// Seeds within which a missing guard must be found out.
const SEEDS_PER_GUARD: u64 = 6_000;

/// What the histories must come to between them: a fault that never happens proves nothing.
const MUST_BE_SEEN: [&str; 13] = [
    "a batch repeated",
    "a counter that did not answer",
    "a node died",
    "a node froze past its lease",
    "hot store set back",
    "kept out by a fence",
    "recount given up",
    "recount that moved the counter",
    "recount under load",
    "a filter made",
    "a filter asked",
    "read after an answer",
    "own likes kept",
];

#[test]
fn whatever_dies_freezes_or_falls_back_the_counter_ends_where_the_facts_are() {
    let seeds = std::env::var("HEARTLINE_SIM_SEEDS").map_or(SEEDS, |seeds| seeds.parse().unwrap());
    if let Ok(seed) = std::env::var("HEARTLINE_SIM_SEED") {
        let (fault, _) = World::live(seed.parse().unwrap(), None);
        assert_eq!(fault, None);
        return;
    }
    let seen = Mutex::new(BTreeMap::new());
    let broken = first_broken(0..seeds, None, &seen);
    assert_eq!(broken, None);
    println!("{seeds} histories of likes: {:?}", seen.lock());
    for what in MUST_BE_SEEN {
        assert!(seen.lock().contains_key(what), "no history came to: {what}");
    }
}

#[test]
fn each_guard_of_likes_is_needed() {
    for guard in Guard::ALL {
        let broken = first_broken(0..SEEDS_PER_GUARD, Some(guard), &Mutex::default());
        println!("without {guard:?}: {broken:?}");
        assert!(broken.is_some(), "nobody notices that {guard:?} is missing");
    }
}

/// The first seed whose history ends wrong, on as many threads as there are processors.
fn first_broken(
    seeds: Range<u64>,
    without: Option<Guard>,
    seen: &Mutex<BTreeMap<&'static str, u64>>,
) -> Option<(u64, String)> {
    let (next, broken) = (AtomicU64::new(seeds.start), Mutex::new(None));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while broken.lock().is_none() {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let (fault, events) = World::live(seed, without);
                    events.into_iter().for_each(|(what, times)| *seen.lock().entry(what).or_default() += times);
                    if let Some(fault) = fault {
                        broken.lock().get_or_insert((seed, fault));
                    }
                }
            });
        }
    });
    broken.into_inner()
}
