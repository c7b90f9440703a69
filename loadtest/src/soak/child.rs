//! A command with all that it starts, as one process group: `cargo` starts the tests, and they start servers.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::process::lines_of;

/// From being asked to end to being ended: servers remove their folders.
const GRACE: Duration = Duration::from_secs(5);

/// See the module. It does not outlive the run.
#[derive(Debug)]
pub struct Group {
    child: Child,
    lines: Receiver<String>,
}

impl Group {
    /// Starts it; its standard output comes as lines, its standard error is this process's, unless quiet.
    pub fn start(command: &mut Command, is_quiet: bool) -> Result<Self> {
        let stderr = if is_quiet { Stdio::null() } else { Stdio::inherit() };
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let lines = lines_of(&mut child)?;
        Ok(Self { child, lines })
    }

    /// Takes its lines until it has ended, and answers how; `None`: it had not when the time was over.
    pub fn lines_until(&mut self, end: Instant, mut take: impl FnMut(&str)) -> Option<ExitStatus> {
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => take(&line),
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => return self.ended_by(end.max(Instant::now() + GRACE)),
            }
        }
    }

    fn ended_by(&mut self, end: Instant) -> Option<ExitStatus> {
        loop {
            let ended = self.child.try_wait().ok().flatten();
            if ended.is_some() || Instant::now() >= end {
                return ended;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn tell(&self, signal: Signal) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It fails only if nobody is left.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The number may be somebody else's once the child was waited for and ended in order, with all that it had started.
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.tell(Signal::TERM);
            self.ended_by(Instant::now() + GRACE);
            self.tell(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scenario: a command whose child would outlive it, and a time that is over. Method: the group is gone when it is let go of.
    #[test]
    fn what_is_broken_off_takes_along_all_that_it_started() {
        let mut group = Group::start(Command::new("sh").args(["-c", "sleep 60 & echo $!; wait"]), true).unwrap();
        let mut started = Vec::new();
        let ended = group.lines_until(Instant::now() + Duration::from_secs(1), |line| started.push(line.to_owned()));
        assert_eq!((ended, started.len()), (None, 1));
        drop(group);
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", started[0])).unwrap_or_default();
        // One that nobody has waited for yet is a zombie, and runs no more.
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    }

    #[test]
    fn lines_and_the_end_are_told() {
        let mut group = Group::start(Command::new("sh").args(["-c", "echo a; echo b; exit 3"]), true).unwrap();
        let mut lines = Vec::new();
        let ended = group.lines_until(Instant::now() + Duration::from_secs(20), |line| lines.push(line.to_owned()));
        assert_eq!((ended.and_then(|status| status.code()), lines.concat()), (Some(3), "ab".to_owned()));
    }
}
