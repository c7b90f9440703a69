//! A redis-server of one test: a process on a free port in a temporary folder, ended with the test.

use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use redis::{Client, Commands, Connection};
use tempfile::TempDir;

/// How long it may take to start on a busy machine.
const START_MAX: Duration = Duration::from_secs(20);
/// Where Redis saves to, and loads from when it starts without an append-only file.
const DUMP: &str = "dump.rdb";
/// A copy of it from earlier.
const ASIDE: &str = "aside.rdb";

pub struct RedisServer {
    child: Child,
    port: u16,
    args: Vec<String>,
    folder: TempDir,
}

impl RedisServer {
    /// With an append-only file that is synced with every write, so that a killed server comes back with all that it answered.
    pub fn durable() -> Self {
        Self::start(&["--appendonly", "yes", "--appendfsync", "always"])
    }

    /// With nothing on disk.
    pub fn start(args: &[&str]) -> Self {
        let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
        // Another process may take the port between the look and the start; the server then ends at once, and another port is tried.
        let attempts = (0..10).map(|_| {
            let folder = tempfile::tempdir().unwrap();
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            Self { child: spawn(port, &args, &folder), port, args: args.clone(), folder }
        });
        let started = attempts.into_iter().find_map(|mut server| server.answers().then_some(server));
        started.expect("redis-server starts on no port")
    }

    pub fn url(&self) -> String {
        format!("redis://{}/", self.address())
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// A connection beside the store's.
    pub fn raw(&self) -> Connection {
        Client::open(self.url()).unwrap().get_connection().unwrap()
    }

    /// As `kill -9` and as the loss of its machine do: nobody is told.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// On the same port and folder.
    pub fn start_again(&mut self) {
        self.child = spawn(self.port, &self.args, &self.folder);
        assert!(self.answers(), "redis-server does not start again");
    }

    /// Keeps all that it has now, for [`Self::put_back`].
    pub fn set_aside(&self) {
        redis::cmd("SAVE").query::<()>(&mut self.raw()).unwrap();
        fs::copy(self.folder.path().join(DUMP), self.folder.path().join(ASIDE)).unwrap();
    }

    /// What was set aside is what it will start from; it must be down.
    pub fn put_back(&self) {
        fs::copy(self.folder.path().join(ASIDE), self.folder.path().join(DUMP)).unwrap();
    }

    /// Every key, sorted.
    pub fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.raw().keys("*").unwrap();
        keys.sort();
        keys
    }
}

impl RedisServer {
    fn answers(&mut self) -> bool {
        let until = Instant::now() + START_MAX;
        while Instant::now() < until {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            let client = Client::open(self.url()).unwrap();
            let answer = client.get_connection().and_then(|mut raw| redis::cmd("PING").query::<String>(&mut raw));
            // One that asks for a password is there, too; one that is still loading is not.
            if answer.is_ok() || answer.is_err_and(|error| error.code() == Some("NOAUTH")) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(port: u16, args: &[String], folder: &TempDir) -> Child {
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--dir"]).arg(folder.path());
    command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("this run was promised a redis-server")
}
