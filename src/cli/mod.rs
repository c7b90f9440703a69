//! The command line: which subcommand, and what its outcome is as an exit code. Serving is the one that needs no name.

mod realign;
pub mod serve;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use crate::config::{Config, ConfigError};
use crate::telemetry;

/// Bad configuration (`EX_USAGE` of BSD's sysexits).
pub const EXIT_USAGE: u8 = 64;
/// The server failed, or stopped with something unflushed (`EX_SOFTWARE`).
pub const EXIT_SOFTWARE: u8 = 70;

/// Runs what the arguments ask for; `serve` runs the server until it is stopped and answers the exit code of its stop.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    serve: impl FnOnce(Config) -> anyhow::Result<ExitCode>,
) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    if args.get(1).is_some_and(|name| name == "realign") {
        return realign::run(std::iter::once(OsString::from("heartline realign")).chain(args.into_iter().skip(2)));
    }
    let config = match Config::from_args(without_serve(args)) {
        Ok(config) => config,
        Err(refusal) => return refused(&refusal),
    };
    telemetry::log::init(config.log.format == crate::config::LogFormat::Json, config.log.level.filter());
    serve(config).unwrap_or_else(|error| {
        tell(format_args!("heartline: {error:#}"));
        ExitCode::from(EXIT_SOFTWARE)
    })
}

/// `heartline serve …` is `heartline …`.
fn without_serve(args: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    args.into_iter().enumerate().filter(|(at, arg)| *at != 1 || arg != "serve").map(|(_, arg)| arg)
}

/// One line on standard error, or the text that was asked for on standard output.
fn refused(refusal: &ConfigError) -> ExitCode {
    if let ConfigError::Asked(text) = refusal {
        // Nobody is left to tell if the terminal has gone.
        return text.print().map_or(ExitCode::from(EXIT_SOFTWARE), |()| ExitCode::SUCCESS);
    }
    tell(format_args!("heartline: bad configuration: {refusal}"));
    ExitCode::from(EXIT_USAGE)
}

/// Before the log is started, and when it may be gone, standard error is all there is; without it there is nobody to tell.
fn tell(line: std::fmt::Arguments<'_>) {
    let _gone = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(args: &[&str]) -> (ExitCode, bool) {
        let mut served = false;
        let args = std::iter::once("heartline").chain(args.iter().copied()).map(OsString::from);
        let code = run(args, |_| {
            served = true;
            Ok(ExitCode::SUCCESS)
        });
        (code, served)
    }

    /// Scenario: a wrong value. Method: the server is never started, and the code is the promised one.
    #[test]
    fn bad_configuration_starts_nothing_and_exits_64() {
        assert_eq!(code(&["--tick-ms", "5"]), (ExitCode::from(64), false));
        assert_eq!(code(&["serve", "--nonsense"]), (ExitCode::from(64), false));
        assert_eq!(code(&["sevre"]), (ExitCode::from(64), false));
        assert_eq!(code(&["--tick-ms", "50", "serve"]), (ExitCode::from(64), false));
    }

    /// Scenario: the plain command and the named one. Method: both serve.
    #[test]
    fn serving_needs_no_name() {
        assert_eq!(code(&["--listen", "127.0.0.1:0"]), (ExitCode::SUCCESS, true));
        assert_eq!(code(&["serve", "--listen", "127.0.0.1:0"]), (ExitCode::SUCCESS, true));
    }
}
