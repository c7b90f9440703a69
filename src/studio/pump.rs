//! Carries bytes between a host's socket and its actor.
//!
//! The actor's context is a stream of bytes that also runs the actor when it is polled. The pump polls it whatever the
//! socket does. What the socket does not take waits here; how much that is stands in [`Transit`], and the actor hands on no
//! more while it is full. What the actor has not taken waits in a channel of a few reads, and the socket is not read
//! meanwhile.

use std::cell::Cell;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::Shutdown;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use actix::Addr;
use bytes::{Buf, Bytes, BytesMut};
use futures_util::Stream;
use socket2::SockRef;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::guard::Guard;
use super::session::{Drained, StudioSession, Violated};
use crate::acts::door::CLOSE_WAIT;

/// Bytes on their way to the socket before the actor queues what comes next in its outbox: a few snapshots.
const TRANSIT_MAX_BYTES: usize = 64 * 1024;
/// One read. A host sends little.
const READ_BYTES: usize = 16 * 1024;
/// Reads that may wait for the actor.
pub(super) const READS_MAX: usize = 4;
/// Rounds before other tasks of the worker have their turn.
const ROUNDS_PER_TURN: usize = 32;

/// How much the actor has handed on that the socket has not taken yet; shared by the two, which live in one task.
#[derive(Debug, Default)]
pub(super) struct Transit {
    bytes: Cell<usize>,
    /// The actor waits to be told that there is room again.
    pub wanted: Cell<bool>,
    /// The farewell is handed on: once it is out, the peer is to see the end.
    pub last: Cell<bool>,
    /// The peer's time is over: what is left is not worth waiting for.
    pub cut: Cell<bool>,
}

impl Transit {
    pub fn has_room(&self) -> bool {
        self.bytes.get() < TRANSIT_MAX_BYTES
    }

    pub fn add(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes);
    }

    fn taken(&self, bytes: usize) {
        self.bytes.set(self.bytes.get().saturating_sub(bytes));
    }
}

/// See the module.
pub(super) struct Pump<S> {
    pub stream: TcpStream,
    pub guard: Guard,
    /// To the actor; none once the client has nothing more to say.
    pub payload: Option<mpsc::Sender<Bytes>>,
    pub context: Pin<Box<S>>,
    pub session: Addr<StudioSession>,
    pub transit: Rc<Transit>,
    pub out: BytesMut,
}

/// Either side is over.
struct Over;

impl<S, E> Pump<S>
where
    S: Stream<Item = Result<Bytes, E>>,
{
    /// Runs until the actor has stopped or the socket is over; `read_buf` came with the handshake.
    pub async fn run(mut self, read_buf: Bytes) {
        let mut buffer = vec![0; READ_BYTES.max(read_buf.len())];
        if let Some(early) = buffer.get_mut(..read_buf.len()) {
            early.copy_from_slice(&read_buf);
            self.pass(early);
        }
        poll_fn(|cx| self.poll(cx, &mut buffer)).await;
        if !self.transit.cut.get() {
            // What the actor said last; a peer that does not take it has had its time.
            let _ = timeout(CLOSE_WAIT, poll_fn(|cx| self.poll_flush(cx))).await;
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<()> {
        for _ in 0..ROUNDS_PER_TURN {
            let moved = self.pull(cx).and_then(|pulled| {
                let written = self.write(cx)?;
                let read = self.read(cx, buffer)?;
                Ok(pulled || written || read)
            });
            match moved {
                Ok(true) => {}
                Ok(false) => return Poll::Pending,
                Err(Over) => return Poll::Ready(()),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Runs the actor and takes what it says.
    fn pull(&mut self, cx: &mut Context<'_>) -> Result<bool, Over> {
        match self.context.as_mut().poll_next(cx) {
            Poll::Ready(Some(Ok(bytes))) => {
                self.out.extend_from_slice(&bytes);
                Ok(true)
            }
            Poll::Ready(Some(Err(_)) | None) => Err(Over),
            Poll::Pending => Ok(false),
        }
    }

    fn write(&mut self, cx: &mut Context<'_>) -> Result<bool, Over> {
        if self.out.is_empty() || self.stream.poll_write_ready(cx).is_pending() {
            return Ok(false);
        }
        match self.stream.try_write(&self.out) {
            Ok(count) => {
                self.out.advance(count);
                self.transit.taken(count);
                if self.transit.has_room() && self.transit.wanted.take() {
                    self.session.do_send(Drained);
                }
                if self.out.is_empty() && self.transit.last.take() {
                    // We read on for the answer to our close.
                    let _ = SockRef::from(&self.stream).shutdown(Shutdown::Write);
                }
                Ok(true)
            }
            Err(error) => again(&error),
        }
    }

    fn read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Result<bool, Over> {
        let may_read = self.payload.as_ref().is_some_and(|payload| payload.capacity() > 0);
        if !may_read || self.stream.poll_read_ready(cx).is_pending() {
            return Ok(false);
        }
        match self.stream.try_read(buffer) {
            // The channel's end ends the actor.
            Ok(0) => self.payload = None,
            Ok(count) => {
                if let Some(input) = buffer.get_mut(..count) {
                    self.pass(input);
                }
            }
            Err(error) => return again(&error),
        }
        Ok(true)
    }

    fn pass(&mut self, input: &mut [u8]) {
        let (passed, violation) = self.guard.check(input);
        if let Some(payload) = &self.payload
            && !passed.is_empty()
        {
            // There is room: it was looked for before the read, and nobody else sends.
            let _ = payload.try_send(passed);
        }
        if let Some(code) = violation {
            self.session.do_send(Violated(code));
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.out.is_empty() {
            match self.write(cx) {
                Ok(true) => {}
                Ok(false) => return Poll::Pending,
                Err(Over) => break,
            }
        }
        Poll::Ready(())
    }
}

/// After a call that found nothing the socket is asked again, which has the task woken when there is something.
fn again(error: &std::io::Error) -> Result<bool, Over> {
    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) { Ok(true) } else { Err(Over) }
}
