//! Two processes that flush the same items at once, and one that stands still in the middle of a flush while the other goes on.

use std::path::Path;
use std::time::{Duration, Instant};

use rand::RngExt;

use super::book::{self, Voice};
use super::{FAST, Pair};
use crate::support::PATIENCE;
use crate::support::process::Process;
use crate::support::rest::Node;
use crate::support::soak::{rounds, seeded};

/// Folds of the other process while one stands still: the flight that both had, and two more.
const FOLDS_MEANWHILE: f64 = 3.0;

/// Scenario: two servers on the same items. Method: taps and comments through both for some seconds; every item's book is exact.
#[test]
fn two_flushers_at_once_fold_everything_once() {
    let pair = Pair::fresh();
    let mut servers = [pair.start(&FAST), pair.start(&FAST)];
    let (viewer, host) = (servers[0].token("ann", "viewer"), servers[0].token("hana", "host"));
    let items: Vec<String> = (0..4).map(|n| format!("shared-{n}")).collect();
    let mut voices: Vec<[Voice; 2]> = items.iter().map(|item| both(&servers, item, &viewer)).collect();
    let until = Instant::now() + Duration::from_secs(rounds(3, 60).into());
    while Instant::now() < until {
        for voice in voices.iter_mut().flatten() {
            act(voice);
        }
    }
    for (item, voices) in items.iter().zip(&mut voices) {
        voices.iter_mut().for_each(Voice::hear_all);
        book::close(&servers[0], item, &host, &[&voices[0], &voices[1]]);
    }
    // A stop waits for sockets that read their farewell.
    drop(voices);
    for server in &mut servers {
        assert!(folds(server) > 0.0, "both have flushed");
        assert_eq!(server.terminate(), Some(0));
    }
}

/// Scenario: a flusher stands still with a claimed flight in its hands, with its comments inserted, with the document read, and wakes two
/// flights later. Method: a fail point holds it there until the other process has folded on; the book is exact, without an alarm.
#[test]
fn a_flusher_that_wakes_two_flights_later_does_no_harm() {
    let pair = Pair::fresh();
    let mut other = pair.start(&FAST);
    let (viewer, host) = (other.token("ann", "viewer"), other.token("hana", "host"));
    let mut random = seeded();
    for round in 0..rounds(1, 50) {
        for point in ["claim.after", "insert.before", "apply.before", "apply.after", "trim.before"] {
            let item = format!("{point}-{round}");
            let file = pair.folder.path().join(&item);
            let point = format!("{point}:{}=stall:{}", random.random_range(1..=3), file.display());
            let mut sleeper = pair.start(&[&FAST[..], &["--fail-point", &point]].concat());
            let mut voices = [
                Voice::open(&sleeper, &item, &viewer, "sleeper").unwrap(),
                Voice::open(&other, &item, &viewer, "other").unwrap(),
            ];
            act_until(&mut voices, &item, || file.exists());
            sleep_for_two_flights(&other, &mut voices, &file);
            voices.iter_mut().for_each(Voice::hear_all);
            book::close(&other, &item, &host, &[&voices[0], &voices[1]]);
            drop(voices);
            assert_eq!((sleeper.metric("heartline_fold_behind"), sleeper.metric("heartline_drift")), (0.0, 0.0));
            assert_eq!(sleeper.terminate(), Some(0), "{item}");
        }
    }
    assert_eq!(other.terminate(), Some(0));
}

fn sleep_for_two_flights(other: &Process, voices: &mut [Voice; 2], file: &Path) {
    let before = folds(other);
    act_until(voices, "two more flights", || folds(other) >= before + FOLDS_MEANWHILE);
    std::fs::remove_file(file).unwrap();
}

/// Scenario: a whole process is frozen at any moment, as by a paused machine, and wakes two flights later. Method: SIGSTOP at random
/// moments under load, SIGCONT when the other process has folded on; the book is exact.
#[test]
fn a_process_that_is_frozen_for_two_flights_does_no_harm() {
    let pair = Pair::fresh();
    let mut servers = [pair.start(&FAST), pair.start(&FAST)];
    let (viewer, host) = (servers[0].token("ann", "viewer"), servers[0].token("hana", "host"));
    let (mut random, item) = (seeded(), "frozen");
    let mut voices = both(&servers, item, &viewer);
    for _ in 0..rounds(10, 200) {
        let until = Instant::now() + Duration::from_millis(random.random_range(0..250));
        act_until(&mut voices, item, || Instant::now() >= until);
        servers[0].freeze();
        let before = folds(&servers[1]);
        act_until(&mut voices, item, || folds(&servers[1]) >= before + FOLDS_MEANWHILE);
        servers[0].wake();
    }
    voices.iter_mut().for_each(Voice::hear_all);
    book::close(&servers[1], item, &host, &[&voices[0], &voices[1]]);
    drop(voices);
    for server in &mut servers {
        assert_eq!((server.metric("heartline_fold_behind"), server.metric("heartline_drift")), (0.0, 0.0));
        assert_eq!(server.terminate(), Some(0));
    }
}

fn both(servers: &[Process; 2], item: &str, viewer: &str) -> [Voice; 2] {
    [("one", &servers[0]), ("two", &servers[1])].map(|(name, server)| Voice::open(server, item, viewer, name).unwrap())
}

fn act(voice: &mut Voice) {
    voice.tap();
    voice.say();
    voice.hear(Duration::from_millis(3));
}

fn act_until(voices: &mut [Voice; 2], what: &str, mut met: impl FnMut() -> bool) {
    let since = Instant::now();
    while !met() {
        assert!(since.elapsed() < PATIENCE, "did not come about in time: {what}");
        voices.iter_mut().for_each(act);
    }
}

fn folds(server: &Process) -> f64 {
    server.metric("heartline_durable_writes_total{kind=\"fold\"}")
}
