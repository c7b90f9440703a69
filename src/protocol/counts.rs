//! Counters and their forms on the wire: exact integers, text past what JavaScript can hold, and short display text.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ids::{BadId, Kind};

/// What is counted for an item. Its text form (`taps.heart`, `likes`, `comments`) is the name in stores and audits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Counter {
    /// Anonymous increments of one kind.
    Taps(Kind),
    /// People who like the item.
    Likes,
    /// Accepted comments, removed ones included.
    Comments,
}

impl Counter {
    const TAPS_PREFIX: &'static str = "taps.";
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taps(kind) => write!(f, "{}{kind}", Self::TAPS_PREFIX),
            Self::Likes => f.write_str("likes"),
            Self::Comments => f.write_str("comments"),
        }
    }
}

impl std::str::FromStr for Counter {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        match text {
            "likes" => Ok(Self::Likes),
            "comments" => Ok(Self::Comments),
            _ => Kind::parse(text.strip_prefix(Self::TAPS_PREFIX).unwrap_or_default()).map(Self::Taps),
        }
    }
}

impl Serialize for Counter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Counter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A vector of counters: totals, or the increments of a contribution. Absent means 0; zeros are not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Counters(BTreeMap<Counter, i64>);

impl Counters {
    /// The value of one counter.
    pub fn get(&self, counter: Counter) -> i64 {
        self.0.get(&counter).copied().unwrap_or(0)
    }

    /// Adds `n` to one counter, or changes nothing and answers `None` where that leaves 64 bits.
    pub fn add(&mut self, counter: Counter, n: i64) -> Option<()> {
        let sum = self.get(counter).checked_add(n)?;
        self.set(counter, sum);
        Some(())
    }

    fn set(&mut self, counter: Counter, n: i64) {
        if n == 0 {
            self.0.remove(&counter);
        } else {
            self.0.insert(counter, n);
        }
    }

    /// `self + other`, or `None` where any counter leaves 64 bits.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        other.iter().try_for_each(|(counter, n)| sum.add(counter, n))?;
        Some(sum)
    }

    /// `self - other`, or `None` where any counter leaves 64 bits.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        let mut difference = self.clone();
        for (counter, n) in other.iter() {
            // Not by adding the negative: the least number has none, and less itself it is 0.
            difference.set(counter, self.get(counter).checked_sub(n)?);
        }
        Some(difference)
    }

    /// Whether every counter is 0.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The counters that are not 0, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (Counter, i64)> + '_ {
        self.0.iter().map(|(counter, n)| (*counter, *n))
    }
}

impl FromIterator<(Counter, i64)> for Counters {
    fn from_iter<I: IntoIterator<Item = (Counter, i64)>>(pairs: I) -> Self {
        Self(pairs.into_iter().filter(|(_, n)| *n != 0).collect())
    }
}

/// The largest integer that every JSON reader holds exactly (2^53-1, ECMA-262 `Number.MAX_SAFE_INTEGER`).
pub const MAX_SAFE_INTEGER: i64 = (1 << 53) - 1;

/// The `counts` object: `{taps: {heart: 12, …}, likes, comments, viewers}`, a counter past [`MAX_SAFE_INTEGER`] also as
/// text under its name with `_str`. A field that is `None` is left out: in `counts` messages only what moved is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Taps by kind, in the order of the item's reactions; empty: left out.
    pub taps: Vec<(Kind, i64)>,
    /// People who like the item.
    pub likes: Option<i64>,
    /// Accepted comments.
    pub comments: Option<i64>,
    /// People who are watching.
    pub viewers: Option<i64>,
}

impl Counts {
    /// Every count of an item, of which `totals` says the stored ones.
    pub fn all(reactions: &[Kind], totals: &Counters, viewers: i64) -> Self {
        Self {
            taps: reactions.iter().map(|kind| (*kind, totals.get(Counter::Taps(*kind)))).collect(),
            likes: Some(totals.get(Counter::Likes)),
            comments: Some(totals.get(Counter::Comments)),
            viewers: Some(viewers),
        }
    }

    /// What differs from `before`; a kind that `before` does not have counts as moved.
    pub fn moved_since(&self, before: &Self) -> Self {
        let changed = |now: Option<i64>, then: Option<i64>| if now == then { None } else { now };
        Self {
            taps: self.taps.iter().filter(|pair| !before.taps.contains(pair)).copied().collect(),
            likes: changed(self.likes, before.likes),
            comments: changed(self.comments, before.comments),
            viewers: changed(self.viewers, before.viewers),
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.taps.is_empty() && self.likes.is_none() && self.comments.is_none() && self.viewers.is_none()
    }

    /// Writes the fields into a map that is under way, as `counts` messages carry them beside `t`.
    pub fn serialize_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if !self.taps.is_empty() {
            map.serialize_entry("taps", &Exact(&self.taps))?;
        }
        for (name, name_str, value) in [
            ("likes", "likes_str", self.likes),
            ("comments", "comments_str", self.comments),
            ("viewers", "viewers_str", self.viewers),
        ] {
            if let Some(n) = value {
                map.serialize_entry(name, &n)?;
                if n > MAX_SAFE_INTEGER {
                    map.serialize_entry(name_str, &n.to_string())?;
                }
            }
        }
        if self.taps.iter().any(|(_, n)| *n > MAX_SAFE_INTEGER) {
            map.serialize_entry("taps_str", &Text(&self.taps))?;
        }
        Ok(())
    }

    /// The same keys as short text.
    pub fn display(&self) -> Display<'_> {
        Display(self)
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.serialize_fields(&mut map)?;
        map.end()
    }
}

struct Exact<'a>(&'a [(Kind, i64)]);
impl Serialize for Exact<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(kind, n)| (kind.as_str(), n)))
    }
}

/// Only the kinds that need it.
struct Text<'a>(&'a [(Kind, i64)]);
impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let large = self.0.iter().filter(|(_, n)| *n > MAX_SAFE_INTEGER);
        serializer.collect_map(large.map(|(kind, n)| (kind.as_str(), n.to_string())))
    }
}

/// `display`: the keys of `counts`, each as [`short`] text.
pub struct Display<'a>(&'a Counts);

impl Serialize for Display<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(counts) = self;
        let mut map = serializer.serialize_map(None)?;
        let taps: BTreeMap<_, _> = counts.taps.iter().map(|(kind, n)| (kind.as_str(), short(*n))).collect();
        map.serialize_entry("taps", &taps)?;
        for (name, value) in [("likes", counts.likes), ("comments", counts.comments), ("viewers", counts.viewers)] {
            if let Some(n) = value {
                map.serialize_entry(name, &short(n))?;
            }
        }
        map.end()
    }
}

/// Short text of a count: exact below 1,000, then one decimal below 100 of a unit and none above, never rounded up, so
/// that a display never claims more than there is: 999, `1K`, `1.2K`, `99.9K`, `100K`, `1.2M`, `3B`.
pub fn short(n: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(1_000_000_000_000, "T"), (1_000_000_000, "B"), (1_000_000, "M"), (1_000, "K")];
    match UNITS.into_iter().find(|(size, _)| n >= *size) {
        None => n.to_string(),
        Some((size, unit)) => {
            let (whole, tenth) = (n / size, n % size / (size / 10));
            if whole >= 100 || tenth == 0 { format!("{whole}{unit}") } else { format!("{whole}.{tenth}{unit}") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_never_claims_more_than_there_is() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1K"),
            (1_099, "1K"),
            (1_100, "1.1K"),
            (9_999, "9.9K"),
            (99_999, "99.9K"),
            (100_999, "100K"),
            (999_999, "999K"),
            (1_000_000, "1M"),
            (1_250_000, "1.2M"),
            (999_999_999, "999M"),
            (1_000_000_000, "1B"),
            (1_000_000_000_000, "1T"),
        ] {
            assert_eq!(short(n), text, "{n}");
        }
    }

    #[test]
    fn counts_past_what_javascript_holds_are_also_text() {
        let totals = [(Counter::Taps(Kind::HEART), MAX_SAFE_INTEGER + 1), (Counter::Likes, 7)].into_iter().collect();
        let json = serde_json::to_string(&Counts::all(&[Kind::HEART], &totals, 2)).unwrap();
        let expected = r#"{"taps":{"heart":9007199254740992},"likes":7,"comments":0,"viewers":2,"taps_str":{"heart":"9007199254740992"}}"#;
        assert_eq!(json, expected);
    }

    #[test]
    fn a_sum_that_leaves_64_bits_changes_nothing() {
        let mut sums: Counters = [(Counter::Likes, i64::MAX)].into_iter().collect();
        assert_eq!(sums.add(Counter::Likes, 1), None);
        assert_eq!(sums.get(Counter::Likes), i64::MAX);
        assert_eq!(sums.plus(&sums), None);
    }
}
