//! The composition.

use std::path::Path;

use loadtest::bench::{self, BenchConfig};

use crate::fanout::mock;

/// Scenario: a try of all three runs. Method: each must have done something, have kept its promises, and be in the report.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_runs_are_made_and_reported() {
    let config = BenchConfig { server_bin: Some(mock()), scale: 0.02 };
    // The write loop is a hidden command of the program itself, which this test is not.
    let bare = Path::new(env!("CARGO_BIN_EXE_loadtest"));
    let report = bench::with_bare_bin(&config, bare.to_owned(), true).await.unwrap();
    assert!(report.is_passed(), "{report}");
    assert!(report.storm.taps_accepted > 0 && report.replay.acknowledged > 0, "{report}");
    assert!(report.fanout.server_windows[0].frames > 0, "{report}");
}

/// Scenario: no server was built. Method: an error at once that says how to build it.
#[tokio::test]
async fn a_missing_server_is_an_error_that_says_what_to_do() {
    let config = BenchConfig { server_bin: Some("target/no-such-heartline".into()), scale: 1.0 };
    let error = bench::run(&config, true).await.unwrap_err();
    assert!(format!("{error:#}").contains("cargo build --release"), "{error:#}");
}
