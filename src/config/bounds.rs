//! Bounds that the file's tables can set: each a key with its least and its most, in one list per concern.

use toml::Value;

use super::error::ConfigError;

/// One settable bound of `T`.
pub(super) struct Bound<T> {
    /// Its key in the file, unit as suffix.
    pub key: &'static str,
    /// The least value that works.
    pub least: u64,
    /// The most that is sane.
    pub most: u64,
    /// Puts it in place.
    pub set: fn(&mut T, u64),
}

/// Sets the bound that `key` names, or tells what is wrong with key or value.
pub(super) fn set<T>(
    bounds: &[Bound<T>],
    into: &mut T,
    table: &str,
    key: &str,
    value: &Value,
) -> Result<(), ConfigError> {
    let field = format!("{table}.{key}");
    let Some(bound) = bounds.iter().find(|bound| bound.key == key) else {
        return Err(ConfigError::bad(field, "no such key"));
    };
    let number = value.as_integer().and_then(|number| u64::try_from(number).ok());
    match number.filter(|number| (bound.least..=bound.most).contains(number)) {
        Some(number) => {
            (bound.set)(into, number);
            Ok(())
        }
        None => Err(ConfigError::bad(field, format!("is an integer from {} to {}", bound.least, bound.most))),
    }
}

/// A count of things in memory; every bound's `most` is far below what `usize` holds.
pub(super) fn count(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// A rate; likewise.
pub(super) fn rate(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
