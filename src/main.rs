//! Starts the server.

use std::process::ExitCode;

use heartline::cli::{self, serve::serve};

fn main() -> ExitCode {
    cli::run(std::env::args_os(), serve)
}
