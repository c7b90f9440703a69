//! Starts the server.

use std::process::ExitCode;

use heartline::cli;

fn main() -> ExitCode {
    cli::run(std::env::args_os(), |config| anyhow::bail!("no composition to serve {} with", config.server.listen))
}
