//! Who may do what over REST.

use std::path::Path;

use heartline::auth::{Auth, Caller};
use heartline::clock;
use heartline::config::Config;
use heartline::protocol::{ItemId, Millis, Role, UserId};
use serde_json::{Value, json};

use crate::support::Server;
use crate::support::rest::Node;

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// A token as an application's back end would sign it.
fn signed(sub: &str, role: Role, items: Option<&[&str]>, ttl_ms: i64) -> String {
    let config = Config::from_layers(["heartline", "--jwt-secret", KEY], &|_| None).unwrap();
    let auth = Auth::open(&config.auth, Path::new("unused")).unwrap();
    let items = items.map(|items| items.iter().map(|item| ItemId::parse(item).unwrap()).collect());
    let expires = Millis(clock::wall().0 + ttl_ms);
    auth.issue(Caller { user: UserId::parse(sub).unwrap(), role, items, name: None, expires }).unwrap().token
}

fn status(server: &Server, method: &str, path: &str, token: Option<&str>) -> u16 {
    match method {
        "GET" => server.get(path, token).0,
        "PUT" => server.put(path, token, &json!({})).0,
        _ => server.post(path, token, &json!({"text": "hello"})).0,
    }
}

/// Scenario: each role tries each call. Method: the table of the contract, on one item, the end last.
#[test]
fn nobody_does_more_than_the_role_allows() {
    let server = Server::start(&["--jwt-secret", KEY]);
    let token = |sub: &str, role, items| signed(sub, role, items, 60_000);
    let host = token("host", Role::Host, Some(&["show"][..]));
    assert_eq!(status(&server, "PUT", "/v1/items/show", Some(&host)), 201);
    let (_, anonymous) = server.post("/v1/anonymous", None, &Value::Null);
    let anonymous = anonymous["token"].as_str().unwrap().to_owned();
    let viewer = token("ann", Role::Viewer, None);
    let other_viewer = token("bob", Role::Viewer, Some(&["other"][..]));
    let other_host = token("eve", Role::Host, Some(&["other"][..]));
    let service = token("back end", Role::Service, None);
    for (who, token, expected) in [
        ("nobody", None, [200, 200, 401, 401, 401, 401, 401]),
        ("anonymous", Some(&anonymous), [200, 200, 200, 403, 403, 403, 403]),
        ("viewer", Some(&viewer), [200, 200, 200, 201, 403, 403, 403]),
        ("viewer elsewhere", Some(&other_viewer), [200, 200, 403, 403, 403, 403, 403]),
        ("host elsewhere", Some(&other_host), [200, 200, 403, 403, 403, 403, 403]),
        ("host", Some(&host), [200, 200, 200, 201, 200, 200, 200]),
        ("service", Some(&service), [200, 200, 410, 410, 200, 410, 200]),
    ] {
        let calls = [
            ("GET", "/v1/items/show"),
            ("GET", "/v1/items/show/comments"),
            ("POST", "/v1/items/show/taps"),
            ("POST", "/v1/items/show/comments"),
            ("GET", "/v1/items/show/audit"),
            ("PUT", "/v1/items/show"),
            ("POST", "/v1/items/show/end"),
        ];
        let token = token.map(String::as_str);
        for ((method, path), expected) in calls.into_iter().zip(expected) {
            assert_eq!(status(&server, method, path, token), expected, "{who}: {method} {path}");
        }
    }
    server.stop();
}

/// Scenario: a server with a key, and an item that nobody has made. Method: acting on it does not make it; a host does.
#[test]
fn an_unknown_item_is_not_made_by_acting_on_it() {
    let server = Server::start(&["--jwt-secret", KEY]);
    let viewer = signed("ann", Role::Viewer, None, 60_000);
    for path in ["taps", "comments"] {
        assert_eq!(status(&server, "POST", &format!("/v1/items/new/{path}"), Some(&viewer)), 404, "{path}");
    }
    assert_eq!(server.get("/v1/items", None).1, json!({"items": []}));
    assert_eq!(status(&server, "PUT", "/v1/items/new", Some(&signed("host", Role::Host, None, 60_000))), 201);
    assert_eq!(status(&server, "POST", "/v1/items/new/taps", Some(&viewer)), 200);
    server.stop();
}

/// Scenario: expired and foreign tokens. Method: they are refused for reading too, where none would be needed.
#[test]
fn a_token_that_is_sent_must_be_good() {
    let server = Server::start(&["--jwt-secret", KEY]);
    let expired = signed("ann", Role::Service, None, -1_000);
    let good = signed("ann", Role::Service, None, 60_000);
    for token in [expired.as_str(), "nonsense", &format!("{good}A"), "a.b.c"] {
        let (status, answer) = server.get("/v1/items", Some(token));
        assert_eq!((status, &answer["error"]["code"]), (401, &json!("unauthorized")), "{token}");
    }
    assert_eq!(server.get("/v1/items", Some(&good)).0, 200);
    server.stop();
}
