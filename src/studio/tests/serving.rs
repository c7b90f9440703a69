//! What a host gets and what comes of what a host sends.

use serde_json::json;

use super::Staged;
use crate::acts::bench::{Seen, client_frame, counts_frame, event_frame, until};
use crate::config::SocketConfig;
use crate::protocol::{CloseCode, ItemId, Kind};
use crate::room::Frame;

#[actix_rt::test]
async fn only_a_host_gets_a_studio() {
    // Method: no token, a bad one, a viewer's: an error that says why, and 4500; an unknown item: 4502.
    let staged = Staged::new(SocketConfig::default());
    for (token, why) in [(None, "unauthorized"), (Some("nonsense"), "unauthorized"), (Some("viewer ann"), "forbidden")]
    {
        let (messages, code) = staged.adopt("a", token).await.until_close().await;
        assert_eq!((messages.len(), &messages[0]["code"], code), (1, &why.into(), Some(4_500)));
    }
    let (messages, code) = staged.adopt("unknown", Some("host eve")).await.until_close().await;
    assert_eq!((&messages[0]["t"], &messages[1]["code"], code), (&"hello".into(), &"not_found".into(), Some(4_502)));
}

#[actix_rt::test]
async fn a_host_sees_all_its_items_and_counts_for_none() {
    let staged = Staged::new(SocketConfig::default());
    let mut host = staged.host("a,b").await;
    for (item, hearts) in [("a", 1), ("b", 2)] {
        let item = ItemId::parse(item).unwrap();
        staged.bench.room.broadcast(&item, vec![counts_frame(hearts, 0, 0), event_frame(1, 0)]).await;
        assert_eq!(host.expect("counts").await["taps"]["heart"], hearts);
        host.expect("comments").await;
    }
    assert_eq!(staged.bench.room.joins.borrow().iter().map(|(_, counted)| *counted).collect::<Vec<_>>(), [false; 2]);
    host.frame(0x88, &1_000_u16.to_be_bytes()).await;
    assert_eq!(host.until_close().await, (vec![], Some(1_000)));
    until("leaves", || staged.bench.room.leaves.borrow().len() == 2).await;
    until("gone", || staged.studios.sockets() == 0 && staged.bench.door.stats.sockets() == 0).await;
}

#[actix_rt::test]
async fn a_hosts_messages_go_to_the_item_that_they_name() {
    let staged = Staged::new(SocketConfig::default());
    let mut host = staged.host("a,b").await;
    host.send("{\"t\":\"tap\",\"item\":\"b\",\"n\":7}\n{\"t\":\"tap\",\"n\":1,\"id\":1}\n{\"t\":\"tap\",\"item\":\"a\",\"id\":2}").await;
    let refused = host.expect("error").await;
    assert_eq!((&refused["id"], &refused["code"]), (&1.into(), &"bad_request".into()));
    assert_eq!(host.expect("ack").await["id"], 2);
    until("the sums", || *staged.bench.room.sums.borrow() == [vec![(Kind::HEART, 7)]]).await;
}

#[actix_rt::test]
async fn a_join_race_neither_misses_nor_doubles_an_event() {
    // Scenario: events 1-5 and counts go out while the room's answer, which puts the host at 3, is held back.
    let staged = Staged::new(SocketConfig::default());
    let room = &staged.bench.room;
    room.stalled.set(true);
    let mut host = staged.adopt("a", Some("host eve")).await;
    host.expect("hello").await;
    until("the join", || room.joins.borrow().len() == 1).await;
    for seq in 1..=5 {
        staged.bench.broadcast(vec![event_frame(seq, 0), counts_frame(i64::try_from(seq).unwrap(), seq, 0)]).await;
    }
    room.seq.set(3);
    room.hearts.set(3);
    room.resume();
    assert_eq!(host.expect("snapshot").await["seq"], 3);
    host.expect("you").await;
    assert_eq!(host.expect("comments").await["seq"], 4);
    assert_eq!(host.expect("comments").await["seq"], 5);
    assert_eq!(host.expect("counts").await["taps"]["heart"], 5);
    staged.bench.broadcast(vec![event_frame(6, 0)]).await;
    assert_eq!(host.expect("comments").await["seq"], 6);
}

#[actix_rt::test]
async fn a_host_is_refused_on_the_wire_as_a_viewer_is() {
    // Scenario: fragments, a control frame between them, then each kind of violation. Method: this server's decoder judges for
    // both doors, whatever the actor's transport would do by itself.
    let staged = Staged::new(SocketConfig::default());
    let mut host = staged.host("a").await;
    host.frame(0x01, br#"{"t":"#).await;
    host.frame(0x89, b"p").await;
    host.frame(0x80, br#""ping"}"#).await;
    assert_eq!(host.next().await, Seen::Pong("p".into()));
    assert_eq!(host.message().await, json!({"t": "pong"}));
    let huge = [&[0x81, 0xFF][..], &(1_u64 << 30).to_be_bytes(), &[1, 2, 3, 4]].concat();
    let two_halves = [client_frame(0x01, &[b'x'; 5_000]), client_frame(0x80, &[b'x'; 5_000])].concat();
    let cases = [
        (client_frame(0x82, b"x"), 1_003),
        (client_frame(0x81, &[0xC3]), 1_007),
        (huge, 1_009),
        (two_halves, 1_009),
        (vec![0x81, 1, b'x'], 1_002),
    ];
    for (bytes, code) in cases {
        let mut host = staged.host("a").await;
        tokio::io::AsyncWriteExt::write_all(&mut host.stream, &bytes).await.unwrap();
        assert_eq!(host.until_close().await, (vec![], Some(code)));
        assert_eq!(host.next().await, Seen::End);
    }
}

#[actix_rt::test]
async fn one_ended_item_does_not_take_the_dashboard_of_the_others_down() {
    let staged = Staged::new(SocketConfig::default());
    let mut host = staged.host("a,b").await;
    let (a, b) = (ItemId::parse("a").unwrap(), ItemId::parse("b").unwrap());
    staged.bench.room.broadcast(&a, vec![event_frame(1, 0), Frame::Close(CloseCode::Ended)]).await;
    host.expect("comments").await;
    staged.bench.room.broadcast(&b, vec![event_frame(1, 0)]).await;
    host.expect("comments").await;
    staged.bench.room.broadcast(&b, vec![Frame::Close(CloseCode::Ended)]).await;
    assert_eq!(host.until_close().await, (vec![], Some(4_504)));
}
