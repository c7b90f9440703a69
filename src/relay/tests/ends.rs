//! How sockets end: silence, goodbye, a room that is no more, violations.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::{Relayed, opening};
use crate::acts::bench::{Seen, until};
use crate::acts::door::{Goodbye, GoodbyeReport};
use crate::config::SocketConfig;

#[actix_rt::test]
async fn a_silent_client_is_closed_and_one_that_pongs_is_not() {
    // Scenario: pings every second, one client answers them and one does not. Method: the silent one is closed with 4002 once 2.5
    // pings have passed and not before; the other is still served then.
    let relayed = Relayed::new(SocketConfig { ping: Duration::from_secs(1), ..SocketConfig::default() });
    let (mut silent, mut alive) = (relayed.viewer().await, relayed.viewer().await);
    let start = Instant::now();
    let answering = async {
        loop {
            if alive.next().await == Seen::Ping {
                alive.frame(0x8A, &[]).await;
            }
        }
    };
    let silence = async { silent.until_close().await };
    let (messages, code) = tokio::select! { end = silence => end, () = answering => unreachable!() };
    assert_eq!((&messages[0]["t"], &messages[0]["code"], code), (&"bye".into(), &4_002.into(), Some(4_002)));
    assert!(start.elapsed() >= Duration::from_millis(2_500));
    alive.send(r#"{"t":"ping"}"#).await;
    alive.expect("pong").await;
}

#[actix_rt::test]
async fn a_goodbye_tells_each_socket_its_own_time_to_return() {
    // Scenario: 20 viewers, one of which never reads nor closes, at shutdown. Method: each is told 4000 and a delay within the
    // spread, not all the same; the report names the one that had to be cut.
    let relayed = Relayed::new(SocketConfig::default());
    let mut clients = Vec::new();
    for _ in 0..20 {
        clients.push(relayed.viewer().await);
    }
    let _stuck = relayed.viewer().await;
    let goodbye = actix_rt::spawn(relayed.relay.address().send(Goodbye { spread_ms: 60_000 }));
    let mut delays = BTreeSet::new();
    for client in &mut clients {
        let (messages, code) = client.until_close().await;
        assert_eq!((&messages[0]["t"], &messages[0]["code"], code), (&"bye".into(), &4_000.into(), Some(4_000)));
        delays.insert(messages[0]["reconnect_after_ms"].as_u64().unwrap());
        client.frame(0x88, &4_000_u16.to_be_bytes()).await;
    }
    assert!(delays.len() > 10 && delays.last() <= Some(&60_000), "{delays:?}");
    assert_eq!(goodbye.await.unwrap().unwrap(), GoodbyeReport { told: 21, cut: 1 });
    let mut late = relayed.adopt(opening("a", None)).await;
    assert_eq!(late.until_close().await.1, Some(4_000), "whoever comes later is sent away too");
}

#[actix_rt::test]
async fn sockets_of_a_room_that_died_come_again_and_find_the_new_one() {
    // Scenario: the room's actor dies; a new one takes its place before the relay notices. Method: old sockets get 4003, also if
    // it is a newcomer that finds the new room; the newcomer is served, and the new room hears of no leave of the old ones.
    let mut relayed = Relayed::new(SocketConfig::default());
    let mut old = relayed.viewer().await;
    relayed.bench.restart_room().await;
    let mut new = relayed.viewer().await;
    let (messages, code) = old.until_close().await;
    assert_eq!((&messages[0]["t"], code), (&"bye".into(), Some(4_003)));
    drop(old);
    until("the old one's end", || relayed.relay.sockets() == 1).await;
    assert!(relayed.bench.room.leaves.borrow().is_empty());
    new.send(r#"{"t":"ping"}"#).await;
    new.expect("pong").await;
    relayed.bench.restart_room().await;
    assert_eq!(new.until_close().await.1, Some(4_003), "the sweep notices too");
}

#[actix_rt::test]
async fn a_violation_is_told_by_its_code_and_ends_the_socket() {
    // Scenario: a binary frame, text that is not UTF-8, an oversized declaration, an unmasked frame. Method: the RFC's code, then the end.
    let relayed = Relayed::new(SocketConfig::default());
    let huge = [&[0x81, 0xFF][..], &(1_u64 << 30).to_be_bytes(), &[1, 2, 3, 4]].concat();
    let cases: [(Vec<u8>, u16); 4] = [
        (crate::acts::bench::client_frame(0x82, b"x"), 1_003),
        (crate::acts::bench::client_frame(0x81, &[0xC3]), 1_007),
        (huge, 1_009),
        (vec![0x81, 1, b'x'], 1_002),
    ];
    for (bytes, code) in cases {
        let mut viewer = relayed.viewer().await;
        tokio::io::AsyncWriteExt::write_all(&mut viewer.stream, &bytes).await.unwrap();
        assert_eq!(viewer.until_close().await, (vec![], Some(code)));
        assert_eq!(viewer.next().await, Seen::End);
    }
    until("their ends", || relayed.relay.sockets() == 0).await;
}
