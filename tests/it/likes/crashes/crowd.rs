//! People who like and unlike one item, each over a socket of their own and as fast as they are answered.

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::json;

use crate::support::PATIENCE;
use crate::support::client::Client;
use crate::support::process::Process;
use crate::support::rest::Node;

/// See the module. Tokens are good for every server on the same folder.
pub struct Crowd {
    people: Vec<Person>,
    turn: u32,
}

struct Person {
    name: String,
    token: String,
    socket: Option<Client>,
    /// What the last answer said, unless something was sent after it: then nothing is known of them.
    liked: Option<bool>,
}

impl Crowd {
    /// So many people, who are all called something like this.
    pub fn new(node: &Process, name: &str, people: usize) -> Self {
        let names = (0..people).map(|n| format!("{name}-{n}"));
        let person =
            |name: String| Person { token: node.token(&name, "viewer"), name, socket: None, liked: Some(false) };
        Self { people: names.map(person).collect(), turn: 0 }
    }

    /// Everybody comes to an item.
    pub fn come_to(&mut self, node: &Process, item: &str) {
        for person in &mut self.people {
            person.socket = Some(Client::viewer(node, item, &format!("?token={}", person.token)));
        }
    }

    /// Everybody says whether they like it.
    pub fn say(&mut self, random: &mut StdRng) {
        self.turn += 1;
        for person in &mut self.people {
            let t = if random.random_bool(0.5) { "like" } else { "unlike" };
            person.liked = None;
            person.socket.as_mut().unwrap().try_send(&json!({"t": t, "id": self.turn}));
        }
    }

    /// Everybody is answered. `false`: somebody was not, for the server is gone.
    pub fn hear(&mut self) -> bool {
        for person in &mut self.people {
            person.liked = person.answer(self.turn);
        }
        self.people.iter().all(|person| person.liked.is_some())
    }

    /// Whatever was acknowledged last is so.
    pub fn check(&self, node: &Process, item: &str) {
        let users: Vec<&str> = self.people.iter().map(|person| person.name.as_str()).collect();
        let (status, among) = node.post(&format!("/v1/items/{item}/likes/among"), None, &json!({"users": users}));
        assert_eq!(status, 200, "{among}");
        for person in &self.people {
            let likes = among["users"].as_array().unwrap().contains(&json!(person.name));
            assert!(person.liked.is_none_or(|liked| liked == likes), "{item}: {} is not as acknowledged", person.name);
        }
    }
}

impl Person {
    fn answer(&mut self, turn: u32) -> Option<bool> {
        let socket = self.socket.as_mut().unwrap();
        while let Some(message) = socket.next_within(PATIENCE) {
            if message["id"] == turn {
                assert_eq!(message["t"], "ack", "{message}");
                return message["liked"].as_bool();
            }
        }
        assert!(!socket.is_open(), "{} is not answered", self.name);
        None
    }
}
