//! `POST /v1/batch`: a back end forwards what its users did.

use serde_json::{Value, json};

use super::audit;
use crate::support::Server;
use crate::support::rest::Node;

/// Scenario: a back end sends likes, taps and comments of several people, some of them malformed, one person changing their mind. Method: one
/// answer each, in place; a person's acts in their order; no rate of a viewer's is in the way.
#[test]
fn a_batch_is_answered_act_by_act_in_order() {
    let server = Server::start(&[]);
    let service = server.token("shop", "service");
    let batch = json!([
        {"item": "show", "user": "ann", "t": "like"},
        {"item": "show", "user": "ann", "t": "unlike"},
        {"item": "show", "user": "ann", "t": "like"},
        {"item": "show", "user": "bob", "t": "tap", "n": 100},
        {"item": "show", "user": "bob", "t": "tap", "n": 101},
        {"item": "show", "user": "bob", "t": "comment", "text": "Hello"},
        {"item": "show", "t": "like"},
        {"item": "..", "user": "bob", "t": "like"},
        {"item": "show", "user": "bob", "t": "auth", "token": "x"},
        {"item": "show", "user": "anon:1", "t": "like"},
        7,
    ]);
    let (status, answers) = server.post("/v1/batch", Some(&service), &batch);
    assert_eq!(status, 200, "{answers}");
    let results = answers["results"].as_array().unwrap();
    assert_eq!(results.len(), 11);
    let anns: Vec<_> = results[..3].iter().map(|one| (&one["liked"], &one["changed"])).collect();
    let (yes, no) = (json!(true), json!(false));
    assert_eq!(anns, [(&yes, &yes), (&no, &yes), (&yes, &yes)]);
    assert_eq!(results[2]["likes"], 1);
    assert_eq!(results[3]["accepted"], 100);
    assert!(results[5]["comment"].is_string(), "{}", results[5]);
    let codes: Vec<&Value> = [4, 6, 7, 8, 9, 10].map(|n| &results[n]["error"]["code"]).into();
    let bad = "bad_request";
    assert_eq!(codes, ["unprocessable", bad, bad, bad, "forbidden", bad]);
    let many = vec![json!({"item": "show", "user": "bob", "t": "tap", "n": 100}); 1_000];
    let (_, answers) = server.post("/v1/batch", Some(&service), &json!(many));
    let accepted: i64 =
        answers["results"].as_array().unwrap().iter().map(|one| one["accepted"].as_i64().unwrap()).sum();
    assert_eq!(accepted, 100_000);
    assert_eq!(audit(&server, "show"), (1, 1, 0));
    server.stop();
}

/// Only services forward; and no more than may come at once.
#[test]
fn a_batch_is_a_services_and_bounded() {
    let server = Server::start(&[]);
    let like = json!({"item": "show", "user": "ann", "t": "like"});
    for role in ["viewer", "host"] {
        assert_eq!(server.post("/v1/batch", Some(&server.token("x", role)), &json!([like])).0, 403);
    }
    assert_eq!(server.post("/v1/batch", None, &json!([like])).0, 401);
    let service = server.token("shop", "service");
    assert_eq!(server.post("/v1/batch", Some(&service), &json!(vec![like; 1_001])).0, 422);
    assert_eq!(server.post("/v1/batch", Some(&service), &json!({})).0, 400);
    server.stop();
}
