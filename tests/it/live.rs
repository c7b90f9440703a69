//! The main job: what one person does is seen by everybody, exactly, in one order, and outlives a stop.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::process::Process;
use crate::support::rest::Node;
use crate::support::{PATIENCE, Server, eventually};

/// Scenario: three people watch, one taps. Method: every socket's last count is the ledger's total, none ever went down.
#[test]
fn a_tap_is_seen_by_every_viewer_and_no_number_goes_down() {
    let server = Server::start(&["--flush-ms", "200", "--limits", "off"]);
    let mut viewers: Vec<Client> = (0..3).map(|_| Client::viewer(&server, "show", "")).collect();
    viewers.iter_mut().for_each(|viewer| drop(viewer.wait_t("you")));
    for _ in 0..50 {
        viewers[0].send(&json!({"t": "tap", "n": 7}));
        std::thread::sleep(Duration::from_millis(10));
    }
    for viewer in &mut viewers {
        let mut last = 0;
        viewer.wait_for("350 taps", |message| {
            if let Some(hearts) = message["taps"]["heart"].as_i64() {
                assert!(hearts >= last, "{hearts} after {last}");
                last = hearts;
            }
            last == 350
        });
    }
    eventually("folded", || (server.ledger("show", "taps.heart") == (350, 0, 350)).then_some(()));
    assert_eq!(server.metric("heartline_drift"), 0.0);
    drop(viewers);
    server.stop();
}

/// Scenario: several kinds, and one that the item does not take. Method: each has its own count; the other is refused with a code.
#[test]
fn kinds_are_counted_apart_and_unknown_ones_refused() {
    let server = Server::start(&[]);
    let host = server.token("hana", "host");
    let (status, item) = server.put("/v1/items/show", Some(&host), &json!({"reactions": ["heart", "wow"]}));
    assert_eq!(status, 201, "{item}");
    let mut viewer = Client::viewer(&server, "show", "");
    let ack = viewer.ask("a", json!({"t": "tap", "kind": "wow", "n": 3}));
    assert_eq!(
        (&ack["t"], &ack["accepted"], &ack["counts"]["taps"]["wow"]),
        (&json!("ack"), &json!(3), &json!(3)),
        "{ack}"
    );
    let error = viewer.ask("b", json!({"t": "tap", "kind": "boo"}));
    assert_eq!((&error["t"], &error["code"]), (&json!("error"), &json!("unprocessable")));
    viewer.send(&json!({"t": "tap", "kind": "boo"}));
    let error = viewer.wait_t("error");
    assert_eq!((&error["act"], &error["code"]), (&json!("tap"), &json!("unprocessable")));
    drop(viewer);
    server.stop();
}

/// Scenario: somebody comes late. Method: the snapshot has the comments so far, and what follows goes on from its number.
#[test]
fn who_comes_late_sees_the_last_comments_and_misses_nothing() {
    let server = Server::start(&["--limits", "off", "--flush-ms", "150"]);
    let mut writer = Client::named(&server, "show", "ann");
    for n in 0..60 {
        let ack = writer.ask(&format!("c{n}"), json!({"t": "comment", "text": format!("comment {n}")}));
        assert_eq!(ack["t"], "ack", "{ack}");
    }
    let mut late = Client::viewer(&server, "show", "");
    let snapshot = late.wait_t("snapshot");
    let texts: Vec<&str> =
        snapshot["comments"].as_array().unwrap().iter().map(|c| c["text"].as_str().unwrap()).collect();
    assert_eq!(texts.len(), 50);
    assert_eq!((texts[0], texts[49]), ("comment 10", "comment 59"));
    writer.send(&json!({"t": "comment", "text": "one more"}));
    let comments = late.wait_t("comments");
    assert_eq!(comments["seq"].as_u64().unwrap(), snapshot["seq"].as_u64().unwrap() + 1);
    assert_eq!(comments["list"][0]["text"], "one more");
    let history: Vec<Value> = server.history("show").iter().map(|comment| comment["text"].clone()).collect();
    let sent: Vec<Value> = (0..60).map(|n| json!(format!("comment {n}"))).chain([json!("one more")]).collect();
    assert_eq!(history, sent);
    drop((writer, late));
    server.stop();
}

/// Scenario: a phone loses its connection for a while. Method: it resumes and gets exactly what it missed; a number that is ahead,
/// or of another epoch, is not called recovered.
#[test]
fn a_cut_connection_resumes_without_gap_or_double() {
    let server = Server::start(&["--limits", "off"]);
    let mut writer = Client::named(&server, "show", "ann");
    let mut phone = Client::viewer(&server, "show", "");
    let snapshot = phone.wait_t("snapshot");
    let (epoch, seq) = (snapshot["epoch"].as_str().unwrap().to_owned(), snapshot["seq"].as_u64().unwrap());
    drop(phone);
    for text in ["a", "b", "c"] {
        writer.ask(text, json!({"t": "comment", "text": text}));
    }
    let mut again = Client::viewer(&server, "show", &format!("?resume={epoch}:{seq}"));
    let resumed = again.wait_t("resumed");
    assert_eq!((&resumed["recovered"], resumed["seq"].as_u64()), (&json!(true), Some(seq + 3)));
    for (n, text) in ["a", "b", "c"].iter().enumerate() {
        let comments = again.wait_t("comments");
        assert_eq!(comments["seq"].as_u64(), Some(seq + 1 + n as u64));
        assert_eq!(comments["list"][0]["text"], **text);
    }
    assert_eq!(again.wait_t("counts")["comments"], 3);
    again.wait_t("you");
    for resume in [format!("{epoch}:{}", seq + 9), format!("{}:0", uuid::Uuid::now_v7().simple())] {
        let mut lost = Client::viewer(&server, "show", &format!("?resume={resume}"));
        assert_eq!(lost.wait_t("resumed")["recovered"], false);
        lost.wait_t("snapshot");
    }
    drop((writer, again));
    server.stop();
}

/// Scenario: a retry of a comment whose answer was lost, and its key used for something else. Method: one comment, the same id; 422.
#[test]
fn a_repeated_key_is_the_same_comment() {
    let server = Server::start(&["--flush-ms", "100"]);
    let ann = server.token("ann", "viewer");
    let post = |text: &str| server.post("/v1/items/show/comments", Some(&ann), &json!({"text": text, "key": "k"}));
    let (first, made) = post("hello");
    assert_eq!(first, 201, "{made}");
    assert_eq!(post("hello"), (200, made.clone()), "not yet flushed");
    eventually("flushed", || (server.ledger("show", "comments") == (1, 0, 1)).then_some(()));
    assert_eq!(post("hello"), (200, made), "flushed");
    assert_eq!(post("other").0, 422);
    assert_eq!(server.history("show").len(), 1);
    server.stop();
}

/// Scenario: tabs and an overlay. Method: one person with two sockets is one viewer, an observer none.
#[test]
fn people_are_counted_not_sockets() {
    let server = Server::start(&[]);
    let mut first = Client::named(&server, "show", "ann");
    let _second = Client::named(&server, "show", "ann");
    let _overlay = Client::viewer(&server, "show", "?observe=1");
    let _bob = Client::named(&server, "show", "bob");
    first.wait_for("two viewers", |message| message["viewers"] == 2 || message["counts"]["viewers"] == 2);
    eventually("still two", || {
        let counts = server.get("/v1/items/show", None).1["counts"].clone();
        (server.metric("heartline_sockets") == 4.0 && counts["viewers"] == 2).then_some(())
    });
    drop((first, _second, _overlay, _bob));
    server.stop();
}

/// Scenario: a host ends the show while people tap. Method: what was acknowledged is in the final counts, which are durable when
/// the answer comes; sockets get `ending`, `ended`, 4504; acts are `gone`; a second end answers the same.
#[test]
fn an_ended_item_has_flushed_before_it_says_goodbye() {
    let server = Server::start(&["--limits", "off"]);
    let host = server.token("hana", "host");
    let mut viewer = Client::named(&server, "show", "ann");
    let mut acked = 0;
    for n in 0..20 {
        acked += viewer.ask(&format!("t{n}"), json!({"t": "tap", "n": 5}))["accepted"].as_i64().unwrap();
    }
    viewer.ask("c", json!({"t": "comment", "text": "bye"}));
    let (status, ended) = server.post("/v1/items/show/end", Some(&host), &json!({}));
    assert_eq!((status, ended["counts"]["taps"]["heart"].as_i64()), (200, Some(acked)), "{ended}");
    assert_eq!(server.ledger("show", "taps.heart"), (acked, 0, acked));
    viewer.wait_t("ending");
    assert_eq!(viewer.wait_t("ended")["counts"]["taps"]["heart"], acked);
    assert_eq!(viewer.wait_closed(), 4504);
    assert_eq!(server.post("/v1/items/show/end", Some(&host), &json!({})), (200, ended));
    assert_eq!(server.post("/v1/items/show/taps", Some(&host), &json!({})).0, 410);
    assert_eq!(server.post("/v1/items/show/comments", Some(&host), &json!({"text": "x"})).0, 410);
    assert_eq!(server.get("/v1/items/show", None).1["state"], "ended");
    let mut late = Client::viewer(&server, "show", "");
    late.wait_t("snapshot");
    late.wait_t("ended");
    assert_eq!(late.wait_closed(), 4504);
    server.stop();
}

/// Scenario: SIGTERM while many tap. Method: exit 0; after a restart the total is what was acknowledged and shown; every socket was
/// told to come back, each at a time of its own.
#[test]
fn a_stop_at_full_load_loses_nothing_and_spreads_the_herd() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Process::start(folder.path(), &["--limits", "off"]);
    let mut clients: Vec<Client> = (0..20).map(|_| Client::viewer(&server, "show", "")).collect();
    let (mut sent, mut acked, mut delays) = (0, 0, Vec::new());
    for client in &mut clients {
        for n in 0..30 {
            client.send(&json!({"t": "tap", "n": 4, "id": n}));
            sent += 4;
        }
    }
    assert_eq!(server.terminate(), Some(0));
    for client in &mut clients {
        while let Some(message) = client.next_within(Duration::from_secs(1)) {
            match message["t"].as_str() {
                Some("ack") => acked += message["accepted"].as_i64().unwrap(),
                Some("bye") => delays.push(message["reconnect_after_ms"].as_u64().unwrap()),
                _ => {}
            }
        }
        assert_eq!(client.closed, Some(4000));
    }
    assert_eq!(delays.len(), 20);
    delays.sort_unstable();
    delays.dedup();
    assert!(delays.len() > 10, "all told the same: {delays:?}");
    let mut server = Process::start(folder.path(), &[]);
    let (_, _, total) = server.ledger("show", "taps.heart");
    assert!((acked..=sent).contains(&total), "{total} not in {acked}..={sent}");
    assert_eq!(server.terminate(), Some(0));
}

/// Scenario: settings change under open sockets. Method: everybody gets `item`; a closed chat refuses viewers and takes hosts.
#[test]
fn a_hosts_settings_reach_everybody() {
    let server = Server::start(&[]);
    let host = server.token("hana", "host");
    let mut viewer = Client::named(&server, "show", "ann");
    viewer.wait_t("you");
    let (status, item) =
        server.put("/v1/items/show", Some(&host), &json!({"title": "Tonight", "comments_mode": "closed"}));
    assert_eq!((status, &item["title"]), (200, &json!("Tonight")));
    assert_eq!(viewer.wait_t("item")["title"], "Tonight");
    let refused = viewer.ask("c", json!({"t": "comment", "text": "hi"}));
    assert_eq!((&refused["t"], &refused["code"]), (&json!("error"), &json!("forbidden")));
    assert_eq!(server.post("/v1/items/show/comments", Some(&host), &json!({"text": "hi"})).0, 201);
    drop(viewer);
    server.stop();
}

/// Scenario: 200 people tap for ten flushes. Method: the metrics say at most one durable write of each kind per item and
/// flush, and at most one round trip of the hot store per tick.
#[test]
fn ten_thousand_taps_are_a_trickle_behind() {
    let server = Server::start(&["--limits", "off", "--flush-ms", "500"]);
    let mut clients: Vec<Client> = (0..200)
        .map(|n| if n == 0 { Client::named(&server, "show", "ann") } else { Client::viewer(&server, "show", "") })
        .collect();
    let started = std::time::Instant::now();
    let (ticks, trips) = (server.metric("heartline_ticks_total"), server.metric("heartline_hot_round_trips_total"));
    for round in 0..50 {
        clients.iter_mut().for_each(|client| client.send(&json!({"t": "tap"})));
        clients[0].send(&json!({"t": "comment", "text": format!("c{round}")}));
        std::thread::sleep(Duration::from_millis(80));
    }
    eventually("all in", || (server.ledger("show", "taps.heart") == (10_000, 0, 10_000)).then_some(()));
    let flushes = started.elapsed().as_secs_f64() / 0.5 + 1.0;
    for kind in ["fold", "comments"] {
        let writes = server.metric(&format!("heartline_durable_writes_total{{kind=\"{kind}\"}}"));
        assert!(writes <= flushes, "{writes} of {kind} in {flushes} flushes");
    }
    let (ticks, trips) =
        (server.metric("heartline_ticks_total") - ticks, server.metric("heartline_hot_round_trips_total") - trips);
    assert!(trips <= ticks + 1.0, "{trips} round trips in {ticks} ticks");
    assert!(started.elapsed() < PATIENCE * 2);
    drop(clients);
    server.stop();
}
