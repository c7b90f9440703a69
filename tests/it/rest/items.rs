//! Items: created, changed, read, listed, ended.

use serde_json::{Value, json};

use crate::support::Server;
use crate::support::rest::Node;

/// Scenario: a host creates an item and changes one setting. Method: 201, then 200, and what was not sent is as it was.
#[test]
fn a_change_leaves_what_was_not_sent() {
    let server = Server::start(&[]);
    let host = server.token("ann", "host");
    let (status, made) =
        server.put("/v1/items/show", Some(&host), &json!({"title": " My show ", "reactions": ["heart", "wow"]}));
    assert_eq!((status, &made["title"], &made["state"]), (201, &json!("My show"), &json!("live")), "{made}");
    let (status, changed) = server.put("/v1/items/show", Some(&host), &json!({"slow_mode_ms": 1_000}));
    assert_eq!(status, 200, "{changed}");
    assert_eq!((&changed["title"], &changed["reactions"]), (&made["title"], &made["reactions"]));
    assert_eq!((&changed["slow_mode_ms"], &changed["started_at"]), (&json!(1_000), &made["started_at"]));
    let (status, read) = server.get("/v1/items/show", None);
    assert_eq!(status, 200);
    assert_eq!(
        (&read["counts"]["taps"], &read["display"]["taps"]["wow"]),
        (&json!({"heart": 0, "wow": 0}), &json!("0"))
    );
    assert_eq!(read["slow_mode_ms"], 1_000);
    server.stop();
}

/// Scenario: somebody reads what does not exist. Method: every read of an unknown item is 404, and none of them makes it.
#[test]
fn reading_never_makes_an_item() {
    let server = Server::start(&[]);
    let host = server.token("ann", "host");
    for path in ["/v1/items/nothing", "/v1/items/nothing/comments", "/v1/items/nothing/audit"] {
        let (status, answer) = server.get(path, Some(&host));
        assert_eq!((status, &answer["error"]["code"]), (404, &json!("not_found")), "{path}");
    }
    assert_eq!(server.get("/v1/items", None), (200, json!({"items": []})));
    server.stop();
}

/// Scenario: more items than a page holds. Method: pages by their cursors name each item once, and the filter by state holds.
#[test]
fn pages_of_items_name_each_once() {
    let server = Server::start(&[]);
    let host = server.token("ann", "host");
    for n in 0..7 {
        assert_eq!(server.put(&format!("/v1/items/i{n}"), Some(&host), &json!({})).0, 201);
    }
    assert_eq!(server.post("/v1/items/i3/end", Some(&host), &Value::Null).0, 200);
    assert_eq!(ids(&server, ""), ["i0", "i1", "i2", "i3", "i4", "i5", "i6"]);
    assert_eq!(ids(&server, "&state=live"), ["i0", "i1", "i2", "i4", "i5", "i6"]);
    assert_eq!(ids(&server, "&state=ended"), ["i3"]);
    for (query, status) in
        [("limit=0", 422), ("limit=101", 422), ("limit=x", 400), ("state=paused", 422), ("cursor=a/b", 400)]
    {
        assert_eq!(server.get(&format!("/v1/items?{query}"), None).0, status, "{query}");
    }
    server.stop();
}

fn ids(server: &Server, filter: &str) -> Vec<String> {
    let (mut ids, mut cursor) = (Vec::new(), String::new());
    loop {
        let (status, page) = server.get(&format!("/v1/items?limit=2{filter}{cursor}"), None);
        assert_eq!(status, 200, "{page}");
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 2, "{page}");
        ids.extend(items.iter().map(|item| item["item"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return ids,
        }
    }
}

/// Scenario: the show is over, and its end is asked for again. Method: the same final counts twice; acts are gone, reading is not.
#[test]
fn an_end_is_final_and_answered_alike_each_time() {
    let server = Server::start(&[]);
    let (host, viewer) = (server.token("ann", "host"), server.token("bob", "viewer"));
    server.put("/v1/items/show", Some(&host), &json!({}));
    assert_eq!(server.post("/v1/items/show/taps", Some(&viewer), &json!({"n": 7})).0, 200);
    assert_eq!(server.post("/v1/items/show/comments", Some(&viewer), &json!({"text": "bye"})).0, 201);
    let (status, ended) = server.post("/v1/items/show/end", Some(&host), &Value::Null);
    assert_eq!(status, 200, "{ended}");
    assert_eq!((&ended["counts"]["taps"]["heart"], &ended["counts"]["comments"]), (&json!(7), &json!(1)));
    assert_eq!(server.post("/v1/items/show/end", Some(&host), &Value::Null), (200, ended));
    for (path, body) in [("taps", json!({})), ("comments", json!({"text": "late"}))] {
        let (status, answer) = server.post(&format!("/v1/items/show/{path}"), Some(&viewer), &body);
        assert_eq!((status, &answer["error"]["code"]), (410, &json!("gone")), "{path} {answer}");
    }
    assert_eq!(server.put("/v1/items/show", Some(&host), &json!({"title": "again"})).0, 410);
    let (status, read) = server.get("/v1/items/show", None);
    assert_eq!((status, &read["state"], &read["counts"]["taps"]["heart"]), (200, &json!("ended"), &json!(7)));
    assert!(read["ended_at"].as_i64() >= read["started_at"].as_i64(), "{read}");
    assert_eq!(server.history("show").len(), 1);
    assert_eq!(server.ledger("show", "taps.heart"), (7, 0, 7));
    server.stop();
}
