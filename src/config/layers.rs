//! The three layers. Environment and file are turned into the flags that they stand for and read by the flags' own parser, so
//! that a value means the same and is refused alike wherever it was written.

use std::ffi::OsString;
use std::path::Path;

use clap::{CommandFactory, Parser};
use toml::{Table, Value};

use super::error::ConfigError;
use super::flags::Flags;

/// All layers as one.
pub(super) struct Layers {
    /// Fields that have a flag.
    pub flags: Flags,
    /// Bounds that only the file can set.
    pub sections: Sections,
}

/// The tables of the file.
#[derive(Debug, Default)]
pub(super) struct Sections {
    pub server: Table,
    pub rooms: Table,
    pub sockets: Table,
    pub rates: Table,
}

/// The environment variable of a field.
pub(super) fn variable(field: &str) -> String {
    format!("HEARTLINE_{}", field.to_ascii_uppercase())
}

impl Layers {
    /// Reads them, the file last, since the others name it.
    pub fn read<I, T>(args: I, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError>
    where
        I: IntoIterator<Item = T>,
        T: Into<OsString> + Clone,
    {
        Self::under(Flags::try_parse_from(args)?, env)
    }

    /// Those that lie under what the arguments said.
    pub fn under(said: Flags, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        let said = said.or(environment(env)?);
        let Some(path) = said.config.clone() else {
            return Ok(Self { flags: said, sections: Sections::default() });
        };
        let (flags, sections) = file(&path)?;
        Ok(Self { flags: said.or(flags), sections })
    }
}

/// The fields that have a flag, by their names with underscores.
fn fields() -> Vec<String> {
    let command = Flags::command();
    command.get_arguments().map(|arg| arg.get_id().to_string()).collect()
}

fn environment(env: &dyn Fn(&str) -> Option<OsString>) -> Result<Flags, ConfigError> {
    let set = fields().into_iter().filter_map(|field| env(&variable(&field)).map(|value| flag(&field, &value)));
    Ok(Flags::try_parse_from(std::iter::once(OsString::from("heartline")).chain(set))?)
}

fn flag(field: &str, value: &OsString) -> OsString {
    let mut flag = OsString::from(format!("--{}=", field.replace('_', "-")));
    flag.push(value);
    flag
}

fn file(path: &Path) -> Result<(Flags, Sections), ConfigError> {
    let unreadable = |why: &dyn std::fmt::Display| ConfigError::bad("config", format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(&error))?;
    let table: Table =
        toml::from_str(&text).map_err(|error| unreadable(&error.to_string().trim().replace('\n', " ")))?;
    split(table).map_err(|key| ConfigError::Unreadable(format!("{key}: no such key, in {}", path.display())))?
}

/// The flags and the tables of a file, or the key that is neither.
fn split(table: Table) -> Result<Result<(Flags, Sections), ConfigError>, String> {
    let fields = fields();
    let mut sections = Sections::default();
    let mut args = vec![OsString::from("heartline")];
    for (key, value) in table {
        match (key.as_str(), value) {
            ("server", Value::Table(table)) => sections.server = table,
            ("rooms", Value::Table(table)) => sections.rooms = table,
            ("sockets", Value::Table(table)) => sections.sockets = table,
            ("rates", Value::Table(table)) => sections.rates = table,
            (name, value) if name != "config" && fields.iter().any(|field| field == name) => match plain(&value) {
                Some(text) => args.push(flag(name, &text.into())),
                None => {
                    return Ok(Err(ConfigError::bad(key, "is a text, a number, true or false, or a list of texts")));
                }
            },
            _ => return Err(key),
        }
    }
    Ok(Flags::try_parse_from(args).map(|flags| (flags, sections)).map_err(ConfigError::from))
}

/// A value as it would be written after a flag.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Boolean(yes) => Some(yes.to_string()),
        Value::Array(list) => list.iter().map(Value::as_str).collect::<Option<Vec<_>>>().map(|list| list.join(",")),
        Value::Float(_) | Value::Datetime(_) | Value::Table(_) => None,
    }
}
