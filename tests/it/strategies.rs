//! Write-behind against the plain way: the load generator's comparison, small and short, over the real stores.
//!
//! What it checks is tested in its own crate; here it has to find nothing, and its figures have to be measured and not left at zero.

use std::time::Duration;

use loadtest::strategies::{self, StrategiesConfig};

use crate::support::mongodb;

/// Scenario: people tap on two items through the server, and then tap by tap past it. Method: the run's own checks (round trips within
/// ticks, folds within items times flushes, every tap durable, both books); and our durable writes are a fraction of the plain way's.
#[test]
fn the_stores_see_a_trickle_of_what_the_plain_way_sends_them() {
    let config = StrategiesConfig {
        mongodb_url: Some(mongodb::url().to_owned()),
        items: 2,
        sockets: 2,
        taps: 1_000,
        length: Duration::from_secs(1),
        n: 5,
        compared: Duration::from_secs(1),
        flush: Duration::from_millis(500),
        live_items: 20,
        comments: 5,
        ..StrategiesConfig::new(env!("CARGO_BIN_EXE_heartline").into())
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let report = runtime.block_on(strategies::run(config)).unwrap();
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!((report.million.taps_sent, report.million.taps_durable), (1_000, 1_000), "{report}");
    assert!(report.plain_redis.taps_answered > 0 && report.plain_mongodb.taps_answered > 0, "{report}");
    assert!(report.ratios.durable_writes > 5.0, "{report}");
    // A hash with three counters and a writer's id is some hundred bytes; comments are kept beside it.
    assert!((100.0..5_000.0).contains(&report.bytes.keys_tapped), "{report}");
    assert!(report.bytes.keys_talked > report.bytes.keys_tapped + 5.0 * 60.0, "{report}");
    assert!(report.bytes.used_tapped > report.bytes.keys_tapped / 2.0, "{report}");
}
