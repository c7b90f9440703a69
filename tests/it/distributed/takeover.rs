//! One server after the other over the same pair of stores, and a Redis that loses something in between: small, and to be read first.

use std::time::Instant;

use redis::Commands;
use serde_json::json;

use super::Pair;
use crate::support::client::Client;
use crate::support::eventually;
use crate::support::process::Process;
use crate::support::redis::RedisServer;
use crate::support::rest::Node;

/// Slow enough to see something unflushed.
const FLUSH: [&str; 4] = ["--flush-ms", "500", "--tick-ms", "50"];

/// Taps and comments that are all acknowledged; answers how many.
fn act(client: &mut Client, taps: i64, comments: std::ops::Range<i64>) {
    for n in 0..taps {
        let ack = client.ask(&format!("t{n}"), json!({"t": "tap", "n": 3}));
        assert_eq!(ack["accepted"], 3, "{ack}");
    }
    for n in comments {
        let ack = client
            .ask(&format!("c{n}"), json!({"t": "comment", "text": format!("comment {n}"), "key": format!("k{n}")}));
        assert_eq!(ack["t"], "ack", "{ack}");
    }
}

fn flushed(server: &Process, taps: i64, comments: i64) {
    eventually("flushed", || {
        let is = (server.ledger("show", "taps.heart"), server.ledger("show", "comments"));
        (is == ((taps, 0, taps), (comments, 0, comments))).then_some(())
    });
    let texts: Vec<String> =
        server.history("show").iter().map(|comment| comment["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(texts, (0..comments).map(|n| format!("comment {n}")).collect::<Vec<_>>());
    assert_eq!(server.metric("heartline_drift"), 0.0);
}

/// Scenario: a server is killed between two halves of a show, another takes over, and ends it in order. Method: what was acknowledged is
/// durable once and in order; one `fold` and one `comments` write per flush at most.
#[test]
fn a_killed_server_leaves_nothing_behind_that_another_does_not_fold() {
    let pair = Pair::over(RedisServer::durable());
    let mut first = pair.start(&FLUSH);
    let mut client = Client::named(&first, "show", "ann");
    act(&mut client, 20, 0..5);
    first.kill();
    let mut second = pair.start(&FLUSH);
    let started = Instant::now();
    let mut client = Client::named(&second, "show", "ann");
    act(&mut client, 10, 5..8);
    flushed(&second, 90, 8);
    let flushes = started.elapsed().as_secs_f64() / 0.5 + 1.0;
    for kind in ["fold", "comments"] {
        let writes = second.metric(&format!("heartline_durable_writes_total{{kind=\"{kind}\"}}"));
        assert!(writes > 0.0 && writes <= flushes, "{writes} of {kind} in {flushes} flushes");
    }
    let host = second.token("hana", "host");
    let (status, ended) = second.post("/v1/items/show/end", Some(&host), &json!({}));
    assert_eq!((status, &ended["counts"]["taps"]["heart"]), (200, &json!(90)), "{ended}");
    assert_eq!(second.terminate(), Some(0));
}

/// Scenario: somebody empties Redis while a room lives. Method: no acknowledged tap or comment is missing in the end, and no number that
/// a viewer was shown went down.
#[test]
fn an_emptied_redis_gets_back_what_the_process_kept() {
    let pair = Pair::fresh();
    let mut server = pair.start(&FLUSH);
    let mut client = Client::named(&server, "show", "ann");
    let mut watcher = Client::viewer(&server, "show", "?observe=1");
    act(&mut client, 10, 0..3);
    flushed(&server, 30, 3);
    act(&mut client, 10, 3..5);
    let _: () = pair.redis.raw().flushall().unwrap();
    act(&mut client, 10, 5..6);
    flushed(&server, 90, 6);
    let mut shown = 0;
    watcher.wait_for("all taps", |message| {
        if let Some(hearts) = message["taps"]["heart"].as_i64().or(message["counts"]["taps"]["heart"].as_i64()) {
            assert!(hearts >= shown, "{hearts} after {shown}");
            shown = hearts;
        }
        shown == 90
    });
    assert_eq!(server.terminate(), Some(0));
}

/// Scenario: Redis is restarted under load. Method: acts wait or are refused and are then sent again; everything is there once.
#[test]
fn a_restarted_redis_is_found_again() {
    let mut pair = Pair::over(RedisServer::durable());
    let mut server = pair.start(&FLUSH);
    let mut client = Client::named(&server, "show", "ann");
    act(&mut client, 10, 0..3);
    pair.redis.kill();
    client.send(&json!({"t": "tap", "n": 5, "id": "during"}));
    pair.redis.start_again();
    assert_eq!(client.wait_for("the tap's ack", |answer| answer["id"] == "during")["accepted"], 5);
    act(&mut client, 0, 3..4);
    flushed(&server, 35, 4);
    assert_eq!(server.terminate(), Some(0));
}
