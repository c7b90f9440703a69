//! Where a process is to die or to stand still, for the project's own tests. Debug builds only; a release build has no such setting.
//!
//! Written as `STEP.before:N` or `STEP.after:N`, for the N-th time that the process comes there; it dies, or, with `=stall:FILE` behind
//! it, makes the file and stands still until somebody takes it away.

use std::path::PathBuf;
use std::str::FromStr;

use super::error::ConfigError;

/// Steps that have such points, by what they are called there.
const STEPS: [(&str, FailStep); 8] = [
    ("add", FailStep::Add),
    ("append", FailStep::Append),
    ("claim", FailStep::Claim),
    ("insert", FailStep::Insert),
    ("apply", FailStep::Apply),
    ("align", FailStep::Align),
    ("trim", FailStep::Trim),
    ("like", FailStep::Like),
];

/// A step that a process can die at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailStep {
    /// A contribution of increments alone.
    Add,
    /// A contribution with comments: the append to the write-ahead.
    Append,
    /// Taking what is to be folded into a flight.
    Claim,
    /// A flight's comments into the durable store.
    Insert,
    /// A bulk of flights into the durable store.
    Apply,
    /// Bringing an item in line with its document.
    Align,
    /// An align that settles a flight with comments, and so trims the write-ahead.
    Trim,
    /// A batch of likes into the facts. After it they are durable and the counter has not moved.
    Like,
}

/// On which side of the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailSide {
    /// Nothing of it has been asked of the store.
    Before,
    /// The store has done it, and its answer is not used.
    After,
}

/// One point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailPoint {
    /// Which step.
    pub step: FailStep,
    /// Before or after it.
    pub side: FailSide,
    /// The how-manieth time, from 1.
    pub nth: u32,
    /// Stand still while this file is there; `None`: die.
    pub stall: Option<PathBuf>,
}

impl FailPoint {
    pub(super) fn validate(text: Option<String>) -> Result<Option<Self>, ConfigError> {
        let read = |text: String| text.parse().map_err(|why: &str| ConfigError::bad("fail_point", why));
        text.map(read).transpose()
    }
}

impl FromStr for FailPoint {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "is not STEP.before:N or STEP.after:N, with =stall:FILE or without";
        let (point, stall) = match text.split_once("=stall:") {
            Some((point, file)) => (point, Some(PathBuf::from(file))),
            None => (text, None),
        };
        let (name, nth) = point.split_once(':').ok_or(FORM)?;
        let (step, side) = name.split_once('.').ok_or(FORM)?;
        let (_, step) = STEPS.iter().find(|(known, _)| *known == step).ok_or("names no step")?;
        let side = match side {
            "before" => FailSide::Before,
            "after" => FailSide::After,
            _ => return Err(FORM),
        };
        let nth = nth.parse().ok().filter(|nth| *nth > 0).ok_or(FORM)?;
        Ok(Self { step: *step, side, nth, stall })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_read_and_a_misspelt_one_is_refused() {
        let die = FailPoint { step: FailStep::Claim, side: FailSide::Before, nth: 3, stall: None };
        assert_eq!("claim.before:3".parse(), Ok(die.clone()));
        assert_eq!("claim.before:3=stall:a/b".parse(), Ok(FailPoint { stall: Some("a/b".into()), ..die }));
        for text in ["claim", "claim.before", "claim.between:1", "clam.before:1", "claim.before:0", "claim.before:x"] {
            assert!(FailPoint::validate(Some(text.to_owned())).is_err_and(|why| why.field() == Some("fail_point")));
        }
    }
}
