//! What a soak found.

use std::process::ExitStatus;
use std::time::Duration;

use serde::Serialize;

use crate::report::{Circumstances, Violations};

/// Lines of a failed suite that are shown: the last of them have the reason.
const LAST_MAX: usize = 40;
/// Lines with figures of the tests' own that are kept of each suite.
const FIGURES_MAX: usize = 20;

/// How one suite went.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names say it; README.md explains how to read them")]
pub struct SuiteReport {
    pub name: String,
    pub filter: String,
    pub rounds: u64,
    pub tests_passed: u64,
    pub seconds: f64,
    pub is_passed: bool,
    pub outcome: String,
    /// What the tests print of themselves.
    pub figures: Vec<String>,
    #[serde(skip)]
    last: Vec<String>,
}

impl SuiteReport {
    pub(super) fn new(name: String, filter: &str) -> Self {
        let (filter, outcome) = (filter.to_owned(), String::new());
        let (figures, last) = (Vec::new(), Vec::new());
        Self { name, filter, rounds: 0, tests_passed: 0, seconds: 0.0, is_passed: false, outcome, figures, last }
    }

    /// Takes in a line of the test run's output.
    pub(super) fn take(&mut self, line: &str) {
        if let Some((_, rounds)) = line.split_once("rounds: ") {
            self.rounds += rounds.trim().parse::<u64>().unwrap_or(0);
        } else if let Some(result) = line.strip_prefix("test result: ") {
            let passed = result.split(' ').zip(result.split(' ').skip(1)).find(|(_, what)| what.starts_with("passed"));
            self.tests_passed += passed.and_then(|(n, _)| n.parse::<u64>().ok()).unwrap_or(0);
        } else if line.starts_with(|c: char| c.is_ascii_digit()) && self.figures.len() < FIGURES_MAX {
            self.figures.push(line.to_owned());
        }
        self.last.push(line.to_owned());
        self.last.drain(..self.last.len().saturating_sub(LAST_MAX));
    }

    /// Takes in how it ended; `None`: it was broken off.
    pub(super) fn ended(&mut self, status: Option<ExitStatus>, took: Duration) {
        self.seconds = took.as_secs_f64();
        self.outcome = match status {
            None => "BROKEN OFF".to_owned(),
            Some(status) if !status.success() => format!("FAILED ({status})"),
            Some(_) if self.tests_passed == 0 => "NO TEST RAN".to_owned(),
            Some(_) => "passed".to_owned(),
        };
        self.is_passed = self.outcome == "passed";
    }
}

/// How all of them went.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names say it; README.md explains how to read them")]
pub struct SoakReport {
    pub seconds: f64,
    pub suites: Vec<SuiteReport>,
    pub circumstances: Circumstances,
    pub violations: Violations,
}

impl SoakReport {
    pub(super) fn of(suites: Vec<SuiteReport>, took: Duration, circumstances: Circumstances) -> Self {
        let mut violations = Violations::default();
        for suite in suites.iter().filter(|suite| !suite.is_passed) {
            violations.add(format!("{}: {}\n    {}", suite.name, suite.outcome, suite.last.join("\n    ")));
        }
        Self { seconds: took.as_secs_f64(), suites, circumstances, violations }
    }
}

impl std::fmt::Display for SoakReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "soak: {} suites in {:.0} s", self.suites.len(), self.seconds)?;
        for suite in &self.suites {
            let SuiteReport { name, rounds, tests_passed, seconds, outcome, .. } = suite;
            writeln!(f, "{name:<10} {rounds} rounds in {tests_passed} tests, {seconds:.0} s: {outcome}")?;
            suite.figures.iter().try_for_each(|line| writeln!(f, "           {line}"))?;
        }
        writeln!(f, "{}\n{}", self.circumstances, self.violations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn suite(lines: &[&str], code: Option<i32>) -> SuiteReport {
        let mut suite = SuiteReport::new("x".to_owned(), "x::");
        lines.iter().for_each(|line| suite.take(line));
        suite.ended(code.map(|code| ExitStatus::from_raw(code << 8)), Duration::from_secs(1));
        suite
    }

    #[test]
    fn rounds_tests_and_figures_are_read_from_what_the_tests_print() {
        let output = [
            "running 2 tests",
            "test a ... rounds: 200",
            "rounds: 10",
            "200 histories, 14 s",
            "test a ... ok",
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 161 filtered out; finished in 13.98s",
        ];
        let suite = suite(&output, Some(0));
        assert_eq!((suite.rounds, suite.tests_passed, suite.is_passed), (210, 2, true));
        assert_eq!(suite.figures, ["200 histories, 14 s"]);
    }

    #[test]
    fn a_suite_without_a_test_or_an_end_has_not_passed() {
        let nothing = ["test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 163 filtered out"];
        for suite in [suite(&nothing, Some(0)), suite(&["rounds: 1"], None), suite(&["rounds: 1"], Some(101))] {
            assert!(!suite.is_passed, "{suite:?}");
            let report = SoakReport::of(vec![suite], Duration::ZERO, Circumstances::here());
            assert_eq!(report.violations.count, 1);
        }
    }
}
