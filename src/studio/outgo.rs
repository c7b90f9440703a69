//! The way out of one host's session: to the pump while it has room, else queued within bounds, else declared lost and closed.

use actix_web_actors::ws::{self, WebsocketContext};
use bytes::Bytes;

use super::session::StudioSession;
use crate::acts::door::CLOSE_WAIT;
use crate::clock;
use crate::protocol::CloseCode;
use crate::session::{Bounds, Class, Outbox, Overflow, Piece, words};

type Context = WebsocketContext<StudioSession>;

impl StudioSession {
    /// Sends one frame, behind whatever waits already.
    pub(super) fn send(&mut self, ctx: &mut Context, piece: Piece) {
        if self.closing() {
            return;
        }
        if self.outbox.is_none() && self.transit.has_room() {
            return self.hand_on(ctx, &piece.bytes);
        }
        let bounds = self.bounds();
        let pushed = self.outbox_mut().push(piece, bounds, clock::monotonic());
        self.settle(ctx, pushed);
    }

    /// Sends an answer or a notice for nobody else.
    pub(super) fn answer(&mut self, ctx: &mut Context, bytes: Bytes) {
        self.send(ctx, Piece { bytes, room: 0, class: Class::Plain });
    }

    /// Sends a control frame before what is queued.
    pub(super) fn control(&mut self, ctx: &mut Context, bytes: Bytes) {
        if self.outbox.is_none() {
            return self.answer(ctx, bytes);
        }
        let bounds = self.bounds();
        let pushed = self.outbox_mut().push_control(bytes, bounds, clock::monotonic());
        self.settle(ctx, pushed);
    }

    /// Sends a room's counts, or remembers that they are owed: the latest will do.
    pub(super) fn counts(&mut self, ctx: &mut Context, room: u8, bytes: Option<Bytes>) {
        match bytes {
            Some(bytes) if self.outbox.is_none() && self.transit.has_room() => self.hand_on(ctx, &bytes),
            _ if self.closing() => {}
            _ => {
                self.outbox_mut().owe_counts(room);
                self.drain(ctx);
            }
        }
    }

    /// Hands on what waits, as far as the pump has room.
    pub(super) fn drain(&mut self, ctx: &mut Context) {
        while let Some(outbox) = &mut self.outbox {
            if outbox.is_empty() {
                self.outbox = None;
            } else if !self.transit.has_room() {
                return self.transit.wanted.set(true);
            } else if let Some(bytes) = outbox.pop() {
                self.hand_on(ctx, &bytes);
            } else if let Some(room) = outbox.take_counts()
                && let Some(bytes) = self.latest_counts(room)
            {
                self.hand_on(ctx, &bytes);
            }
        }
        if self.echoing {
            self.stop(ctx);
        } else if self.closing() {
            self.transit.last.set(true);
        }
    }

    /// Closes after what was queued. A session has one farewell; later ones are ignored.
    pub(super) fn close(&mut self, ctx: &mut Context, code: CloseCode) {
        let frames = words::farewell(code, self.draw_delay_ms());
        self.farewell(ctx, code.as_u16(), CLOSE_WAIT, frames);
    }

    /// Queues the last frames and sets the peer's deadline.
    pub(super) fn farewell(&mut self, ctx: &mut Context, code: u16, wait: std::time::Duration, frames: Vec<Bytes>) {
        if self.closing() {
            return;
        }
        self.deadline = Some(clock::monotonic() + wait);
        self.ending.set(code);
        self.outbox_mut().seal(frames);
        self.drain(ctx);
    }

    fn latest_counts(&self, room: u8) -> Option<Bytes> {
        let index = usize::from(room);
        let (item, room) = (self.items.get(index)?, self.rooms.get(index)?);
        Some(words::counts(item, room.seq, &room.counts))
    }

    fn settle(&mut self, ctx: &mut Context, pushed: Result<(), Overflow>) {
        match pushed {
            Ok(()) => self.drain(ctx),
            Err(overflow) => self.declare(ctx, overflow),
        }
    }

    fn declare(&mut self, ctx: &mut Context, overflow: Overflow) {
        let lost = overflow.losses.iter().map(|loss| loss.comments).sum();
        self.door.stats.lost(overflow.frames, lost);
        let behind_ms = u64::try_from(overflow.behind.as_millis()).unwrap_or(u64::MAX);
        let dropped = overflow.losses.iter().filter_map(|loss| {
            let index = usize::from(loss.room);
            let (item, room) = (self.items.get(index)?, self.rooms.get(index)?);
            Some(words::dropped(item, room.seq, loss.comments, behind_ms))
        });
        let frames = dropped.chain(words::farewell(CloseCode::Slow, self.draw_delay_ms())).collect();
        self.farewell(ctx, CloseCode::Slow.as_u16(), self.door.config.slow_grace, frames);
    }

    /// Gives a whole encoded frame to the context, which wants it taken apart and puts it together again just so.
    fn hand_on(&mut self, ctx: &mut Context, frame: &Bytes) {
        if let Some(message) = message_of(frame) {
            self.transit.add(frame.len());
            self.door.stats.delivered(1);
            ctx.write_raw(message);
        }
    }

    fn outbox_mut(&mut self) -> &mut Outbox {
        self.outbox.get_or_insert_with(|| Outbox::new(clock::monotonic()))
    }

    fn bounds(&self) -> Bounds {
        let config = &self.door.config;
        Bounds { events_max: config.outbox_events_max, bytes_max: config.outbox_bytes_max }
    }
}

/// A frame of `wire::encode` as a message of `actix-http`.
fn message_of(frame: &Bytes) -> Option<ws::Message> {
    let (first, second) = (*frame.first()?, *frame.get(1)?);
    let head_bytes = match second {
        126 => 4,
        127 => 10,
        _ => 2,
    };
    let payload = (frame.len() >= head_bytes).then(|| frame.slice(head_bytes..))?;
    match first & 0x0F {
        1 => payload.try_into().ok().map(ws::Message::Text),
        8 => Some(ws::Message::Close(reason_of(&payload))),
        9 => Some(ws::Message::Ping(payload)),
        10 => Some(ws::Message::Pong(payload)),
        _ => None,
    }
}

fn reason_of(payload: &[u8]) -> Option<ws::CloseReason> {
    let (code, reason) = payload.split_first_chunk::<2>()?;
    let description = std::str::from_utf8(reason).ok().filter(|reason| !reason.is_empty()).map(str::to_owned);
    Some(ws::CloseReason { code: ws::CloseCode::from(u16::from_be_bytes(*code)), description })
}
