//! Stores that are restarted, emptied or gone while people tap and comment: nothing acknowledged is missing afterwards, durable counts
//! never go down, everybody is told, and service resumes by itself.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::RngExt;
use redis::Commands;

use super::book::{self, Told, Voice};
use super::{FAST, Pair, database_at, mongodb_address};
use crate::support::process::Process;
use crate::support::proxy::Proxy;
use crate::support::redis::RedisServer;
use crate::support::rest::Node;
use crate::support::soak::{rounds, seeded, soaks};
use crate::support::{PATIENCE, eventually};

/// How often durable counts are read meanwhile.
const READ_EVERY: Duration = Duration::from_millis(50);
const ITEM: &str = "show";

/// Scenario: Redis, with its append-only file, is killed and started again under load, several times. Method: see [`Show`].
#[test]
fn a_redis_that_is_restarted_under_load_loses_nothing() {
    let mut pair = Pair::over(RedisServer::durable());
    let (mut server, log) = pair.start_logging(&FAST);
    let mut show = Show::open(&server);
    let mut random = seeded();
    show.watched(&server, |show| {
        for _ in 0..rounds(3, 30) {
            show.go_on(Duration::from_millis(random.random_range(100..700)));
            pair.redis.kill();
            show.go_on(Duration::from_millis(random.random_range(0..700)));
            pair.redis.start_again();
            show.goes_on();
        }
    });
    show.close(&server);
    assert!(failures(&server, "hot") > 0.0);
    told(&log, &["the hot store does not answer", "the hot store answers again"]);
    assert_eq!(server.terminate(), Some(0));
}

/// Scenario: somebody empties Redis under load, again and again. Method: FLUSHALL at random moments.
#[test]
fn a_redis_that_is_emptied_under_load_gets_everything_back() {
    let pair = Pair::fresh();
    let (mut server, log) = pair.start_logging(&FAST);
    let mut show = Show::open(&server);
    let (mut random, mut raw) = (seeded(), pair.redis.raw());
    show.watched(&server, |show| {
        for _ in 0..rounds(8, 100) {
            show.go_on(Duration::from_millis(random.random_range(20..500)));
            let _: () = raw.flushall().unwrap();
        }
        show.goes_on();
    });
    show.close(&server);
    assert!(server.metric("heartline_laid_anew_total") > 0.0);
    told(&log, &["the hot store had lost state"]);
    assert_eq!(server.terminate(), Some(0));
}

/// Scenario: Redis is gone without a word, and what was sent to it arrives late. Method: a proxy swallows everything for longer than
/// every bound on the way: an answer and a connection (3 s each), the refusal of new acts, the wait of those that are under way. The last
/// two, 5 s and 30 s, are 2 s and 4 s here, so that 8 s are enough; a soak has them as they are, for 40 s.
#[test]
fn a_redis_that_is_gone_for_long_is_told_and_loses_nothing() {
    let (gone, bounds) = if soaks() {
        (Duration::from_secs(40), "")
    } else {
        (Duration::from_secs(8), "[rooms]\nstalled_after_ms = 2000\nact_timeout_ms = 4000\n")
    };
    let mut pair = Pair::fresh();
    let config = pair.folder.path().join("bounds.toml");
    std::fs::write(&config, bounds).unwrap();
    let proxy = Proxy::start(&pair.redis.address());
    pair.redis_url = format!("redis://{}/", proxy.address());
    let (mut server, log) = pair.start_logging(&[&FAST[..], &["--config", config.to_str().unwrap()]].concat());
    let mut show = Show::open(&server);
    show.watched(&server, |show| {
        show.go_on(Duration::from_secs(1));
        proxy.swallow();
        show.go_on(gone);
        proxy.heal();
        show.goes_on();
    });
    assert!(show.ann.count(Told::Refused) > 0, "new acts are refused before they enter");
    assert!(show.ann.count(Told::Unknown) > 0, "those under way are told that nobody knows");
    show.close(&server);
    assert!(failures(&server, "hot") > 0.0);
    told(&log, &["the connection to the hot store is given up", "the hot store answers again"]);
    assert_eq!(server.terminate(), Some(0));
}

/// Scenario: MongoDB is gone without a word. Method: a proxy swallows everything for longer than every bound on the way, of which the
/// longest, an answer of the driver's, is 15 s: for 18 s, in a soak for 60. Taps are acknowledged all the while.
#[test]
fn a_mongodb_that_is_gone_for_long_only_delays_the_folding() {
    let gone = Duration::from_secs(rounds(18, 60).into());
    let mut pair = Pair::fresh();
    let proxy = Proxy::start(mongodb_address());
    pair.mongodb_url = database_at(proxy.address());
    let (mut server, log) = pair.start_logging(&FAST);
    let mut show = Show::open(&server);
    show.watched(&server, |show| {
        show.go_on(Duration::from_secs(1));
        let before = show.ann.count(Told::Acked);
        proxy.swallow();
        show.go_on(gone);
        assert!(show.ann.count(Told::Acked) > before + 100, "{} acks", show.ann.count(Told::Acked));
        assert!(server.metric("heartline_flush_lag_seconds") > gone.as_secs_f64() / 2.0);
        proxy.heal();
        show.goes_on();
    });
    show.close(&server);
    assert!(failures(&server, "durable") > 0.0);
    told(&log, &["not flushed; stays dirty"]);
    assert_eq!(server.terminate(), Some(0));
}

/// One item under load: Ann taps, with an answer and without, and comments.
///
/// Checked each time: durable counts as read over REST never go down; acts with an answer are acknowledged or refused as
/// `unavailable`; in the end every tap that the server took is durable (its own count of them, and Ann's acks), every acknowledged comment
/// is there once and in order, drift reads 0, and an act is acknowledged again without anybody's doing.
pub struct Show {
    pub ann: Voice,
    host: String,
}

impl Show {
    pub fn open(server: &Process) -> Self {
        let ann = Voice::open(server, ITEM, &server.token("ann", "viewer"), "ann").unwrap();
        Self { ann, host: server.token("hana", "host") }
    }

    /// Does the work while somebody reads the durable counts.
    pub fn watched(&mut self, server: &Process, work: impl FnOnce(&mut Self)) {
        let over = AtomicBool::new(false);
        let host = self.host.clone();
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| never_down(server, &host, &over));
            {
                // Also if the work panics: the reader is waited for.
                let _end = End(&over);
                work(self);
            }
            assert!(reading.join().unwrap() > 1, "durable counts were not read");
        });
    }

    pub fn go_on(&mut self, for_long: Duration) {
        let until = Instant::now() + for_long;
        while Instant::now() < until {
            self.act();
        }
    }

    /// Until something that is sent from now on has been acknowledged.
    pub fn goes_on(&mut self) {
        let (since, acked) = (Instant::now(), self.ann.count(Told::Acked) + 64);
        while self.ann.count(Told::Acked) < acked {
            assert!(since.elapsed() < PATIENCE, "service does not resume");
            self.act();
        }
    }

    fn act(&mut self) {
        self.ann.tap();
        self.ann.tap_quietly();
        self.ann.say();
        self.ann.hear(Duration::from_millis(5));
        assert!(!self.ann.cut, "the socket was cut: {:?}", self.ann.closed());
    }

    pub fn close(mut self, server: &Process) {
        self.ann.hear_all();
        let taken = || server.metric("heartline_taps_accepted_total");
        eventually("everything that was taken is durable", || {
            let now = book::ledger(server, ITEM, &self.host)?;
            (now.durable_taps as f64 == taken()).then_some(())
        });
        let last = book::close(server, ITEM, &self.host, &[&self.ann]);
        assert_eq!(last.durable_taps as f64, taken());
    }
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Reads until it is over; answers how often there was something to read.
fn never_down(server: &Process, host: &str, over: &AtomicBool) -> usize {
    let (mut reads, mut taps, mut comments) = (0, 0, 0);
    while !over.load(Ordering::SeqCst) {
        if let Some(now) = book::ledger(server, ITEM, host) {
            assert!(now.durable_taps >= taps && now.durable_comments >= comments, "{now:?} after {taps}, {comments}");
            (reads, taps, comments) = (reads + 1, now.durable_taps, now.durable_comments);
        }
        std::thread::sleep(READ_EVERY);
    }
    reads
}

pub fn failures(server: &Process, store: &str) -> f64 {
    server.metric(&format!("heartline_store_failures_total{{store=\"{store}\"}}"))
}

/// Each of these is a line of the log.
pub fn told(log: &Path, lines: &[&str]) {
    let text = std::fs::read_to_string(log).unwrap();
    for line in lines {
        assert!(text.contains(line), "{line}: not in the log\n{text}");
    }
}
