//! Likes: one fact per person and item, a counter that follows it, and reads that never tell otherwise.

mod acting;
mod forwarding;
mod reading;
mod recounts;

use serde_json::{Value, json};

use crate::support::rest::{Node, call};

/// Likes the item, or takes the like back, over REST.
fn set(node: &(impl Node + ?Sized), item: &str, token: &str, liked: bool) -> Value {
    let method = if liked { "PUT" } else { "DELETE" };
    let (status, answer) = call(method, &node.url(&format!("/v1/items/{item}/like")), Some(token), None);
    assert_eq!(status, 200, "{answer}");
    answer
}

fn answer(liked: bool, changed: bool, likes: i64) -> Value {
    json!({"liked": liked, "changed": changed, "likes": likes})
}

/// Facts, counter and drift of an item.
fn audit(node: &(impl Node + ?Sized), item: &str) -> (i64, i64, i64) {
    let host = node.token("auditor", "host");
    let (status, audit) = node.get(&format!("/v1/items/{item}/audit"), Some(&host));
    assert_eq!(status, 200, "{audit}");
    let n = |value: &Value| value.as_i64().unwrap();
    (n(&audit["facts"]["likes"]), n(&audit["counters"]["likes"]["total"]), n(&audit["drift"]["likes"]))
}
