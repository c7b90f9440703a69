//! `heartline realign ITEM|--all --keep hot|durable`: a line per item on standard output; 0 if all are in line afterwards.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use super::{EXIT_SOFTWARE, EXIT_USAGE};
use crate::app;
use crate::config::LogFormat;
use crate::config::realign::RealignConfig;
use crate::telemetry;

/// The program's name and the subcommand's, as help shows them, stand first in `args`.
pub(super) fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let config = match RealignConfig::from_layers(args, &|name| std::env::var_os(name)) {
        Ok(config) => config,
        Err(refusal) => return super::refused(&refusal),
    };
    telemetry::log::init(config.server.log.format == LogFormat::Json, config.server.log.level.filter());
    let tell = |line: String| {
        // Who does not listen can ask again: the items are then in line.
        let _gone = writeln!(std::io::stdout(), "{line}");
    };
    match actix_rt::System::new().block_on(app::realign::run(config, tell)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(EXIT_SOFTWARE),
        Err(error) if error.is_configuration() => {
            super::tell(format_args!("heartline: bad configuration: {error}"));
            ExitCode::from(EXIT_USAGE)
        }
        Err(error) => {
            super::tell(format_args!("heartline: {:#}", anyhow::Error::from(error)));
            ExitCode::from(EXIT_SOFTWARE)
        }
    }
}
