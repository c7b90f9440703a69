//! The load generator's own checks against the production composition: a storm of taps, and a made show replayed.
//!
//! What it checks (every count on every socket, one order of comments, history, ledger) is tested in its own crate against servers
//! that break each promise. Here it only has to find nothing.

use std::time::{Duration, Instant};

use loadtest::replay::{self, ReplayConfig};
use loadtest::storm::{self, StormConfig};
use loadtest::target::Target;
use loadtest::trace::{self, Shape};

use crate::support::Server;
use crate::support::rest::Node;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future)
}

fn target(server: &Server) -> Target {
    server.url("").parse().unwrap()
}

/// Scenario: 200 people tap and talk for 15 seconds, some with acks. Method: the generator's own checks; and by the metrics, at most one
/// durable write of each kind per item and flush, and one step of the hot store per tick.
#[test]
fn a_storm_is_exact_on_every_socket_and_a_trickle_behind() {
    const FLUSH: Duration = Duration::from_millis(500);
    let server = Server::start(&["--limits", "off", "--flush-ms", "500"]);
    let started = Instant::now();
    let (ticks, trips) = (server.metric("heartline_ticks_total"), server.metric("heartline_hot_round_trips_total"));
    let storm = StormConfig {
        sockets: 200,
        taps_per_s: 2_000.0,
        comments_per_s: 20.0,
        length: Duration::from_secs(15),
        ..StormConfig::new(target(&server), "storm")
    };
    let report = block_on(storm::run(storm)).unwrap();
    assert!(report.violations.is_empty(), "{report}");
    let flushes = started.elapsed().as_secs_f64() / FLUSH.as_secs_f64() + 1.0;
    for kind in ["fold", "comments"] {
        let writes = server.metric(&format!("heartline_durable_writes_total{{kind=\"{kind}\"}}"));
        assert!(writes > 0.0 && writes <= flushes, "{writes} of {kind} in {flushes} flushes");
    }
    let ticks = server.metric("heartline_ticks_total") - ticks;
    let trips = server.metric("heartline_hot_round_trips_total") - trips;
    assert!(trips > 0.0 && trips <= ticks, "{trips} round trips in {ticks} ticks");
    assert_eq!(server.metric("heartline_drift"), 0.0);
    server.stop();
}

/// Scenario: four minutes of a made show, with the rates of the recorded one, at 20 times its speed before 100 watchers. Method: the
/// generator's own checks: every comment acknowledged, seen by all in one order, in the history once and in that order.
#[test]
fn a_replayed_show_is_in_the_history_once_and_in_order() {
    let server = Server::start(&["--limits", "off", "--flush-ms", "500"]);
    let lines = trace::make(Shape { seed: 11, minutes: 4.0, ..Shape::default() }).unwrap();
    let replay = ReplayConfig { speed: 20.0, watchers: 100, ..ReplayConfig::new(target(&server), "show", lines) };
    let report = block_on(replay::run(replay)).unwrap();
    assert!(report.violations.is_empty(), "{report}");
    server.stop();
}
