//! Processes that a run starts and measures: started, listened to, ended, by their own ids alone. Whatever happens, they do not outlive
//! the run.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use rustix::process::{Pid, Signal, kill_process};

use crate::target::Target;

/// From its start to the line that says that it is ready.
pub const READY_MAX: Duration = Duration::from_secs(30);
/// From SIGTERM to its end, drained.
const STOP_MAX: Duration = Duration::from_secs(30);

/// A child that is killed when it is let go of, and its lines.
#[derive(Debug)]
pub struct Process {
    child: Child,
    lines: Receiver<String>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only if it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of its standard output, which is read to the end, so that the child never blocks on a full pipe.
///
/// # Errors
/// It was started without a pipe, or there can be no more threads.
pub fn lines_of(child: &mut Child) -> Result<Receiver<String>> {
    let out = child.stdout.take().context("no standard output")?;
    let (give, lines) = channel();
    // Ends with the child.
    std::thread::Builder::new().name("lines".to_owned()).spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            // Nobody waits for lines any more once the run is over.
            let _ = give.send(line);
        }
    })?;
    Ok(lines)
}

impl Process {
    /// Starts it; its standard output is read to the end.
    ///
    /// # Errors
    /// There is no such program, or it cannot be run.
    pub fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start {command:?}"))?;
        let lines = lines_of(&mut child)?;
        Ok(Self { child, lines })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its standard input, if it was started with a pipe; once.
    pub fn take_input(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// The first line from here on that `find` finds something in.
    ///
    /// # Errors
    /// There was none in time, or the process has ended.
    pub fn await_line<T>(&self, within: Duration, find: impl Fn(&str) -> Option<T>) -> Result<T> {
        let deadline = Instant::now() + within;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    if let Some(found) = find(&line) {
                        return Ok(found);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Err(anyhow!("nothing was said in {} s", within.as_secs())),
                Err(RecvTimeoutError::Disconnected) => return Err(anyhow!("it has ended")),
            }
        }
    }

    /// Waits until it ends by itself, for a bounded time; `None`: it has not.
    pub fn await_end(&mut self) -> Option<ExitStatus> {
        let deadline = Instant::now() + STOP_MAX;
        loop {
            let ended = self.child.try_wait().ok().flatten();
            if ended.is_some() || Instant::now() >= deadline {
                return ended;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The server under test, on a free port with a data folder of its own and without rates per person.
#[derive(Debug)]
pub struct Server {
    process: Process,
    /// Where it listens.
    pub port: u16,
    _data: Folder,
}

impl Server {
    /// Starts it and waits until it is ready.
    ///
    /// # Errors
    /// It does not come up.
    pub fn start(binary: &Path, args: &[&str]) -> Result<Self> {
        let data = Folder::new()?;
        let mut command = Command::new(binary);
        command.args(["--listen", "127.0.0.1:0", "--limits", "off", "--data-dir"]).arg(data.path());
        let process = Process::start(command.args(args).stdin(Stdio::null()))?;
        let port = process.await_line(READY_MAX, port_of).context("the server printed no link to itself")?;
        Ok(Self { process, port, _data: data })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// As a target.
    ///
    /// # Errors
    /// Never: it listens on loopback.
    pub fn target(&self) -> Result<Target> {
        Ok(format!("http://127.0.0.1:{}", self.port).parse()?)
    }

    /// Asks it to stop.
    ///
    /// # Errors
    /// It did not stop in time, or said that something stayed unflushed.
    pub fn stop(&mut self) -> Result<(), String> {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw).ok_or("no process id")?;
        kill_process(pid, Signal::TERM).map_err(|e| format!("cannot be stopped: {e}"))?;
        match self.process.await_end() {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(format!("stopped with {status}")),
            None => Err(format!("did not stop in {} s", STOP_MAX.as_secs())),
        }
    }
}

/// The port in a line that has a link to this machine.
fn port_of(line: &str) -> Option<u16> {
    let (_, after) = line.split_once("http://127.0.0.1:")?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// A folder that goes with the run.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A new, empty one.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new() -> Result<Self> {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("heartline-loadtest-{}-{run}", std::process::id()));
        std::fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder for temporary files, which the system clears.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_found_in_a_link() {
        assert_eq!(port_of("watch   http://127.0.0.1:41234/watch/?item=demo"), Some(41_234));
        assert_eq!(port_of("ready"), None);
        assert_eq!(port_of("http://127.0.0.1:/"), None);
    }
}
