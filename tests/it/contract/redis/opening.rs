//! What the store says of a Redis that it cannot, or should not, use; and how soon.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use heartline::store::hot::redis::{OpenError, RedisHot, Settings};
use tokio::runtime::Handle;

use super::RedisServer;
use super::settings;
use crate::contract::support::writer;

async fn refusal(settings: Settings) -> OpenError {
    RedisHot::open(settings, Handle::current()).await.err().expect("it is refused")
}

fn at(url: &str) -> Settings {
    Settings { connect_timeout: Duration::from_millis(300), ..Settings::new(url, writer(1), Duration::from_millis(1)) }
}

/// A Redis with a memory limit and each policy; one without a limit.
#[tokio::test]
async fn a_redis_that_may_drop_counts_is_refused() {
    let evicts = RedisServer::start(&["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"]);
    let refused = refusal(settings(&evicts, 1)).await;
    assert!(matches!(&refused, OpenError::Evicts { policy } if policy == "allkeys-lru"), "{refused}");
    for usable in [&["--maxmemory", "100mb"][..], &["--maxmemory-policy", "allkeys-lru"]] {
        let server = RedisServer::start(usable);
        RedisHot::open(settings(&server, 1), Handle::current()).await.unwrap();
    }
}

/// Each way of keeping data.
#[tokio::test]
async fn what_redis_keeps_is_told() {
    for (args, told) in [
        (&[][..], "none"),
        (&["--appendonly", "yes", "--appendfsync", "everysec"], "append-only file, fsync everysec"),
        (&["--save", "60 1000"], "snapshots only (60 1000)"),
    ] {
        let server = RedisServer::start(args);
        let hot = RedisHot::open(settings(&server, 1), Handle::current()).await.unwrap();
        assert_eq!(hot.persistence().to_string(), told);
    }
}

/// Malformed and unsupported URLs, and a prefix that would move keys to other slots.
#[tokio::test]
async fn a_wrong_url_is_refused_without_telling_its_password() {
    for url in ["", "http://x", "redis://:secret@:port", "rediss://:secret@127.0.0.1:1/#unchecked"] {
        let refused = refusal(at(url)).await;
        assert!(matches!(refused, OpenError::Url(_)), "{url}: {refused:?}");
        assert!(!refused.to_string().contains("secret"), "{refused}");
    }
    let braces = Settings { space: "{x}".to_owned(), ..at("redis://127.0.0.1:1/") };
    assert!(matches!(refusal(braces).await, OpenError::Space));
}

/// No password, a wrong one, and the right one.
#[tokio::test]
async fn wrong_credentials_are_told_as_such() {
    let server = RedisServer::start(&["--requirepass", "right"]);
    let url = |user: &str| server.url().replace("redis://", &format!("redis://{user}"));
    for user in ["", ":wrong@"] {
        let settings = Settings { connect_timeout: Duration::from_secs(5), ..at(&url(user)) };
        let refused = refusal(settings).await;
        assert!(matches!(refused, OpenError::Credentials { .. }), "{user}: {refused:?}");
        assert!(!refused.to_string().contains("wrong@"), "{refused}");
    }
    let right = Settings { connect_timeout: Duration::from_secs(5), ..at(&url(":right@")) };
    RedisHot::open(right, Handle::current()).await.unwrap();
}

/// Nobody listens; somebody does and never says a word, as behind a firewall that drops everything.
#[tokio::test]
async fn a_redis_that_cannot_be_reached_is_told_in_bounded_time() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_port = silent.local_addr().unwrap().port();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed_port = closed.local_addr().unwrap().port();
    drop(closed);
    for port in [silent_port, closed_port] {
        let began = Instant::now();
        let refused = refusal(at(&format!("redis://:secret@127.0.0.1:{port}/"))).await;
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        assert!(matches!(&refused, OpenError::Unreachable { .. }), "{refused:?}");
        let told = refused.to_string();
        assert!(told.contains(&port.to_string()) && !told.contains("secret") && !told.contains('\n'), "{told}");
    }
}
