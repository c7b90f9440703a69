//! A MongoDB that stands alone is killed in the middle of a flush, and under load, and comes back on its folder.

use std::time::Duration;

use rand::RngExt;

use super::outages::Show;
use super::{FAST, Pair, database_at};
use crate::support::mongodb_alone::MongoAlone;
use crate::support::soak::{rounds, seeded};

/// Scenario: the database dies when comments are about to be inserted, when a flight is about to be applied, when it has been, when
/// the document has been read. Method: a fail point holds the flush there while the database is killed and started again.
#[test]
fn a_database_that_dies_in_the_middle_of_a_flush_loses_nothing() {
    let mut alone = MongoAlone::start();
    let mut random = seeded();
    for _ in 0..rounds(1, 10) {
        for point in ["insert.before", "apply.before", "apply.after", "trim.before"] {
            let mut pair = Pair::fresh();
            pair.mongodb_url = database_at(&alone.address());
            let file = pair.folder.path().join("stands-still");
            let point = format!("{point}:{}=stall:{}", random.random_range(1..=3), file.display());
            let mut server = pair.start(&[&FAST[..], &["--fail-point", &point]].concat());
            let mut show = Show::open(&server);
            show.watched(&server, |show| {
                while !file.exists() {
                    show.go_on(Duration::from_millis(10));
                }
                alone.kill();
                alone.start_again();
                std::fs::remove_file(&file).unwrap();
                show.goes_on();
            });
            show.close(&server);
            assert_eq!(server.terminate(), Some(0), "{point}");
        }
    }
}

/// Scenario: it dies at any moment, and is away for a while. Method: killed at random moments under load. It may be back before anybody
/// notices, so what is told of it is the long outage's to check.
#[test]
fn a_database_that_is_restarted_under_load_loses_nothing() {
    let (mut pair, mut alone, mut random) = (Pair::fresh(), MongoAlone::start(), seeded());
    pair.mongodb_url = database_at(&alone.address());
    let mut server = pair.start(&FAST);
    let mut show = Show::open(&server);
    show.watched(&server, |show| {
        for _ in 0..rounds(2, 20) {
            show.go_on(Duration::from_millis(random.random_range(200..1_000)));
            alone.kill();
            show.go_on(Duration::from_millis(random.random_range(200..1_500)));
            alone.start_again();
            show.goes_on();
        }
    });
    show.close(&server);
    assert_eq!(server.terminate(), Some(0));
}
