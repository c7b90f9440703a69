//! Taps and comments over REST.

use serde_json::{Value, json};

use crate::support::rest::Node;
use crate::support::{Server, eventually};

fn code(answer: &(u16, Value)) -> (u16, &str) {
    (answer.0, answer.1["error"]["code"].as_str().unwrap_or("none"))
}

/// Scenario: one person taps 5,000 times as fast as the door answers. Method: what was accepted over all answers is what the
/// ledger has, and every tap that was not is in a refusal that says when to come back.
#[test]
fn taps_are_counted_or_visibly_refused() {
    let server = Server::start(&[]);
    let viewer = server.token("ann", "viewer");
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..50 {
        let answer = server.post("/v1/items/show/taps", Some(&viewer), &json!({"n": 100}));
        match answer.0 {
            200 => {
                let n = answer.1["accepted"].as_i64().unwrap();
                assert!((1..=100).contains(&n), "{}", answer.1);
                (accepted, refused) = (accepted + n, refused + 100 - n);
            }
            _ => {
                assert_eq!(code(&answer), (429, "rate_limited"));
                assert!(answer.1["error"]["retry_after_ms"].as_u64().unwrap() > 0);
                refused += 100;
            }
        }
    }
    assert_eq!(accepted + refused, 5_000);
    assert!(accepted >= 300, "the burst passes: {accepted}");
    assert_eq!(server.ledger("show", "taps.heart").2, accepted);
    server.stop();
}

/// Scenario: values that a tap may not have. Method: each has the contract's status, and nothing is counted.
#[test]
fn a_refused_tap_is_not_counted() {
    let server = Server::start(&[]);
    let viewer = server.token("ann", "viewer");
    assert_eq!(server.post("/v1/items/show/taps", Some(&viewer), &json!({})).1["counts"]["taps"]["heart"], 1);
    for (body, status) in [
        (json!({"n": 0}), 422),
        (json!({"n": 101}), 422),
        (json!({"n": -1}), 422),
        (json!({"n": 1.5}), 400),
        (json!({"n": "1"}), 400),
        (json!({"kind": "wow"}), 422),
        (json!({"kind": "Wow"}), 400),
        (json!([]), 400),
    ] {
        let answer = server.post("/v1/items/show/taps", Some(&viewer), &body);
        assert_eq!(answer.0, status, "{body} {}", answer.1);
        assert_eq!(answer.1["error"]["retryable"], false);
    }
    assert_eq!(server.ledger("show", "taps.heart").2, 1);
    server.stop();
}

/// Scenario: the answer to a comment was lost and the client sends it again. Method: the same key a hundred times is one comment.
#[test]
fn a_repeated_key_is_one_comment() {
    let server = Server::start(&[]);
    let viewer = server.token("ann", "viewer");
    let post = |body: &Value| server.post("/v1/items/show/comments", Some(&viewer), body);
    let (status, first) = post(&json!({"text": "hello", "key": "k1"}));
    assert_eq!(status, 201, "{first}");
    for _ in 0..100 {
        let (status, again) = post(&json!({"text": "hello", "key": "k1"}));
        assert_eq!((status, &again["id"]), (200, &first["id"]), "{again}");
    }
    assert_eq!(post(&json!({"text": "other words", "key": "k1"})).0, 422, "a key is not reused for other content");
    assert_eq!(post(&json!({"text": "hello", "key": "k2"})).0, 201);
    let texts: Vec<Value> = server.history("show").into_iter().map(|comment| comment["text"].clone()).collect();
    assert_eq!(texts, ["hello", "hello"]);
    assert_eq!(server.ledger("show", "comments").2, 2);
    server.stop();
}

/// Scenario: history is read while some of it is flushed and some is not. Method: pages of two go back over everything, each once.
#[test]
fn history_pages_name_each_comment_once_across_the_flush() {
    let server = Server::start(&["--limits", "off", "--flush-ms", "100"]);
    let viewer = server.token("ann", "viewer");
    for n in 0..25 {
        let (status, answer) = server.post("/v1/items/show/comments", Some(&viewer), &json!({"text": format!("c{n}")}));
        assert_eq!(status, 201, "{answer}");
    }
    let expected: Vec<String> = (0..25).map(|n| format!("c{n}")).collect();
    let texts = || -> Vec<String> {
        let history = server.history("show").into_iter();
        history.map(|comment| comment["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts(), expected);
    eventually("everything is flushed", || (server.ledger("show", "comments").1 == 0).then_some(()));
    assert_eq!(texts(), expected);
    let (_, page) = server.get("/v1/items/show/comments?limit=2", None);
    assert_eq!((&page["comments"][0]["text"], &page["comments"][1]["text"]), (&json!("c23"), &json!("c24")));
    assert_eq!(server.get("/v1/items/show/comments?cursor=nonsense", None).0, 400);
    server.stop();
}

/// Scenario: a host closes the chat, then slows it. Method: viewers are told which of the two it is; the host may always speak.
#[test]
fn a_closed_or_slow_chat_says_so() {
    let server = Server::start(&[]);
    let (host, viewer) = (server.token("host", "host"), server.token("ann", "viewer"));
    let comment = |token: &str, text: &str| server.post("/v1/items/show/comments", Some(token), &json!({"text": text}));
    server.put("/v1/items/show", Some(&host), &json!({"comments_mode": "closed"}));
    assert_eq!(code(&comment(&viewer, "may I?")), (403, "forbidden"));
    assert_eq!(comment(&host, "no").0, 201);
    server.put("/v1/items/show", Some(&host), &json!({"comments_mode": "open", "slow_mode_ms": 60_000}));
    assert_eq!(comment(&viewer, "one").0, 201);
    let slow = comment(&viewer, "two");
    assert_eq!(code(&slow), (429, "rate_limited"));
    let wait = slow.1["error"]["retry_after_ms"].as_u64().unwrap();
    assert!((30_000..=60_000).contains(&wait), "{wait}");
    assert_eq!((comment(&host, "a").0, comment(&host, "b").0), (201, 201));
    server.stop();
}
