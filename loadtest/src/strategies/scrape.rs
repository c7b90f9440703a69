//! The server's own figures, as it shows them at `/metrics`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use crate::http::{Http, Request};

/// All samples at one moment, by name and labels as they are written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scrape(BTreeMap<String, f64>);

impl Scrape {
    /// Asks the server.
    pub async fn take(http: &mut Http) -> Result<Self> {
        let answer = http.ask(Request { method: "GET", path: "/metrics", token: None, body: None }).await?;
        ensure!(answer.status == 200, "/metrics answers {}", answer.status);
        Self::read(&answer.body)
    }

    /// Reads the text format: a sample a line, everything else is a comment.
    fn read(text: &str) -> Result<Self> {
        let samples = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
            let (name, value) = line.rsplit_once(' ').with_context(|| format!("no sample: {line}"))?;
            Ok((name.to_owned(), value.parse().with_context(|| format!("no number: {line}"))?))
        });
        Ok(Self(samples.collect::<Result<_>>()?))
    }

    /// One sample.
    ///
    /// # Errors
    /// There is none of this name: a check on it would pass for nothing.
    pub fn get(&self, name: &str) -> Result<f64> {
        self.0.get(name).copied().with_context(|| format!("/metrics has no {name}"))
    }

    /// The sum of a metric over its labels.
    ///
    /// # Errors
    /// There is no sample of it.
    pub fn sum(&self, name: &str) -> Result<f64> {
        let labelled = format!("{name}{{");
        let mut of_it = self.0.iter().filter(|(key, _)| key.starts_with(&labelled)).map(|(_, value)| *value).peekable();
        of_it.peek().with_context(|| format!("/metrics has no {name}"))?;
        Ok(of_it.sum())
    }

    /// How much a counter grew since an earlier moment.
    ///
    /// # Errors
    /// One of the two has no such counter.
    pub fn grown(&self, earlier: &Self, read: impl Fn(&Self) -> Result<f64>) -> Result<u64> {
        // Counters are whole and small; what is below 0 was started anew, and shows as a check that fails.
        Ok((read(self)? - read(earlier)?) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# HELP a_total x\n# TYPE a_total counter\na_total 3\nb{kind=\"x y\"} 4\nb{kind=\"z\"} 5.5\n# EOF\n";

    #[test]
    fn samples_are_found_and_missing_ones_are_no_zeros() {
        let scrape = Scrape::read(TEXT).unwrap_or_default();
        assert_eq!(scrape.get("a_total").ok(), Some(3.0));
        assert_eq!(scrape.get("b{kind=\"x y\"}").ok(), Some(4.0));
        assert_eq!(scrape.sum("b").ok(), Some(9.5));
        assert!(scrape.get("c").is_err() && scrape.sum("c").is_err());
        assert!(Scrape::read("a_total x").is_err());
    }

    #[test]
    fn growth_is_between_two_moments() {
        let (earlier, later) = (Scrape::read("a 3\n"), Scrape::read("a 10\n"));
        let (earlier, later) = (earlier.unwrap_or_default(), later.unwrap_or_default());
        assert_eq!(later.grown(&earlier, |at| at.get("a")).ok(), Some(7));
        assert!(later.grown(&Scrape::default(), |at| at.get("a")).is_err());
    }
}
