//! A small HTTP/1.1 client over one kept-alive connection: as much as talking to Heartline needs.
//!
//! Nothing is repeated on its own: whether a lost answer means a lost comment is what the runs are there to find out.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::target::Target;

/// A request without an answer for so long has failed: the server itself gives up after 30 s.
const ANSWER_MAX: Duration = Duration::from_secs(35);
/// A connection that was idle for longer is opened anew, before the server's keep-alive (5 s) can close it under a request.
const IDLE_MAX: Duration = Duration::from_secs(2);
/// Bytes of an answer's body; a page of 100 comments of 2,000 bytes, escaped, stays below.
const BODY_MAX_BYTES: usize = 4 << 20;
/// Header lines of an answer.
const HEADERS_MAX: usize = 100;

/// One connection, opened when it is needed.
#[derive(Debug)]
pub struct Http {
    target: Target,
    open: Option<(BufReader<TcpStream>, Instant)>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// What to ask.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// `GET`, `POST`, …
    pub method: &'a str,
    /// Path and query.
    pub path: &'a str,
    /// The bearer's token.
    pub token: Option<&'a str>,
    /// A JSON body.
    pub body: Option<&'a str>,
}

impl Http {
    /// A client of a server; connects with the first request.
    pub const fn new(target: Target) -> Self {
        Self { target, open: None }
    }

    /// Asks once and waits for the answer.
    ///
    /// # Errors
    /// The connection failed, or there was no whole answer in time: whether the server acted is not known.
    pub async fn ask(&mut self, request: Request<'_>) -> Result<Answer> {
        let asked = tokio::time::timeout(ANSWER_MAX, self.exchange(request)).await;
        asked.context("no answer in time").flatten().with_context(|| format!("{} {}", request.method, request.path))
    }

    async fn exchange(&mut self, request: Request<'_>) -> Result<Answer> {
        let mut stream = self.connection().await?;
        let text = encode(&self.target.host, request);
        stream.write_all(text.as_bytes()).await?;
        let (answer, keeps) = read_answer(&mut stream).await?;
        self.open = keeps.then(|| (stream, Instant::now()));
        Ok(answer)
    }

    /// The open connection if it is fresh, else a new one. It is put back after a whole answer only.
    async fn connection(&mut self) -> Result<BufReader<TcpStream>> {
        if let Some((stream, used)) = self.open.take()
            && used.elapsed() < IDLE_MAX
        {
            return Ok(stream);
        }
        let stream = TcpStream::connect(self.target.address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        Ok(BufReader::new(stream))
    }
}

fn encode(host: &str, request: Request<'_>) -> String {
    let Request { method, path, token, body } = request;
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\n");
    if let Some(token) = token {
        text += &format!("authorization: Bearer {token}\r\n");
    }
    match body {
        Some(body) => {
            text += &format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        }
        None => text += "content-length: 0\r\n\r\n",
    }
    text
}

/// The framing that an answer's headers declare.
#[derive(Debug, Default)]
struct Framing {
    length: usize,
    is_chunked: bool,
    closes: bool,
}

async fn read_answer(stream: &mut BufReader<TcpStream>) -> Result<(Answer, bool)> {
    let line = read_line(stream).await?;
    let status =
        line.split(' ').nth(1).and_then(|code| code.parse().ok()).with_context(|| format!("no status: {line}"))?;
    let framing = read_headers(stream).await?;
    let body =
        if framing.is_chunked { read_chunks(stream).await? } else { read_exactly(stream, framing.length).await? };
    let body = String::from_utf8(body).context("the body is not UTF-8")?;
    Ok((Answer { status, body }, !framing.closes))
}

async fn read_headers(stream: &mut BufReader<TcpStream>) -> Result<Framing> {
    let mut framing = Framing::default();
    for _ in 0..HEADERS_MAX {
        let line = read_line(stream).await?.to_ascii_lowercase();
        if line.is_empty() {
            return Ok(framing);
        }
        match line.split_once(':').map(|(name, value)| (name, value.trim())) {
            Some(("content-length", value)) => framing.length = value.parse().context("content-length")?,
            Some(("transfer-encoding", value)) => framing.is_chunked = value.ends_with("chunked"),
            Some(("connection", value)) => framing.closes = value == "close",
            _ => {}
        }
    }
    bail!("more than {HEADERS_MAX} headers")
}

async fn read_line(stream: &mut BufReader<TcpStream>) -> Result<String> {
    let mut line = String::new();
    let read = stream.read_line(&mut line).await?;
    if read == 0 {
        bail!("the connection was closed");
    }
    Ok(line.trim_end().to_owned())
}

async fn read_exactly(stream: &mut BufReader<TcpStream>, length: usize) -> Result<Vec<u8>> {
    if length > BODY_MAX_BYTES {
        bail!("a body of {length} bytes");
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(body)
}

async fn read_chunks(stream: &mut BufReader<TcpStream>) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(stream).await?;
        let size = usize::from_str_radix(line.split(';').next().unwrap_or_default(), 16).context("chunk size")?;
        body.extend(read_exactly(stream, size).await?);
        if body.len() > BODY_MAX_BYTES {
            bail!("a body over {BODY_MAX_BYTES} bytes");
        }
        read_line(stream).await?;
        if size == 0 {
            return Ok(body);
        }
    }
}
