//! Replays.

use std::time::Duration;

use loadtest::replay::{self, ReplayConfig, ReplayReport};
use loadtest::trace::{self, Shape};

use crate::mock::{self, Fault};

async fn replay(fault: Fault, shape: Shape) -> ReplayReport {
    let server = mock::start(fault).await;
    let lines = trace::make(shape).unwrap();
    let target = format!("http://{}", server.address).parse().unwrap();
    let mut config = ReplayConfig::new(target, "m", lines);
    config.speed = 40.0;
    config.settle_max = if fault == Fault::Honest { Duration::from_secs(10) } else { Duration::from_millis(700) };
    replay::run(config).await.unwrap()
}

#[tokio::test]
async fn an_honest_server_passes_and_every_watcher_has_every_comment() {
    let report = replay(Fault::Honest, Shape { minutes: 1.0, ..Shape::default() }).await;
    assert!(report.violations.is_empty(), "{report}");
    assert!(report.comments > 500);
    assert_eq!((report.acknowledged, report.in_history), (report.comments, report.comments));
    assert_eq!(report.deliveries, 10 * report.comments as u64);
    assert_eq!(report.broadcast_last.samples, report.comments as u64);
}

#[tokio::test]
async fn every_kind_of_broken_promise_fails_the_replay() {
    let cases = [
        (Fault::DoublesComment, "came twice"),
        (Fault::ForgetsComment, "missing in the history"),
        (Fault::HistoryDouble, "2 times in the history"),
        (Fault::GarblesText, "another text"),
        (Fault::SwapsForOne, "elsewhere"),
        (Fault::SkipsForOne, "elsewhere"),
    ];
    let runs = cases.map(|(fault, named)| async move {
        let report = replay(fault, Shape { minutes: 0.2, ..Shape::default() }).await;
        assert!(report.violations.first.iter().any(|v| v.contains(named)), "{fault:?}: {report}");
    });
    futures_util::future::join_all(runs).await;
}
