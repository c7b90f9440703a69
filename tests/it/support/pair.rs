//! A Redis and a database of one test, for servers that share them.

use std::path::Path;

use heartline::store::durable::mongodb::Settings;

use super::mongodb;
use super::process::Process;
use super::redis::RedisServer;

pub struct Pair {
    pub redis: RedisServer,
    pub settings: Settings,
}

impl Pair {
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// With further arguments for the Redis.
    pub fn with(args: &[&str]) -> Self {
        Self { redis: RedisServer::start(args), settings: mongodb::settings() }
    }

    /// As flags.
    pub fn urls(&self) -> [String; 4] {
        let (root, options) = match self.settings.url.split_once("/?") {
            Some(parts) => parts,
            None => (self.settings.url.trim_end_matches('/'), ""),
        };
        let database = format!("{root}/{}?{options}", self.settings.database.as_ref().unwrap());
        ["--redis-url".to_owned(), self.redis.url(), "--mongodb-url".to_owned(), database]
    }

    /// A server over the pair, with no limits per person.
    pub fn server(&self, folder: &Path, args: &[&str]) -> Process {
        let urls = self.urls();
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        Process::start(folder, &[&urls[..], &["--limits", "off", "--tick-ms", "20"], args].concat())
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        mongodb::drop_database(self.settings.clone());
    }
}
