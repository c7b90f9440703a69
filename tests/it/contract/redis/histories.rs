//! Random histories: every answer against the memory core, whose protocol is simulated at length elsewhere.

use heartline::protocol::{Counter, Counters, ItemId, Kind};
use heartline::store::durable::Document;
use heartline::store::hot::memory::MemoryCore;
use heartline::store::hot::{Add, HotError, Standing, Step};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use super::*;

type Rng = Xoshiro256PlusPlus;

/// Numbers around everything at which a representation ends: 0, 15 and 16 digits, 2^53, 2^63.
fn number(rng: &mut Rng) -> i64 {
    if rng.random() {
        return 0;
    }
    let edges = [0, 999_999_999_999_999, 1_000_000_000_000_000, 1 << 53, i64::MAX / 2, i64::MAX];
    let n = edges[rng.random_range(0..edges.len())].saturating_add(rng.random_range(-2..=2));
    if rng.random() { n } else { n.saturating_neg() }
}

fn counters(rng: &mut Rng) -> Counters {
    let all = [HEART, Counter::Likes, Counter::Taps(Kind::parse("wow").unwrap())];
    all.into_iter().map(|counter| (counter, number(rng))).collect()
}

/// What can be compared of an answer: epochs and tags are random.
fn comparable(answer: Result<Standing, HotError>) -> String {
    match answer {
        Ok(Standing::At(stood)) => {
            let events: Vec<_> = stood.events.iter().map(|event| (event.seq, &event.event)).collect();
            format!("{:?}", (stood.at, stood.folded, stood.fold, stood.totals, stood.seq, events))
        }
        other => format!("{other:?}"),
    }
}

/// Steps, claims, aligns, prunings and letting go with numbers at every edge, on one item and both stores.
#[tokio::test]
async fn every_answer_is_that_of_the_memory_core() {
    let server = RedisServer::start(&[]);
    let hot = open(settings(&server, 1)).await;
    let (mut overflows, mut settled) = (0, 0);
    for seed in 0..60 {
        let (mut core, mut rng) = (MemoryCore::new(seed), Rng::seed_from_u64(seed));
        let a = item(&format!("a{seed}"));
        let mut document = Document::default();
        let mut comments = 0;
        for moved in 0..40 {
            let what = format!("seed {seed}, move {moved}");
            match rng.random_range(0..10) {
                0..6 => {
                    let by = rng.random_range(1..=3);
                    let at = core.audit(&a).map_or(0, |_| at(&mut core, &a, by));
                    let prev = if rng.random_range(0..6) == 0 { rng.random_range(0..5) } else { at };
                    let op = prev + rng.random_range(0..3);
                    comments += 1;
                    let said = (op, comment(rng.random_range(1..=comments)));
                    let said = if rng.random() { vec![said] } else { Vec::new() };
                    let add = Add { writer: writer(by), prev, op, increments: counters(&mut rng), comments: said };
                    let events = if rng.random() { vec![ending()] } else { Vec::new() };
                    let step = Step { item: a.clone(), add: Some(add), events, after: None, watching: None };
                    let expected = core.step(&step);
                    overflows += u32::from(matches!(expected, Err(HotError::Overflow)));
                    assert_eq!(comparable(hot.step(step).await), comparable(expected), "{what}");
                }
                6..8 => {
                    let gone: Vec<_> = (1..=3).filter(|_| rng.random()).map(writer).collect();
                    let flight = core.claim(&a, &gone);
                    assert_eq!(hot.claim(&a, &gone).await.unwrap(), flight, "{what}");
                    if let Some(flight) = flight
                        && flight.fold == document.fold
                        && let Some(totals) = document.totals.plus(&flight.increments)
                    {
                        document = Document { totals, fold: flight.fold + 1, folded: flight.w };
                    }
                }
                8 => {
                    let known = if rng.random_range(0..5) == 0 { Document::default() } else { document.clone() };
                    let expected = core.align(&a, &known);
                    settled += u32::from(expected == Aligned::Settled);
                    assert_eq!(hot.align(&a, &known).await.unwrap(), expected, "{what}");
                }
                _ => assert_eq!(hot.let_go(&a).await.unwrap(), core.let_go(&a), "{what}"),
            }
            assert_eq!(hot.audit(&a).await.unwrap(), core.audit(&a), "{what}");
            assert_eq!(hot.unflushed_comments(&a).await.unwrap(), core.unflushed_comments(&a), "{what}");
            let listed = hot.dirty(9).await.unwrap().contains(&a);
            assert_eq!(listed, !core.dirty(9).is_empty(), "{what}");
        }
        // What it leaves dirty would fill the listings of the others.
        redis::cmd("FLUSHALL").query::<()>(&mut server.raw()).unwrap();
    }
    assert!(overflows > 20 && settled > 20, "the histories went where it matters: {overflows}, {settled}");
}

fn at(core: &mut MemoryCore, item: &ItemId, by: u128) -> u64 {
    match core.step(&step(item, add(by, u64::MAX, u64::MAX, 0))) {
        Ok(Standing::At(stood)) => stood.at,
        _ => 0,
    }
}
