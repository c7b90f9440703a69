//! Keeps book of what people sent and what they were told, and checks it against the stores.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::eventually;
use crate::support::process::Process;
use crate::support::rest::Node;

/// Taps of one message.
pub const TAPS: i64 = 3;
/// Acts of one person that may be under way; the server takes 64 a socket.
const OPEN_MAX: usize = 32;

/// What became of an act with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    Nothing,
    Acked,
    /// Told as not applied.
    Refused,
    /// Told that nobody knows.
    Unknown,
}

/// Somebody who taps and comments on one item through one server.
pub struct Voice {
    client: Client,
    name: &'static str,
    taps: Vec<Told>,
    comments: Vec<Told>,
    /// Taps without an id: nobody is told about them.
    quiet: i64,
    pub cut: bool,
}

impl Voice {
    /// `None`: the process died first. Names begin what they say, so none may begin another one.
    pub fn open(server: &Process, item: &str, token: &str, name: &'static str) -> Option<Self> {
        let client = Client::open(server, &format!("/v1/items/{item}/ws?token={token}")).ok()?;
        Some(Self { client, name, taps: Vec::new(), comments: Vec::new(), quiet: 0, cut: false })
    }

    /// The code that the socket was closed with, if it was.
    pub fn closed(&self) -> Option<u16> {
        self.client.closed
    }

    pub fn tap(&mut self) {
        if self.open_acts() < OPEN_MAX {
            let message = json!({"t": "tap", "n": TAPS, "id": format!("t{}", self.taps.len())});
            self.taps.push(Told::Nothing);
            self.send(&message);
        }
    }

    pub fn tap_quietly(&mut self) {
        self.quiet += TAPS;
        self.send(&json!({"t": "tap", "n": TAPS}));
    }

    /// Comments once the last one is answered: of two that are under way nobody says which comes first.
    pub fn say(&mut self) {
        if self.comments.last() != Some(&Told::Nothing) {
            let n = self.comments.len();
            let text = self.text(n);
            let message = json!({"t": "comment", "text": text, "key": text, "id": format!("c{n}")});
            self.comments.push(Told::Nothing);
            self.send(&message);
        }
    }

    /// Takes in what comes within this time.
    pub fn hear(&mut self, within: Duration) {
        while let Some(message) = self.client.next_within(within) {
            self.take(&message);
        }
        self.cut |= !self.client.is_open();
    }

    /// Until everything is answered.
    pub fn hear_all(&mut self) {
        let name = self.name;
        eventually(&format!("all answers for {name}"), || {
            self.hear(Duration::from_millis(20));
            assert!(!self.cut, "{name} was cut, with {:?}", self.client.closed);
            (self.open_acts() == 0).then_some(())
        });
    }

    pub fn count(&self, told: Told) -> usize {
        self.taps.iter().chain(&self.comments).filter(|one| **one == told).count()
    }

    fn open_acts(&self) -> usize {
        self.count(Told::Nothing)
    }

    fn text(&self, n: usize) -> String {
        format!("{} {n}", self.name)
    }

    fn send(&mut self, message: &Value) {
        self.cut |= !self.client.try_send(message);
    }

    fn take(&mut self, message: &Value) {
        let told = match message["t"].as_str() {
            Some("ack") => Told::Acked,
            Some("error") => {
                assert_eq!(message["code"], "unavailable", "{message}");
                if message["retryable"] == true { Told::Refused } else { Told::Unknown }
            }
            _ => return,
        };
        let Some(id) = message["id"].as_str() else { return };
        let n: usize = id[1..].parse().unwrap();
        let list = if id.starts_with('t') { &mut self.taps } else { &mut self.comments };
        assert_eq!(std::mem::replace(&mut list[n], told), Told::Nothing, "answered twice: {message}");
        assert!(told != Told::Acked || id.starts_with('c') || message["accepted"] == TAPS, "{message}");
    }

    /// The fewest and the most taps of this person that there may be.
    fn taps_between(&self) -> (i64, i64) {
        let of = |wanted: &[Told]| self.taps.iter().filter(|told| wanted.contains(told)).count() as i64 * TAPS;
        let acked = of(&[Told::Acked]);
        // What is sent without an id is taken all the same, by a process that lives.
        let quiet = if self.cut { 0 } else { self.quiet };
        (acked + quiet, acked + self.quiet + of(&[Told::Nothing, Told::Unknown]))
    }

    /// What stands in the history of this person: in order, once, nothing acknowledged missing, nothing refused there; and of a person
    /// who was never refused a beginning of what they sent.
    fn check_comments(&self, item: &str, history: &[String]) {
        let prefix = format!("{} ", self.name);
        let there: Vec<usize> =
            history.iter().filter_map(|text| text.strip_prefix(&prefix)).map(|n| n.parse().unwrap()).collect();
        let said = || format!("{item}: {} said {:?}, there is {there:?}", self.name, self.comments);
        assert!(there.is_sorted_by(|a, b| a < b), "not once and in order: {}", said());
        for (n, told) in self.comments.iter().enumerate() {
            let is_there = there.binary_search(&n).is_ok();
            assert!(is_there || *told != Told::Acked, "{n} is lost: {}", said());
            assert!(!is_there || *told != Told::Refused, "{n} was refused: {}", said());
        }
        if !self.comments.contains(&Told::Refused) {
            assert!(there.iter().enumerate().all(|(n, is)| n == *is), "no beginning: {}", said());
        }
    }
}

/// One moment of an item's ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ledger {
    pub durable_taps: i64,
    pub durable_comments: i64,
    pub unflushed: i64,
}

/// As the REST API tells it; `None` while it cannot.
pub fn ledger(server: &Process, item: &str, host: &str) -> Option<Ledger> {
    let (status, audit) = server.get(&format!("/v1/items/{item}/audit"), Some(host));
    if status != 200 {
        assert!([404, 503].contains(&status), "{status} {audit}");
        return None;
    }
    let of = |counter: &str, name: &str| audit["counters"][counter][name].as_i64().unwrap();
    let counters = ["taps.heart", "comments"];
    for counter in counters {
        let (durable, unflushed) = (of(counter, "durable"), of(counter, "unflushed"));
        assert_eq!(durable + unflushed, of(counter, "total"), "{item}: {audit}");
    }
    Some(Ledger {
        durable_taps: of("taps.heart", "durable"),
        durable_comments: of("comments", "durable"),
        unflushed: counters.map(|counter| of(counter, "unflushed")).iter().sum(),
    })
}

/// Waits until all is durable, then closes the book: everything acknowledged is there once, in order, and the stores agree.
pub fn close(server: &Process, item: &str, host: &str, voices: &[&Voice]) -> Ledger {
    let fewest = |voice: &&Voice| voice.taps_between().0;
    let acked: i64 = voices.iter().map(fewest).sum();
    let last = eventually(&format!("{item} is flushed"), || {
        let now = ledger(server, item, host)?;
        (now.unflushed == 0 && now.durable_taps >= acked).then_some(now)
    });
    let most: i64 = voices.iter().map(|voice| voice.taps_between().1).sum();
    assert!(last.durable_taps <= most && last.durable_taps % TAPS == 0, "{item}: {last:?}, at most {most}");
    let history: Vec<String> =
        server.history(item).iter().map(|comment| comment["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(history.len() as i64, last.durable_comments, "{item}: counted and there");
    voices.iter().for_each(|voice| voice.check_comments(item, &history));
    assert_eq!(server.metric("heartline_drift"), 0.0, "{item}");
    assert_eq!(server.metric("heartline_fold_behind"), 0.0, "{item}");
    last
}
