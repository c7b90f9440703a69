//! A WebSocket client of tests: blocking, over the library's own framing, so that ours is checked against another's.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message, WebSocket};

use super::PATIENCE;
use super::rest::Node;

/// One socket.
pub struct Client {
    socket: WebSocket<TcpStream>,
    waiting: std::collections::VecDeque<Value>,
    /// It ended without one.
    cut: bool,
    /// The code of the close frame, once there was one.
    pub closed: Option<u16>,
}

impl Client {
    /// A viewer's socket; `query` begins with `?` or is empty.
    pub fn viewer(server: &impl Node, item: &str, query: &str) -> Self {
        Self::open(server, &format!("/v1/items/{item}/ws{query}")).expect("upgrade")
    }

    /// A viewer with a name.
    pub fn named(server: &impl Node, item: &str, sub: &str) -> Self {
        let token = server.token(sub, "viewer");
        Self::viewer(server, item, &format!("?token={token}"))
    }

    /// Opens a path; `Err` is the status of a refused upgrade, 0 if there was nobody to refuse it.
    pub fn open(server: &(impl Node + ?Sized), path: &str) -> Result<Self, u16> {
        let request = format!("ws://{}{path}", server.address()).into_client_request().unwrap();
        let stream = TcpStream::connect(server.address()).map_err(|_| 0_u16)?;
        stream.set_nodelay(true).unwrap();
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Self { socket, waiting: Default::default(), cut: false, closed: None }),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
                Err(response.status().as_u16())
            }
            // The process has died while it was asked.
            Err(tungstenite::HandshakeError::Failure(_)) => Err(0),
            Err(error) => panic!("{error}"),
        }
    }

    /// Sends one message, unless the socket is gone.
    pub fn try_send(&mut self, message: &Value) -> bool {
        self.socket.send(Message::text(message.to_string())).is_ok()
    }

    /// Sends one message.
    pub fn send(&mut self, message: &Value) {
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    /// Sends text as it is.
    pub fn send_text(&mut self, text: &str) {
        self.socket.send(Message::text(text)).unwrap();
    }

    /// The next message, or `None` when the socket has closed or nothing came for so long.
    pub fn next_within(&mut self, wait: Duration) -> Option<Value> {
        let deadline = Instant::now() + wait;
        loop {
            if let Some(message) = self.waiting.pop_front() {
                return Some(message);
            }
            let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            self.socket.get_ref().set_read_timeout(Some(left)).unwrap();
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
                    self.waiting.extend(lines);
                }
                Ok(Message::Close(frame)) => self.closed = self.closed.or(frame.map(|frame| frame.code.into())),
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) if is_timeout(&error) => return None,
                Err(_) => {
                    self.cut = true;
                    return None;
                }
            }
        }
    }

    /// The next message that fits; others are skipped.
    pub fn wait_for(&mut self, what: &str, mut fits: impl FnMut(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        while let Some(left) = deadline.checked_duration_since(Instant::now()) {
            match self.next_within(left) {
                Some(message) if fits(&message) => return message,
                Some(_) => {}
                None => break,
            }
        }
        panic!("did not come: {what} (closed: {:?})", self.closed);
    }

    /// The next message of a type.
    pub fn wait_t(&mut self, t: &str) -> Value {
        self.wait_for(t, |message| message["t"] == t)
    }

    /// Asks with an id and waits for its `ack` or `error`.
    pub fn ask(&mut self, id: &str, mut message: Value) -> Value {
        message["id"] = json!(id);
        self.send(&message);
        self.wait_for(id, |answer| answer["id"] == id)
    }

    /// Whether anything can still come.
    pub fn is_open(&self) -> bool {
        self.socket.can_read() && !self.cut
    }

    /// Waits for the close frame.
    pub fn wait_closed(&mut self) -> u16 {
        let deadline = Instant::now() + PATIENCE;
        while self.closed.is_none() && Instant::now() < deadline {
            if self.next_within(Duration::from_secs(1)).is_none() && self.socket.can_read() {
                continue;
            }
            if !self.socket.can_read() {
                break;
            }
        }
        self.closed.expect("no close frame")
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}
