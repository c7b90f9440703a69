//! Random histories: a dozen people like, unlike, say things twice and have items recounted, all at once, while servers are killed and
//! started anew. Each ends with one fact a person and item at the most, and a count that is what the facts say.

mod nodes;
mod person;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::json;

use super::deaths::FAST;
use super::{RECOUNTED_WITHIN, recounted};
use crate::likes::{audit, pages};
use crate::support::eventually;
use crate::support::process::Process;
use crate::support::rest::Node;
use crate::support::soak::{rounds, seeded};

pub use nodes::Nodes;
use person::Person;

/// Histories of an ordinary run, and of a soak: the issue's own figure.
const HISTORIES: (u32, u32) = (20, 200);
const PEOPLE: u32 = 12;
/// A process dies within so long of the act that decides it: a batch gathers for 10 ms, and takes some more to be written and counted.
const DYING_MS: u64 = 30;

/// People act once, all of them at the same time, and at most one node is killed meanwhile.
struct Scene<'a> {
    nodes: &'a Nodes<'a>,
    items: &'a [String],
    acts_each: u32,
    acts: AtomicU32,
    kill: Kill,
}

/// Which node dies, and how long after which act of all.
struct Kill {
    node: usize,
    act: u32,
    after: Duration,
}

/// Scenario: see the module, with a server on the embedded stores. Method: see [`play`]; each recount comes within 5 s of the restart.
#[test]
fn any_history_on_the_embedded_stores_ends_with_one_fact_each_and_their_count() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = seeded();
    let mut nodes = Nodes::start(1, || Process::start(folder.path(), &FAST));
    let mut ended = Vec::new();
    for n in 0..rounds(HISTORIES.0, HISTORIES.1) {
        ended.extend(play(&mut nodes, &format!("history-{n}"), &mut random, RECOUNTED_WITHIN));
    }
    stop(nodes, ended);
}

/// One history, and its judgement: `within` so long of the last restart the counter of each item is what the facts say, and every node
/// tells so; who likes it is told once each and as often as counted; everybody's last acknowledged act is so, unless
/// something of theirs was lost after it. Of the answers to a command one says that it changed something, if it was not so before.
/// Answers the items with their likes.
pub fn play(nodes: &mut Nodes, name: &str, random: &mut StdRng, within: Duration) -> Vec<(String, i64)> {
    let items: Vec<String> = (0..random.random_range(2..=3)).map(|n| format!("{name}-{n}")).collect();
    let host = nodes.first().token("hana", "host");
    for item in &items {
        nodes.first().put(&format!("/v1/items/{item}"), Some(&host), &json!({}));
    }
    let person = |n| Person::new(nodes.first(), format!("u{n}"), items.len(), random);
    let mut people: Vec<Person> = (0..PEOPLE).map(person).collect();
    for _ in 0..random.random_range(2..=3) {
        let scene = Scene::new(nodes, &items, random);
        thread::scope(|scope| {
            for person in &mut people {
                scope.spawn(|| person.act(&scene));
            }
        });
        nodes.mend();
        people.iter_mut().for_each(Person::rest);
    }
    let judged = items.iter().enumerate().map(|(n, item)| (item.clone(), judge(nodes, n, item, &people, within)));
    judged.collect()
}

fn judge(nodes: &mut Nodes, n: usize, item: &str, people: &[Person], within: Duration) -> i64 {
    let deadline = nodes.whole_since() + within;
    let likes = recounted(nodes.first(), item, deadline);
    let listed = pages(nodes.first(), &format!("/v1/items/{item}/likes"), None, "user");
    let once: BTreeSet<&String> = listed.iter().collect();
    assert_eq!((listed.len() as i64, once.len() as i64), (likes, likes), "{item}: {listed:?}");
    for person in people {
        let is = once.contains(&person.name);
        let name = &person.name;
        assert!(person.liked(n).is_none_or(|liked| liked == is), "{item}: {name} is not as acknowledged: {listed:?}");
    }
    for node in nodes.each() {
        let told = || node.get(&format!("/v1/items/{item}"), None).1["counts"]["likes"].as_i64();
        eventually("every node tells the count", || (told() == Some(likes)).then_some(()));
    }
    likes
}

/// Nothing has moved since it was judged.
pub fn stop(mut nodes: Nodes, ended: Vec<(String, i64)>) {
    for (item, likes) in ended {
        assert_eq!(audit(nodes.first(), &item), (likes, likes, 0), "{item}");
    }
    nodes.stop();
}

impl<'a> Scene<'a> {
    fn new(nodes: &'a Nodes<'a>, items: &'a [String], random: &mut StdRng) -> Self {
        let acts_each = random.random_range(3..=10);
        let kill = Kill {
            node: random.random_range(0..nodes.count()),
            // One burst in four ends without a death.
            act: random.random_range(1..=PEOPLE * acts_each * 4 / 3),
            after: Duration::from_millis(random.random_range(0..DYING_MS)),
        };
        Self { nodes, items, acts_each, acts: AtomicU32::new(0), kill }
    }

    /// Whoever does the act that decides it kills, while the others go on.
    fn kill_if_due(&self) {
        if self.acts.fetch_add(1, Ordering::SeqCst) + 1 == self.kill.act {
            thread::sleep(self.kill.after);
            self.nodes.kill(self.kill.node);
        }
    }
}
