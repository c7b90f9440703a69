//! One sender's side of a storm: what it asks by the plan, what it is answered, and its books.
//!
//! Pure: times come in as arguments. The `id` of a message says which message of the plan it is, so an answer finds its planned moment.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use crate::inbound::Inbound;
use crate::latency::Latencies;
use crate::ledger::SocketBooks;
use crate::schedule::{Plan, is_in_fraction};

/// Count messages that are remembered for acks which come after the count that already holds them.
const SHOWN_KEPT: usize = 64;
/// Acknowledged totals that wait to be shown. Past it the oldest is not measured: the count it waits for is long overdue.
const WAITING_MAX: usize = 10_000;

/// What a sender will do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intent {
    /// When its tap messages go out.
    pub taps: Plan,
    /// Taps in each.
    pub n: u32,
    /// The fraction of tap messages that carry an `id`.
    pub with_id: f64,
    /// When its comments go out.
    pub comments: Plan,
}

/// One message of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// The `j`-th tap message.
    Tap(u64),
    /// The `j`-th comment.
    Comment(u64),
}

impl Intent {
    /// The message after so many taps and comments, and when it is due.
    pub fn next(&self, taps: u64, comments: u64) -> Option<(Ask, Duration)> {
        let tap = (taps < self.taps.messages).then(|| (Ask::Tap(taps), self.taps.at(taps)));
        let comment = (comments < self.comments.messages).then(|| (Ask::Comment(comments), self.comments.at(comments)));
        [tap, comment].into_iter().flatten().min_by_key(|(_, due)| *due)
    }

    /// The `id` of a message: even for taps, odd for comments; `None` for a tap that goes out without one.
    pub fn id_of(&self, ask: Ask) -> Option<u64> {
        match ask {
            Ask::Tap(j) => is_in_fraction(j, self.with_id).then_some(j * 2),
            Ask::Comment(j) => Some(j * 2 + 1),
        }
    }

    fn ask_of(&self, id: u64) -> Option<(Ask, Duration)> {
        let j = id / 2;
        if id.is_multiple_of(2) {
            (j < self.taps.messages && is_in_fraction(j, self.with_id)).then(|| (Ask::Tap(j), self.taps.at(j)))
        } else {
            (j < self.comments.messages).then(|| (Ask::Comment(j), self.comments.at(j)))
        }
    }
}

/// What was measured, by all senders of a storm.
#[derive(Debug, Default)]
pub struct Measures {
    /// From the planned moment of an act to its `ack`.
    pub acks: Latencies,
    /// From the planned moment of a tap to the first count on the same socket that holds it.
    pub shown: Latencies,
    /// From the planned moment of a message to when it really went out: the generator's own lateness.
    pub late: Latencies,
}

/// A sender.
#[derive(Debug)]
pub struct Asks {
    /// Its plan.
    pub intent: Intent,
    /// Its books of taps.
    pub books: SocketBooks,
    /// Comments sent.
    pub comments_asked: u64,
    /// Ids of the acknowledged comments, as JSON tokens.
    pub comments_acked: Vec<Box<str>>,
    /// Comments that were refused.
    pub comments_refused: u64,
    /// Comments for which the server could not say.
    pub comments_unknown: u64,
    answered: HashSet<u64>,
    waiting: VecDeque<(i64, Duration)>,
    shown: VecDeque<(i64, Duration)>,
}

impl Asks {
    /// A sender that has not begun.
    pub fn new(intent: Intent) -> Self {
        Self {
            intent,
            books: SocketBooks::default(),
            comments_asked: 0,
            comments_acked: Vec::new(),
            comments_refused: 0,
            comments_unknown: 0,
            answered: HashSet::new(),
            waiting: VecDeque::new(),
            shown: VecDeque::new(),
        }
    }

    /// Notes a message that is about to go out. Before, not after: its answer may be here before the write returns.
    pub fn sending(&mut self, ask: Ask) {
        match ask {
            Ask::Tap(_) if self.intent.id_of(ask).is_some() => self.books.asked += u64::from(self.intent.n),
            Ask::Tap(_) => self.books.blind += u64::from(self.intent.n),
            Ask::Comment(_) => self.comments_asked += 1,
        }
    }

    /// Comments that nothing has answered yet.
    pub const fn comments_open(&self) -> u64 {
        let closed = self.comments_acked.len() as u64 + self.comments_refused + self.comments_unknown;
        self.comments_asked.saturating_sub(closed)
    }

    /// Takes an `ack` or an `error`.
    ///
    /// # Errors
    /// It answers what was not asked, answers twice, accepts more than was sent, or refuses for no reason that a storm gives.
    pub fn answer(&mut self, message: &Inbound<'_>, now: Duration, measures: &Measures) -> Result<(), String> {
        let Some(id) = message.id else { return self.told(message) };
        let (ask, due) = self.intent.ask_of(id).ok_or_else(|| format!("an answer to {id}, which was not asked"))?;
        if !self.answered.insert(id) {
            return Err(format!("a second answer to {id}: {}", message.t));
        }
        match (ask, message.t == "ack") {
            (Ask::Tap(_), true) => self.tapped(message, due, now, measures),
            (Ask::Comment(_), true) => {
                measures.acks.record(now.saturating_sub(due));
                let id = message.comment.ok_or("an ack of a comment without its id")?;
                self.comments_acked.push(id.get().into());
                Ok(())
            }
            (ask, false) => self.refused(ask, message),
        }
    }

    /// Takes a count that this socket was shown.
    pub fn see_total(&mut self, total: i64, now: Duration, measures: &Measures) {
        while let Some((_, due)) = self.waiting.front().copied().filter(|(wanted, _)| *wanted <= total) {
            self.waiting.pop_front();
            measures.shown.record(now.saturating_sub(due));
        }
        if self.shown.len() == SHOWN_KEPT {
            self.shown.pop_front();
        }
        self.shown.push_back((total, now));
    }

    fn tapped(&mut self, message: &Inbound<'_>, due: Duration, now: Duration, m: &Measures) -> Result<(), String> {
        m.acks.record(now.saturating_sub(due));
        let n = u64::from(self.intent.n);
        let accepted = message.accepted.ok_or("an ack of taps without accepted")?;
        self.books.answered += n;
        self.books.accepted += accepted;
        if let Some(total) = message.taps_of(super::KIND) {
            self.await_total(total, due, m);
        }
        if accepted > n { Err(format!("{accepted} accepted of {n} taps")) } else { Ok(()) }
    }

    /// Measures when the total of an ack is shown: at a count that came before the ack, or at one still to come.
    fn await_total(&mut self, total: i64, due: Duration, measures: &Measures) {
        match self.shown.iter().find(|(shown, _)| *shown >= total) {
            Some((_, at)) => measures.shown.record(at.saturating_sub(due)),
            None if self.waiting.len() < WAITING_MAX => self.waiting.push_back((total, due)),
            None => {}
        }
    }

    fn refused(&mut self, ask: Ask, message: &Inbound<'_>) -> Result<(), String> {
        let is_unknown = message.outcome.as_deref() == Some("unknown");
        match ask {
            Ask::Tap(_) => {
                self.books.answered += u64::from(self.intent.n);
                self.books.unknown += if is_unknown { u64::from(self.intent.n) } else { 0 };
            }
            Ask::Comment(_) if is_unknown => self.comments_unknown += 1,
            Ask::Comment(_) => self.comments_refused += 1,
        }
        allowed(message)
    }

    /// An `error` without `id`: the sum of refused taps, or something that a storm gives no cause for.
    fn told(&mut self, message: &Inbound<'_>) -> Result<(), String> {
        match (message.act.as_deref(), message.refused) {
            (Some("tap"), Some(refused)) => {
                self.books.refused_blind += refused;
                allowed(message)
            }
            _ => Err(format!("{} without id, code {}", message.t, code(message))),
        }
    }
}

/// A storm may run into rates and into a store that is away for a moment; every other refusal is a fault.
fn allowed(message: &Inbound<'_>) -> Result<(), String> {
    match code(message) {
        "\"rate_limited\"" | "\"unavailable\"" => Ok(()),
        code => Err(format!("refused with {code}")),
    }
}

fn code<'a>(message: &Inbound<'a>) -> &'a str {
    message.code.map_or("none", |raw| raw.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(with_id: f64) -> Asks {
        let taps = Plan::shared(0, 1, 10.0, Duration::from_secs(1));
        let comments = Plan::shared(0, 1, 2.0, Duration::from_secs(1));
        Asks::new(Intent { taps, n: 5, with_id, comments })
    }

    fn answer(asks: &mut Asks, json: &str, measures: &Measures) -> Result<(), String> {
        let message = Inbound::of_frame(json).next().unwrap_or_else(|| unreachable!())?;
        asks.answer(&message, Duration::from_millis(250), measures)
    }

    #[test]
    fn the_plan_runs_in_order_and_ends() {
        let intent = sender(0.5).intent;
        let (mut taps, mut comments, mut last) = (0, 0, Duration::ZERO);
        while let Some((ask, due)) = intent.next(taps, comments) {
            assert!(due >= last);
            last = due;
            match ask {
                Ask::Tap(_) => taps += 1,
                Ask::Comment(_) => comments += 1,
            }
        }
        assert_eq!((taps, comments), (10, 2));
        assert_eq!((0..10).filter(|j| intent.id_of(Ask::Tap(*j)).is_some()).count(), 5);
    }

    #[test]
    fn books_follow_the_answers() {
        let (mut asks, measures) = (sender(1.0), Measures::default());
        [Ask::Tap(0), Ask::Tap(1), Ask::Tap(2), Ask::Comment(0)].into_iter().for_each(|ask| asks.sending(ask));
        assert!(
            answer(&mut asks, r#"{"t":"ack","id":0,"accepted":5,"counts":{"taps":{"heart":5}}}"#, &measures).is_ok()
        );
        assert!(answer(&mut asks, r#"{"t":"error","id":2,"code":"rate_limited"}"#, &measures).is_ok());
        assert!(
            answer(&mut asks, r#"{"t":"error","id":4,"code":"unavailable","outcome":"unknown"}"#, &measures).is_ok()
        );
        assert!(answer(&mut asks, r#"{"t":"ack","id":1,"comment":"c","at":1}"#, &measures).is_ok());
        let books = SocketBooks { asked: 15, answered: 15, accepted: 5, unknown: 5, ..Default::default() };
        assert_eq!((asks.books, asks.comments_open()), (books, 0));
        asks.see_total(5, Duration::from_millis(300), &measures);
        assert_eq!(measures.acks.summary().samples, 2);
        assert!((measures.shown.summary().p50_ms - 300.0).abs() < 3.0, "within the histogram's percent");
    }

    #[test]
    fn answers_that_nobody_asked_for_are_told() {
        let (mut asks, measures) = (sender(1.0), Measures::default());
        asks.sending(Ask::Tap(0));
        let ack = r#"{"t":"ack","id":0,"accepted":5}"#;
        assert!(answer(&mut asks, ack, &measures).is_ok());
        assert!(answer(&mut asks, ack, &measures).is_err_and(|e| e.contains("second answer")));
        assert!(answer(&mut asks, r#"{"t":"ack","id":98,"accepted":5}"#, &measures).is_err());
        assert!(answer(&mut asks, r#"{"t":"ack","id":2,"accepted":6}"#, &measures).is_err());
        assert!(answer(&mut asks, r#"{"t":"error","id":4,"code":"internal"}"#, &measures).is_err());
        assert!(answer(&mut asks, r#"{"t":"error","code":"bad_request"}"#, &measures).is_err());
    }

    #[test]
    fn refused_taps_without_id_come_off_the_books() {
        let (mut asks, measures) = (sender(0.0), Measures::default());
        asks.sending(Ask::Tap(0));
        assert!(answer(&mut asks, r#"{"t":"error","act":"tap","code":"rate_limited","refused":3}"#, &measures).is_ok());
        assert_eq!((asks.books.blind, asks.books.refused_blind), (5, 3));
    }
}
