//! Liking and taking likes back, through both doors.

use std::thread;

use serde_json::json;

use super::{answer, audit, set};
use crate::support::client::Client;
use crate::support::rest::{Node, call};
use crate::support::{Server, eventually};

/// Scenario: a double tap, a retry, a second device. Method: one person likes 200 times at once and takes it back 50 times at once:
/// each time one call of them changed something, the count moved by one, and there was no error.
#[test]
fn two_hundred_likes_of_one_person_are_one_fact() {
    let server = Server::start(&["--limits", "off"]);
    let ann = server.token("ann", "viewer");
    for (liked, calls, likes) in [(true, 200, 1), (false, 50, 0)] {
        let answers: Vec<_> = thread::scope(|scope| {
            let call = || scope.spawn(|| set(&server, "show", &ann, liked));
            let calls: Vec<_> = (0..calls).map(|_| call()).collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        let changed = answers.iter().filter(|answer| answer["changed"] == true).count();
        assert_eq!(changed, 1);
        assert!(answers.iter().all(|answer| answer["liked"] == liked), "{answers:?}");
        assert_eq!(audit(&server, "show"), (likes, likes, 0));
    }
    server.stop();
}

/// Scenario: a client that lost its answer sends the same like a thousand times. Method: over one socket, each with an id.
#[test]
fn a_like_sent_a_thousand_times_counts_once() {
    let server = Server::start(&["--limits", "off"]);
    let mut ann = Client::named(&server, "show", "ann");
    assert_eq!(ann.wait_t("you")["liked"], false);
    for n in 0..1_000 {
        ann.send(&json!({"t": "like", "id": n}));
        if n % 20 == 19 {
            // As many as a socket may have under way.
            ann.wait_for("the ack", |message| message["id"] == n);
        }
    }
    assert_eq!(ann.ask("last", json!({"t": "like"}))["changed"], false);
    assert_eq!(audit(&server, "show"), (1, 1, 0));
    server.stop();
}

/// Scenario: likes and unlikes come over REST and the socket while others watch. Method: acks have the REST fields, watchers see the
/// count move, a socket that opens is told what its person likes, wherever they liked it.
#[test]
fn a_like_is_seen_by_its_person_at_once_and_by_everybody_with_the_next_count() {
    let server = Server::start(&[]);
    let mut watcher = Client::viewer(&server, "show", "");
    let mut ann = Client::named(&server, "show", "ann");
    let ack = ann.ask("a", json!({"t": "like"}));
    assert_eq!(ack, json!({"t": "ack", "id": "a", "liked": true, "changed": true, "likes": 1}));
    watcher.wait_for("the count", |message| message["t"] == "counts" && message["likes"] == 1);
    assert_eq!(Client::named(&server, "show", "ann").wait_t("you")["liked"], true);
    assert_eq!(Client::named(&server, "show", "bob").wait_t("you")["liked"], false);
    assert_eq!(set(&server, "show", &server.token("bob", "viewer"), true), answer(true, true, 2));
    assert_eq!(ann.ask("b", json!({"t": "unlike"}))["likes"], 1);
    assert_eq!(ann.ask("c", json!({"t": "unlike"}))["changed"], false);
    watcher.wait_for("the count", |message| message["t"] == "counts" && message["likes"] == 1);
    server.stop();
}

/// Who may not like: nobody without a name, nobody on an item that is not theirs to act on, nobody after the end.
#[test]
fn likes_are_refused_where_they_may_not_be() {
    let server = Server::start(&["--auto-create", "false"]);
    let (host, ann) = (server.token("hana", "host"), server.token("ann", "viewer"));
    let like =
        |token: Option<&str>, item: &str| call("PUT", &server.url(&format!("/v1/items/{item}/like")), token, None).0;
    assert_eq!(like(Some(&ann), "show"), 404);
    server.put("/v1/items/show", Some(&host), &json!({}));
    let (_, anonymous) = server.post("/v1/anonymous", None, &json!({}));
    assert_eq!(like(None, "show"), 401);
    assert_eq!(like(anonymous["token"].as_str(), "show"), 403);
    assert_eq!(like(Some(&ann), "show"), 200);
    server.post("/v1/items/show/end", Some(&host), &json!({}));
    assert_eq!(like(Some(&server.token("bob", "viewer")), "show"), 410);
    server.stop();
}

/// Scenario: a show ends in the middle of a storm of likes. Method: every like that was acknowledged is in the final counts, and those
/// are what the facts say.
#[test]
fn the_final_count_has_every_like_that_was_acknowledged() {
    let server = Server::start(&["--limits", "off"]);
    let host = server.token("hana", "host");
    let tokens: Vec<String> = (0..60).map(|n| server.token(&format!("u{n}"), "viewer")).collect();
    server.put("/v1/items/show", Some(&host), &json!({}));
    let (accepted, ended) = thread::scope(|scope| {
        let like = |token: &String| {
            let (status, _) = call("PUT", &server.url("/v1/items/show/like"), Some(token), None);
            assert!([200, 410].contains(&status), "{status}");
            status == 200
        };
        let likers: Vec<_> = tokens
            .chunks(10)
            .map(|some| scope.spawn(move || some.iter().filter(|token| like(token)).count()))
            .collect();
        eventually("some likes", || (audit(&server, "show").0 > 5).then_some(()));
        let (status, ended) = server.post("/v1/items/show/end", Some(&host), &json!({}));
        assert_eq!(status, 200, "{ended}");
        (likers.into_iter().map(|liker| liker.join().unwrap()).sum::<usize>(), ended)
    });
    assert_eq!(ended["counts"]["likes"], accepted);
    assert_eq!(audit(&server, "show").0, accepted as i64);
    server.stop();
}
