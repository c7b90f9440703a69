//! How viewers come in, and the race of their join with the room's frames.

use bytes::Bytes;

use super::{Relayed, arrived, opening};
use crate::acts::bench::{Seen, client_frame, counts_frame, event_frame, pair, until};
use crate::config::SocketConfig;
use crate::protocol::{CloseCode, Epoch};
use crate::room::Frame;

#[actix_rt::test]
async fn a_viewer_without_a_token_is_given_one() {
    let relayed = Relayed::new(SocketConfig::default());
    let mut client = relayed.adopt(opening("a", None)).await;
    let hello = client.expect("hello").await;
    assert_eq!(
        (&hello["token"], &hello["role"], &hello["user"]),
        (&"made".into(), &"anonymous".into(), &"anon:1".into())
    );
    let mut known = relayed.adopt(opening("a", Some("viewer ann"))).await;
    let hello = known.expect("hello").await;
    assert_eq!((hello.get("token"), &hello["limits"]["tap_n_max"]), (None, &100.into()));
}

#[actix_rt::test]
async fn a_bad_token_and_an_unknown_item_are_told_after_the_upgrade() {
    // A browser cannot read a refused upgrade: it is told by an error and a close code.
    let relayed = Relayed::new(SocketConfig::default());
    let mut bad = relayed.adopt(opening("a", Some("nonsense"))).await;
    let (messages, code) = bad.until_close().await;
    assert_eq!((messages.len(), &messages[0]["code"], code), (1, &"unauthorized".into(), Some(4_500)));
    let mut lost = relayed.adopt(opening("unknown", None)).await;
    let (messages, code) = lost.until_close().await;
    assert_eq!((&messages[0]["t"], &messages[1]["code"], code), (&"hello".into(), &"not_found".into(), Some(4_502)));
}

#[actix_rt::test]
async fn an_ended_item_is_shown_before_the_close() {
    let relayed = Relayed::new(SocketConfig::default());
    relayed.bench.room.ended.set(true);
    let mut client = relayed.adopt(opening("a", None)).await;
    arrived(&mut client).await;
    assert_eq!(client.until_close().await, (vec![], Some(4_504)));
    drop(client);
    until("its end", || relayed.relay.sockets() == 0).await;
    // The room has taken nobody in: a leave would be somebody else's.
    assert!(relayed.bench.room.leaves.borrow().is_empty());
}

#[actix_rt::test]
async fn a_resuming_socket_asks_the_room_with_its_place() {
    let relayed = Relayed::new(SocketConfig::default());
    let resume = Some((Epoch(uuid::Uuid::nil()), 7));
    let mut client = relayed.adopt(super::Opening { resume, ..opening("a", None) }).await;
    client.expect("hello").await;
    client.expect("resumed").await;
    client.expect("you").await;
}

#[actix_rt::test]
async fn a_join_race_neither_misses_nor_doubles_an_event() {
    // Scenario: a second viewer joins while events 1-5 and counts go out; the room's answer puts it at 3. Method: the answer is
    // held back until all of them have been handled; then it must get exactly 4, 5, the counts, and 6.
    let relayed = Relayed::new(SocketConfig::default());
    let (bench, mut first) = (&relayed.bench, relayed.viewer().await);
    bench.room.stalled.set(true);
    let mut second = relayed.adopt(opening("a", Some("viewer bob"))).await;
    second.expect("hello").await;
    until("the join", || bench.room.joins.borrow().len() == 2).await;
    for seq in 1..=5 {
        bench.broadcast(vec![event_frame(seq, 0), counts_frame(i64::try_from(seq).unwrap(), seq, 0)]).await;
    }
    bench.room.seq.set(3);
    bench.room.hearts.set(3);
    bench.room.resume();
    assert_eq!(second.expect("snapshot").await["seq"], 3);
    second.expect("you").await;
    assert_eq!(second.expect("comments").await["seq"], 4);
    assert_eq!(second.expect("comments").await["seq"], 5);
    assert_eq!(second.expect("counts").await["taps"]["heart"], 5);
    bench.broadcast(vec![event_frame(6, 0)]).await;
    assert_eq!(second.expect("comments").await["seq"], 6);
    for seq in 1..=5 {
        assert_eq!(first.expect("comments").await["seq"], seq);
        assert_eq!(first.expect("counts").await["taps"]["heart"], seq);
    }
    assert_eq!(first.expect("comments").await["seq"], 6);
}

#[actix_rt::test]
async fn counts_from_before_the_snapshot_do_not_take_the_number_back() {
    // Scenario: counts of 3 are handled while a join is under way that is answered with 7. Method: the next thing after `you`
    // must be what comes later.
    let relayed = Relayed::new(SocketConfig::default());
    let (bench, _first) = (&relayed.bench, relayed.viewer().await);
    bench.room.stalled.set(true);
    let mut second = relayed.adopt(opening("a", None)).await;
    until("the join", || bench.room.joins.borrow().len() == 2).await;
    bench.broadcast(vec![counts_frame(3, 0, 0)]).await;
    bench.room.hearts.set(7);
    bench.room.resume();
    arrived(&mut second).await;
    bench.broadcast(vec![counts_frame(8, 0, 0)]).await;
    assert_eq!(second.expect("counts").await["taps"]["heart"], 8);
}

#[actix_rt::test]
async fn frames_that_came_with_the_handshake_are_not_lost() {
    let relayed = Relayed::new(SocketConfig::default());
    let (mut client, server) = pair().await;
    let early = [client_frame(0x81, br#"{"t":"ping"}"#), client_frame(0x89, b"hi")[..5].to_vec()].concat();
    relayed.relay.adopt(server, Bytes::from(early), opening("a", None));
    arrived(&mut client).await;
    client.expect("pong").await;
    tokio::io::AsyncWriteExt::write_all(&mut client.stream, &client_frame(0x89, b"hi")[5..]).await.unwrap();
    assert_eq!(client.next().await, Seen::Pong(Bytes::from_static(b"hi")));
}

#[actix_rt::test]
async fn a_close_of_the_room_reaches_those_who_are_joining() {
    let relayed = Relayed::new(SocketConfig::default());
    let (bench, mut first) = (&relayed.bench, relayed.viewer().await);
    bench.room.stalled.set(true);
    let mut second = relayed.adopt(opening("a", None)).await;
    until("the join", || bench.room.joins.borrow().len() == 2).await;
    bench.broadcast(vec![event_frame(1, 0), Frame::Close(CloseCode::Ended)]).await;
    bench.room.resume();
    arrived(&mut second).await;
    second.expect("comments").await;
    assert_eq!(second.until_close().await, (vec![], Some(4_504)));
    first.expect("comments").await;
    assert_eq!(first.until_close().await, (vec![], Some(4_504)));
}

#[actix_rt::test]
async fn people_are_counted_once_each_and_observers_are_not() {
    // Scenario: a viewer and an observer come and go. Method: one join and one leave each, with whether they count.
    let relayed = Relayed::new(SocketConfig::default());
    let bench = &relayed.bench;
    let mut viewer = relayed.viewer().await;
    let mut observer = relayed.adopt(super::Opening { observe: true, ..opening("a", Some("viewer bob")) }).await;
    arrived(&mut observer).await;
    viewer.frame(0x88, &1_000_u16.to_be_bytes()).await;
    assert_eq!(viewer.until_close().await, (vec![], Some(1_000)));
    drop(observer);
    until("both left", || bench.room.leaves.borrow().len() == 2).await;
    let sorted = |list: &std::cell::RefCell<Vec<(crate::protocol::UserId, bool)>>| {
        let mut list = list.borrow().clone();
        list.sort();
        list
    };
    assert_eq!(sorted(&bench.room.joins), sorted(&bench.room.leaves));
    assert_eq!(sorted(&bench.room.joins).iter().map(|(_, counted)| *counted).collect::<Vec<_>>(), [true, false]);
    until("gone", || bench.door.stats.sockets() == 0).await;
    let by_code: Vec<_> = bench.door.stats.closed_by_code().filter(|(_, n)| *n > 0).collect();
    assert_eq!(by_code, [(Some(1_000), 1), (Some(1_006), 1)]);
}
