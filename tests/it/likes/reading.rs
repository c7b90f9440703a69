//! Who likes what: lists, friends, one's own, and pages of items.

use serde_json::{Value, json};

use super::{names, pages, set};
use crate::support::Server;
use crate::support::rest::Node;

/// Scenario: eight people like a show one after the other, one takes it back. Method: pages of three are the whole list, newest first, none
/// twice; friends are answered in the order asked.
#[test]
fn pages_of_who_liked_are_complete_and_newest_first() {
    let server = Server::start(&["--limits", "off"]);
    for n in 0..8 {
        set(&server, "show", &server.token(&format!("u{n}"), "viewer"), true);
    }
    set(&server, "show", &server.token("u3", "viewer"), false);
    let expected: Vec<String> = (0..8).rev().filter(|n| *n != 3).map(|n| format!("u{n}")).collect();
    assert_eq!(pages(&server, "/v1/items/show/likes", None, "user"), expected);
    let (status, among) = server.post("/v1/items/show/likes/among", None, &json!({"users": ["u5", "zoe", "u3", "u1"]}));
    assert_eq!((status, among), (200, json!({"count": 2, "users": ["u5", "u1"]})));
    let many: Vec<String> = (0..1_001).map(|n| format!("u{n}")).collect();
    assert_eq!(server.post("/v1/items/show/likes/among", None, &json!({"users": many})).0, 422);
    assert_eq!(server.get("/v1/items/nowhere/likes", None).0, 404);
    assert_eq!(server.get("/v1/items/show/likes?cursor=x", None).0, 400);
    server.stop();
}

/// Somebody's likes are theirs: they and services may read them, nobody else.
#[test]
fn my_likes_are_mine() {
    let server = Server::start(&["--limits", "off"]);
    let (ann, bob) = (server.token("ann", "viewer"), server.token("bob", "viewer"));
    for item in ["a", "b", "c", "d"] {
        set(&server, item, &ann, true);
    }
    set(&server, "b", &ann, false);
    assert_eq!(pages(&server, "/v1/users/ann/likes", Some(&ann), "item"), ["d", "c", "a"]);
    assert_eq!(pages(&server, "/v1/users/ann/likes", Some(&server.token("shop", "service")), "item"), ["d", "c", "a"]);
    assert_eq!(server.get("/v1/users/ann/likes", Some(&bob)).0, 403);
    assert_eq!(server.get("/v1/users/ann/likes", None).0, 401);
    server.stop();
}

/// Scenario: a page of items, some of them cold, one unknown. Method: in the order asked, with counts, display and what the reader likes;
/// without a reader nothing is liked; more than 100 are refused.
#[test]
fn a_page_of_items_tells_counts_and_likes_in_one_request() {
    let server = Server::start(&["--limits", "off"]);
    let (host, ann) = (server.token("hana", "host"), server.token("ann", "viewer"));
    server.put("/v1/items/cold", Some(&host), &json!({"reactions": ["heart", "wow"]}));
    for _ in 0..3 {
        server.post("/v1/items/warm/taps", Some(&ann), &json!({"n": 100}));
    }
    set(&server, "warm", &ann, true);
    let counts = |hearts: i64, likes: i64| json!({"heart": hearts, "likes": likes});
    let seen = |entry: &Value| json!({"heart": entry["counts"]["taps"]["heart"], "likes": entry["counts"]["likes"]});
    let (status, page) = server.get("/v1/page?items=cold,nowhere,warm", Some(&ann));
    assert_eq!(status, 200, "{page}");
    let items = page["items"].as_array().unwrap();
    assert_eq!(names(&page["items"], "item"), ["cold", "nowhere", "warm"]);
    assert_eq!((seen(&items[0]), &items[0]["liked"]), (counts(0, 0), &json!(false)));
    assert_eq!(items[0]["counts"]["taps"]["wow"], 0);
    assert_eq!(items[1], json!({"item": "nowhere", "error": "not_found"}));
    assert_eq!((seen(&items[2]), &items[2]["liked"]), (counts(300, 1), &json!(true)));
    assert_eq!(items[2]["display"]["taps"]["heart"], "300");
    let (_, page) = server.post("/v1/page", None, &json!({"items": ["warm"]}));
    assert_eq!(page["items"][0]["liked"], false);
    let many = vec!["warm"; 101].join(",");
    assert_eq!(server.get(&format!("/v1/page?items={many}"), None).0, 422);
    assert_eq!(server.get("/v1/page?items=", None).0, 400);
    server.stop();
}

/// Scenario: somebody likes an item through one server and looks at a page at another, again and again, where the other keeps what it read of
/// them. Method: each answer is in the very next page, and in what a socket that opens there is told.
#[cfg(all(test_redis, test_mongodb))]
#[test]
fn a_like_is_seen_by_its_person_on_every_server_at_once() {
    let (pair, folder) = (crate::support::pair::Pair::start(), tempfile::tempdir().unwrap());
    let [one, other] = [(); 2].map(|()| pair.server(folder.path(), &[]));
    let ann = one.token("ann", "viewer");
    for turn in 0..12 {
        let liked = turn % 2 == 0;
        set(&one, "show", &ann, liked);
        for _ in 0..2 {
            let (_, page) = other.get("/v1/page?items=show", Some(&ann));
            assert_eq!(page["items"][0]["liked"], liked, "turn {turn}: {page}");
        }
        let told = crate::support::client::Client::viewer(&other, "show", &format!("?token={ann}")).wait_t("you");
        assert_eq!(told["liked"], liked, "turn {turn}");
    }
    assert_eq!(other.metric("heartline_own_likes_reads_total{by=\"kept\"}"), 12.0);
}
