//! Why a configuration is refused, with the name of the field in every form in which it may have been written.

use std::fmt;

/// A refusal, or what `--help` and `--version` ask for.
#[derive(Debug)]
pub enum ConfigError {
    /// Not an error: a text to show, and success.
    Asked(clap::Error),
    /// A field's value is not allowed.
    Bad {
        /// The field's name with underscores; those of the file's tables as `table.field`.
        field: String,
        /// What is wrong with it.
        why: String,
    },
    /// A flag or a key of the file that does not exist, or the file as a whole.
    Unreadable(String),
}

impl ConfigError {
    /// A field whose value is not allowed.
    pub(super) fn bad(field: impl Into<String>, why: impl fmt::Display) -> Self {
        Self::Bad { field: field.into(), why: why.to_string() }
    }

    /// The field that is wrong, if it is one field.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Bad { field, .. } => Some(field),
            Self::Asked(_) | Self::Unreadable(_) => None,
        }
    }
}

/// One line.
impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked(text) => text.fmt(f),
            Self::Unreadable(why) => f.write_str(why),
            Self::Bad { field, why } if field.contains('.') => write!(f, "{field} in the configuration file: {why}"),
            Self::Bad { field, why } => {
                write!(f, "--{} ({}, {field}): {why}", field.replace('_', "-"), super::layers::variable(field))
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// What clap refuses, in our words: the flag's field where it names one.
impl From<clap::Error> for ConfigError {
    fn from(error: clap::Error) -> Self {
        use clap::error::{ContextKind, ContextValue, ErrorKind};

        if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
            return Self::Asked(error);
        }
        let text = error.render().to_string();
        let why = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        match (error.kind(), error.get(ContextKind::InvalidArg)) {
            // Unknown flags are named in the text; they are no field of ours.
            (ErrorKind::UnknownArgument, _) | (_, None) => Self::Unreadable(why),
            (_, Some(ContextValue::String(flag))) => {
                let name = flag.trim_start_matches('-').split([' ', '=']).next().unwrap_or_default();
                Self::bad(name.replace('-', "_"), why)
            }
            (_, Some(_)) => Self::Unreadable(why),
        }
    }
}
