//! What every run prints beside its figures: what was violated, and under which circumstances the figures came about.

use std::process::Command;

use serde::Serialize;

/// Violations that are kept word for word; the rest is counted. A broken server violates at every frame.
const KEPT_MAX: usize = 50;

/// Promises that were not kept. A run with any of these has failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Violations {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub first: Vec<String>,
}

impl Violations {
    /// Notes one.
    pub fn add(&mut self, what: impl Into<String>) {
        self.count += 1;
        if self.first.len() < KEPT_MAX {
            self.first.push(what.into());
        }
    }

    /// Notes the error of a check, with where it was seen.
    pub fn check(&mut self, place: &str, outcome: Result<(), String>) {
        if let Err(what) = outcome {
            self.add(format!("{place}: {what}"));
        }
    }

    /// Takes over those of another.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        let room = KEPT_MAX.saturating_sub(self.first.len());
        self.first.extend(other.first.into_iter().take(room));
    }

    /// Whether every promise was kept.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl std::fmt::Display for Violations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_empty() {
            return write!(f, "all checks passed");
        }
        write!(f, "{} VIOLATIONS", self.count)?;
        self.first.iter().try_for_each(|what| write!(f, "\n  - {what}"))
    }
}

/// The machine, the build and the command that figures belong to.
#[derive(Debug, Clone, Serialize)]
pub struct Circumstances {
    /// The processor's name.
    pub cpu: String,
    /// Logical processors that this process may use.
    pub cores: usize,
    /// The commit of the folder that the run was started in, with a `+` where it had changes.
    pub commit: String,
    /// When the run ended, UTC.
    pub date: String,
    /// How the run was started.
    pub command: String,
}

impl Circumstances {
    /// Those of this process.
    pub fn here() -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown");
        Self {
            cpu: model.trim_start_matches([' ', '\t', ':']).to_owned(),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            commit: commit().unwrap_or_else(|| "unknown".to_owned()),
            date: said_by("date", &["-u", "+%Y-%m-%d %H:%M"]).unwrap_or_else(|| "unknown".to_owned()),
            command: std::env::args().collect::<Vec<_>>().join(" "),
        }
    }
}

fn commit() -> Option<String> {
    let head = said_by("git", &["rev-parse", "--short", "HEAD"])?;
    let changes = said_by("git", &["status", "--porcelain", "--untracked-files=no"]);
    Some(format!("{head}{}", if changes.is_some_and(|changes| !changes.is_empty()) { "+" } else { "" }))
}

/// What a program prints, if it succeeds.
fn said_by(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

impl std::fmt::Display for Circumstances {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "machine    {} x {}", self.cores, self.cpu)?;
        write!(f, "commit     {}\ndate       {}\ncommand    {}", self.commit, self.date, self.command)
    }
}

/// A report as people or as machines read it.
pub fn render<R: Serialize + std::fmt::Display>(report: &R, as_json: bool) -> String {
    if as_json { serde_json::to_string_pretty(report).unwrap_or_default() } else { report.to_string() }
}
