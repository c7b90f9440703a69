//! Somebody who likes and unlikes items, says things twice, and now and then kills a server; and what must be so because of it.

use std::io::ErrorKind;
use std::thread;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::Scene;
use crate::support::process::Process;
use crate::support::rest::{Node, try_call};

/// How often a command is sent at the most.
const COPIES_MAX: usize = 3;
/// One act in so many is a recount.
const RECOUNT_ONE_IN: u32 = 25;

/// See the module.
pub struct Person {
    pub name: String,
    token: String,
    host: String,
    /// By item.
    stands: Vec<Stand>,
    random: StdRng,
}

/// Where somebody stands with an item.
#[derive(Clone, Copy)]
struct Stand {
    /// What the last answer said; `None`: something was lost after it.
    liked: Option<bool>,
    /// Said in this burst and not answered: the store may yet come by it, so nothing else is said until the next burst.
    lost: Option<bool>,
}

/// What became of one copy of a command.
enum Told {
    Done {
        changed: bool,
    },
    /// Surely not done.
    Refused,
    /// Nobody knows.
    Lost,
}

impl Person {
    /// Who has done nothing yet; `node` gives tokens that are good for all.
    pub fn new(node: &Process, name: String, items: usize, random: &mut StdRng) -> Self {
        let (token, host) = (node.token(&name, "viewer"), node.token(&name, "host"));
        let stands = vec![Stand { liked: Some(false), lost: None }; items];
        Self { name, token, host, stands, random: StdRng::seed_from_u64(random.random()) }
    }

    /// What must be known of this person and an item, if anything.
    pub fn liked(&self, item: usize) -> Option<bool> {
        self.stands[item].liked
    }

    /// One burst, and all that was sent in it has arrived wherever it could.
    pub fn act(&mut self, scene: &Scene) {
        for _ in 0..scene.acts_each {
            scene.kill_if_due();
            // As good clients do, what was lost is said again first.
            let lost = self.stands.iter().position(|stand| stand.liked.is_none() && stand.lost.is_some());
            let item = lost.unwrap_or_else(|| self.random.random_range(0..self.stands.len()));
            if self.random.random_ratio(1, RECOUNT_ONE_IN) {
                self.recount(scene, &scene.items[item]);
            } else {
                self.like(scene, item);
            }
        }
    }

    /// The dead are gone, and the store has read what they had sent.
    pub fn rest(&mut self) {
        self.stands.iter_mut().for_each(|stand| stand.lost = None);
    }

    fn recount(&mut self, scene: &Scene, item: &str) {
        let url = scene.nodes.url(self.node(scene), &format!("/v1/items/{item}/recount"));
        // It may be refused: by a node that waits for a dead one's lease, or because somebody is at it.
        if let Ok((status, answer)) = try_call("POST", &url, Some(&self.host), None) {
            assert!([200, 503].contains(&status), "{status} {answer}");
        }
    }

    fn like(&mut self, scene: &Scene, item: usize) {
        let liked = self.stands[item].lost.unwrap_or_else(|| self.random.random());
        let path = format!("/v1/items/{}/like", scene.items[item]);
        let copies = self.random.random_range(1..=COPIES_MAX);
        let urls: Vec<String> = (0..copies).map(|_| scene.nodes.url(self.node(scene), &path)).collect();
        let told: Vec<Told> = if self.random.random() {
            self.all_at_once(&urls, liked)
        } else {
            urls.iter().map(|url| tell(url, &self.token, liked)).collect()
        };
        self.stands[item].take(liked, &told, &format!("{} and {}", self.name, scene.items[item]));
    }

    fn all_at_once(&self, urls: &[String], liked: bool) -> Vec<Told> {
        thread::scope(|scope| {
            let copies: Vec<_> = urls.iter().map(|url| scope.spawn(|| tell(url, &self.token, liked))).collect();
            copies.into_iter().map(|copy| copy.join().unwrap()).collect()
        })
    }

    fn node(&mut self, scene: &Scene) -> usize {
        self.random.random_range(0..scene.nodes.count())
    }
}

impl Stand {
    /// Copies of one command are answered: one of them changed something, and only where it was not so before.
    fn take(&mut self, liked: bool, told: &[Told], who: &str) {
        let done = told.iter().any(|told| matches!(told, Told::Done { .. }));
        let lost = told.iter().any(|told| matches!(told, Told::Lost));
        let changed = told.iter().filter(|told| matches!(told, Told::Done { changed: true })).count();
        let may = match self.liked {
            Some(was) if was == liked => 0..=0,
            Some(_) if done && !lost => 1..=1,
            _ => 0..=1,
        };
        assert!(may.contains(&changed), "{who}: {:?} became {liked}, and {changed} answers say so", self.liked);
        if done {
            self.liked = Some(liked);
        } else if lost && self.liked != Some(liked) {
            self.liked = None;
        }
        if lost {
            self.lost = Some(liked);
        }
    }
}

fn tell(url: &str, token: &str, liked: bool) -> Told {
    let method = if liked { "PUT" } else { "DELETE" };
    match try_call(method, url, Some(token), None) {
        Ok((200, answer)) => {
            assert_eq!(answer["liked"], liked, "{answer}");
            Told::Done { changed: answer["changed"].as_bool().unwrap() }
        }
        Ok((503, answer)) if answer["error"]["outcome"] == "unknown" => Told::Lost,
        Ok((503, _)) => Told::Refused,
        Ok(other) => panic!("{other:?}"),
        Err(ureq::Error::Io(error)) if error.kind() == ErrorKind::ConnectionRefused => Told::Refused,
        Err(_) => Told::Lost,
    }
}
