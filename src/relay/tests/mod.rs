#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
//! A relay over real loopback sockets and a room that does what a test wants.

mod ends;
mod opening;
mod slow;
mod taps;

use bytes::Bytes;
use serde_json::Value;

use super::{Opening, RelayHandle, start};
use crate::acts::bench::{Bench, Client, pair};
use crate::config::SocketConfig;
use crate::protocol::ItemId;

struct Relayed {
    bench: Bench,
    relay: RelayHandle,
}

impl Relayed {
    fn new(config: SocketConfig) -> Self {
        let bench = Bench::new(config);
        let relay = start(bench.door.clone());
        Self { bench, relay }
    }

    /// A socket that was just taken over.
    async fn adopt(&self, opening: Opening) -> Client {
        let (client, server) = pair().await;
        self.relay.adopt(server, Bytes::new(), opening);
        client
    }

    /// A viewer who has got everything that comes first.
    async fn viewer(&self) -> Client {
        let mut client = self.adopt(opening("a", Some("viewer ann"))).await;
        arrived(&mut client).await;
        client
    }
}

fn opening(item: &str, token: Option<&str>) -> Opening {
    Opening { item: ItemId::parse(item).unwrap(), token: token.map(str::to_owned), resume: None, observe: false }
}

/// Reads what comes first; answers the snapshot.
async fn arrived(client: &mut Client) -> Value {
    client.expect("hello").await;
    let snapshot = client.expect("snapshot").await;
    let you = client.expect("you").await;
    assert_eq!(you, serde_json::json!({"t": "you", "item": "a", "liked": false, "votes": {}, "entered": []}));
    snapshot
}
