#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
//! Hosts' sockets over real loopback connections and a room that does what a test wants.

mod ends;
mod serving;

use std::sync::Arc;

use bytes::Bytes;

use super::{Studio, Studios};
use crate::acts::bench::{Bench, Client, pair};
use crate::config::SocketConfig;
use crate::session::opening;

struct Staged {
    bench: Bench,
    studios: Arc<Studios>,
}

impl Staged {
    fn new(config: SocketConfig) -> Self {
        let bench = Bench::new(config);
        let studios = Studios::new(bench.door.clone());
        Self { bench, studios }
    }

    /// A socket that was just taken over.
    async fn adopt(&self, items: &str, token: Option<&str>) -> Client {
        let (client, server) = pair().await;
        let (items, token) = (opening::items(items).unwrap(), token.map(str::to_owned));
        self.studios.adopt(server, Bytes::new(), Studio { items, token, resumes: Vec::new() });
        client
    }

    /// A host of these items who has got everything that comes first.
    async fn host(&self, items: &str) -> Client {
        let mut client = self.adopt(items, Some("host eve")).await;
        client.expect("hello").await;
        for _ in items.split(',') {
            client.expect("snapshot").await;
            client.expect("you").await;
        }
        client
    }
}
