//! What `heartline realign` is told: which items, whom to keep, and the server's own flags for where the stores are.

use std::ffi::OsString;

use clap::Parser;

use super::flags::Flags;
use super::layers::Layers;
use super::{Config, ConfigError};
use crate::protocol::ItemId;

/// Ends the alarm `heartline_fold_behind`: a backup was put back under items that live.
///
/// An item that is in line with its document is left alone. The flags of the server tell where the stores are; servers over Redis and
/// MongoDB may go on running, one over embedded stores has to be stopped first.
#[derive(Debug, Parser)]
#[command(name = "heartline realign", version, max_term_width = 120)]
struct Args {
    /// The item
    item: Option<String>,
    /// All items of both stores
    #[arg(long)]
    all: bool,
    /// hot: what was shown last stands; durable: what the backup says stands
    #[arg(long, value_name = "hot|durable")]
    keep: Option<String>,
    #[command(flatten)]
    server: Flags,
}

/// Whose numbers stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The hot store's: the backup's are overwritten.
    Hot,
    /// The durable store's: what was folded after the backup is given up.
    Durable,
}

/// Which items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// This one.
    One(ItemId),
    /// Everything that either store lists.
    All,
}

/// Everything that a realign is told.
#[derive(Debug, Clone)]
pub struct RealignConfig {
    /// The server's own.
    pub server: Config,
    /// Which items.
    pub which: Which,
    /// Whose numbers stand.
    pub keep: Keep,
}

impl RealignConfig {
    /// Reads the arguments (the first is the program's name), the environment, and the file that they name.
    pub fn from_layers<I, T>(args: I, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError>
    where
        I: IntoIterator<Item = T>,
        T: Into<OsString> + Clone,
    {
        let Args { item, all, keep, server } = Args::try_parse_from(args)?;
        let (which, keep) = (which(item, all)?, chosen(keep)?);
        let Layers { flags, sections } = Layers::under(server, env)?;
        Ok(Self { server: Config::validate(flags, &sections)?, which, keep })
    }
}

fn which(item: Option<String>, all: bool) -> Result<Which, ConfigError> {
    match (item, all) {
        (Some(item), false) => ItemId::parse(&item)
            .map(Which::One)
            .map_err(|why| ConfigError::Unreadable(format!("the item to realign: {why}"))),
        (None, true) => Ok(Which::All),
        _ => Err(ConfigError::Unreadable("realign takes an item, or --all".to_owned())),
    }
}

fn chosen(keep: Option<String>) -> Result<Keep, ConfigError> {
    match keep.as_deref() {
        Some("hot") => Ok(Keep::Hot),
        Some("durable") => Ok(Keep::Durable),
        _ => Err(ConfigError::Unreadable("realign needs --keep hot or --keep durable".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Result<RealignConfig, ConfigError> {
        RealignConfig::from_layers(std::iter::once("heartline realign").chain(args.iter().copied()), &|_| None)
    }

    /// Scenario: an operator in a hurry. Method: each thing left out or written wrongly, then the right forms with the server's flags.
    #[test]
    fn nothing_is_realigned_by_half_a_command() {
        for args in [
            &["show"][..],
            &["--keep", "hot"],
            &["show", "--all", "--keep", "hot"],
            &["show", "--keep", "neither"],
            &["a b", "--keep", "hot"],
            &["show", "other", "--keep", "hot"],
            &["show", "--keep", "hot", "--tick-ms", "5"],
        ] {
            let told = read(args).unwrap_err().to_string();
            assert_eq!(told.lines().count(), 1, "{args:?}: {told}");
        }
        let one = read(&["show", "--keep", "durable", "--data-dir", "d"]).unwrap();
        assert_eq!((one.which, one.keep), (Which::One(ItemId::parse("show").unwrap()), Keep::Durable));
        assert_eq!(one.server.data_dir, std::path::Path::new("d"));
        let all = read(&["--keep=hot", "--all"]).unwrap();
        assert_eq!((all.which, all.keep), (Which::All, Keep::Hot));
    }
}
