//! The server under test: the production composition on port 0, on a thread of its own.
//!
//! A test ends by [`Server::stop`] and looks at the report; a server that is dropped without that fails the test.

pub mod client;
#[cfg(test_mongodb)]
pub mod mongodb;
#[cfg(test_mongodb)]
pub mod mongodb_alone;
#[cfg(all(test_redis, test_mongodb))]
pub mod pair;
// Some of it is for tests that need services.
#[cfg_attr(not(all(test_redis, test_mongodb)), allow(dead_code))]
pub mod process;
#[cfg(all(test_redis, test_mongodb))]
pub mod proxy;
#[cfg(test_redis)]
pub mod redis;
pub mod rest;
pub mod soak;

use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use self::rest::Node;
use heartline::app::{App, DrainReport};
use heartline::config::Config;
use tokio::sync::oneshot;

/// How long anything that a test waits for may take on a machine that does three other things.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running node.
pub struct Server {
    address: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<DrainReport>>,
    folder: Option<tempfile::TempDir>,
}

impl Server {
    /// With a fresh data folder and these further arguments.
    pub fn start(args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Self::start_in(folder.path().to_owned(), args);
        server.folder = Some(folder);
        server
    }

    /// With a data folder that outlives it.
    pub fn start_in(folder: PathBuf, args: &[&str]) -> Self {
        let folder = folder.to_str().unwrap().to_owned();
        let base = ["heartline", "--listen", "127.0.0.1:0", "--data-dir", &folder];
        let config = Config::from_layers([&base, args].concat(), &|_| None).unwrap();
        let (tell_address, address) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            actix::System::new().block_on(async move {
                let running = App::build(config).await.unwrap().start().await.unwrap();
                tell_address.send(running.address.to_string()).unwrap();
                let _ = stopped.await;
                running.stop().await
            })
        });
        let address = address.recv_timeout(PATIENCE).expect("the server did not start");
        Self { address, stop: Some(stop), thread: Some(thread), folder: None }
    }

    /// Stops it in order, and asserts that nothing stayed unflushed.
    pub fn stop(mut self) -> DrainReport {
        drop(self.stop.take());
        let report = self.thread.take().unwrap().join().expect("the server panicked");
        assert!(report.is_clean(), "{report}");
        report
    }
}

impl Node for Server {
    fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.thread.is_some() && !std::thread::panicking() {
            panic!("a server was dropped that had not been stopped");
        }
    }
}

/// Waits until `met` answers something; level-triggered, with a deadline.
pub fn eventually<T>(what: &str, mut met: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = met() {
            return value;
        }
        assert!(Instant::now() < deadline, "did not come about in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
