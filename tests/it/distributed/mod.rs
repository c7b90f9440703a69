//! The server over a real Redis and a MongoDB: the same promises as embedded, whatever of them dies, stalls or forgets, and when.

mod book;
mod flushers;
mod kill;
mod outages;
mod replies;
mod restart;
mod standalone;
mod start;
mod takeover;

use std::path::PathBuf;

use tempfile::TempDir;
use uuid::Uuid;

use crate::support::mongodb;
use crate::support::process::Process;
use crate::support::redis::RedisServer;

/// Servers that are to flush often.
const FAST: [&str; 4] = ["--flush-ms", "100", "--tick-ms", "20"];

/// A database of the test's own, as a URL.
fn database() -> String {
    let (root, options) = mongodb::url().split_once("/?").unwrap_or((mongodb::url().trim_end_matches('/'), ""));
    format!("{root}/{}?{options}", database_name())
}

/// The same on the server at this address, whatever set it says it belongs to.
fn database_at(address: &str) -> String {
    format!("mongodb://{address}/{}?directConnection=true", database_name())
}

fn database_name() -> String {
    format!("heartline_test_{}", Uuid::new_v4().simple())
}

/// Where the MongoDB of this run listens.
fn mongodb_address() -> &'static str {
    mongodb::url().trim_start_matches("mongodb://").split(['/', '?']).next().unwrap()
}

/// Two stores, and a folder with the key that all servers over them share: a token of one is good for each.
struct Pair {
    folder: TempDir,
    redis: RedisServer,
    redis_url: String,
    mongodb_url: String,
}

impl Pair {
    /// With a Redis that keeps nothing.
    fn fresh() -> Self {
        Self::over(RedisServer::start(&[]))
    }

    fn over(redis: RedisServer) -> Self {
        let redis_url = redis.url();
        Self { folder: tempfile::tempdir().unwrap(), redis, redis_url, mongodb_url: database() }
    }

    fn start(&self, args: &[&str]) -> Process {
        Process::start(self.folder.path(), &self.args(args))
    }

    /// With its log in a file, to be read.
    fn start_logging(&self, args: &[&str]) -> (Process, PathBuf) {
        let log = self.folder.path().join(format!("{}.log", Uuid::new_v4().simple()));
        (Process::start_logging(self.folder.path(), &self.args(args), &log), log)
    }

    fn args<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        let urls = ["--redis-url", &self.redis_url, "--mongodb-url", &self.mongodb_url];
        [&urls[..], &["--limits", "off"], args].concat()
    }
}
