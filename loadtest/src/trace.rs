//! A show's chat reduced to lengths and arrival times: read from a file, made for a seed, and summed up.
//!
//! A trace is CSV with the head `offset_ms,viewer,chars,bytes`, one comment a line, in the order of arrival. What is made has the rates
//! and the shape of a recorded show of about 100,000 viewers: arrivals a little burstier than chance, one peak second, half of the
//! comments by people who had not written before and the others by people who wrote lately, short texts with a long tail, three in
//! ten outside ASCII. Nothing of a recording is in here but the quantiles below.

use std::collections::HashMap;
use std::io::{Read, Write};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::seeded::Seeded;
use crate::target::allow;

/// Lines of a trace, at most: a long night at a high rate.
const LINES_MAX: usize = 5_000_000;

/// Comments in one second, at most: beyond it the exponent of a Poisson draw is no number any more.
const PEAK_MAX: f64 = 500.0;

/// One comment of a show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Milliseconds since the first comment.
    pub offset_ms: u64,
    /// Who: people are numbered by their first comment, from 1.
    pub viewer: u64,
    /// Code points of the text.
    pub chars: usize,
    /// Bytes of the text in UTF-8.
    pub bytes: usize,
}

/// Reads a trace.
///
/// # Errors
/// It is not a trace, or is not in the order of arrival; names the line.
pub fn read(from: impl Read) -> Result<Vec<Line>> {
    let mut lines: Vec<Line> = Vec::new();
    for (number, line) in csv::Reader::from_reader(from).deserialize().enumerate() {
        let line: Line = line.with_context(|| format!("comment {number}"))?;
        let is_ordered = lines.last().is_none_or(|last| last.offset_ms <= line.offset_ms);
        ensure!(is_ordered, "comment {number} is earlier than the one before");
        ensure!(lines.len() < LINES_MAX, "more than {LINES_MAX} comments");
        lines.push(line);
    }
    Ok(lines)
}

/// Writes a trace.
pub fn write(lines: &[Line], to: impl Write) -> Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    lines.iter().try_for_each(|line| writer.serialize(line))?;
    Ok(writer.flush()?)
}

/// What a made trace is to be like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// The same seed gives the same trace.
    pub seed: u64,
    /// How long.
    pub minutes: f64,
    /// Comments a second on average.
    pub rate_avg: f64,
    /// Comments in the busiest second.
    pub rate_peak: f64,
    /// The fraction of comments by people who had not written before, on average.
    pub newcomers: f64,
}

impl Default for Shape {
    fn default() -> Self {
        Self { seed: 1, minutes: 36.0, rate_avg: 13.0, rate_peak: 46.0, newcomers: 0.49 }
    }
}

/// How much the rate wanders beside chance: spread of a second's mean as a fraction of the average.
const WANDER: f64 = 0.17;
/// Seconds on either side of the peak over which the rate rises and falls.
const PEAK_FLANK_S: f64 = 2.0;
/// People write again while they are around: an author is picked among so many last comments.
const AROUND: usize = 12_000;
/// Newcomers grow fewer: from this much above their fraction at the beginning to as much below at the end.
const NEWCOMERS_SLOPE: f64 = 0.18;
/// The fraction of texts that are not all ASCII.
const OTHER_SCRIPTS: f64 = 0.3;
/// Quantiles of code points in a comment.
const CHARS: &[(f64, f64)] = &[
    (0.0, 1.0),
    (0.05, 1.5),
    (0.1, 2.5),
    (0.25, 3.5),
    (0.5, 9.0),
    (0.75, 19.0),
    (0.9, 42.0),
    (0.99, 199.0),
    (0.999, 365.0),
    (1.0, 500.0),
];
/// Quantiles of bytes to a code point where a text is not all ASCII.
const BYTES_PER_CHAR: &[(f64, f64)] =
    &[(0.0, 1.0), (0.1, 1.03), (0.25, 1.21), (0.5, 2.21), (0.6, 3.0), (0.9, 3.02), (0.95, 3.5), (1.0, 4.0)];

/// Makes a trace.
///
/// # Errors
/// The shape is longer or busier than a trace may be.
pub fn make(shape: Shape) -> Result<Vec<Line>> {
    let seconds = (shape.minutes * 60.0).ceil();
    allow(seconds >= 1.0 && shape.rate_avg > 0.0, "minutes and rate-avg: above 0")?;
    allow(
        shape.rate_peak >= shape.rate_avg && shape.rate_peak < PEAK_MAX,
        format!("rate-peak: rate-avg to {PEAK_MAX}"),
    )?;
    allow(seconds * shape.rate_avg < LINES_MAX as f64, format!("a trace has {LINES_MAX} comments at most"))?;
    let mut random = Seeded::new(shape.seed);
    let peak = (seconds * (0.2 + 0.6 * random.unit())).floor();
    let mut lines = Vec::new();
    let mut authors = Authors::default();
    for second in 0..seconds as u64 {
        for offset_ms in arrivals(&shape, second, peak, &mut random) {
            let newcomers = shape.newcomers + NEWCOMERS_SLOPE * (0.5 - second as f64 / seconds);
            let (chars, bytes) = lengths(&mut random);
            lines.push(Line { offset_ms, viewer: authors.next(newcomers, &mut random), chars, bytes });
        }
    }
    let first = lines.first().map_or(0, |line| line.offset_ms);
    lines.iter_mut().for_each(|line| line.offset_ms -= first);
    Ok(lines)
}

/// The moments of one second's comments, in order.
fn arrivals(shape: &Shape, second: u64, peak: f64, random: &mut Seeded) -> Vec<u64> {
    let wander: f64 = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
    let usual = shape.rate_avg * (1.0 + WANDER * wander).max(0.2);
    let distance = (second as f64 - peak).abs();
    let mean = usual.max(shape.rate_peak * (0.6 - distance / PEAK_FLANK_S * 0.3));
    let ceiling = shape.rate_peak as usize;
    let count = if distance < 0.5 { ceiling } else { random.poisson(mean).min(ceiling) };
    let mut moments: Vec<u64> = (0..count).map(|_| second * 1_000 + random.below(1_000) as u64).collect();
    moments.sort_unstable();
    moments
}

/// Who has written.
#[derive(Debug, Default)]
struct Authors {
    of_comment: Vec<u64>,
    people: u64,
}

impl Authors {
    /// The author of the next comment: somebody new, or the author of one of the last comments, so that who writes much is picked
    /// more often (Simon 1955), as in a real chat.
    fn next(&mut self, newcomers: f64, random: &mut Seeded) -> u64 {
        let around = self.of_comment.len().min(AROUND);
        let again = (random.unit() >= newcomers)
            .then(|| self.of_comment.get(self.of_comment.len().checked_sub(1 + random.below(around))?).copied())
            .flatten();
        let author = again.unwrap_or_else(|| {
            self.people += 1;
            self.people
        });
        self.of_comment.push(author);
        author
    }
}

fn lengths(random: &mut Seeded) -> (usize, usize) {
    let chars = quantile(CHARS, random.unit()).round().max(1.0);
    let per_char = if random.unit() < OTHER_SCRIPTS { quantile(BYTES_PER_CHAR, random.unit()) } else { 1.0 };
    let bytes = (chars * per_char).round().clamp(chars, chars * 4.0);
    (chars as usize, bytes as usize)
}

/// The value at a fraction, between the given ones on a logarithmic scale.
fn quantile(table: &[(f64, f64)], fraction: f64) -> f64 {
    let pairs = table.iter().zip(table.iter().skip(1));
    let between = pairs.into_iter().find(|(_, (to, _))| fraction <= *to);
    between.map_or(1.0, |((from, low), (to, high))| low * (high / low).powf((fraction - from) / (to - from)))
}

/// A trace in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Statistics {
    pub comments: usize,
    pub people: usize,
    pub seconds: f64,
    pub rate_avg: f64,
    pub rate_peak: usize,
    pub rate_spread: f64,
    pub once_only: f64,
    pub most_by_one: usize,
    pub chars_p50_p90_p99: [usize; 3],
    pub bytes_p50_p90_p99: [usize; 3],
    pub ascii: f64,
}

impl Statistics {
    /// Those of a trace. Rates are of whole seconds; the spread is the standard deviation.
    pub fn of(lines: &[Line]) -> Self {
        let last_ms = lines.last().map_or(0, |line| line.offset_ms);
        let mut per_second = vec![0_usize; (last_ms / 1_000) as usize + 1];
        let mut by_person: HashMap<u64, usize> = HashMap::new();
        for line in lines {
            if let Some(count) = per_second.get_mut((line.offset_ms / 1_000) as usize) {
                *count += 1;
            }
            *by_person.entry(line.viewer).or_default() += 1;
        }
        let seconds = per_second.len() as f64;
        let rate_avg = lines.len() as f64 / seconds;
        let variance = per_second.iter().map(|n| (*n as f64 - rate_avg).powi(2)).sum::<f64>() / seconds;
        let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
        Self {
            comments: lines.len(),
            people: by_person.len(),
            seconds,
            rate_avg,
            rate_peak: per_second.iter().copied().max().unwrap_or(0),
            rate_spread: variance.sqrt(),
            once_only: share(by_person.values().filter(|n| **n == 1).count(), by_person.len()),
            most_by_one: by_person.values().copied().max().unwrap_or(0),
            chars_p50_p90_p99: percentiles(lines.iter().map(|line| line.chars)),
            bytes_p50_p90_p99: percentiles(lines.iter().map(|line| line.bytes)),
            ascii: share(lines.iter().filter(|line| line.chars == line.bytes).count(), lines.len()),
        }
    }
}

fn percentiles(values: impl Iterator<Item = usize>) -> [usize; 3] {
    let mut sorted: Vec<usize> = values.collect();
    sorted.sort_unstable();
    [50, 90, 99].map(|percent| sorted.get(sorted.len() * percent / 100).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(seed: u64) -> Vec<Line> {
        make(Shape { seed, ..Shape::default() }).unwrap_or_default()
    }

    #[test]
    fn a_made_trace_has_the_rates_and_the_shape_of_a_show() {
        let found = Statistics::of(&made(7));
        assert!((found.rate_avg - 13.0).abs() < 0.4 && found.rate_peak == 46, "{found:?}");
        assert!((3.6..5.0).contains(&found.rate_spread), "{found:?}");
        assert!((0.45..0.53).contains(&(found.people as f64 / found.comments as f64)), "{found:?}");
        assert!((0.55..0.70).contains(&found.once_only) && (30..200).contains(&found.most_by_one), "{found:?}");
        assert!((0.65..0.75).contains(&found.ascii), "{found:?}");
        assert!(
            found.chars_p50_p90_p99.iter().zip([9, 42, 199]).all(|(have, want)| have.abs_diff(want) * 8 <= want + 8)
        );
    }

    #[test]
    fn a_seed_makes_one_trace_and_files_keep_it() {
        assert_eq!(made(3), made(3));
        assert_ne!(made(3), made(4));
        let mut file = Vec::new();
        assert!(write(&made(3), &mut file).is_ok());
        assert!(file.starts_with(b"offset_ms,viewer,chars,bytes\n0,1,"));
        assert!(read(file.as_slice()).is_ok_and(|lines| lines == made(3)));
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        let head = "offset_ms,viewer,chars,bytes\n";
        assert!(read(format!("{head}5,1,1,1\n4,1,1,1\n").as_bytes()).is_err());
        assert!(read(format!("{head}5,one,1,1\n").as_bytes()).is_err());
        assert!(make(Shape { minutes: 1e9, ..Shape::default() }).is_err());
    }

    #[test]
    fn people_are_numbered_by_their_first_comment() {
        let mut known = 0;
        for line in made(5) {
            assert!(line.viewer <= known + 1);
            known = known.max(line.viewer);
        }
    }
}
