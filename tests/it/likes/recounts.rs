//! Recounts of a server that lives, or was stopped in order. [`super::crashes`] has the others.

use std::thread;

use serde_json::json;

use super::{audit, set};
use crate::support::rest::{Node, call};
use crate::support::{Server, eventually};

/// Scenario: a host has an item recounted again and again while people like and unlike it. Method: no answer repairs anything, for
/// nothing is off, and in the end counter and facts are the same.
#[test]
fn a_recount_under_load_ends_exact() {
    let server = Server::start(&["--limits", "off"]);
    let host = server.token("hana", "host");
    let tokens: Vec<String> = (0..12).map(|n| server.token(&format!("u{n}"), "viewer")).collect();
    thread::scope(|scope| {
        for (n, token) in tokens.iter().enumerate() {
            let server = &server;
            scope.spawn(move || (0..30).for_each(|turn| drop(set(server, "show", token, (turn + n) % 3 != 0))));
        }
        eventually("the item", || (server.get("/v1/items/show", None).0 == 200).then_some(()));
        for _ in 0..10 {
            let (status, recounted) = server.post("/v1/items/show/recount", Some(&host), &json!({}));
            assert_eq!((status, &recounted["repaired"]), (200, &json!(0)), "{recounted}");
        }
    });
    let (facts, likes, drift) = audit(&server, "show");
    assert_eq!((likes, drift), (facts, 0));
    assert_eq!(server.metric("heartline_drift"), 0.0);
    assert_eq!(server.post("/v1/items/show/recount", Some(&server.token("ann", "viewer")), &json!({})).0, 403);
    server.stop();
}

/// A server that is not killed has nothing to repair at its next start.
#[test]
fn an_orderly_stop_leaves_nothing_to_recount() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_in(folder.path().to_owned(), &["--limits", "off"]);
    for n in 0..5 {
        set(&server, "show", &server.token(&format!("u{n}"), "viewer"), true);
    }
    server.stop();
    let server = Server::start_in(folder.path().to_owned(), &[]);
    assert_eq!(audit(&server, "show"), (5, 5, 0));
    let unlike = call("DELETE", &server.url("/v1/items/show/like"), Some(&server.token("u0", "viewer")), None);
    assert_eq!(unlike.1["likes"], 4);
    assert_eq!(server.metric("heartline_likes_repaired_total"), 0.0);
    server.stop();
}
