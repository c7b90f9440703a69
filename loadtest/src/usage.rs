//! What a process costs: processor time and memory, of this one and of children; and the limit on open files.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// Descriptors beside the sockets: standard streams, epoll, timers, the log, HTTP connections.
const FILES_BESIDE: u64 = 200;

/// Processor time of this process so far, all threads, user and system.
pub fn own_cpu() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(spent.tv_sec.try_into().unwrap_or(0), spent.tv_nsec.try_into().unwrap_or(0))
}

/// Raises the soft limit on open files so that this process, and children started from here on, can hold so many sockets.
///
/// # Errors
/// The hard limit is lower; it is named.
pub fn allow_sockets(sockets: usize) -> Result<()> {
    let wanted = sockets as u64 + FILES_BESIDE;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    if let Some(maximum) = maximum.filter(|maximum| *maximum < wanted) {
        bail!("{sockets} sockets need {wanted} open files, the hard limit is {maximum} (ulimit -Hn)");
    }
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).context("cannot raise the limit on open files")
}

/// Processor time of another process so far: `utime + stime` of its `/proc/PID/stat`, in steps of a clock tick (10 ms).
pub fn cpu_of(pid: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).with_context(|| format!("process {pid}"))?;
    let ticks = ticks_of(&stat).with_context(|| format!("cannot read /proc/{pid}/stat"))?;
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Ok(Duration::from_secs_f64(ticks as f64 / per_second as f64))
}

/// Fields 14 and 15; the command's name (field 2) may hold spaces and brackets, so counting begins after the last bracket.
fn ticks_of(stat: &str) -> Option<u64> {
    let mut after = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let (user, system): (u64, u64) = (after.next()?.parse().ok()?, after.next()?.parse().ok()?);
    Some(user + system)
}

/// Resident memory of another process: `VmRSS` of its `/proc/PID/status`, in bytes.
pub fn resident_bytes_of(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).with_context(|| format!("process {pid}"))?;
    resident_of(&status).with_context(|| format!("no VmRSS in /proc/{pid}/status"))
}

fn resident_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let stat = "42 (a ) b) S 1 1 1 0 -1 4194560 100 0 0 0 70 30 0 0 20 0 4 0 100";
        assert_eq!(ticks_of(stat), Some(100));
        assert_eq!(resident_of("Name:\tx\nVmRSS:\t    2048 kB\n"), Some(2_097_152));
    }

    #[test]
    fn own_figures_can_be_read() {
        let pid = std::process::id();
        assert!(resident_bytes_of(pid).is_ok_and(|bytes| bytes > 100_000));
        assert!(cpu_of(pid).is_ok());
        assert!(own_cpu() > Duration::ZERO);
    }
}
