//! Two servers over one Redis and one MongoDB: who watches at one sees what people do at the other, and how many they all are.

use std::time::{Duration, Instant};

use heartline::protocol::{ItemId, ItemSettings, ItemView, Millis, RoomEvent, WriterId};
use heartline::store::hot::redis::{RedisHot, Settings};
use heartline::store::hot::{HotStore, Step};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::client::Client;
use crate::support::eventually;
use crate::support::pair::Pair;
use crate::support::process::Process;
use crate::support::rest::Node;

/// How soon people elsewhere see what was acknowledged: a look, a tick and a broadcast, with time to spare.
const SEEN_WITHIN: Duration = Duration::from_secs(2);

struct Two {
    pair: Pair,
    near: Process,
    far: Process,
    folders: [tempfile::TempDir; 2],
}

impl Two {
    fn start(args: &[&str]) -> Self {
        let pair = Pair::start();
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [near, far] = [0, 1].map(|n: usize| pair.server(folders[n].path(), args));
        Self { pair, near, far, folders }
    }

    fn stop(mut self) {
        assert_eq!((self.near.terminate(), self.far.terminate()), (Some(0), Some(0)));
    }
}

/// How long it took until a message fits.
fn seen(client: &mut Client, what: &str, fits: impl FnMut(&Value) -> bool) -> Duration {
    let since = Instant::now();
    client.wait_for(what, fits);
    since.elapsed()
}

/// Scenario: Ann acts at one server, Bob watches at another and does nothing. Method: three rounds of a tap and a comment with time in between
/// to become quiet; Bob sees all of them, the quickest round in time; both were told one epoch, and each comment under one number.
#[test]
fn what_happens_at_one_node_is_seen_at_the_other_in_time_and_in_one_order() {
    let two = Two::start(&[]);
    let (mut ann, mut bob) = (Client::named(&two.near, "show", "ann"), Client::named(&two.far, "show", "bob"));
    let epochs = [ann.wait_t("snapshot"), bob.wait_t("snapshot")].map(|snapshot| snapshot["epoch"].clone());
    assert_eq!(epochs[0], epochs[1]);
    let mut took = Vec::new();
    for round in 1..=3_i64 {
        assert_eq!(ann.ask(&format!("t{round}"), json!({"t": "tap", "n": 5}))["accepted"], 5);
        let hearts = seen(&mut bob, "the taps", |message| message["taps"]["heart"] == round * 5);
        let text = format!("comment {round}");
        ann.send(&json!({"t": "comment", "text": text}));
        let own = ann.wait_for("the own comment", |message| message["list"][0]["text"] == text.as_str());
        let mut other = Value::Null;
        let words = seen(&mut bob, "the comment", |message| {
            other = message.clone();
            message["list"][0]["text"] == text.as_str()
        });
        assert_eq!((&own["seq"], &other["seq"], &own["list"]), (&json!(round), &json!(round), &other["list"]));
        took.push(hearts.max(words));
        bob.wait_for("the count of comments", |message| message["comments"] == round);
        assert!(bob.next_within(Duration::from_millis(1_200)).is_none(), "quiet: nothing is told that did not change");
    }
    assert!(took.iter().min() < Some(&SEEN_WITHIN), "{took:?}");
    drop((ann, bob));
    two.stop();
}

/// Scenario: people watch at two servers, one of which is killed. Method: both tell the sum, as does a third without a room; after the
/// kill the other's number falls to its own people within the time that a presence lasts, and an item that is watched is not let go.
#[test]
fn viewers_are_summed_over_nodes_and_those_of_a_dead_node_leave() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[rooms]\npresence_ms = 1500\n").unwrap();
    let mut two = Two::start(&["--config", file.path().to_str().unwrap()]);
    let third = two.pair.server(tempfile::tempdir().unwrap().path(), &[]);
    let (mut ann, _bob) = (Client::named(&two.near, "show", "ann"), Client::named(&two.far, "show", "bob"));
    let _cem = Client::named(&two.far, "show", "cem");
    let _again = Client::named(&two.far, "show", "cem");
    let viewers = |node: &Process| node.get("/v1/items/show", None).1["counts"]["viewers"].as_i64().unwrap();
    ann.wait_for("three people", |message| message["viewers"] == 3);
    for node in [&two.near, &two.far, &third] {
        eventually("three people", || (viewers(node) == 3).then_some(()));
    }
    two.far.kill();
    ann.wait_for("one person", |message| message["viewers"] == 1);
    assert_eq!(viewers(&third), 1);
    drop(ann);
    eventually("nobody", || (viewers(&two.near) == 0 && viewers(&third) == 0).then_some(()));
    let Two { mut near, folders: _folders, pair, .. } = two;
    assert!(pair.redis.keys().iter().all(|key| !key.contains("presence")), "{:?}", pair.redis.keys());
    assert_eq!(near.terminate(), Some(0));
}

/// Scenario: more happens elsewhere in one moment than the store keeps. Method: who watches gets a snapshot at the last number in place
/// of a gap, and then the next event.
#[test]
fn more_events_than_are_kept_are_a_snapshot_and_no_gap() {
    let two = Two::start(&[]);
    let (mut ann, mut bob) = (Client::named(&two.near, "show", "ann"), Client::named(&two.far, "show", "bob"));
    bob.wait_t("you");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let item = ItemId::parse("show").unwrap();
    let view = ItemView {
        title: "over there".to_owned(),
        ..ItemView::create(item.clone(), ItemSettings::default(), Millis(5))
    };
    runtime.block_on(async {
        let writer = WriterId(Uuid::now_v7());
        let settings = Settings::new(two.pair.redis.url(), writer, Duration::from_millis(1));
        let hot = RedisHot::open(settings, runtime.handle().clone()).await.unwrap();
        let events = vec![RoomEvent::Item(view); 1_500];
        hot.step(Step { item, add: None, events, after: None, watching: None }).await.unwrap();
    });
    let snapshot = bob.wait_t("snapshot");
    assert_eq!((&snapshot["seq"], &snapshot["title"]), (&json!(1_500), &json!("over there")));
    ann.ask("c", json!({"t": "comment", "text": "next"}));
    assert_eq!(bob.wait_t("comments")["seq"], 1_501);
    drop((ann, bob));
    two.stop();
}
