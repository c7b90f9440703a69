//! Opening thousands of sockets from one thread, and the one that taps.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use indicatif::ProgressBar;
use socket2::{Domain, Socket, Type};

use super::readers::{Group, Readers};
use crate::client::{PER_SOURCE, source_of};

/// The room. Its name makes a count of taps about as long as the write loop's frame.
const ITEM: &str = "fanout";
/// From the request to the end of the answer's head.
const HANDSHAKE_MAX: Duration = Duration::from_secs(20);
/// An answer's head is shorter.
const HEAD_MAX_BYTES: usize = 16 << 10;
/// The base64 of sixteen bytes, as RFC 6455 wants it; a generator has nothing to hide from caches.
const KEY: &str = "aGVhcnRsaW5lLWxvYWR0MQ==";
/// A masked text frame `{"t":"tap"}`; the mask is zero.
const TAP: &[u8] = b"\x81\x8b\0\0\0\0{\"t\":\"tap\"}";

/// The socket that taps; its answers are read with all others.
#[derive(Debug)]
pub struct TapSocket(TcpStream);

/// Opens WebSockets to the room and hands them to the readers; the first is also the one that taps.
pub fn websockets(port: u16, sockets: usize, readers: &Readers, bar: &ProgressBar) -> Result<TapSocket> {
    let mut first = None;
    for index in 0..sockets {
        let mut stream = connect(port, index)?;
        let rest = handshake(&mut stream, port).with_context(|| format!("socket {index}"))?;
        if first.is_none() {
            first = Some(TapSocket(stream.try_clone()?));
        }
        readers.add(stream, Group::Server, &rest)?;
        bar.inc(1);
    }
    first.context("no sockets")
}

/// Opens plain connections to the write loop.
pub fn bare(port: u16, sockets: usize, readers: &Readers, bar: &ProgressBar) -> Result<()> {
    for index in 0..sockets {
        readers.add(connect(port, index)?, Group::Bare, &[])?;
        bar.inc(1);
    }
    Ok(())
}

fn connect(port: u16, index: usize) -> Result<TcpStream> {
    let to = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    if index < PER_SOURCE {
        return TcpStream::connect(to).with_context(|| format!("socket {index} cannot connect"));
    }
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((source_of(index), 0)).into())?;
    socket.connect(&to.into()).with_context(|| format!("socket {index} cannot connect"))?;
    Ok(socket.into())
}

/// Asks for the upgrade; answers what came after the head.
fn handshake(stream: &mut TcpStream, port: u16) -> Result<Vec<u8>> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(HANDSHAKE_MAX))?;
    let request = format!(
        "GET /v1/items/{ITEM}/ws HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: {KEY}\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let (mut head, mut part) = (Vec::new(), [0; 4_096]);
    loop {
        let read = stream.read(&mut part)?;
        ensure!(read > 0 && head.len() < HEAD_MAX_BYTES, "no answer to the upgrade");
        head.extend_from_slice(part.get(..read).unwrap_or_default());
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            ensure!(head.starts_with(b"HTTP/1.1 101 "), "the upgrade was refused: {}", first_line(&head));
            return Ok(head.split_off(end + 4));
        }
    }
}

fn first_line(head: &[u8]) -> String {
    String::from_utf8_lossy(head).lines().next().unwrap_or_default().to_owned()
}

/// A thread that taps steadily until it is stopped.
#[derive(Debug)]
pub struct Tapper {
    is_stopping: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Tapper {
    /// Taps once every `interval`.
    pub fn start(socket: &TapSocket, interval: Duration) -> Result<Self> {
        let mut stream = socket.0.try_clone()?;
        let is_stopping = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&is_stopping);
        let tap = move || {
            while !stopping.load(Ordering::Relaxed) {
                match stream.write_all(TAP) {
                    Ok(()) => {}
                    // The server reads slowly: this tap is left out, the next one comes soon.
                    Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                    Err(_) => return,
                }
                std::thread::sleep(interval);
            }
        };
        let thread = std::thread::Builder::new().name("tapper".to_owned()).spawn(tap)?;
        Ok(Self { is_stopping, thread })
    }

    /// Ends the thread.
    pub fn stop(self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        // A tapper that panicked shows as missing frames.
        let _ = self.thread.join();
    }
}
