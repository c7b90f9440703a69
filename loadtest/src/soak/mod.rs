//! The soak: the failure tests of the server in their long form, which no ordinary run has time for.
//!
//! It runs the project's own test binary, suite by suite, with `HEARTLINE_TEST_SOAK` set, and reports how many rounds were made, in what
//! time, and what broke. It starts in the project's folder, needs what the tests need, and is bounded: a suite that is not done when
//! the time is over is broken off, with everything that it started, and has not passed. It knows nothing of what the suites do.

mod child;
mod report;

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

pub use report::{SoakReport, SuiteReport};

use crate::report::Circumstances;
use crate::target::{NotAllowed, allow};
use child::Group;

/// The longest soak: a weekend.
const MINUTES_MAX: f64 = 60.0 * 60.0;
/// A build from nothing on a slow machine.
const BUILD_MAX: Duration = Duration::from_secs(60 * 60);

/// What to do.
#[derive(Debug, Clone, Args)]
pub struct SoakConfig {
    /// Only these suites; else all.
    #[arg(long = "suite", value_enum)]
    pub suites: Vec<Suite>,
    /// For how long at most, all suites together; the build before them not counted.
    #[arg(long, default_value_t = 60.0)]
    pub minutes: f64,
}

/// A group of tests that reads how many rounds to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Random histories over Redis and MongoDB.
    Histories,
    /// A whole Redis set back to an older dump.
    Rollback,
    /// Processes killed at fail points, and stores that are hit, while people tap.
    Kills,
    /// Likes while processes die, on the embedded stores and over Redis and MongoDB.
    Likes,
}

impl Suite {
    /// The name of its tests begins so.
    const fn filter(self) -> &'static str {
        match self {
            Self::Histories => "contract::pair::histories",
            Self::Rollback => "contract::pair::rolled_back",
            Self::Kills => "distributed::",
            Self::Likes => "likes::crashes::",
        }
    }

    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Builds the tests, then runs the suites one after the other.
///
/// # Errors
/// The tests could not be built or started. A test that failed is a violation in the report.
pub fn run(config: &SoakConfig, is_quiet: bool) -> Result<SoakReport> {
    allow(config.minutes > 0.0 && config.minutes <= MINUTES_MAX, format!("minutes: up to {MINUTES_MAX}"))?;
    build(is_quiet)?;
    let began = Instant::now();
    let end = began + length(config.minutes)?;
    let chosen = if config.suites.is_empty() { Suite::value_variants() } else { &config.suites };
    let mut suites = Vec::with_capacity(chosen.len());
    for suite in chosen {
        suites.push(soak(*suite, end, is_quiet)?);
    }
    Ok(SoakReport::of(suites, began.elapsed(), Circumstances::here()))
}

fn length(minutes: f64) -> Result<Duration, NotAllowed> {
    let length = Duration::try_from_secs_f64(minutes * 60.0);
    length.map_err(|_| NotAllowed("minutes: no length of time".to_owned()))
}

/// `cargo test` of the one integration binary, with what makes it a soak.
fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["test", "--package", "heartline", "--test", "it"]).args(args);
    command.env("HEARTLINE_TEST_SOAK", "1").env("HEARTLINE_TEST_SERVICES", "redis,mongodb,browser");
    command
}

fn build(is_quiet: bool) -> Result<()> {
    let mut group = Group::start(&mut cargo(&["--no-run"]), is_quiet)?;
    match group.lines_until(Instant::now() + BUILD_MAX, |_| {}) {
        Some(status) if status.success() => Ok(()),
        _ => bail!("the tests could not be built; run this in the project's folder"),
    }
}

fn soak(suite: Suite, end: Instant, is_quiet: bool) -> Result<SuiteReport> {
    let began = Instant::now();
    let mut report = SuiteReport::new(suite.name(), suite.filter());
    let mut group = Group::start(&mut cargo(&["--", suite.filter(), "--nocapture"]), is_quiet)?;
    let status = group.lines_until(end, |line| report.take(line));
    report.ended(status, began.elapsed());
    Ok(report)
}
