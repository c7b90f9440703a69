//! The race of a join's answer with the room's frames, in every order that it can take.

use bytes::Bytes;

use crate::session::{Class, Held, Outgoing};

fn event(seq: u64) -> Outgoing {
    Outgoing { bytes: Bytes::from(seq.to_string()), seq, class: Class::Event { comments: 1 } }
}

#[test]
fn a_join_race_neither_misses_nor_doubles_an_event() {
    // Scenario: events 1-9 come by while joining. Method: wherever the answer says the client stands, exactly the later ones
    // follow.
    for place in 0..=9 {
        let mut held = Held::default();
        (1..=9).for_each(|seq| assert!(held.frame(event(seq), 100)));
        let released = held.release(place, 0);
        let follow: Vec<u64> = released.frames.iter().map(|frame| frame.seq).collect();
        assert_eq!(follow, (place + 1..=9).collect::<Vec<_>>());
    }
}

#[test]
fn counts_that_are_older_than_the_snapshot_do_not_take_the_number_back() {
    let given = |held_version| {
        let mut held = Held::default();
        held.counts(held_version);
        held.release(0, 10).counts
    };
    assert_eq!([9, 10, 11].map(given), [false, false, true]);
    assert!(!Held::default().release(0, 10).counts);
}

#[test]
fn a_room_that_never_answers_does_not_fill_memory() {
    let mut held = Held::default();
    let kept = (0..1_000).filter(|seq| held.frame(event(*seq), 256)).count();
    assert_eq!(kept, 256);
}
