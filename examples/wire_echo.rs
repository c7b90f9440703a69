//! An echo server over nothing but the frame codec, for the conformance suite (`tests/conformance/run`).
//!
//! `wire_echo PORT` binds loopback (0: any free port) and prints the bound address as its only line. Not a model of the
//! product's transport: a task and a buffer per client, and whoever does not read is waited for.
// The one line on standard output is this program's interface.
#![allow(clippy::print_stdout)]

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use actix_http::ws::hash_key;
use anyhow::{Context, bail};
use bytes::Bytes;
use heartline::wire::{Decoder, Incoming, encode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// The suite's largest message (Autobahn 9.1.6 and 9.2.6).
const MESSAGE_MAX_BYTES: usize = 16 * 1024 * 1024;
/// One read; the suite's small messages fit whole.
const READ_BYTES: usize = 64 * 1024;
/// A request longer than this is not one of the suite's.
const REQUEST_MAX_BYTES: usize = 8 * 1024;
/// How long a client may take to hang up after the close; past it the connection is dropped.
const LINGER: Duration = Duration::from_secs(1);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let port = std::env::args().nth(1).context("usage: wire_echo PORT")?.parse().context("PORT is not a number")?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    println!("{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        // A client that goes away in the middle is the suite's business, and ends only its own task.
        tokio::spawn(serve(stream));
    }
}

async fn serve(mut stream: TcpStream) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let mut read = vec![0; READ_BYTES];
    let mut pending = handshake(&mut stream, &mut read).await?;
    let mut decoder = Decoder::new(MESSAGE_MAX_BYTES).accept_binary();
    loop {
        let answer = answer(&mut decoder, read.get_mut(pending).unwrap_or_default());
        for frame in answer.frames {
            stream.write_all(&frame).await?;
        }
        if answer.closing {
            return Ok(hang_up(stream, &mut read).await?);
        }
        pending = match stream.read(&mut read).await? {
            0 => return Ok(()),
            count => 0..count,
        };
    }
}

/// Answers the opening handshake. What is left in `read` behind the request are the client's first frames.
async fn handshake(stream: &mut TcpStream, read: &mut [u8]) -> anyhow::Result<std::ops::Range<usize>> {
    let mut filled = 0;
    let body = loop {
        let free = read.get_mut(filled..REQUEST_MAX_BYTES).context("request too long")?;
        match stream.read(free).await? {
            0 => bail!("no whole request"),
            count => filled += count,
        }
        let known = read.get(..filled).unwrap_or_default();
        if let Some(end) = known.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let request = std::str::from_utf8(read.get(..body).unwrap_or_default())?;
    let key = header(request, "sec-websocket-key").context("no key")?;
    let accept = hash_key(key.as_bytes());
    let response = [
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
            .as_slice(),
        &accept,
        b"\r\n\r\n",
    ];
    stream.write_all(&response.concat()).await?;
    Ok(body..filled)
}

fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    request
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}

/// What one read is answered with.
#[derive(Default)]
struct Answer {
    frames: Vec<Bytes>,
    closing: bool,
}

fn answer(decoder: &mut Decoder, input: &mut [u8]) -> Answer {
    let mut answer = Answer::default();
    for incoming in decoder.feed(input) {
        answer.closing |= matches!(incoming, Ok(Incoming::Close(_)) | Err(_));
        answer.frames.extend(match incoming {
            Ok(Incoming::Text(text)) => Some(encode::text(&text)),
            Ok(Incoming::Binary(bytes)) => Some(encode::binary(&bytes)),
            Ok(Incoming::Ping(payload)) => Some(encode::pong(&payload)),
            Ok(Incoming::Pong) => None,
            Ok(Incoming::Close(code)) => Some(encode::close_echo(code)),
            Err(violation) => Some(encode::close(violation.close_code())),
        });
    }
    answer
}

/// Ends the connection after the close was sent. The server goes first (RFC 6455, 7.1.1), but reads on until the client
/// has gone too: unread input would turn the end into a reset, which may overtake the close frame.
async fn hang_up(mut stream: TcpStream, read: &mut [u8]) -> io::Result<()> {
    stream.shutdown().await?;
    let drained = timeout(LINGER, async {
        while stream.read(read).await? > 0 {}
        io::Result::Ok(())
    })
    .await;
    drained.unwrap_or(Ok(()))
}
