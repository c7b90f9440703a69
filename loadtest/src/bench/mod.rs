//! The figures of `docs/benchmarks.md` by one command: storm, replay and fan-out, one after the other, each against a server of its own
//! on a temporary folder with embedded stores.
//!
//! It composes the other runs and measures nothing itself; what each checks, it checks here too. How much load is fixed, so that figures
//! of different days are of the same thing; it can be cut for a try.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Serialize;

use crate::fanout::{self, FanoutConfig, FanoutReport};
use crate::process::Server;
use crate::replay::{self, ReplayConfig, ReplayReport};
use crate::report::Violations;
use crate::storm::{self, StormConfig, StormReport};
use crate::target::{Target, allow};
use crate::trace::{self, Shape};

/// A shorter window has so few frames that their number does not fit the plan.
const WINDOW_MIN: Duration = Duration::from_secs(2);
/// The seed of the replayed show.
const SEED: u64 = 7;

/// What to do.
#[derive(Debug, Clone, Args)]
pub struct BenchConfig {
    /// The heartline binary, a release build; else the one beside this program.
    #[arg(long)]
    pub server_bin: Option<PathBuf>,
    /// Make this fraction of each, 0.01 to 1: less than 1 is a try, not figures.
    #[arg(long, default_value_t = 1.0)]
    pub scale: f64,
}

/// All three.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names say it; README.md explains how to read them")]
pub struct BenchReport {
    pub storm: StormReport,
    pub replay: ReplayReport,
    pub fanout: FanoutReport,
    /// Servers that did not stop in order.
    pub servers: Violations,
}

impl BenchReport {
    /// Whether all checks of all runs passed.
    pub const fn is_passed(&self) -> bool {
        self.storm.violations.is_empty()
            && self.replay.violations.is_empty()
            && self.fanout.violations.is_empty()
            && self.servers.is_empty()
    }
}

impl std::fmt::Display for BenchReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { storm, replay, fanout, servers } = self;
        writeln!(f, "{storm}\n{replay}\n{fanout}")?;
        write!(f, "bench      servers of storm and replay: {servers}")
    }
}

/// Runs all three.
///
/// # Errors
/// A server could not be started or reached. Broken promises are in the report.
pub async fn run(config: &BenchConfig, is_quiet: bool) -> Result<BenchReport> {
    let bare_bin = std::env::current_exe().context("cannot find this program")?;
    with_bare_bin(config, bare_bin, is_quiet).await
}

/// The same where this program, whose hidden command is the write loop, is another one.
///
/// # Errors
/// As [`run`].
pub async fn with_bare_bin(config: &BenchConfig, bare_bin: PathBuf, is_quiet: bool) -> Result<BenchReport> {
    allow((0.01..=1.0).contains(&config.scale), "scale: 0.01 to 1")?;
    let server_bin = config.server_bin.clone().unwrap_or_else(|| bare_bin.with_file_name("heartline"));
    let is_there = server_bin.is_file();
    ensure!(is_there, "no server at {}: `cargo build --release`, or give --server-bin", server_bin.display());
    let mut servers = Violations::default();
    let storm = on_server(&server_bin, &mut servers, |target| storm::run(of_storm(target, config, is_quiet))).await?;
    let lines = trace::make(Shape { seed: SEED, minutes: 36.0 * config.scale, ..Shape::default() })?;
    let replay = on_server(&server_bin, &mut servers, |target| replay::run(of_replay(target, lines, is_quiet))).await?;
    // It starts its own processes and waits for them.
    let fan_out = of_fanout(server_bin, bare_bin, config, is_quiet);
    let fanout = tokio::task::spawn_blocking(move || fanout::run(&fan_out)).await??;
    Ok(BenchReport { storm, replay, fanout, servers })
}

/// A run against a fresh server.
async fn on_server<T, F: Future<Output = Result<T>>>(
    binary: &Path,
    servers: &mut Violations,
    run: impl FnOnce(Target) -> F,
) -> Result<T> {
    let mut server = Server::start(binary, &[])?;
    let report = run(server.target()?).await;
    servers.check("server", server.stop());
    report
}

fn of_storm(target: Target, config: &BenchConfig, is_quiet: bool) -> StormConfig {
    StormConfig {
        sockets: 200,
        taps_per_s: 2_000.0,
        comments_per_s: 20.0,
        length: Duration::from_secs(60).mul_f64(config.scale),
        is_quiet,
        ..StormConfig::new(target, "storm")
    }
}

fn of_replay(target: Target, lines: Vec<trace::Line>, is_quiet: bool) -> ReplayConfig {
    ReplayConfig { speed: 20.0, watchers: 500, is_quiet, ..ReplayConfig::new(target, "replay", lines) }
}

fn of_fanout(server_bin: PathBuf, bare_bin: PathBuf, config: &BenchConfig, is_quiet: bool) -> FanoutConfig {
    let window = Duration::from_secs(6).mul_f64(config.scale).max(WINDOW_MIN);
    let (sockets, rounds) = ((5_000.0 * config.scale) as usize, (4.0 * config.scale).ceil() as usize);
    FanoutConfig { server_bin, bare_bin, sockets, hz: 5, rounds, window, is_quiet }
}
