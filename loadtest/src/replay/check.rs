//! Comparing what was acknowledged, what watchers saw and what the history holds. Pure.

use std::collections::HashMap;

use super::post::{Posted, name_of};
use crate::api::OldComment;
use crate::order::Order;
use crate::report::Violations;
use crate::text::line_text;
use crate::trace::Line;

/// Everything that does not agree.
pub(super) fn compare(lines: &[Line], posted: &[Posted], order: &Order, history: &[OldComment]) -> Violations {
    let mut found = Violations::default();
    let line_of = acknowledged(lines, posted, &mut found);
    for (id, line) in &line_of {
        if order.place_of(id).is_none() {
            found.add(format!("line {line}: acknowledged as {id}, shown to nobody"));
        }
    }
    for placed in order.placed() {
        if !line_of.contains_key(&*placed.id) {
            found.add(format!("{} was shown, but never acknowledged", placed.id));
        }
    }
    in_history(lines, &line_of, history, &mut found);
    in_order(order, history, &mut found);
    found
}

/// Lines by the id of their comment; each line must have an id of its own.
fn acknowledged<'a>(lines: &[Line], posted: &'a [Posted], found: &mut Violations) -> HashMap<&'a str, usize> {
    let mut line_of = HashMap::new();
    for posted in posted {
        match &posted.outcome {
            Ok(id) => {
                if let Some(before) = line_of.insert(&**id, posted.line) {
                    found.add(format!("lines {before} and {} were both acknowledged as {id}", posted.line));
                }
            }
            Err(why) => found.add(format!("line {}: not acknowledged: {why}", posted.line)),
        }
    }
    if posted.len() != lines.len() {
        found.add(format!("{} of {} lines were posted", posted.len(), lines.len()));
    }
    line_of
}

/// Every acknowledged comment is there once, with its author and text.
fn in_history(lines: &[Line], line_of: &HashMap<&str, usize>, history: &[OldComment], found: &mut Violations) {
    let mut times: HashMap<&str, u32> = HashMap::new();
    for comment in history {
        let id = comment.id.get();
        *times.entry(id).or_default() += 1;
        let Some((line, number)) = line_of.get(id).and_then(|number| Some((lines.get(*number)?, *number))) else {
            found.add(format!("the history has {id}, which was never acknowledged"));
            continue;
        };
        if comment.user != name_of(line.viewer) {
            found.add(format!("line {number}: the history names {} as author", comment.user));
        }
        if comment.text.as_deref() != Some(&line_text(number as u64, line.chars, line.bytes)) {
            found.add(format!("line {number}: the history has another text: {:?}", comment.text));
        }
    }
    for (id, line) in line_of {
        match times.get(id).copied().unwrap_or(0) {
            1 => {}
            0 => found.add(format!("line {line}: {id} is missing in the history")),
            n => found.add(format!("line {line}: {id} is {n} times in the history")),
        }
    }
}

/// The history has the order that watchers saw.
fn in_order(order: &Order, history: &[OldComment], found: &mut Violations) {
    let differs = history.iter().zip(order.placed()).position(|(old, placed)| old.id.get() != &*placed.id);
    if let Some(at) = differs {
        found.add(format!("from comment {at} on the history has another order than watchers saw"));
    }
    if history.len() != order.placed().len() {
        found.add(format!("{} comments in the history, {} were shown", history.len(), order.placed().len()));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::order::Follower;

    const LINES: [Line; 2] =
        [Line { offset_ms: 0, viewer: 1, chars: 9, bytes: 9 }, Line { offset_ms: 5, viewer: 2, chars: 9, bytes: 20 }];

    fn posted(line: usize, outcome: Result<&str, &str>) -> Posted {
        let outcome = outcome.map(Into::into).map_err(str::to_owned);
        Posted { line, due: Duration::ZERO, sent: Duration::ZERO, answered: Duration::ZERO, outcome }
    }

    fn order(ids: &[&str]) -> Order {
        let (mut order, mut follower) = (Order::default(), Follower::default());
        let seen = ids.iter().try_for_each(|id| order.see(&mut follower, id, Duration::ZERO));
        assert!(seen.is_ok());
        order
    }

    fn history(lines: &[usize]) -> Vec<OldComment> {
        let old = |line: &usize| {
            let Line { viewer, chars, bytes, .. } = *LINES.get(*line)?;
            let text = line_text(*line as u64, chars, bytes);
            let json = serde_json::json!({"id": line, "user": name_of(viewer), "text": text});
            serde_json::from_str(&json.to_string()).ok()
        };
        lines.iter().filter_map(old).collect()
    }

    #[test]
    fn agreement_is_no_violation() {
        let both = [posted(0, Ok("0")), posted(1, Ok("1"))];
        assert!(compare(&LINES, &both, &order(&["1", "0"]), &history(&[1, 0])).is_empty());
    }

    #[test]
    fn every_disagreement_is_told() {
        let both = [posted(0, Ok("0")), posted(1, Ok("1"))];
        let failed = |posted: &[Posted], seen: &[&str], old: &[usize]| {
            compare(&LINES, posted, &order(seen), &history(old)).count
        };
        assert!(failed(&both, &["0", "1"], &[1, 0]) > 0, "another order");
        assert!(failed(&both, &["0", "1"], &[0]) > 0, "missing in the history");
        assert!(failed(&both, &["0", "1"], &[0, 1, 1]) > 0, "twice in the history");
        assert!(failed(&both, &["0"], &[0, 1]) > 0, "not shown");
        assert!(failed(&both[..1], &["0", "1"], &[0, 1]) > 0, "never acknowledged");
        assert!(failed(&[posted(0, Ok("0")), posted(1, Ok("0"))], &["0"], &[0]) > 0, "one id for two");
        assert!(failed(&[posted(0, Ok("0")), posted(1, Err("503"))], &["0"], &[0]) > 0, "refused");
    }
}
