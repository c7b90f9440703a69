//! The load generator's command line. Exit 0: all checks passed; 1: a promise was broken; 64: not allowed; 69: no run was possible.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use loadtest::cli::{Cli, Finished};
use loadtest::target::NotAllowed;

/// Broken promises.
const VIOLATED: u8 = 1;
/// A wrong argument (`EX_USAGE`).
const USAGE: u8 = 64;
/// The server or something else that the run needs is not there (`EX_UNAVAILABLE`).
const UNAVAILABLE: u8 = 69;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are asked for; everything else is a wrong argument. Where not even this can be printed, the code says it.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
        }
    };
    match cli.run() {
        Ok(Finished { text, is_passed }) => {
            let is_printed = writeln!(std::io::stdout(), "{text}").is_ok();
            if is_passed && is_printed { ExitCode::SUCCESS } else { ExitCode::from(VIOLATED) }
        }
        Err(error) => {
            // Nothing is left to tell it with if standard error is gone, but the code.
            let _ = writeln!(std::io::stderr(), "loadtest: {error:#}");
            ExitCode::from(if error.is::<NotAllowed>() { USAGE } else { UNAVAILABLE })
        }
    }
}
