//! Taps on their way up, and the answers of acts.

use std::sync::atomic::Ordering;

use super::Relayed;
use crate::acts::bench::until;
use crate::config::SocketConfig;
use crate::protocol::Kind;
use crate::room::Gather;

#[actix_rt::test]
async fn a_thousand_taps_are_one_message_to_the_room() {
    // Scenario: ten viewers tap 100 times each within a tick. Method: a pong of each says that all were taken; one gather is one
    // message with their sum.
    let relayed = Relayed::new(SocketConfig::default());
    let mut viewers = Vec::new();
    for _ in 0..10 {
        let mut viewer = relayed.viewer().await;
        viewer.send(&[r#"{"t":"tap","n":2}"#; 50].join("\n")).await;
        viewer.send(r#"{"t":"ping"}"#).await;
        viewer.expect("pong").await;
        viewers.push(viewer);
    }
    relayed.relay.address().send(Gather).await.unwrap();
    let sums = &relayed.bench.room.sums;
    until("the sums", || sums.borrow().iter().flatten().map(|(_, n)| n).sum::<u64>() == 1_000).await;
    // The sweep gathers too, and may have come in between.
    assert!(sums.borrow().len() <= 2);
}

#[actix_rt::test]
async fn a_room_that_stalls_is_not_sent_sums_without_end() {
    // Scenario: the room does not answer while taps go on for many ticks. Method: one message is outstanding, the rest is summed
    // and comes as one more.
    let relayed = Relayed::new(SocketConfig::default());
    let mut viewer = relayed.viewer().await;
    relayed.bench.room.stalled.set(true);
    for _ in 0..20 {
        viewer.send("{\"t\":\"tap\",\"n\":3}\n{\"t\":\"ping\"}").await;
        viewer.expect("pong").await;
        relayed.relay.address().send(Gather).await.unwrap();
    }
    let sums = &relayed.bench.room.sums;
    until("the first", || !sums.borrow().is_empty()).await;
    assert_eq!(*sums.borrow(), [vec![(Kind::HEART, 3)]]);
    relayed.bench.room.resume();
    until("the second", || {
        relayed.relay.address().do_send(Gather);
        sums.borrow().len() == 2
    })
    .await;
    assert_eq!(sums.borrow()[1], [(Kind::HEART, 57)]);
}

#[actix_rt::test]
async fn taps_over_the_rate_and_of_unknown_kinds_are_visibly_refused() {
    let relayed = Relayed::new(SocketConfig::default());
    let mut viewer = relayed.viewer().await;
    viewer.send(r#"{"t":"tap","kind":"wow","n":2}"#).await;
    let refused = viewer.expect("error").await;
    assert_eq!(
        (&refused["code"], &refused["act"], &refused["refused"]),
        (&"unprocessable".into(), &"tap".into(), &2.into())
    );
    relayed.bench.acts.taps_max.store(5, Ordering::Relaxed);
    viewer.send(r#"{"t":"tap","n":30}"#).await;
    let refused = viewer.expect("error").await;
    assert_eq!((&refused["code"], &refused["refused"]), (&"rate_limited".into(), &25.into()));
    assert_eq!(refused["retry_after_ms"], 50);
    relayed.relay.address().send(Gather).await.unwrap();
    until("what passed", || *relayed.bench.room.sums.borrow() == [vec![(Kind::HEART, 5)]]).await;
}

#[actix_rt::test]
async fn an_act_with_an_id_is_answered_with_it() {
    let relayed = Relayed::new(SocketConfig::default());
    let mut viewer = relayed.viewer().await;
    viewer.send(r#"{"t":"tap","n":4,"id":"x"}"#).await;
    let ack = viewer.expect("ack").await;
    assert_eq!((&ack["id"], &ack["accepted"], &ack["counts"]["taps"]["heart"]), (&"x".into(), &4.into(), &4.into()));
    viewer.send(r#"{"t":"comment","text":"hi","id":2}"#).await;
    let error = viewer.expect("error").await;
    assert_eq!((&error["id"], &error["act"], &error["code"]), (&2.into(), &"comment".into(), &"forbidden".into()));
}

#[actix_rt::test]
async fn the_taps_of_the_last_viewer_who_left_are_not_lost() {
    let relayed = Relayed::new(SocketConfig::default());
    let mut viewer = relayed.viewer().await;
    viewer.send("{\"t\":\"tap\",\"n\":9}\n{\"t\":\"ping\"}").await;
    viewer.expect("pong").await;
    drop(viewer);
    until("the sums", || *relayed.bench.room.sums.borrow() == [vec![(Kind::HEART, 9)]]).await;
}
