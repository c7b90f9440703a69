//! Storms.

use std::time::Duration;

use loadtest::report::Violations;
use loadtest::storm::{self, Storm, StormConfig, StormReport};

use crate::mock::{self, Fault};

async fn storm(fault: Fault, change: impl FnOnce(&mut StormConfig)) -> StormReport {
    let server = mock::start(fault).await;
    let target = format!("http://{}", server.address).parse().unwrap();
    let mut config = StormConfig::new(target, "m");
    config.length = Duration::from_millis(800);
    config.settle_max = if matches!(fault, Fault::Honest | Fault::Refuses) {
        Duration::from_secs(10)
    } else {
        Duration::from_millis(700)
    };
    change(&mut config);
    storm::run(config).await.unwrap()
}

fn commenting(config: &mut StormConfig) {
    config.comments_per_s = 40.0;
}

#[tokio::test]
async fn an_honest_server_passes_and_the_figures_are_those_of_the_plan() {
    let report = storm(Fault::Honest, commenting).await;
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!((report.taps_sent, report.taps_accepted, report.total_after), (80, 80, 80));
    assert_eq!((report.comments_sent, report.comments_acknowledged), (32, 32));
    assert_eq!(report.ack.samples, 40 + 32);
    assert_eq!(report.broadcast.samples, 40);
    assert_eq!(report.sockets_to_the_end, 10);
}

#[tokio::test]
async fn taps_that_are_refused_aloud_are_no_violation_and_are_off_the_books() {
    let report = storm(Fault::Refuses, |config| config.n = 2).await;
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!((report.taps_sent, report.taps_refused), (80, 26));
    assert_eq!(report.total_after, 54);
}

#[tokio::test]
async fn a_second_storm_on_the_same_item_counts_from_where_it_stands() {
    let server = mock::start(Fault::Honest).await;
    let mut config = StormConfig::new(format!("http://{}", server.address).parse().unwrap(), "m");
    config.length = Duration::from_millis(300);
    commenting(&mut config);
    assert!(storm::run(config.clone()).await.unwrap().violations.is_empty());
    let report = storm::run(config).await.unwrap();
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!((report.total_before, report.total_after), (30, 60));
}

/// Each fault, and what the report must name.
#[tokio::test]
async fn every_kind_of_broken_promise_fails_the_storm() {
    let cases = [
        (Fault::LosesTap, 1.0, "1 lost"),
        (Fault::LosesTap, 0.0, "1 lost"),
        (Fault::DoublesTap, 0.5, "1 too many"),
        (Fault::RefusesSilently, 0.0, "1 lost"),
        (Fault::DipsCount, 0.5, "went down"),
        (Fault::DoublesComment, 0.5, "came twice"),
        (Fault::SkipsForOne, 0.5, "elsewhere"),
        (Fault::AcksTwice, 1.0, "second answer"),
        (Fault::NeverAcks, 1.0, "never answered"),
        (Fault::CutsOne, 1.0, "1 sockets were cut"),
        (Fault::BadAudit, 1.0, "does not add up"),
    ];
    let runs = cases.map(|(fault, with_id, named)| async move {
        let report = storm(fault, |config| {
            commenting(config);
            config.with_id = with_id;
        })
        .await;
        assert!(report.violations.first.iter().any(|v| v.contains(named)), "{fault:?}: {report}");
    });
    futures_util::future::join_all(runs).await;
}

#[tokio::test]
async fn a_cut_that_was_announced_makes_the_ledger_a_range() {
    let report = storm(Fault::CutsOne, |config| {
        config.may_be_cut = true;
        config.with_id = 1.0;
    })
    .await;
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!(report.sockets_to_the_end, 9);
    assert!(report.taps_unsure >= 1);
}

/// A storm on a server that is killed in its middle and comes back having lost so much.
async fn crash(lose: i64) -> Violations {
    let server = mock::start(Fault::Honest).await;
    let mut config = StormConfig::new(format!("http://{}", server.address).parse().unwrap(), "m");
    config.with_id = 1.0;
    config.may_be_cut = true;
    config.length = Duration::from_secs(60);
    commenting(&mut config);
    let mut storm = Storm::open(config).await.unwrap();
    let killed = async {
        // The middle: taps and comments have been acknowledged.
        while storm_acked(&storm) < 60 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        server.crash_and_restart(lose).await
    };
    let server = killed.await;
    let started = std::time::Instant::now();
    storm.load().await;
    assert!(started.elapsed() < Duration::from_secs(10), "the load ends with its sockets, not with its plan");
    assert!(storm.ledger().certain >= 60);
    let found = storm.compare_after_crash(&format!("http://{}", server.address).parse().unwrap()).await.unwrap();
    storm.close().await;
    found
}

fn storm_acked(storm: &Storm) -> u64 {
    storm.ledger().certain.min(storm.comments_acked().len() as u64 * 3)
}

#[tokio::test]
async fn a_crash_that_loses_nothing_passes_and_one_that_loses_what_was_acknowledged_fails() {
    let found = crash(0).await;
    assert!(found.is_empty(), "{found}");
    let found = crash(15).await;
    assert!(found.first.iter().any(|v| v.contains("lost: total") || v.contains(" lost")), "{found}");
    assert!(found.first.iter().any(|v| v.contains("acknowledged and is lost")), "{found}");
}
