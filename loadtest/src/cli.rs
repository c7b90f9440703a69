//! Arguments to one run each. Targets that are not loopback are refused while arguments are read, before anything is opened.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};

use crate::bench::{self, BenchConfig};
use crate::fanout::{self, FanoutConfig};
use crate::likes::{self, LikesConfig, Way};
use crate::replay::{self, ReplayConfig};
use crate::report::render;
use crate::soak::{self, SoakConfig};
use crate::storm::{self, StormConfig};
use crate::strategies::{self, StrategiesConfig};
use crate::target::Target;
use crate::trace::{self, Shape, Statistics};

/// Loads a Heartline server on this machine and checks that it keeps its promises.
#[derive(Debug, Parser)]
#[command(name = "loadtest", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Print the report as JSON.
    #[arg(long, global = true)]
    json: bool,
    /// No progress bar.
    #[arg(long, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Many sockets tap by the clock; every count must fit the books.
    Storm(Storm),
    /// Post a recorded show's comments again while sockets watch.
    Replay(Replay),
    /// Like and unlike as fast as it is answered; every answer, counter and fact must fit the books.
    Likes(LikesArgs),
    /// Make a trace to replay, the same for a seed; to standard output.
    MakeTrace(MakeTrace),
    /// Sum up a trace.
    TraceStats {
        /// The trace.
        file: PathBuf,
    },
    /// The server's cost per delivery and per socket, beside a bare write loop in the same run.
    Fanout(Fanout),
    /// The figures of docs/benchmarks.md: storm, replay and fanout, each against a server of its own.
    Bench(BenchConfig),
    /// The server's failure tests in their long form; in the project's folder, with Redis and MongoDB at hand.
    Soak(SoakConfig),
    /// A million taps through the server over Redis and MongoDB; then what the same load costs it, and costs tap by tap.
    Strategies(Strategies),
    /// The yardstick of `fanout`: a bare write loop, told what to do on standard input.
    #[command(hide = true)]
    BareWriter,
}

#[derive(Debug, Args)]
struct Storm {
    #[command(flatten)]
    at: At,
    /// How many sockets.
    #[arg(long, default_value_t = 200)]
    sockets: usize,
    /// Taps per second of all sockets together.
    #[arg(long, default_value_t = 1_000.0)]
    rate: f64,
    /// For how many seconds.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// The fraction of tap messages with an `id`, which the server must acknowledge.
    #[arg(long, default_value_t = 0.5)]
    ids: f64,
    /// Taps in one message.
    #[arg(long, default_value_t = 1)]
    n: u32,
    /// Comments per second of all sockets together.
    #[arg(long, default_value_t = 0.0)]
    comments_per_s: f64,
    /// Connections may break (the server is killed on purpose): check the ledger as a range.
    #[arg(long)]
    may_be_cut: bool,
}

#[derive(Debug, Args)]
struct At {
    /// The server; loopback only.
    #[arg(long, default_value = "http://127.0.0.1:8080")]
    url: Target,
    /// The item; made if unknown.
    #[arg(long)]
    item: String,
    /// How long to wait for the server to have, show and flush everything; seconds, above its flush interval.
    #[arg(long, default_value_t = 20.0)]
    settle_s: f64,
}

#[derive(Debug, Args)]
struct Replay {
    /// CSV: offset_ms,viewer,chars,bytes.
    file: PathBuf,
    #[command(flatten)]
    at: At,
    /// How many times faster than recorded.
    #[arg(long, default_value_t = 1.0)]
    speed: f64,
    /// Sockets that watch.
    #[arg(long, default_value_t = 100)]
    watch: usize,
    /// HTTP connections that post.
    #[arg(long, default_value_t = 256)]
    connections: usize,
}

#[derive(Debug, Args)]
struct MakeTrace {
    /// The same seed makes the same trace.
    #[arg(long)]
    seed: u64,
    /// How long.
    #[arg(long, default_value_t = 36.0)]
    minutes: f64,
    /// Comments a second on average.
    #[arg(long, default_value_t = 13.0)]
    rate_avg: f64,
    /// Comments in the busiest second.
    #[arg(long, default_value_t = 46.0)]
    rate_peak: f64,
    /// About how many people write; else half as many as there are comments.
    #[arg(long)]
    viewers: Option<u64>,
}

#[derive(Debug, Args)]
struct LikesArgs {
    /// The server; loopback only.
    #[arg(long, default_value = "http://127.0.0.1:8080")]
    url: Target,
    /// What the items' names begin with; they must be new.
    #[arg(long, default_value = "likes")]
    prefix: String,
    /// By a service in batches, or by viewers over their sockets.
    #[arg(long, value_enum, default_value_t = Way::Batch)]
    way: Way,
    /// How many items.
    #[arg(long, default_value_t = 1)]
    items: usize,
    /// How many people.
    #[arg(long, default_value_t = 1_000_000)]
    people: usize,
    /// Acts of one batch.
    #[arg(long, default_value_t = 1_000)]
    batch: usize,
    /// HTTP connections, each with one batch under way.
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// Viewer sockets.
    #[arg(long, default_value_t = 2_000)]
    sockets: usize,
    /// Acts under way on one socket.
    #[arg(long, default_value_t = 8)]
    window: usize,
    /// For how many seconds.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// The same seed sends the same.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
struct Fanout {
    /// The heartline binary.
    #[arg(long)]
    server_bin: PathBuf,
    /// Reading sockets, in one room.
    #[arg(long, default_value_t = 5_000)]
    sockets: usize,
    /// Frames per second to each socket.
    #[arg(long, default_value_t = 5)]
    hz: u32,
    /// Length of one measured window.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Windows for each of the two.
    #[arg(long, default_value_t = 4)]
    rounds: usize,
}

#[derive(Debug, Args)]
struct Strategies {
    /// The heartline binary.
    #[arg(long)]
    server_bin: PathBuf,
    /// The redis-server binary.
    #[arg(long, default_value = "redis-server")]
    redis_bin: PathBuf,
    /// A MongoDB on this machine; the run makes and drops a database in it. Without: the one that the tests start.
    #[arg(long)]
    mongodb_url: Option<String>,
    /// Items that are tapped.
    #[arg(long, default_value_t = 10)]
    items: usize,
    /// Sockets to each of them.
    #[arg(long, default_value_t = 20)]
    sockets: usize,
    /// Taps of the first load, all items together.
    #[arg(long, default_value_t = 1_000_000)]
    taps: u64,
    /// Over how long.
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Taps in one message of the first load; the compared one has one.
    #[arg(long, default_value_t = 10)]
    n: u32,
    /// How long each way is offered the same taps a second.
    #[arg(long, default_value_t = 20.0)]
    compare_s: f64,
    /// The server's flush interval.
    #[arg(long, default_value_t = 5_000)]
    flush_ms: u64,
    /// Items whose bytes in Redis are counted.
    #[arg(long, default_value_t = 1_000)]
    live_items: usize,
    /// Comments in each of those.
    #[arg(long, default_value_t = 20)]
    comments: usize,
}

/// What a run has to say.
#[derive(Debug)]
pub struct Finished {
    /// For standard output.
    pub text: String,
    /// Whether every promise was kept.
    pub is_passed: bool,
}

impl Cli {
    /// Carries the command out.
    ///
    /// # Errors
    /// No run was possible.
    pub fn run(self) -> Result<Finished> {
        let Self { command, json, quiet } = self;
        match command {
            Command::Storm(storm) => {
                let report = block_on(storm::run(storm.config(quiet)))?;
                Ok(Finished { text: render(&report, json), is_passed: report.violations.is_empty() })
            }
            Command::Replay(replay) => {
                let report = block_on(replay::run(replay.config(quiet)?))?;
                Ok(Finished { text: render(&report, json), is_passed: report.violations.is_empty() })
            }
            Command::Likes(likes) => {
                let report = block_on(likes::run(likes.config()))?;
                Ok(Finished { text: render(&report, json), is_passed: report.violations.is_empty() })
            }
            Command::MakeTrace(made) => made.run(),
            Command::TraceStats { file } => {
                let text = serde_json::to_string_pretty(&Statistics::of(&read(&file)?))?;
                Ok(Finished { text, is_passed: true })
            }
            Command::Fanout(fanout) => {
                let report = fanout::run(&fanout.config(quiet)?)?;
                Ok(Finished { text: render(&report, json), is_passed: report.violations.is_empty() })
            }
            Command::Bench(bench) => {
                let report = block_on(bench::run(&bench, quiet))?;
                Ok(Finished { text: render(&report, json), is_passed: report.is_passed() })
            }
            Command::Soak(soak) => {
                let report = soak::run(&soak, quiet)?;
                Ok(Finished { text: render(&report, json), is_passed: report.violations.is_empty() })
            }
            Command::Strategies(strategies) => {
                let report = block_on(strategies::run(strategies.config(quiet)))?;
                Ok(Finished { text: render(&report, json), is_passed: report.violations.is_empty() })
            }
            Command::BareWriter => {
                fanout::bare::serve()?;
                Ok(Finished { text: String::new(), is_passed: true })
            }
        }
    }
}

impl Storm {
    fn config(self, is_quiet: bool) -> StormConfig {
        StormConfig {
            sockets: self.sockets,
            taps_per_s: self.rate,
            n: self.n,
            with_id: self.ids,
            comments_per_s: self.comments_per_s,
            length: seconds(self.seconds),
            settle_max: seconds(self.at.settle_s),
            may_be_cut: self.may_be_cut,
            is_quiet,
            ..StormConfig::new(self.at.url, &self.at.item)
        }
    }
}

impl Replay {
    fn config(self, is_quiet: bool) -> Result<ReplayConfig> {
        let lines = read(&self.file)?;
        Ok(ReplayConfig {
            speed: self.speed,
            watchers: self.watch,
            connections: self.connections,
            settle_max: seconds(self.at.settle_s),
            is_quiet,
            ..ReplayConfig::new(self.at.url, &self.at.item, lines)
        })
    }
}

impl LikesArgs {
    fn config(self) -> LikesConfig {
        let Self {
            url: target,
            prefix,
            way,
            items,
            people,
            batch,
            connections,
            sockets,
            window,
            seconds: length,
            seed,
        } = self;
        let length = seconds(length);
        LikesConfig { target, prefix, way, items, people, batch, connections, sockets, window, length, seed }
    }
}

impl MakeTrace {
    fn run(self) -> Result<Finished> {
        let Self { seed, minutes, rate_avg, rate_peak, viewers } = self;
        let comments = minutes * 60.0 * rate_avg;
        let newcomers = viewers.map_or(Shape::default().newcomers, |viewers| (viewers as f64 / comments).min(1.0));
        let lines = trace::make(Shape { seed, minutes, rate_avg, rate_peak, newcomers })?;
        let mut csv = Vec::new();
        trace::write(&lines, &mut csv)?;
        Ok(Finished { text: String::from_utf8(csv)?.trim_end().to_owned(), is_passed: true })
    }
}

impl Fanout {
    fn config(self, is_quiet: bool) -> Result<FanoutConfig> {
        let Self { server_bin, sockets, hz, rounds, seconds: length } = self;
        let bare_bin = std::env::current_exe().context("cannot find this program")?;
        Ok(FanoutConfig { server_bin, bare_bin, sockets, hz, rounds, window: seconds(length), is_quiet })
    }
}

impl Strategies {
    fn config(self, is_quiet: bool) -> StrategiesConfig {
        StrategiesConfig {
            server_bin: self.server_bin,
            redis_bin: self.redis_bin,
            mongodb_url: self.mongodb_url,
            items: self.items,
            sockets: self.sockets,
            taps: self.taps,
            length: seconds(self.seconds),
            n: self.n,
            compared: seconds(self.compare_s),
            flush: Duration::from_millis(self.flush_ms),
            live_items: self.live_items,
            comments: self.comments,
            is_quiet,
        }
    }
}

/// What is no length of time becomes the longest, which the run's own bounds then refuse.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

fn read(file: &PathBuf) -> Result<Vec<trace::Line>> {
    let open = std::fs::File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    trace::read(open).with_context(|| file.display().to_string())
}

fn block_on<T>(run: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run)
}
