//! A slow reader: conflated, then declared, then closed; the others do not notice.

use std::time::Duration;

use super::Relayed;
use crate::acts::bench::{Seen, counts_frame, event_frame, until};
use crate::config::SocketConfig;

/// More than what the kernel takes for one socket in these tests.
const MORE_THAN_BUFFERS: i64 = 600;

#[actix_rt::test]
async fn a_slow_reader_gets_the_latest_counts_and_the_others_get_all() {
    // Scenario: 600 counts of 1 KiB while one of two viewers does not read. Method: the other has all 600; the slow one then
    // reads fewer, never falling, the last is the latest; it stays connected.
    let relayed = Relayed::new(SocketConfig::default());
    let (mut slow, mut quick) = (relayed.viewer().await, relayed.viewer().await);
    for hearts in 1..=MORE_THAN_BUFFERS {
        relayed.bench.broadcast(vec![counts_frame(hearts, 0, 1_024)]).await;
        assert_eq!(quick.expect("counts").await["taps"]["heart"], hearts);
    }
    let mut seen = Vec::new();
    while seen.last() != Some(&MORE_THAN_BUFFERS) {
        seen.push(slow.expect("counts").await["taps"]["heart"].as_i64().unwrap());
    }
    assert!(seen.len() < 600 && seen.is_sorted(), "{} counts", seen.len());
    relayed.bench.broadcast(vec![counts_frame(601, 0, 0)]).await;
    assert_eq!(slow.expect("counts").await["taps"]["heart"], 601);
    assert_eq!(relayed.bench.door.stats.dropped().frames, 0, "conflated is not dropped");
}

#[actix_rt::test]
async fn past_the_bound_the_loss_is_declared_and_then_closed() {
    // Scenario: 600 comments of 1 KiB while one of two viewers does not read. Method: the other has all; the slow one reads an
    // unbroken beginning, `dropped` for every one that is missing, `bye` and 4001.
    let relayed = Relayed::new(SocketConfig { outbox_events_max: 16, ..SocketConfig::default() });
    let (mut slow, mut quick) = (relayed.viewer().await, relayed.viewer().await);
    let mut lost_at = None;
    for seq in 1..=MORE_THAN_BUFFERS.unsigned_abs() {
        relayed.bench.broadcast(vec![event_frame(seq, 1_024)]).await;
        assert_eq!(quick.expect("comments").await["seq"], seq);
        if lost_at.is_none() && relayed.bench.door.stats.dropped().frames > 0 {
            lost_at = Some(seq);
        }
    }
    let lost_at = lost_at.expect("the bound was hit");
    let (messages, code) = slow.until_close().await;
    let [read @ .., dropped, bye] = messages.as_slice() else { panic!("{messages:?}") };
    for (message, seq) in read.iter().zip(1_u64..) {
        assert_eq!(message["seq"], seq, "an unbroken beginning");
    }
    assert_eq!((&dropped["t"], &dropped["seq"]), (&"dropped".into(), &lost_at.into()));
    assert_eq!(dropped["comments"], lost_at - read.len() as u64, "every missing comment is declared");
    assert_eq!((&bye["t"], &bye["code"], code), (&"bye".into(), &4_001.into(), Some(4_001)));
    assert_eq!(relayed.bench.door.stats.dropped().frames, 17);
    assert_eq!(slow.next().await, Seen::End);
}

#[actix_rt::test]
async fn a_reader_that_stopped_for_good_is_gone_after_the_grace() {
    // actix-web#2441: a peer with a full socket leaked. Scenario: it never reads again. Method: its socket goes, nobody else's.
    let config = SocketConfig { outbox_events_max: 16, slow_grace: Duration::from_secs(1), ..SocketConfig::default() };
    let relayed = Relayed::new(config);
    let (_stuck, mut quick) = (relayed.viewer().await, relayed.viewer().await);
    for seq in 1..=MORE_THAN_BUFFERS.unsigned_abs() {
        relayed.bench.broadcast(vec![event_frame(seq, 1_024)]).await;
        quick.expect("comments").await;
    }
    until("the stuck socket's end", || relayed.relay.sockets() == 1).await;
    let slow = relayed.bench.door.stats.closed_by_code().find(|(code, _)| *code == Some(4_001));
    assert_eq!(slow, Some((Some(4_001), 1)));
    relayed.bench.broadcast(vec![event_frame(9_999, 0)]).await;
    assert_eq!(quick.expect("comments").await["seq"], 9_999);
}

#[actix_rt::test]
async fn events_that_fit_the_bound_arrive_in_order_after_a_pause() {
    // Scenario: a viewer pauses, falls behind by events and counts, reads on. Method: every event in order, the latest counts
    // after the last event, nothing lost.
    let relayed = Relayed::new(SocketConfig::default());
    let mut paused = relayed.viewer().await;
    for seq in 1..=300 {
        let hearts = i64::try_from(seq).unwrap();
        relayed.bench.broadcast(vec![event_frame(seq, 1_024), counts_frame(hearts, seq, 0)]).await;
    }
    let (mut next, mut hearts) = (1, 0);
    while (next, hearts) != (301, 300) {
        let message = paused.message().await;
        if message["t"] == "comments" {
            assert_eq!(message["seq"], next);
            next += 1;
        } else {
            assert!(message["taps"]["heart"].as_i64().unwrap() > hearts);
            hearts = message["taps"]["heart"].as_i64().unwrap();
        }
    }
    assert_eq!(relayed.bench.door.stats.dropped().frames, 0);
}
