//! The server as a process of its own, to be killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal};

use super::rest::Node;

/// A child that is killed when dropped.
pub struct Process {
    child: Child,
    address: String,
}

impl Process {
    /// Starts it on a data folder and waits until it is ready.
    pub fn start(folder: &Path, args: &[&str]) -> Self {
        Self::spawn(folder, args, &[], "error", Stdio::inherit())
    }

    /// The same with its log, from `info` on, in a file.
    pub fn start_logging(folder: &Path, args: &[&str], log: &Path) -> Self {
        let log = std::fs::File::create(log).unwrap();
        Self::spawn(folder, args, &[], "info", Stdio::from(log))
    }

    /// The same with these in its environment.
    pub fn start_with(folder: &Path, args: &[&str], env: &[(&str, &Path)]) -> Self {
        Self::spawn(folder, args, env, "error", Stdio::inherit())
    }

    fn spawn(folder: &Path, args: &[&str], env: &[(&str, &Path)], log_level: &str, log: Stdio) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_heartline"))
            .args(["--listen", "127.0.0.1:0", "--data-dir"])
            .arg(folder)
            .args(args)
            .args(["--log-level", log_level])
            .envs(env.iter().copied())
            .stdout(Stdio::piped())
            .stderr(log)
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

    /// How it ended, once it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// SIGSTOP: it stands still as a whole.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// SIGCONT.
    pub fn wake(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// SIGTERM, and the exit code.
    pub fn terminate(&mut self) -> Option<i32> {
        self.signal(Signal::TERM);
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
