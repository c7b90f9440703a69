//! The server as a process of its own, to be killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::rest::Node;

/// A child that is killed when dropped.
pub struct Process {
    child: Child,
    address: String,
}

impl Process {
    /// Starts it on a data folder and waits until it is ready.
    pub fn start(folder: &Path, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_heartline"))
            .args(["--listen", "127.0.0.1:0", "--data-dir"])
            .arg(folder)
            .args(args)
            .args(["--log-level", "error"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.map_while(Result::ok).find_map(|line| {
            let rest = line.split_once("http://")?.1;
            Some(rest.split_once('/')?.0.to_owned())
        });
        Self { child, address: address.expect("the server did not say where it serves") }
    }

    /// Resident memory, KiB.
    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM, and the exit code.
    pub fn terminate(&mut self) -> Option<i32> {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), rustix::process::Signal::TERM)
            .unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Node for Process {
    fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
