//! A MongoDB of one test, standing alone on a folder that outlives it: to be killed and started again.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use super::PATIENCE;

/// See the module; killed when dropped.
pub struct MongoAlone {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl MongoAlone {
    /// On a free port.
    pub fn start() -> Self {
        // Another process may take the port in between; the server then ends at once, and another port is tried.
        let attempts = (0..10).map(|_| {
            let folder = tempfile::tempdir().unwrap();
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            Self { child: spawn(port, &folder), port, folder }
        });
        attempts.into_iter().find_map(|mut server| server.listens().then_some(server)).expect("it starts on no port")
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// As `kill -9` does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// On the same port and folder.
    pub fn start_again(&mut self) {
        self.child = spawn(self.port, &self.folder);
        assert!(self.listens(), "it does not start again");
    }

    fn listens(&mut self) -> bool {
        let since = Instant::now();
        while TcpStream::connect(self.address()).is_err() {
            if since.elapsed() > PATIENCE || self.child.try_wait().unwrap().is_some() {
                return false;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        true
    }
}

impl Drop for MongoAlone {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The script becomes the server, so that the child is the one to kill.
fn spawn(port: u16, folder: &TempDir) -> Child {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/services/mongodb"));
    command.args(["alone", &port.to_string()]).arg(folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
}
