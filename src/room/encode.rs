//! A room's messages as WebSocket frames, encoded once for all their receivers.

use bytes::Bytes;

use crate::protocol::server::ServerOut;
use crate::protocol::{Counts, ItemId, ItemView, RoomEvent};
use crate::wire;

/// One message as one frame.
pub fn frame(message: &ServerOut<'_>) -> Bytes {
    wire::encode::text(&message.encode())
}

/// A numbered event as one frame, and how many comments it carries. `view` gives the kinds of an `ended`'s counts.
pub fn event(item: &ItemId, view: &ItemView, seq: u64, event: &RoomEvent) -> (Bytes, u64) {
    match event {
        RoomEvent::Comments { list } => {
            let comments = u64::try_from(list.len()).unwrap_or(u64::MAX);
            (frame(&ServerOut::Comments { item, seq, list }), comments)
        }
        RoomEvent::Item(view) => (frame(&ServerOut::Item { seq, item: view }), 0),
        RoomEvent::Ending {} => (frame(&ServerOut::Ending { item, seq }), 0),
        RoomEvent::Ended { totals } => {
            let counts = Counts::all(&view.reactions, totals, 0);
            (frame(&ServerOut::Ended { item, seq, counts: &counts }), 0)
        }
    }
}
