//! The write loop as a process: told what to do, and waited for.

use std::io::Write;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::process::{Process, READY_MAX};

/// The write loop's answers beyond what it was asked to do.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// The write loop.
#[derive(Debug)]
pub struct BareWriter {
    process: Process,
    input: ChildStdin,
    /// Where it listens.
    pub port: u16,
}

impl BareWriter {
    /// Starts it; it waits for so many connections.
    pub fn start(binary: &Path, sockets: usize) -> Result<Self> {
        let mut command = Command::new(binary);
        let mut process = Process::start(command.arg("bare-writer").stdin(Stdio::piped()))?;
        let input = process.take_input().context("no standard input")?;
        let port =
            process.await_line(READY_MAX, |line| line.strip_prefix("port ")?.parse().ok()).context("write loop")?;
        let mut bare = Self { process, input, port };
        bare.tell(&format!("accept {sockets}"))?;
        Ok(bare)
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Waits until it has all connections.
    pub fn await_accepted(&self) -> Result<()> {
        self.process.await_line(ANSWER_MAX, |line| (line == "accepted").then_some(())).context("write loop")
    }

    /// Tells it to write.
    pub fn go(&mut self, hz: u32, length: Duration) -> Result<()> {
        self.tell(&format!("go {hz} {}", length.as_millis()))
    }

    /// Waits until it has written.
    pub fn await_done(&self) -> Result<()> {
        self.process.await_line(ANSWER_MAX, |line| line.starts_with("done ").then_some(())).context("write loop")
    }

    fn tell(&mut self, line: &str) -> Result<()> {
        writeln!(self.input, "{line}").and_then(|()| self.input.flush()).context("write loop")
    }
}
