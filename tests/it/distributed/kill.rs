//! A process dies right before or after each step of the exactly-once protocol, and another one, which is at work on the same items
//! at the time, takes over. `--fail-point` of debug builds is where it dies; nothing but that ends it.

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use rand::RngExt;

use super::book::{self, Voice};
use super::{FAST, Pair};
use crate::support::PATIENCE;
use crate::support::process::Process;
use crate::support::rest::Node;
use crate::support::soak::{rounds, seeded};

/// Deaths at each point: the issue's own figures.
const ROUNDS: (u32, u32) = (10, 200);
/// A process dies the first, second, … time that it comes to its point; by then it has seen all ways to come there.
const NTH_MAX: u32 = 4;
/// `abort` ends a process by this signal (POSIX).
const SIGABRT: i32 = 6;

/// What people do meanwhile: a contribution with comments is another step than one without, and so is what settles it.
#[derive(Clone, Copy, PartialEq)]
enum People {
    Tap,
    TapAndComment,
}

#[test]
fn a_death_around_an_add_neither_loses_nor_doubles_taps() {
    die_around("add", People::Tap);
}

#[test]
fn a_death_around_an_append_neither_loses_nor_doubles_comments() {
    die_around("append", People::TapAndComment);
}

#[test]
fn a_death_around_a_claim_leaves_a_flight_that_another_process_folds() {
    die_around("claim", People::TapAndComment);
}

#[test]
fn a_death_around_an_insert_leaves_each_comment_once() {
    die_around("insert", People::TapAndComment);
}

#[test]
fn a_death_around_an_apply_folds_its_flight_once() {
    die_around("apply", People::TapAndComment);
}

#[test]
fn a_death_around_an_align_settles_its_flight_once() {
    die_around("align", People::Tap);
}

#[test]
fn a_death_around_a_trim_leaves_each_comment_once() {
    die_around("trim", People::TapAndComment);
}

/// Scenario: see the module. Method: both processes are tapped on and commented through until one has died, a fresh item each round;
/// what it acknowledged is durable once, what it was sent without an ack is there at most once and as a beginning of what was sent,
/// what the other took is there exactly; comments by text and in order; hot and durable agree.
fn die_around(step: &str, people: People) {
    std::thread::scope(|sides| {
        for side in ["before", "after"] {
            sides.spawn(move || die_at(&format!("{step}.{side}"), people));
        }
    });
}

fn die_at(point: &str, people: People) {
    let pair = Pair::fresh();
    let mut survivor = pair.start(&FAST);
    let mut random = seeded();
    let tokens = Tokens { viewer: survivor.token("ann", "viewer"), host: survivor.token("hana", "host") };
    for round in 0..rounds(ROUNDS.0, ROUNDS.1) {
        let nth = random.random_range(1..=NTH_MAX);
        let item = format!("{point}-{round}-nth-{nth}");
        let mut dying = pair.start(&[&FAST[..], &["--fail-point", &format!("{point}:{nth}")]].concat());
        one_death(&item, &mut dying, &survivor, &tokens, people);
        assert_eq!(dying.ended().unwrap().signal(), Some(SIGABRT), "{item}: it died of something else");
    }
    assert_eq!(survivor.terminate(), Some(0));
}

struct Tokens {
    viewer: String,
    host: String,
}

fn one_death(item: &str, dying: &mut Process, survivor: &Process, tokens: &Tokens, people: People) {
    let mut other = Voice::open(survivor, item, &tokens.viewer, "other").unwrap();
    // It may die while it makes its room: then nobody has said anything through it.
    let mut cut_off = Voice::open(dying, item, &tokens.viewer, "cut-off");
    let since = Instant::now();
    let mut acts = 0_u32;
    while dying.ended().is_none() {
        assert!(since.elapsed() < PATIENCE, "{item}: never came to its point");
        for voice in cut_off.iter_mut().chain([&mut other]) {
            voice.tap();
            if people == People::TapAndComment && acts.is_multiple_of(3) {
                voice.say();
            }
            voice.hear(Duration::from_millis(3));
        }
        acts += 1;
    }
    if let Some(voice) = &mut cut_off {
        voice.hear(Duration::from_millis(200));
        voice.cut = true;
    }
    other.tap();
    other.say();
    other.hear_all();
    let voices: Vec<&Voice> = cut_off.iter().chain([&other]).collect();
    book::close(survivor, item, &tokens.host, &voices);
}
