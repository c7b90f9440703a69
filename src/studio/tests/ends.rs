//! Hosts who read slowly, stop reading, fall silent, or are sent away.

use std::time::{Duration, Instant};

use super::Staged;
use crate::acts::bench::{Seen, counts_frame, event_frame, until};
use crate::acts::door::GoodbyeReport;
use crate::config::SocketConfig;

/// Frames of 8 KiB: more than what the kernel takes for one socket, its send buffer being as large as it likes.
const MORE_THAN_BUFFERS: u64 = 1_200;
const PAD_BYTES: usize = 8 * 1_024;

#[actix_rt::test]
async fn a_slow_host_gets_the_latest_counts() {
    let staged = Staged::new(SocketConfig::default());
    let mut host = staged.host("a").await;
    let last = i64::try_from(MORE_THAN_BUFFERS).unwrap();
    for hearts in 1..=last {
        staged.bench.broadcast(vec![counts_frame(hearts, 0, PAD_BYTES)]).await;
    }
    let mut seen = Vec::new();
    while seen.last() != Some(&last) {
        seen.push(host.expect("counts").await["taps"]["heart"].as_i64().unwrap());
    }
    assert!(seen.len() < 1_200 && seen.is_sorted(), "{} counts", seen.len());
    assert_eq!(staged.bench.door.stats.dropped().frames, 0, "conflated is not dropped");
}

#[actix_rt::test]
async fn past_the_bound_a_hosts_loss_is_declared_and_then_closed() {
    // Scenario: comments without end for a host who does not read. Method: an unbroken beginning, `dropped` for every one that
    // is missing up to the bound's hit, `bye`, 4001.
    let staged = Staged::new(SocketConfig { outbox_events_max: 16, ..SocketConfig::default() });
    let mut host = staged.host("a").await;
    let mut lost_at = 0;
    for seq in 1..=MORE_THAN_BUFFERS {
        staged.bench.broadcast(vec![event_frame(seq, PAD_BYTES)]).await;
        if staged.bench.door.stats.dropped().frames > 0 {
            lost_at = seq;
            break;
        }
    }
    let (messages, code) = host.until_close().await;
    let [read @ .., dropped, bye] = messages.as_slice() else { panic!("{messages:?}") };
    assert!(read.iter().zip(1_u64..).all(|(message, seq)| message["seq"] == seq), "an unbroken beginning");
    assert_eq!((&dropped["t"], &dropped["item"], &dropped["seq"]), (&"dropped".into(), &"a".into(), &lost_at.into()));
    assert_eq!(dropped["comments"], lost_at - read.len() as u64);
    assert_eq!((&bye["code"], code), (&4_001.into(), Some(4_001)));
    assert_eq!(host.next().await, Seen::End);
}

#[actix_rt::test]
async fn a_host_who_stopped_reading_cannot_freeze_its_own_timers() {
    // An actor whose client stopped reading is not polled by actix-web at all. Scenario: a host is flooded and never reads. Method:
    // its own clock ends it after the grace.
    let config = SocketConfig { outbox_events_max: 16, slow_grace: Duration::from_secs(1), ..SocketConfig::default() };
    let staged = Staged::new(config);
    let _stuck = staged.host("a").await;
    for seq in 1..=MORE_THAN_BUFFERS {
        staged.bench.broadcast(vec![event_frame(seq, PAD_BYTES)]).await;
    }
    assert!(staged.bench.door.stats.dropped().frames > 0, "the bound was hit");
    until("its end", || staged.studios.sockets() == 0).await;
    until("its leave", || staged.bench.room.leaves.borrow().len() == 1).await;
}

#[actix_rt::test]
async fn a_silent_host_is_closed() {
    let staged = Staged::new(SocketConfig { ping: Duration::from_secs(1), ..SocketConfig::default() });
    let (mut host, start) = (staged.host("a").await, Instant::now());
    let (messages, code) = host.until_close().await;
    assert_eq!((&messages[0]["t"], code), (&"bye".into(), Some(4_002)));
    assert!(start.elapsed() >= Duration::from_millis(2_500));
}

#[actix_rt::test]
async fn a_goodbye_reaches_hosts_and_reports_those_that_were_cut() {
    let staged = Staged::new(SocketConfig::default());
    let (mut host, _stuck) = (staged.host("a").await, staged.host("a").await);
    let studios = staged.studios.clone();
    let goodbye = actix_rt::spawn(async move { studios.goodbye(60_000).await });
    let (messages, code) = host.until_close().await;
    assert!(messages[0]["reconnect_after_ms"].as_u64().unwrap() <= 60_000);
    assert_eq!((&messages[0]["t"], code), (&"bye".into(), Some(4_000)));
    host.frame(0x88, &4_000_u16.to_be_bytes()).await;
    assert_eq!(goodbye.await.unwrap(), GoodbyeReport { told: 2, cut: 1 });
    let mut late = staged.adopt("a", Some("host eve")).await;
    assert_eq!(late.until_close().await.1, Some(4_000), "whoever comes later is sent away too");
}

#[actix_rt::test]
async fn hosts_of_a_room_that_died_come_again() {
    let mut staged = Staged::new(SocketConfig::default());
    let mut host = staged.host("a").await;
    staged.bench.restart_room().await;
    assert_eq!(host.until_close().await.1, Some(4_003));
}
