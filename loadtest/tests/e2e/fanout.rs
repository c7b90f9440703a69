//! Fan-out: two child processes, measured from outside.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loadtest::fanout::{self, FanoutConfig};

/// The mock as a process: built with the tests, as examples are.
pub fn mock() -> PathBuf {
    let bare = Path::new(env!("CARGO_BIN_EXE_loadtest"));
    let mock = bare.parent().unwrap().join("examples/mock");
    assert!(mock.exists(), "run the whole package's tests, or `cargo build -p loadtest --example mock` before");
    mock
}

/// Scenario: two hundred sockets, one window each. Method: frames that arrive must be those of the plan, on both sides, both processes must
/// have cost something, and must have ended with the run (their sockets are gone, the server drained).
#[test]
fn both_sides_deliver_what_was_planned_and_are_measured() {
    let config = FanoutConfig {
        server_bin: mock(),
        bare_bin: env!("CARGO_BIN_EXE_loadtest").into(),
        sockets: 200,
        hz: 10,
        rounds: 1,
        window: Duration::from_secs(2),
        is_quiet: true,
    };
    let report = fanout::run(&config).unwrap();
    assert!(report.violations.is_empty(), "{report}");
    assert!(report.server_median_us > 0.0 && report.bare_median_us > 0.0, "{report}");
    assert!(report.kb_per_idle_socket > 0.0, "{report}");
    assert_eq!(report.bare_windows[0].bytes, report.bare_windows[0].frames * 62);
}

/// Scenario: a server that is none. Method: a program that ends at once must be an error that says so, at once.
#[test]
fn a_server_that_does_not_come_up_is_an_error_and_not_a_hang() {
    let config = FanoutConfig {
        server_bin: "/bin/true".into(),
        bare_bin: env!("CARGO_BIN_EXE_loadtest").into(),
        sockets: 1,
        hz: 1,
        rounds: 1,
        window: Duration::from_secs(1),
        is_quiet: true,
    };
    let error = fanout::run(&config).unwrap_err();
    assert!(format!("{error:#}").contains("it has ended"), "{error:#}");
}
