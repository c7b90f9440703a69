//! A start over stores that are not there, or are somebody else's.

use std::process::Command;
use std::time::{Duration, Instant};

use super::database;
use crate::support::redis::RedisServer;

/// Scenario: URLs that lead nowhere. Method: exit 64 within seconds, one line that names the field and shows no password.
#[test]
fn a_store_that_is_not_there_is_told_in_one_line() {
    let (folder, redis) = (tempfile::tempdir().unwrap(), RedisServer::start(&[]));
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = nowhere.local_addr().unwrap();
    for (redis_url, mongodb_url, field) in [
        ("redis://:secret@127.0.0.1:1/".to_owned(), database(), "redis_url"),
        (format!("redis://:secret@{silent}/"), database(), "redis_url"),
        (redis.url(), "mongodb://ann:secret@127.0.0.1:1/heartline".to_owned(), "mongodb_url"),
        (redis.url(), format!("mongodb://ann:secret@{silent}/heartline"), "mongodb_url"),
    ] {
        let started = Instant::now();
        let output = Command::new(env!("CARGO_BIN_EXE_heartline"))
            .args(["--listen", "127.0.0.1:0", "--redis-url", &redis_url, "--mongodb-url", &mongodb_url, "--data-dir"])
            .arg(folder.path())
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(64), "{told}");
        assert_eq!((told.lines().count(), told.contains(field), told.contains("secret")), (1, true, false), "{told}");
        assert!(started.elapsed() < Duration::from_secs(30), "{told}");
    }
}
