//! What one delivery costs the server, beside the cheapest thing that could deliver: a bare `write(2)` loop over as many sockets.
//!
//! Server and write loop are children of this process and are measured from outside, by `/proc`, in alternating windows of one run with the
//! same reading thread, so that the machine's mood strikes both. Readers only count frames. It judges cost, not content: that
//! counts are right is `storm`'s business. It needs Linux.

pub mod bare;

mod child;
mod frames;
mod join;
mod readers;
mod report;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

pub use report::{FanoutReport, Window};

use crate::process::Server;
use crate::report::Violations;
use crate::target::{NotAllowed, allow};
use crate::usage;
use child::BareWriter;
use join::{TapSocket, Tapper};
use readers::{Group, Readers};

/// Sockets to each of the two, at most: within the ports of three source addresses.
const SOCKETS_MAX: usize = 60_000;
/// Frames per second to each socket, at most.
const HZ_MAX: u32 = 50;
/// Windows for each, at most; and the longest.
const ROUNDS_MAX: usize = 50;
const WINDOW_MAX: Duration = Duration::from_secs(600);
/// Before each window: caches are warm and the server's pace has settled.
const WARM_UP: Duration = Duration::from_secs(1);
/// No frame for so long: everything that was under way has arrived.
const QUIET: Duration = Duration::from_millis(700);
/// Quiet that does not come until then is a fault of the server's.
const QUIET_MAX: Duration = Duration::from_secs(20);

/// What to do.
#[derive(Debug, Clone)]
pub struct FanoutConfig {
    /// The heartline binary.
    pub server_bin: PathBuf,
    /// This generator's binary, whose hidden command is the write loop.
    pub bare_bin: PathBuf,
    /// Reading sockets to the server, and as many to the write loop.
    pub sockets: usize,
    /// Frames per second to each socket.
    pub hz: u32,
    /// Windows for each of the two.
    pub rounds: usize,
    /// Length of a window.
    pub window: Duration,
    /// No progress bar.
    pub is_quiet: bool,
}

impl FanoutConfig {
    /// Whether the bounds are kept.
    ///
    /// # Errors
    /// Names the value that is out of bounds.
    pub fn check(&self) -> Result<(), NotAllowed> {
        allow((1..=SOCKETS_MAX).contains(&self.sockets), format!("sockets: 1 to {SOCKETS_MAX}"))?;
        allow((1..=HZ_MAX).contains(&self.hz), format!("hz: 1 to {HZ_MAX}"))?;
        allow((1..=ROUNDS_MAX).contains(&self.rounds), format!("rounds: 1 to {ROUNDS_MAX}"))?;
        let is_length = !self.window.is_zero() && self.window <= WINDOW_MAX;
        allow(is_length, format!("seconds: up to {}", WINDOW_MAX.as_secs()))
    }
}

/// Runs server and write loop in alternating windows.
///
/// # Errors
/// One of the two could not be started, joined or read.
pub fn run(config: &FanoutConfig) -> Result<FanoutReport> {
    config.check()?;
    // This process holds one end of all sockets; the children inherit the limit.
    usage::allow_sockets(2 * config.sockets)?;
    let readers = Readers::start()?;
    let tick_ms = (1_000 / config.hz.max(1)).to_string();
    let mut server = Server::start(&config.server_bin, &["--tick-ms", &tick_ms])?;
    let (tap, memory) = join_server(config, &server, &readers)?;
    let mut bare = join_bare(config, &readers)?;
    let windows = alternate(config, &server, &tap, &mut bare, &readers)?;
    let closed = readers.closed();
    readers.stop();
    drop(bare);
    let mut violations = Violations::default();
    if closed > 0 {
        violations.add(format!("{closed} sockets were closed before the end"));
    }
    violations.check("server", server.stop());
    Ok(report::of(config, windows, memory, violations))
}

/// Joins the room with all sockets; answers the server's resident bytes before and after, once all is quiet.
fn join_server(config: &FanoutConfig, server: &Server, readers: &Readers) -> Result<(TapSocket, (u64, u64))> {
    let bar = crate::progress::bar(config.sockets as u64, "sockets to the server", config.is_quiet);
    let before = usage::resident_bytes_of(server.pid())?;
    let tap = join::websockets(server.port, config.sockets, readers, &bar)?;
    await_quiet(readers, Group::Server)?;
    bar.finish_and_clear();
    Ok((tap, (before, usage::resident_bytes_of(server.pid())?)))
}

fn join_bare(config: &FanoutConfig, readers: &Readers) -> Result<BareWriter> {
    let bar = crate::progress::bar(config.sockets as u64, "sockets to the write loop", config.is_quiet);
    let bare = BareWriter::start(&config.bare_bin, config.sockets)?;
    join::bare(bare.port, config.sockets, readers, &bar)?;
    bare.await_accepted()?;
    bar.finish_and_clear();
    Ok(bare)
}

/// Server, write loop, server, write loop …
fn alternate(
    config: &FanoutConfig,
    server: &Server,
    tap: &TapSocket,
    bare: &mut BareWriter,
    readers: &Readers,
) -> Result<(Vec<Window>, Vec<Window>)> {
    let bar = crate::progress::bar(2 * config.rounds as u64, "windows", config.is_quiet);
    let mut windows = (Vec::new(), Vec::new());
    for _ in 0..config.rounds {
        windows.0.push(of_server(config, server, tap, readers)?);
        bar.inc(1);
        windows.1.push(of_bare(config, bare, readers)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(windows)
}

fn of_server(config: &FanoutConfig, server: &Server, tap: &TapSocket, readers: &Readers) -> Result<Window> {
    // Several taps to a tick, so that every tick has a new count for everybody.
    let tapper = Tapper::start(tap, Duration::from_secs(1) / (config.hz * 4))?;
    let window = measure(config, server.pid(), readers, Group::Server);
    tapper.stop();
    await_quiet(readers, Group::Server)?;
    window
}

fn of_bare(config: &FanoutConfig, bare: &mut BareWriter, readers: &Readers) -> Result<Window> {
    bare.go(config.hz, WARM_UP + config.window + QUIET)?;
    let window = measure(config, bare.pid(), readers, Group::Bare);
    bare.await_done()?;
    await_quiet(readers, Group::Bare)?;
    window
}

/// One window: processor time of a process, and what arrived meanwhile.
fn measure(config: &FanoutConfig, pid: u32, readers: &Readers, group: Group) -> Result<Window> {
    std::thread::sleep(WARM_UP);
    let (start, cpu, before) = (Instant::now(), usage::cpu_of(pid)?, readers.seen(group));
    std::thread::sleep(config.window);
    let (took, cpu_after, after) = (start.elapsed(), usage::cpu_of(pid)?, readers.seen(group));
    Ok(Window {
        seconds: took.as_secs_f64(),
        cpu_s: cpu_after.saturating_sub(cpu).as_secs_f64(),
        frames: after.frames - before.frames,
        bytes: after.bytes - before.bytes,
    })
}

fn await_quiet(readers: &Readers, group: Group) -> Result<()> {
    let deadline = Instant::now() + QUIET_MAX;
    let (mut last, mut since) = (readers.seen(group), Instant::now());
    while since.elapsed() < QUIET {
        if Instant::now() >= deadline {
            bail!("frames still arrive {} s after the load has ended", QUIET_MAX.as_secs());
        }
        std::thread::sleep(Duration::from_millis(50));
        let now = readers.seen(group);
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    Ok(())
}
