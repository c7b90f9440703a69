//! Writers: what they contribute, and the exchange that a journal asks for.

use std::time::Duration;

use heartline::protocol::{Comment, CommentId, Counter, Kind, Millis, UserId, WriterId};
use heartline::store::hot::journal::{Bounds, Contribution, Journal, Next};
use heartline::store::hot::{Aligned, Standing, Step};
use rand::RngExt;
use uuid::Uuid;

use super::record::Record;
use super::{History, Pair, name, note};

pub const BOUNDS: Bounds = Bounds { numbers_max: 4_096, reoffer: Duration::from_secs(5) };
/// Exchanges of one turn: an earlier one is in, the item is behind, and the document was stale at that.
const EXCHANGES_MAX: usize = 4;

/// One process run.
pub struct Writer {
    pub id: WriterId,
    pub alive: bool,
    pub record: Record,
    journal: Journal,
}

impl Writer {
    pub fn new(id: WriterId) -> Self {
        Self { id, alive: true, record: Record::new(), journal: Journal::new(id, 0, BOUNDS) }
    }

    /// Nothing to give again; the dead give nothing.
    pub fn is_at_rest(&self) -> bool {
        !self.alive || self.journal.is_empty()
    }
}

impl<P: Pair> History<P> {
    /// Hearts of either sign, which may cancel out, and sometimes a comment or two.
    pub fn contribute(&mut self, writer: usize) {
        if !self.writers[writer].alive {
            return;
        }
        let comments: Vec<_> =
            (0..[0, 0, 0, 0, 0, 0, 1, 2][self.rng.random_range(0..8)]).map(|_| self.next_comment(writer)).collect();
        let hearts = (Counter::Taps(Kind::HEART), self.rng.random_range(-9..=9));
        let increments = [hearts, (Counter::Comments, comments.len() as i64)].into_iter().collect();
        let said = comments.iter().map(|comment| (comment.id, false)).collect();
        let Writer { id, journal, record, .. } = &mut self.writers[writer];
        note!(self, "{} contributes {increments:?}", name(*id));
        let contribution = Contribution { increments, comments };
        let increments = contribution.increments.clone();
        let op = journal.contribute(contribution, self.now).unwrap();
        record.contributed(op, &increments, said);
    }

    fn next_comment(&mut self, writer: usize) -> Comment {
        self.comment += 1;
        let at = Millis((self.comment & u128::from(u32::MAX)) as i64);
        let (id, user) = (CommentId(Uuid::from_u128(self.comment)), author(self.writers[writer].id));
        Comment { id, user, text: "hi".to_owned(), at, name: None }
    }

    /// Offers what its journal has to offer and does what that makes of the answers; `is_lost`: the first answer never comes.
    pub async fn offer(&mut self, writer: usize, is_lost: bool) {
        if !self.writers[writer].alive {
            return;
        }
        let mut offer = self.writers[writer].journal.offer(self.now);
        for _ in 0..EXCHANGES_MAX {
            let Some(add) = offer.take() else { return };
            note!(self, "{} adds {}..{} {:?}", name(add.writer), add.prev, add.op, add.increments);
            let step =
                Step { item: self.item.clone(), add: Some(add), events: Vec::new(), after: None, watching: None };
            let standing = self.pair.hot().step(step).await;
            self.pair.keep().await;
            let Ok(standing) = standing.inspect_err(|error| note!(self, "    {error}")) else { return };
            if is_lost {
                note!(self, "    reply lost");
                return;
            }
            offer = self.answered(writer, &standing).await;
        }
    }

    /// What comes next after an answer.
    async fn answered(&mut self, writer: usize, standing: &Standing) -> Option<heartline::store::hot::Add> {
        note!(self, "    {}", in_words(standing));
        let Writer { journal, record, .. } = &mut self.writers[writer];
        let next = journal.answer(standing, self.now);
        record.acknowledged = record.acknowledged.max(journal.acked());
        match next {
            Next::Settled | Next::Wait => None,
            Next::Send(add) => Some(add),
            Next::Align => {
                self.align().await?;
                self.writers[writer].journal.offer(self.now)
            }
        }
    }

    /// Brings the item in line with its document.
    pub async fn align(&mut self) -> Option<Aligned> {
        let document = self.pair.durable().document(&self.item).await.ok()?;
        let aligned = self.pair.hot().align(&self.item, &document).await.ok()?;
        note!(self, "    aligned with {document:?}: {aligned:?}");
        self.pair.keep().await;
        Some(aligned)
    }
}

/// Who the comments of a writer are by.
pub fn author(writer: WriterId) -> UserId {
    UserId::parse(&name(writer)).unwrap()
}

fn in_words(standing: &Standing) -> String {
    match standing {
        Standing::Missing => "no item".to_owned(),
        Standing::At(stood) => format!("at {} folded {} fold {}", stood.at, stood.folded, stood.fold),
    }
}
