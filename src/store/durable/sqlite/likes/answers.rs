//! What was answered to the last batch of each writer and item: a repeat of it is answered the same, and writes nothing. Pure.
//!
//! Batches of one writer and item come one after the other, so a later one shows that the answer to the earlier arrived. In memory
//! only: another run of the process is another writer, and repeats nothing of this one.

use std::collections::HashMap;

use crate::protocol::{ItemId, WriterId};
use crate::store::durable::likes::BatchId;

/// Answers kept: of so many items a batch may be under way at once. Above it the answer of some item is forgotten, and a repeat
/// of that batch answers that nothing changed; the caller recounts in any case.
const ANSWERS_MAX: usize = 16_384;

#[derive(Debug, Default)]
pub(super) struct Answers {
    last: HashMap<(ItemId, WriterId), (u64, Vec<bool>)>,
}

impl Answers {
    /// The answer, if this is a repeat.
    pub fn to(&self, item: &ItemId, batch: BatchId) -> Option<Vec<bool>> {
        let (number, answer) = self.last.get(&(item.clone(), batch.writer))?;
        (*number == batch.number).then(|| answer.clone())
    }

    /// Keeps the answer in place of the one before it.
    pub fn keep(&mut self, item: &ItemId, batch: BatchId, answer: &[bool]) {
        let key = (item.clone(), batch.writer);
        if self.last.len() >= ANSWERS_MAX
            && !self.last.contains_key(&key)
            && let Some(some) = self.last.keys().next().cloned()
        {
            self.last.remove(&some);
        }
        self.last.insert(key, (batch.number, answer.to_vec()));
    }

    /// The batch will not be repeated any more.
    pub fn forget(&mut self, item: &ItemId, batch: BatchId) {
        let key = (item.clone(), batch.writer);
        if self.last.get(&key).is_some_and(|(number, _)| *number == batch.number) {
            self.last.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn id(by: u128, number: u64) -> BatchId {
        BatchId { writer: WriterId(Uuid::from_u128(by)), number }
    }

    #[test]
    fn a_batch_is_known_until_its_successor_or_its_end() {
        let (a, b) = (ItemId::parse("a").unwrap(), ItemId::parse("b").unwrap());
        let mut answers = Answers::default();
        answers.keep(&a, id(1, 1), &[true]);
        assert_eq!(answers.to(&a, id(1, 1)), Some(vec![true]));
        for other in [answers.to(&b, id(1, 1)), answers.to(&a, id(2, 1)), answers.to(&a, id(1, 2))] {
            assert_eq!(other, None);
        }
        answers.keep(&a, id(1, 2), &[false]);
        answers.forget(&a, id(1, 1));
        assert_eq!((answers.to(&a, id(1, 1)), answers.to(&a, id(1, 2))), (None, Some(vec![false])));
        answers.forget(&a, id(1, 2));
        assert_eq!(answers.to(&a, id(1, 2)), None);
    }

    #[test]
    fn batches_that_are_never_settled_do_not_fill_the_memory() {
        let mut answers = Answers::default();
        for n in 0..ANSWERS_MAX + 100 {
            answers.keep(&ItemId::parse(&format!("i{n}")).unwrap(), id(1, 1), &[true]);
        }
        assert_eq!(answers.last.len(), ANSWERS_MAX);
        let last = ItemId::parse(&format!("i{}", ANSWERS_MAX + 99)).unwrap();
        assert_eq!(answers.to(&last, id(1, 1)), Some(vec![true]));
    }
}
