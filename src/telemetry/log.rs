//! The log: lines on standard error, as text or JSON. Standard output carries only what people and scripts wait for.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;

/// What the libraries below say of themselves. A malformed request is its sender's fault, and a line for each would let anybody fill
/// the disk; the server's starting and stopping is told by this program.
const QUIET: &str = "actix_http::h1=off,actix_server=warn";

/// Starts logging for the whole process. Does nothing where a test has started it before.
pub fn init(json: bool, level: LevelFilter) {
    // Built without a look at the environment: the configuration has read it already.
    let filter = EnvFilter::builder().parse_lossy(format!("{level},{QUIET}"));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(true);
    let started = if json {
        lines.json().flatten_event(true).finish().try_init()
    } else {
        let colours = std::io::IsTerminal::is_terminal(&std::io::stderr());
        lines.with_ansi(colours).finish().try_init()
    };
    if started.is_err() {
        tracing::debug!("logging was started before");
    }
}
