//! Properties of the outbox under any order of pushes and writes.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::time::{Duration, Instant};

use bytes::Bytes;
use proptest::prelude::*;

use crate::session::{Bounds, Class, Outbox, Piece};

const BOUNDS: Bounds = Bounds { events_max: 8, bytes_max: 400 };

#[derive(Debug, Clone)]
enum Step {
    Event(usize),
    Plain(usize),
    Control,
    Counts,
    Write(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1_usize..80).prop_map(Step::Event),
        1 => (1_usize..40).prop_map(Step::Plain),
        1 => Just(Step::Control),
        1 => Just(Step::Counts),
        4 => (1_usize..150).prop_map(Step::Write),
    ]
}

/// A frame that says its number and where its bytes are: `length` bytes of the number.
fn frame(number: u8, length: usize) -> Bytes {
    Bytes::from(vec![number; length])
}

fn piece(bytes: Bytes, class: Class) -> Piece {
    Piece { bytes, room: 0, class }
}

/// What the peer has read: bytes, cut into frames by the lengths that were pushed.
#[derive(Default)]
struct Peer {
    bytes: Vec<u8>,
}

fn write(outbox: &mut Outbox, room_bytes: usize, peer: &mut Peer) {
    let mut slices = [IoSlice::new(&[]); 4];
    let filled = outbox.slices(&mut slices);
    let mut left = room_bytes;
    for slice in &slices[..filled] {
        let taken = slice.len().min(left);
        peer.bytes.extend_from_slice(&slice[..taken]);
        left -= taken;
    }
    outbox.advance(room_bytes - left);
}

proptest! {
    /// Never past a bound; every event arrives whole and in order, or is in the overflow; nothing is cut short.
    #[test]
    fn everything_is_delivered_in_order_or_declared(steps in prop::collection::vec(step(), 1..200)) {
        let now = Instant::now();
        let mut outbox = Outbox::new(now);
        let mut peer = Peer::default();
        let mut accepted: VecDeque<(u8, usize)> = VecDeque::new();
        let mut number = 0_u8;
        let mut declared = None;
        for step in steps {
            let pushed = match step {
                Step::Event(length) => {
                    number = number % 200 + 1;
                    accepted.push_back((number, length));
                    outbox.push(piece(frame(number, length), Class::Event { comments: 1 }), BOUNDS, now)
                }
                Step::Plain(length) => outbox.push(piece(frame(251, length), Class::Plain), BOUNDS, now),
                Step::Control => outbox.push_control(frame(252, 2), BOUNDS, now),
                Step::Counts => { outbox.owe_counts(0); Ok(()) }
                Step::Write(room_bytes) => { write(&mut outbox, room_bytes, &mut peer); Ok(()) }
            };
            let (events, bytes) = outbox.held();
            prop_assert!(events <= BOUNDS.events_max && bytes <= BOUNDS.bytes_max);
            if let Err(overflow) = pushed {
                outbox.seal([frame(255, 3)]);
                declared = Some(overflow);
                break;
            }
        }
        while !outbox.is_empty() {
            if outbox.take_counts().is_none() {
                write(&mut outbox, 64, &mut peer);
            }
        }
        // Cut what arrived into runs of one number; every run of an event is as long as the event was.
        let mut arrived = Vec::new();
        let mut rest = peer.bytes.as_slice();
        while let Some(first) = rest.first() {
            let length = match accepted.iter().find(|(number, _)| number == first) {
                Some((_, length)) => *length,
                None => rest.iter().take_while(|byte| *byte == first).count(),
            };
            prop_assert!(rest[..length].iter().all(|byte| byte == first), "a frame was cut short");
            if *first <= 200 {
                arrived.push(*first);
                prop_assert_eq!(accepted.pop_front().map(|(number, _)| number), Some(*first), "out of order");
            }
            rest = &rest[length..];
        }
        match declared {
            Some(overflow) => {
                let comments: u64 = overflow.losses.iter().map(|loss| loss.comments).sum();
                prop_assert_eq!(comments, accepted.len() as u64, "lost events are all declared");
                prop_assert_eq!(&peer.bytes[peer.bytes.len() - 3..], &[255, 255, 255], "the farewell comes last");
            }
            None => prop_assert!(accepted.is_empty()),
        }
    }
}

#[test]
fn counts_wait_for_events_and_are_sent_once() {
    // Scenario: three counts and an event for a laggard. Method: the event goes first, then one flag stands for all counts.
    let now = Instant::now();
    let mut outbox = Outbox::new(now);
    outbox.owe_counts(0);
    outbox.push(piece(frame(1, 5), Class::Event { comments: 0 }), BOUNDS, now).unwrap();
    outbox.owe_counts(0);
    outbox.owe_counts(3);
    assert_eq!(outbox.take_counts(), None);
    assert_eq!(outbox.pop().unwrap(), frame(1, 5));
    assert_eq!((outbox.take_counts(), outbox.take_counts(), outbox.take_counts()), (Some(0), Some(3), None));
    assert!(outbox.is_empty());
}

#[test]
fn a_control_frame_passes_what_was_not_begun_and_never_cuts_a_frame() {
    let now = Instant::now();
    let mut outbox = Outbox::new(now);
    let mut peer = Peer::default();
    outbox.push(piece(frame(1, 4), Class::Plain), BOUNDS, now).unwrap();
    outbox.push(piece(frame(2, 4), Class::Plain), BOUNDS, now).unwrap();
    write(&mut outbox, 1, &mut peer);
    outbox.push_control(frame(9, 2), BOUNDS, now).unwrap();
    write(&mut outbox, 100, &mut peer);
    assert_eq!(peer.bytes, [1, 1, 1, 1, 9, 9, 2, 2, 2, 2]);
}

#[test]
fn the_loss_tells_how_long_and_for_which_room() {
    let now = Instant::now();
    let mut outbox = Outbox::new(now);
    let event = |room, comments| Piece { bytes: frame(1, 10), room, class: Class::Event { comments } };
    (0..8).for_each(|i| outbox.push(event(i % 2, 2), BOUNDS, now).unwrap());
    let overflow = outbox.push(event(1, 5), BOUNDS, now + Duration::from_secs(3)).unwrap_err();
    assert_eq!((overflow.frames, overflow.behind), (9, Duration::from_secs(3)));
    assert_eq!(overflow.losses.iter().map(|loss| (loss.room, loss.comments)).collect::<Vec<_>>(), [(0, 8), (1, 13)]);
}

#[test]
fn what_a_client_gets_first_does_not_count_as_falling_behind() {
    let now = Instant::now();
    let mut outbox = Outbox::new(now);
    (0..1_024).for_each(|_| outbox.push(piece(frame(1, 100), Class::Exempt), BOUNDS, now).unwrap());
    assert_eq!(outbox.held(), (0, 0));
}
