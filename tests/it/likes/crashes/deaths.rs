//! The embedded server dies between fact and counter and is started anew on its folder.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt;
use rand::rngs::StdRng;

use super::crowd::Crowd;
use super::{RECOUNTED_WITHIN, REPAIRED, recounted};
use crate::support::eventually;
use crate::support::process::Process;
use crate::support::rest::Node;
use crate::support::soak::{rounds, seeded};

/// Deaths of each kind: the issue's own figures.
const ROUNDS: (u32, u32) = (20, 200);
/// A process dies the first, second, … time that it comes to its point.
pub const NTH_MAX: u32 = 4;
/// Long before so many answers everybody has died; counted and not timed, for a busy machine only makes them late.
pub const TURNS_MAX: u32 = 1_000;
/// `abort` ends a process by this signal (POSIX).
pub const SIGABRT: i32 = 6;
/// Flushes and ticks of a server that has little time.
pub const FAST: [&str; 6] = ["--limits", "off", "--flush-ms", "150", "--tick-ms", "20"];

const ITEM: &str = "show";
const PEOPLE: usize = 8;

/// Scenario: a server is killed at any moment of a storm of likes, and started anew on its folder. Method: see [`deaths`].
#[test]
fn a_kill_in_a_storm_is_recounted_within_seconds_of_the_restart() {
    deaths(None);
}

/// Scenario: a server dies when a batch stands at the fence and nothing of it is written. Method: see [`deaths`].
#[test]
fn a_death_before_the_facts_is_recounted_within_seconds_of_the_restart() {
    deaths(Some("like.before"));
}

/// Scenario: a server dies when the facts are durable and the counter has not moved. Method: see [`deaths`]; and recounts had something to
/// repair, so that it really died there.
#[test]
fn a_death_between_fact_and_count_is_recounted_within_seconds_of_the_restart() {
    assert!(deaths(Some("like.after")) > 0.0);
}

/// 5 s after each start at the latest the counter is what the facts say, and whatever was acknowledged is as it was acknowledged.
/// Answers how much was repaired.
fn deaths(point: Option<&str>) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let mut random = seeded();
    let mut server = start(folder.path(), point, &mut random);
    let mut crowd = Crowd::new(&server, "fan", PEOPLE);
    let mut repaired = 0.0;
    for _ in 0..rounds(ROUNDS.0, ROUNDS.1) {
        crowd.come_to(&server, ITEM);
        match point {
            Some(_) => storm_until_it_dies(&mut server, &mut crowd, &mut random),
            None => storm_until_killed(&mut server, &mut crowd, &mut random),
        }
        server = start(folder.path(), point, &mut random);
        recounted(&server, ITEM, Instant::now() + RECOUNTED_WITHIN);
        crowd.check(&server, ITEM);
        assert_eq!(server.metric("heartline_drift"), 0.0);
        repaired += server.metric(REPAIRED);
    }
    assert_eq!(server.terminate(), Some(0));
    repaired
}

/// To die at the point, if there is one.
fn start(folder: &Path, point: Option<&str>, random: &mut StdRng) -> Process {
    let nth = random.random_range(1..=NTH_MAX);
    match point.map(|point| format!("{point}:{nth}")) {
        Some(point) => Process::start(folder, &[&FAST[..], &["--fail-point", &point]].concat()),
        None => Process::start(folder, &FAST),
    }
}

fn storm_until_killed(server: &mut Process, crowd: &mut Crowd, random: &mut StdRng) {
    let life = Duration::from_millis(random.random_range(5..250));
    thread::scope(|scope| {
        scope.spawn(|| storm(crowd, random));
        // Any moment is a good one.
        thread::sleep(life);
        server.kill();
    });
}

fn storm_until_it_dies(server: &mut Process, crowd: &mut Crowd, random: &mut StdRng) {
    storm(crowd, random);
    let ended = eventually("the death", || server.ended());
    assert_eq!(ended.signal(), Some(SIGABRT), "it died of something else");
}

fn storm(crowd: &mut Crowd, random: &mut StdRng) {
    let ends = (0..TURNS_MAX).any(|_| {
        crowd.say(random);
        !crowd.hear()
    });
    assert!(ends, "nothing ended it");
}
