//! What waits to be written for one item, and what each command came to once it was. Pure.
//!
//! Of several commands of one person in a batch only the last is written; the store says whether that one changed something, and
//! from there it follows what each of them did, in the order in which they came.

use std::collections::HashMap;

use crate::protocol::UserId;
use crate::store::durable::LikeCommand;

/// Commands in the order in which they came; `W` is who waits for each.
#[derive(Debug)]
pub struct Batch<W> {
    waiting: Vec<Waiting<W>>,
    /// Person → index of their command among those to be written.
    places: HashMap<UserId, usize>,
    commands: Vec<LikeCommand>,
}

#[derive(Debug)]
struct Waiting<W> {
    place: usize,
    liked: bool,
    who: W,
}

/// What one command did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// Whether the person likes the item from then on.
    pub liked: bool,
    /// Whether that was not so before.
    pub changed: bool,
}

impl<W> Default for Batch<W> {
    fn default() -> Self {
        Self { waiting: Vec::new(), places: HashMap::new(), commands: Vec::new() }
    }
}

impl<W> Batch<W> {
    /// Takes a command in.
    pub fn push(&mut self, user: UserId, liked: bool, who: W) {
        let next = self.commands.len();
        let place = *self.places.entry(user.clone()).or_insert(next);
        match self.commands.get_mut(place) {
            Some(command) => command.liked = liked,
            None => self.commands.push(LikeCommand { user, liked }),
        }
        self.waiting.push(Waiting { place, liked, who });
    }

    /// How many commands wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The last command of each person.
    pub fn take_commands(&mut self) -> Vec<LikeCommand> {
        self.places = HashMap::new();
        std::mem::take(&mut self.commands)
    }

    /// What each command did, in order, and by how much the likes moved. `changed`: of the commands to be written, in their order.
    pub fn done(self, commands: &[LikeCommand], changed: &[bool]) -> (Vec<(W, Done)>, i64) {
        let before = commands.iter().zip(changed).map(|(last, changed)| last.liked != *changed);
        let mut likes: Vec<bool> = before.collect();
        let net = commands.iter().zip(changed).filter(|(_, changed)| **changed);
        let net = net.map(|(last, _)| if last.liked { 1 } else { -1 }).sum();
        let each = self.waiting.into_iter().map(|Waiting { place, liked, who }| {
            let changed = likes.get_mut(place).is_some_and(|now| std::mem::replace(now, liked) != liked);
            (who, Done { liked, changed })
        });
        (each.collect(), net)
    }

    /// Whoever waits, where nothing came of it.
    pub fn into_waiting(self) -> impl Iterator<Item = W> {
        self.waiting.into_iter().map(|waiting| waiting.who)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn user(name: &str) -> UserId {
        UserId::parse(name).unwrap()
    }

    /// What a store does: at most one fact per person.
    fn write(facts: &mut BTreeSet<UserId>, commands: &[LikeCommand]) -> Vec<bool> {
        let write = |command: &LikeCommand| {
            if command.liked { facts.insert(command.user.clone()) } else { facts.remove(&command.user) }
        };
        commands.iter().map(write).collect()
    }

    #[test]
    fn like_unlike_like_of_one_person_in_a_batch_keeps_its_order() {
        let mut batch = Batch::default();
        for (n, liked) in [true, false, true, true].into_iter().enumerate() {
            batch.push(user("ann"), liked, n);
        }
        batch.push(user("bob"), false, 4);
        let commands = batch.take_commands();
        assert_eq!(commands.len(), 2, "one statement per person");
        let (done, net) = batch.done(&commands, &[true, false]);
        let changed: Vec<bool> = done.iter().map(|(_, done)| done.changed).collect();
        assert_eq!((changed, net), (vec![true, true, true, false, false], 1));
    }

    proptest! {
        /// Batches cut anywhere tell everybody the same as one command after the other, and move the count as far.
        #[test]
        fn a_batch_tells_what_one_after_the_other_would(
            commands in prop::collection::vec((0_u8..5, any::<bool>(), prop::bool::weighted(0.3)), 0..60)
        ) {
            let (mut facts, mut alone) = (BTreeSet::new(), BTreeSet::new());
            let (mut told, mut expected, mut count) = (Vec::new(), Vec::new(), 0);
            let mut batch = Batch::default();
            for (person, liked, cut) in commands {
                let user = user(&format!("u{person}"));
                expected.push(write(&mut alone, &[LikeCommand { user: user.clone(), liked }])[0]);
                batch.push(user, liked, ());
                if cut {
                    let mut whole = std::mem::take(&mut batch);
                    let written = whole.take_commands();
                    let (done, net) = whole.done(&written, &write(&mut facts, &written));
                    told.extend(done.iter().map(|(_, done)| done.changed));
                    count += net;
                }
            }
            let written = batch.take_commands();
            let (done, net) = batch.done(&written, &write(&mut facts, &written));
            told.extend(done.iter().map(|(_, done)| done.changed));
            prop_assert_eq!(told, expected);
            prop_assert_eq!(count + net, alone.len() as i64);
        }
    }
}
