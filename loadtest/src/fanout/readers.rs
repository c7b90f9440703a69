//! The reading side: one thread, one epoll, thousands of sockets; frames are counted and pings answered.
//!
//! The thread owns the sockets; others hand sockets in and read counters. Everything ends when the thread is told to.

use std::io::{ErrorKind, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Result, anyhow};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token, Waker};

use super::frames::Frames;

/// Bytes read at once: many frames, should a socket have fallen behind.
const BUFFER_BYTES: usize = 64 << 10;
/// Sockets that one wait may report.
const EVENTS: usize = 1_024;
/// The waker's token; sockets count from 0.
const WAKE: Token = Token(usize::MAX);
/// A masked, empty pong (RFC 6455, 5.5.3); the mask is zero.
const PONG: &[u8] = &[0x8A, 0x80, 0, 0, 0, 0];

/// Who a socket belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The server under test.
    Server,
    /// The write loop.
    Bare,
}

/// What has arrived for a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Messages.
    pub frames: u64,
    /// Bytes, headers included.
    pub bytes: u64,
}

#[derive(Debug, Default)]
struct Counters {
    frames: [AtomicU64; 2],
    bytes: [AtomicU64; 2],
    closed: AtomicU64,
    is_stopping: AtomicBool,
}

/// The thread, seen from outside.
#[derive(Debug)]
pub struct Readers {
    counters: Arc<Counters>,
    give: Sender<(TcpStream, Group, Frames)>,
    waker: Waker,
    thread: std::sync::Mutex<Option<JoinHandle<()>>>,
}

impl Readers {
    /// Starts the thread.
    pub fn start() -> Result<Self> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKE)?;
        let counters = Arc::new(Counters::default());
        let (give, take) = channel();
        let reader =
            Reader { poll, take, counters: Arc::clone(&counters), sockets: Vec::new(), buffer: vec![0; BUFFER_BYTES] };
        let thread = std::thread::Builder::new().name("readers".to_owned()).spawn(move || reader.run())?;
        Ok(Self { counters, give, waker, thread: std::sync::Mutex::new(Some(thread)) })
    }

    /// Hands a socket over; `first` are bytes that were read from it already.
    pub fn add(&self, stream: std::net::TcpStream, group: Group, first: &[u8]) -> Result<()> {
        stream.set_nonblocking(true)?;
        let mut frames = Frames::default();
        frames.take(first);
        let given = self.give.send((TcpStream::from_std(stream), group, frames));
        given.map_err(|_| anyhow!("the reading thread has ended"))?;
        Ok(self.waker.wake()?)
    }

    /// What has arrived for a group so far.
    pub fn seen(&self, group: Group) -> Arrived {
        let of = |counters: &[AtomicU64; 2]| counters.get(group as usize).map_or(0, |n| n.load(Ordering::Relaxed));
        Arrived { frames: of(&self.counters.frames), bytes: of(&self.counters.bytes) }
    }

    /// Sockets that the other side closed.
    pub fn closed(&self) -> u64 {
        self.counters.closed.load(Ordering::Relaxed)
    }

    /// Closes all sockets and ends the thread.
    pub fn stop(&self) {
        self.counters.is_stopping.store(true, Ordering::Relaxed);
        if self.waker.wake().is_ok()
            && let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            // A thread that panicked has closed its sockets as well.
            let _ = thread.join();
        }
    }
}

struct Socket {
    stream: TcpStream,
    group: Group,
    frames: Frames,
}

struct Reader {
    poll: Poll,
    take: Receiver<(TcpStream, Group, Frames)>,
    counters: Arc<Counters>,
    sockets: Vec<Option<Socket>>,
    buffer: Vec<u8>,
}

impl Reader {
    fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        while !self.counters.is_stopping.load(Ordering::Relaxed) {
            let waited = self.poll.poll(&mut events, Some(Duration::from_secs(1)));
            if waited.as_ref().is_err_and(|e| e.kind() != ErrorKind::Interrupted) {
                return;
            }
            for event in &events {
                match event.token() {
                    WAKE => self.adopt(),
                    Token(index) => self.read(index),
                }
            }
        }
    }

    fn adopt(&mut self) {
        while let Ok((mut stream, group, frames)) = self.take.try_recv() {
            let token = Token(self.sockets.len());
            if self.poll.registry().register(&mut stream, token, Interest::READABLE).is_err() {
                self.counters.closed.fetch_add(1, Ordering::Relaxed);
            }
            self.sockets.push(Some(Socket { stream, group, frames }));
            // What came before the registration raises no edge.
            self.read(token.0);
        }
    }

    /// Reads until a read comes back short: then there is nothing left (epoll(7), "Questions and answers", 9).
    fn read(&mut self, index: usize) {
        let Some(slot) = self.sockets.get_mut(index) else { return };
        while let Some(socket) = slot {
            match socket.stream.read(&mut self.buffer) {
                Ok(n) if n > 0 => {
                    count(&self.counters, socket, self.buffer.get(..n).unwrap_or_default());
                    if n < BUFFER_BYTES {
                        return;
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                _ => {
                    self.counters.closed.fetch_add(1, Ordering::Relaxed);
                    *slot = None;
                }
            }
        }
    }
}

fn count(counters: &Counters, socket: &mut Socket, bytes: &[u8]) {
    let seen = socket.frames.take(bytes);
    let group = socket.group as usize;
    if let (Some(frames), Some(sum)) = (counters.frames.get(group), counters.bytes.get(group)) {
        frames.fetch_add(seen.messages, Ordering::Relaxed);
        sum.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    }
    if seen.pings > 0 {
        // A pong that does not fit into an empty send buffer means a dead peer, which the next read tells.
        let _ = socket.stream.write(PONG);
    }
}
