//! What of an item is not a number: accepted comments that are not yet settled, and the numbered events.

use std::collections::{HashSet, VecDeque};

use rand::Rng;

use crate::protocol::{Comment, CommentId, Epoch, RoomEvent, WriterId};
use crate::store::hot::contract::{Event, Vector};

/// Events that the store keeps of one item; the oldest go. As many as a room keeps for resuming sockets: more could not
/// help any reader.
pub const EVENTS_MAX: usize = 1_024;

/// Comments between acceptance and settlement, in order of acceptance, none twice.
#[derive(Debug, Clone, Default)]
pub(super) struct WriteAhead {
    comments: VecDeque<(WriterId, u64, Comment)>,
    ids: HashSet<CommentId>,
}

impl WriteAhead {
    /// Takes in those that are new and answers them.
    pub fn take_in(&mut self, writer: WriterId, comments: &[(u64, Comment)]) -> Vec<Comment> {
        let mut new = Vec::new();
        for (number, comment) in comments {
            if self.ids.insert(comment.id) {
                self.comments.push_back((writer, *number, comment.clone()));
                new.push(comment.clone());
            }
        }
        new
    }

    /// Those that the vector covers.
    pub fn covered(&self, w: &Vector) -> Vec<Comment> {
        let covered = self.comments.iter().filter(|(writer, number, _)| covers(w, writer, *number));
        covered.map(|(_, _, comment)| comment.clone()).collect()
    }

    /// Lets those go that the vector covers: they are durable.
    pub fn let_go(&mut self, w: &Vector) {
        let ids = &mut self.ids;
        self.comments.retain(|(writer, number, comment)| {
            let stays = !covers(w, writer, *number);
            if !stays {
                ids.remove(&comment.id);
            }
            stays
        });
    }

    /// All, in order.
    pub fn all(&self) -> Vec<Comment> {
        self.comments.iter().map(|(_, _, comment)| comment.clone()).collect()
    }
}

fn covers(w: &Vector, writer: &WriterId, number: u64) -> bool {
    w.get(writer).is_some_and(|op| number <= *op)
}

/// The last [`EVENTS_MAX`] events of one epoch, numbered without gaps.
#[derive(Debug, Clone)]
pub(super) struct Events {
    pub epoch: Epoch,
    pub seq: u64,
    kept: VecDeque<Event>,
}

impl Events {
    /// None yet, in a new epoch.
    pub fn new(rng: &mut impl Rng) -> Self {
        let mut bytes = [0; 16];
        rng.fill_bytes(&mut bytes);
        Self { epoch: Epoch(uuid::Builder::from_random_bytes(bytes).into_uuid()), seq: 0, kept: VecDeque::new() }
    }

    /// Gives the event the next number and a random tag.
    pub fn append(&mut self, event: RoomEvent, rng: &mut impl Rng) {
        self.seq += 1;
        if self.kept.len() == EVENTS_MAX {
            self.kept.pop_front();
        }
        self.kept.push_back(Event { seq: self.seq, tag: rng.next_u64(), event });
    }

    /// The events after the one that the reader knows; all that are kept if it knows none, or one that says nothing here.
    pub fn after(&self, known: Option<(Epoch, u64)>) -> Vec<Event> {
        let oldest = self.kept.front().map_or(self.seq + 1, |event| event.seq);
        let skip = match known {
            Some((epoch, seq)) if epoch == self.epoch && seq <= self.seq => (seq + 1).saturating_sub(oldest),
            _ => 0,
        };
        self.kept.iter().skip(usize::try_from(skip).unwrap_or(usize::MAX)).cloned().collect()
    }
}
