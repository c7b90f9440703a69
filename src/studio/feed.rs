//! What comes to a host's session from its rooms.

use actix_web_actors::ws::WebsocketContext;

use super::rooms::{Entered, outgoing};
use super::session::StudioSession;
use crate::protocol::CloseCode;
use crate::room::Frame;
use crate::session::{Class, Piece, words};

type Context = WebsocketContext<StudioSession>;

impl StudioSession {
    /// Lets the session into a room: what it gets first, then what was held, then frames as they come.
    pub(super) fn place(&mut self, ctx: &mut Context, index: usize, entered: Entered) {
        let Entered { handle, joined, liked } = entered;
        let Some(number) = u8::try_from(index).ok() else { return };
        let (Some(item), Some(room)) = (self.items.get(index), self.rooms.get_mut(index)) else { return };
        let after = room.held.take().unwrap_or_default().release(joined.seq, joined.version);
        // An ended room takes nobody in, so there is nothing to leave or to tell.
        room.handle = (!joined.ended).then_some(handle);
        if !after.counts {
            room.counts = joined.counts;
        }
        room.seq = room.seq.max(joined.seq);
        let pace = (joined.tick_ms != self.door.hello.tick_ms).then(|| words::pace(item, joined.seq, joined.tick_ms));
        let first = joined.frames.into_iter().chain([words::you(item, liked)]).chain(pace);
        let first: Vec<_> = first.chain(after.frames.into_iter().map(|frame| frame.bytes)).collect();
        for bytes in first {
            self.send(ctx, Piece { bytes, room: number, class: Class::Exempt });
        }
        if after.counts {
            self.counts(ctx, number, None);
        }
        if let Some(code) = after.close.or(joined.ended.then_some(CloseCode::Ended)) {
            self.room_closes(ctx, index, code);
        }
    }

    /// One frame of a room.
    pub(super) fn frame(&mut self, ctx: &mut Context, index: usize, frame: Frame) {
        let (Some(room), Ok(number)) = (self.rooms.get_mut(index), u8::try_from(index)) else { return };
        room.note(&frame);
        if room.held.is_some() {
            return self.hold(ctx, index, frame);
        }
        match (outgoing(&frame), frame) {
            (Some(frame), _) => self.send(ctx, Piece { bytes: frame.bytes, room: number, class: frame.class }),
            (None, Frame::Counts { bytes, .. }) => self.counts(ctx, number, Some(bytes)),
            (None, Frame::Close(code)) => self.room_closes(ctx, index, code),
            (None, _) => {}
        }
    }

    fn hold(&mut self, ctx: &mut Context, index: usize, frame: Frame) {
        let max = self.door.config.outbox_events_max;
        let Some(held) = self.rooms.get_mut(index).and_then(|room| room.held.as_mut()) else { return };
        match (outgoing(&frame), frame) {
            (Some(frame), _) => {
                if !held.frame(frame, max) {
                    self.close(ctx, CloseCode::RoomRestart);
                }
            }
            (None, Frame::Counts { version, .. }) => held.counts(version),
            (None, Frame::Close(code)) => held.close(code),
            (None, _) => {}
        }
    }

    /// An ended item stays on the dashboard while the host's other items go on; any other close is the whole socket's.
    fn room_closes(&mut self, ctx: &mut Context, index: usize, code: CloseCode) {
        if let Some(room) = self.rooms.get_mut(index) {
            room.ended = true;
        }
        if code != CloseCode::Ended || self.rooms.iter().all(|room| room.ended) {
            self.close(ctx, code);
        }
    }
}
