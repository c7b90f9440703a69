//! Likes: one fact per person and item, a counter that follows it, and reads that never tell otherwise.

mod acting;
mod crashes;
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

/// Every page of a list, each of at most 3.
fn pages(node: &(impl Node + ?Sized), path: &str, token: Option<&str>, field: &str) -> Vec<String> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let (status, page) = node.get(&format!("{path}?limit=3{cursor}"), token);
        assert_eq!(status, 200, "{page}");
        all.extend(names(&page["likes"], field));
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

fn names(list: &Value, field: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|entry| entry[field].as_str().unwrap().to_owned()).collect()
}

/// Facts, counter and drift of an item.
fn audit(node: &(impl Node + ?Sized), item: &str) -> (i64, i64, i64) {
    let host = node.token("auditor", "host");
    let (status, audit) = node.get(&format!("/v1/items/{item}/audit"), Some(&host));
    assert_eq!(status, 200, "{audit}");
    let n = |value: &Value| value.as_i64().unwrap();
    (n(&audit["facts"]["likes"]), n(&audit["counters"]["likes"]["total"]), n(&audit["drift"]["likes"]))
}
