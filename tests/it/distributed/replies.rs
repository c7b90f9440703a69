//! Replies that are lost after the store has done what it was asked: whoever asked knows nothing, and nothing may come of that.

use std::time::{Duration, Instant};

use mongodb::Client;
use mongodb::bson::{Bson, Document, doc};
use rand::{RngExt, rngs::StdRng};

use super::book::{self, Voice};
use super::{FAST, Pair, database_at, mongodb_address};
use crate::support::PATIENCE;
use crate::support::mongodb_alone::MongoAlone;
use crate::support::process::Process;
use crate::support::proxy::Proxy;
use crate::support::rest::Node;
use crate::support::soak::{rounds, seeded};

/// Losses of each kind of reply.
const ROUNDS: (u32, u32) = (6, 200);
/// Acts before the next loss, at most: a flush interval and a half.
const ACTS_MAX: u32 = 40;

/// The hash that a script is called by, of the parts that the store sends.
macro_rules! called {
    ($($file:literal),+) => {
        redis::Script::new(concat!($(include_str!(concat!("../../../src/store/hot/redis/scripts/", $file))),+))
            .get_hash().as_bytes().to_vec()
    };
}

/// Scenario: the reply of an increment, of a claim, of an align is lost, again and again, at random moments under load. Method: a proxy in
/// front of Redis passes the request on, swallows what comes back and cuts; the book is exact.
#[test]
fn a_lost_reply_of_the_hot_store_neither_loses_nor_doubles() {
    let mut pair = Pair::fresh();
    let proxy = Proxy::start(&pair.redis.address());
    pair.redis_url = format!("redis://{}/", proxy.address());
    let requests = [
        ("add", called!("numbers.lua", "item.lua", "presence.lua", "step.lua")),
        ("claim", called!("numbers.lua", "item.lua", "claim.lua")),
        ("align", called!("numbers.lua", "item.lua", "align.lua")),
    ];
    let mut server = pair.start(&FAST);
    for (item, part) in requests {
        lose_each(&proxy, &server, item, &part);
    }
    assert_eq!(server.terminate(), Some(0));
}

/// Scenario: the same of a fold, of an insert of comments. Method: the same in front of MongoDB.
#[test]
fn a_lost_reply_of_the_durable_store_neither_loses_nor_doubles() {
    let mut pair = Pair::fresh();
    let proxy = Proxy::start(mongodb_address());
    pair.mongodb_url = database_at(proxy.address());
    let mut server = pair.start(&FAST);
    for (item, part) in [("fold", b"\x02update\0"), ("insert", b"\x02insert\0")] {
        lose_each(&proxy, &server, item, part);
    }
    assert_eq!(server.terminate(), Some(0));
}

fn lose_each(proxy: &Proxy, server: &Process, item: &str, part: &[u8]) {
    let mut random = seeded();
    let (viewer, host) = (server.token("ann", "viewer"), server.token("hana", "host"));
    let mut voice = Voice::open(server, item, &viewer, "ann").unwrap();
    // A room that cannot be loaded sends its sockets away.
    voice.tap();
    voice.hear_all();
    for _ in 0..rounds(ROUNDS.0, ROUNDS.1) {
        act(&mut voice, &mut random);
        let (lost, since) = (proxy.lost(), Instant::now());
        proxy.lose_reply_to(part);
        while proxy.lost() == lost {
            assert!(since.elapsed() < PATIENCE, "{item}: nobody asked for it");
            act_once(&mut voice);
        }
        fold_again(server, item, &host, &mut voice);
    }
    voice.hear_all();
    book::close(server, item, &host, &[&voice]);
}

/// Failures in a row are answered with longer and longer pauses, which is not what is looked at here.
fn fold_again(server: &Process, item: &str, host: &str, voice: &mut Voice) {
    let (since, mut before) = (Instant::now(), None);
    loop {
        act_once(voice);
        let now = book::ledger(server, item, host).map(|now| now.durable_taps);
        if before.is_some() && now > before {
            return;
        }
        before = before.or(now);
        assert!(since.elapsed() < PATIENCE, "{item}: folded no more");
    }
}

fn act(voice: &mut Voice, random: &mut StdRng) {
    for _ in 0..random.random_range(0..ACTS_MAX) {
        act_once(voice);
    }
}

fn act_once(voice: &mut Voice) {
    voice.tap();
    voice.say();
    voice.hear(Duration::from_millis(4));
    assert!(!voice.cut, "the socket was cut");
}

/// Scenario: the server carries a write out and says that the majority has not confirmed it; then it cuts connections in the middle of
/// commands. Method: its own `failCommand`, a random number of times at random moments, after
/// each of which it may fold again; the book is exact.
#[test]
fn a_write_that_stands_unconfirmed_is_folded_once() {
    let (mut pair, alone, mut random) = (Pair::fresh(), MongoAlone::start(), seeded());
    pair.mongodb_url = database_at(&alone.address());
    let mut server = pair.start(&FAST);
    let (viewer, host) = (server.token("ann", "viewer"), server.token("hana", "host"));
    let unconfirmed =
        doc! { "code": 64, "codeName": "WriteConcernFailed", "errmsg": "waiting for replication timed out" };
    let failures = [
        ("unconfirmed-fold", doc! { "failCommands": ["update"], "writeConcernError": unconfirmed.clone() }),
        ("unconfirmed-insert", doc! { "failCommands": ["insert"], "writeConcernError": unconfirmed }),
        ("cut", doc! { "failCommands": ["update", "insert", "find"], "closeConnection": true }),
    ];
    for (item, failure) in failures {
        let mut voice = Voice::open(&server, item, &viewer, "ann").unwrap();
        voice.tap();
        voice.hear_all();
        for _ in 0..rounds(ROUNDS.0, ROUNDS.1) {
            fail_command(&alone.address(), &failure, Bson::from(doc! { "times": random.random_range(1..4) }));
            act(&mut voice, &mut random);
            fold_again(&server, item, &host, &mut voice);
        }
        fail_command(&alone.address(), &doc! {}, Bson::from("off"));
        voice.hear_all();
        book::close(&server, item, &host, &[&voice]);
    }
    assert_eq!(server.terminate(), Some(0));
}

fn fail_command(address: &str, how: &Document, mode: Bson) {
    let command = doc! { "configureFailPoint": "failCommand", "mode": mode, "data": how.clone() };
    let url = format!("mongodb://{address}/?directConnection=true");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = Client::with_uri_str(url).await.unwrap();
        client.database("admin").run_command(command).await.unwrap();
    });
}
