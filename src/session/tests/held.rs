//! The race of a join's answer with the room's frames, in every order that it can take.

use std::sync::Arc;

use bytes::Bytes;

use crate::protocol::{Counts, Kind};
use crate::session::{Class, Held, Outgoing};

fn event(seq: u64) -> Outgoing {
    Outgoing { bytes: Bytes::from(seq.to_string()), seq, class: Class::Event { comments: 1 } }
}

fn counts(hearts: i64, viewers: i64) -> Counts {
    Counts { taps: vec![(Kind::HEART, hearts)], likes: Some(0), comments: Some(0), viewers: Some(viewers) }
}

#[test]
fn a_join_race_neither_misses_nor_doubles_an_event() {
    // Scenario: events 1-9 come by while joining. Method: wherever the answer says the client stands, exactly the later ones
    // follow.
    for place in 0..=9 {
        let mut held = Held::default();
        (1..=9).for_each(|seq| assert!(held.frame(event(seq), 100)));
        let released = held.release(place, &counts(0, 0));
        let follow: Vec<u64> = released.frames.iter().map(|frame| frame.seq).collect();
        assert_eq!(follow, (place + 1..=9).collect::<Vec<_>>());
    }
}

#[test]
fn counts_that_are_older_than_the_snapshot_do_not_take_the_number_back() {
    let given = |before: Counts| {
        let mut held = Held::default();
        held.counts(Arc::new(before));
        held.release(0, &counts(10, 3)).counts.map(|all| all.taps[0].1)
    };
    assert_eq!(given(counts(9, 4)), None, "older");
    assert_eq!(given(counts(10, 3)), None, "the same");
    assert_eq!(given(counts(11, 2)), Some(11), "newer");
    assert_eq!(given(counts(10, 4)), Some(10), "cannot be told: the next counts put it right");
}

#[test]
fn a_room_that_never_answers_does_not_fill_memory() {
    let mut held = Held::default();
    let kept = (0..1_000).filter(|seq| held.frame(event(*seq), 256)).count();
    assert_eq!(kept, 256);
}
