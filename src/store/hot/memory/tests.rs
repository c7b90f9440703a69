//! Bounds of the memory core that no contract tells.

use uuid::Uuid;

use super::*;
use crate::protocol::RoomEvent;
use crate::store::hot::contract::Stood;

fn read(core: &mut MemoryCore, events: usize, after: Option<(crate::protocol::Epoch, u64)>) -> Stood {
    let item = ItemId::parse("a").unwrap();
    let events = vec![RoomEvent::Ending {}; events];
    match core.step(&Step { item, add: None, events, after, watching: None }).unwrap() {
        Standing::At(stood) => stood,
        Standing::Missing => panic!("missing"),
    }
}

/// Many more events than are kept, and readers that know the newest that is gone, the oldest that is kept, and none.
#[test]
fn events_are_bounded_and_a_reader_that_is_too_late_gets_all_that_are_kept() {
    let mut core = MemoryCore::new(1);
    core.align(&ItemId::parse("a").unwrap(), &Document::default());
    let all = read(&mut core, EVENTS_MAX + 10, None);
    assert_eq!((all.seq, all.events.len()), (EVENTS_MAX as u64 + 10, EVENTS_MAX));
    assert_eq!(all.events.first().map(|event| event.seq), Some(11));
    for (known, answered) in [(3, EVENTS_MAX), (10, EVENTS_MAX), (11, EVENTS_MAX - 1), (all.seq, 0)] {
        assert_eq!(read(&mut core, 0, Some((all.epoch, known))).events.len(), answered, "after {known}");
    }
}

/// A snapshot is put back, as by a store that lost state: the same numbers must not carry the same tags again.
#[test]
fn a_reseeded_snapshot_does_not_repeat_the_tags_of_the_lost_future() {
    let mut core = MemoryCore::new(1);
    core.align(&ItemId::parse("a").unwrap(), &Document::default());
    let mut snapshot = core.clone();
    snapshot.reseed(2);
    let (lost, again) = (read(&mut core, 1, None), read(&mut snapshot, 1, None));
    assert_eq!(lost.events[0].seq, again.events[0].seq);
    assert_ne!(lost.events[0].tag, again.events[0].tag);
    let other = WriterId(Uuid::from_u128(1));
    assert_eq!(core.claim(&ItemId::parse("a").unwrap(), &[other]), None);
}
