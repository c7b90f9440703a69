//! `kill -9` of the embedded stores: nothing answered is lost, nothing doubled.
//!
//! The test binary starts itself as the process to be killed: the ignored test below is that process's main. It says on its
//! standard output what it hands over and what was answered; the parent kills it at a random line, opens the folder and compares.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use heartline::protocol::{Counter, ItemId};
use heartline::store::durable::DurableStore;
use heartline::store::durable::sqlite::{OpenError, SqliteStore};
use heartline::store::hot::journal::{Bounds, Contribution, Journal, Next};
use heartline::store::hot::memory::{MemoryHot, Settings};
use heartline::store::hot::{HotStore, Standing};
use rand::{RngExt, SeedableRng};

use super::support::*;

const FOLDER: &str = "HEARTLINE_TEST_KILL_FOLDER";
const RUN: &str = "HEARTLINE_TEST_KILL_RUN";
/// Comment ids of one run: run × this + number.
const RUN_SIZE: u128 = 1_000_000;
const KILLS: u128 = 12;

/// Twelve processes in turn on one folder, each killed at a random line of what it says.
#[test]
fn kill_between_any_two_commits_loses_nothing_answered_and_doubles_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = rand::rngs::Xoshiro256PlusPlus::seed_from_u64(3);
    let (mut answered, mut handed_over) = (BTreeSet::new(), 0);
    for run in 1..=KILLS {
        let mut child = Victim::start(folder.path(), run);
        let (said_answered, said_handed_over) = child.kill_after(rng.random_range(2..150));
        answered.extend((1..=said_answered).map(|n| run * RUN_SIZE + n));
        handed_over += said_handed_over;
        let stored = everything(folder.path());
        assert!(answered.is_subset(&stored), "run {run}: an answered comment is gone");
        assert!(stored.len() as u128 <= handed_over, "run {run}: more than was handed over");
    }
}

/// While a process has the folder, no other one gets it.
#[test]
fn a_second_process_on_the_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Victim::start(folder.path(), 1);
    child.next_line();
    let refused = SqliteStore::open(folder.path()).err().unwrap();
    assert!(matches!(refused, OpenError::InUse { .. }), "{refused}");
    child.kill_after(1);
    SqliteStore::open(folder.path()).unwrap();
}

/// Recovers the folder and answers all comments, after checking that the counts fit them.
fn everything(folder: &Path) -> BTreeSet<u128> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let sqlite = Arc::new(SqliteStore::open(folder).unwrap());
        let settings = Settings { writer: writer(9), tick: Duration::from_millis(1), seed: 9 };
        let (hot, recovered) = MemoryHot::recover(sqlite.clone(), &*sqlite, settings).await.unwrap();
        assert_eq!(recovered.unreachable, 0);
        let a = item("a");
        hot.align(&a, &sqlite.document(&a).await.unwrap()).await.unwrap();
        let mut all = ids(&sqlite.comments(&a, None, usize::MAX).await.unwrap());
        let durable = all.len();
        all.extend(ids(&hot.unflushed_comments(&a).await.unwrap()));
        let distinct: BTreeSet<_> = all.into_iter().collect();
        let total = stood(&hot, read(&a)).await.totals.get(Counter::Comments);
        assert_eq!(total, i64::try_from(distinct.len()).unwrap(), "{durable} of them durable");
        sqlite.close().await;
        distinct
    })
}

struct Victim {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Victim {
    fn start(folder: &Path, run: u128) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "contract::kill::main_of_the_process_to_be_killed", "--ignored", "--nocapture"])
            .env(FOLDER, folder)
            .env(RUN, run.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next word and number that it says.
    fn next_line(&mut self) -> (String, u128) {
        loop {
            let line = self.lines.next().expect("the process ended by itself").unwrap();
            if let Some(("handed-over" | "answered", number)) = line.split_once(' ') {
                return (line.split(' ').next().unwrap().to_owned(), number.parse().unwrap());
            }
        }
    }

    /// Kills it when it has said so many lines; the highest number answered, and the highest handed over.
    fn kill_after(&mut self, lines: usize) -> (u128, u128) {
        let (mut answered, mut handed_over) = (0, 0);
        for _ in 0..lines {
            self.take(&mut answered, &mut handed_over);
        }
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        // What it said before it died, though nobody had read it yet, counts too.
        for line in self.lines.by_ref().map_while(Result::ok) {
            match line.split_once(' ').map(|(word, number)| (word, number.parse())) {
                Some(("answered", Ok(number))) => answered = number,
                Some(("handed-over", Ok(number))) => handed_over = number,
                _ => {}
            }
        }
        (answered, handed_over)
    }

    fn take(&mut self, answered: &mut u128, handed_over: &mut u128) {
        match self.next_line() {
            (word, number) if word == "answered" => *answered = number,
            (_, number) => *handed_over = number,
        }
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Contributes comments one by one and flushes all the time, until it is killed.
#[test]
#[ignore = "the process that the tests above start and kill"]
fn main_of_the_process_to_be_killed() {
    let folder = std::env::var(FOLDER).expect("started by the tests above");
    let run: u128 = std::env::var(RUN).unwrap().parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let sqlite = Arc::new(SqliteStore::open(Path::new(&folder)).unwrap());
        let settings =
            Settings { writer: writer(1_000 + run), tick: Duration::from_millis(1), seed: u64::try_from(run).unwrap() };
        let (hot, _) = MemoryHot::recover(sqlite.clone(), &*sqlite, settings).await.unwrap();
        let a = item("a");
        hot.align(&a, &sqlite.document(&a).await.unwrap()).await.unwrap();
        tokio::join!(contribute(&hot, &a, run, settings), flush(&hot, &sqlite, &a));
    });
}

async fn contribute(hot: &MemoryHot, a: &ItemId, run: u128, settings: Settings) {
    let mut journal = Journal::new(settings.writer, 0, Bounds { numbers_max: 4_096, reoffer: Duration::from_secs(1) });
    for n in 1.. {
        let increments = [(Counter::Comments, 1)].into_iter().collect();
        let comments = vec![comment(run * RUN_SIZE + n)];
        journal.contribute(Contribution { increments, comments }, Instant::now()).unwrap();
        say_line("handed-over", n);
        let offer = journal.offer(Instant::now()).unwrap();
        let standing = hot.step(step(a, offer)).await.unwrap();
        assert!(matches!(standing, Standing::At(_)));
        assert_eq!(journal.answer(&standing, Instant::now()), Next::Settled);
        say_line("answered", n);
    }
}

async fn flush(hot: &MemoryHot, sqlite: &SqliteStore, a: &ItemId) {
    loop {
        if let Some(flight) = hot.claim(a, &[]).await.unwrap() {
            sqlite.insert_comments(a, &flight.comments).await.unwrap();
            sqlite.apply(&[flight]).await.unwrap();
            hot.align(a, &sqlite.document(a).await.unwrap()).await.unwrap();
        }
        tokio::task::yield_now().await;
    }
}

fn say_line(word: &str, number: u128) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{word} {number}").unwrap();
    out.flush().unwrap();
}
