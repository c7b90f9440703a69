//! `kill -9` of the embedded server at any moment: nothing acknowledged is lost, nothing is doubled.

use std::collections::HashMap;
use std::time::Duration;

use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::process::Process;
use crate::support::rest::Node;

/// Kills in one run: the issue's own figure.
const ROUNDS: u32 = 50;
/// Fixed, so that a failure can be played again.
const SEED: u64 = 20_261_130;

/// What a person sent to one item, over all rounds.
#[derive(Default)]
struct Sent {
    taps_sent: i64,
    taps_acked: i64,
    /// By key: the text, and the server's id once it is acknowledged.
    comments: HashMap<String, (String, Option<String>)>,
}

/// Scenario: a server is killed again and again in the middle of taps and comments and started anew on its folder. Method: every
/// tap and comment asks for an ack; in the end the ledger lies between what was acknowledged and what was sent, each
/// acknowledged comment is in the history under its id, and none is there twice, though those without an ack are sent again.
#[test]
fn kill_at_any_moment_loses_nothing_acknowledged_and_doubles_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = StdRng::seed_from_u64(SEED);
    let mut sent = Sent::default();
    for round in 0..ROUNDS {
        let mut server = Process::start(folder.path(), &["--limits", "off", "--flush-ms", "150", "--tick-ms", "20"]);
        let life = Duration::from_millis(random.random_range(20..400));
        storm_until_killed(&mut server, &mut sent, round, life);
    }
    let mut server = Process::start(folder.path(), &["--limits", "off"]);
    send_again(&server, &mut sent);
    let (_, _, taps) = server.ledger("show", "taps.heart");
    assert!(
        (sent.taps_acked..=sent.taps_sent).contains(&taps),
        "{taps} not in {}..={}",
        sent.taps_acked,
        sent.taps_sent
    );
    check_comments(&server, &sent);
    assert_eq!(server.terminate(), Some(0));
}

/// Sends while a timer of the operating system's own scheduling decides where the kill falls.
fn storm_until_killed(server: &mut Process, sent: &mut Sent, round: u32, life: Duration) {
    let mut client = Client::named(server, "show", "ann");
    let end = std::time::Instant::now() + life;
    let mut n = 0;
    while std::time::Instant::now() < end {
        n += 1;
        sent.taps_sent += 3;
        client.send(&json!({"t": "tap", "n": 3, "id": format!("tap-{n}")}));
        let (key, text) = (format!("{round}-{n}"), format!("comment {n} of round {round}"));
        client.send(&json!({"t": "comment", "text": text, "key": key, "id": key}));
        sent.comments.insert(key, (text, None));
        while let Some(message) = client.next_within(Duration::from_millis(1)) {
            take_ack(sent, &message);
        }
    }
    server.kill();
    while let Some(message) = client.next_within(Duration::from_secs(1)) {
        take_ack(sent, &message);
    }
}

fn take_ack(sent: &mut Sent, message: &Value) {
    if message["t"] != "ack" {
        return;
    }
    if let Some(accepted) = message["accepted"].as_i64() {
        sent.taps_acked += accepted;
    } else if let Some((_, id)) = message["id"].as_str().and_then(|key| sent.comments.get_mut(key)) {
        *id = Some(message["comment"].as_str().unwrap().to_owned());
    }
}

/// What a good client does: whatever has no ack is sent once more with the same key.
fn send_again(server: &Process, sent: &mut Sent) {
    let mut client = Client::named(server, "show", "ann");
    for (key, (text, id)) in &mut sent.comments {
        let ack = client.ask(key, json!({"t": "comment", "text": text, "key": key}));
        let again = ack["comment"].as_str().unwrap_or_else(|| panic!("{ack}")).to_owned();
        assert!(id.as_ref().is_none_or(|id| *id == again), "key {key} was acknowledged as {id:?} and then as {again}");
        *id = Some(again);
    }
}

fn check_comments(server: &Process, sent: &Sent) {
    let mut history: HashMap<String, String> = HashMap::new();
    for comment in server.history("show") {
        let (id, text) = (comment["id"].as_str().unwrap(), comment["text"].as_str().unwrap());
        assert_eq!(history.insert(id.to_owned(), text.to_owned()), None, "twice in the history: {comment}");
    }
    for (key, (text, id)) in &sent.comments {
        assert_eq!(history.get(id.as_ref().unwrap()), Some(text), "{key}");
    }
    assert_eq!(history.len(), sent.comments.len());
    assert_eq!(server.ledger("show", "comments").2, sent.comments.len() as i64);
}
