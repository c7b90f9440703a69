//! A server of one item that keeps the wire contract, and one that breaks it in a chosen way.
//!
//! In memory, one tick for all sockets. It exists so that the generator's checks can be seen to pass on an honest server and to
//! fail on each kind of dishonest one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs, dead_code)]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Message, Role};

impl Mock {
    /// Cuts every connection at once and stops listening, as `kill -9` does; then serves the same data, but for so many taps
    /// and as many comments, on another port.
    pub async fn crash_and_restart(self, lose: i64) -> Mock {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
        let room = {
            let room = self.room.lock().unwrap();
            room.crash.send_replace(true);
            Room {
                taps: room.taps - lose,
                comments: room.comments[..room.comments.len() - lose as usize].to_vec(),
                ..Room::new(Fault::Honest)
            }
        };
        serve_room(room, "127.0.0.1:0", Duration::from_millis(20)).await
    }
}

/// How the mock lies; `Honest` does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Honest,
    /// One tap is acknowledged and not counted.
    LosesTap,
    /// One tap is counted twice.
    DoublesTap,
    /// One count is lower than the one before.
    DipsCount,
    /// One comment is broadcast twice.
    DoublesComment,
    /// One comment is acknowledged, counted and broadcast but missing in the history.
    ForgetsComment,
    /// One comment stands twice in the history.
    HistoryDouble,
    /// One socket gets two comments in another order than all others.
    SwapsForOne,
    /// One comment is not sent to one socket.
    SkipsForOne,
    /// One ack is sent twice.
    AcksTwice,
    /// One ack is not sent.
    NeverAcks,
    /// The history has another text than was sent.
    GarblesText,
    /// Refuses one tap message without saying so.
    RefusesSilently,
    /// Refuses every third tap message and says so: honest.
    Refuses,
    /// One socket is closed in the middle.
    CutsOne,
    /// The ledger does not add up.
    BadAudit,
}

struct Room {
    fault: Fault,
    taps: i64,
    shown: (i64, usize),
    dipped: bool,
    comments: Vec<Value>,
    pending: Vec<Value>,
    seq: u64,
    acts: u64,
    comment_acts: u64,
    sockets: u64,
    frames: broadcast::Sender<String>,
    crash: tokio::sync::watch::Sender<bool>,
}

type Shared = Arc<Mutex<Room>>;

pub struct Mock {
    pub address: SocketAddr,
    room: Shared,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

pub async fn start(fault: Fault) -> Mock {
    start_at(fault, "127.0.0.1:0", Duration::from_millis(20)).await
}

pub async fn start_at(fault: Fault, listen: &str, tick: Duration) -> Mock {
    serve_room(Room::new(fault), listen, tick).await
}

async fn serve_room(room: Room, listen: &str, tick: Duration) -> Mock {
    let listener = TcpListener::bind(listen).await.unwrap();
    let address = listener.local_addr().unwrap();
    let crash = room.crash.clone();
    let room = Arc::new(Mutex::new(room));
    let accept = {
        let room = Arc::clone(&room);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (room, mut crashed) = (Arc::clone(&room), crash.subscribe());
                tokio::spawn(async move {
                    tokio::select! {
                        () = serve(stream, room) => {}
                        _ = crashed.wait_for(|crashed| *crashed) => {}
                    }
                });
            }
        })
    };
    let ticking = Arc::clone(&room);
    let ticks = tokio::spawn(async move {
        let mut ticker = tokio::time::interval(tick);
        loop {
            ticker.tick().await;
            ticking.lock().unwrap().tick();
        }
    });
    Mock { address, room, tasks: vec![accept, ticks] }
}

impl Room {
    fn new(fault: Fault) -> Self {
        Self {
            fault,
            taps: 0,
            shown: (0, 0),
            dipped: false,
            comments: vec![],
            pending: vec![],
            seq: 0,
            acts: 0,
            comment_acts: 0,
            sockets: 0,
            frames: broadcast::channel(4_096).0,
            crash: tokio::sync::watch::channel(false).0,
        }
    }
}

impl Room {
    fn tick(&mut self) {
        if !self.pending.is_empty() {
            self.seq += 1;
            let list = std::mem::take(&mut self.pending);
            let _ = self.frames.send(json!({"t": "comments", "item": "m", "seq": self.seq, "list": list}).to_string());
        }
        let now = (self.taps, self.comments.len());
        if now != self.shown {
            self.shown = now;
            let dips = self.fault == Fault::DipsCount
                && self.taps > 20
                && !std::mem::replace(&mut self.dipped, self.taps > 20);
            if dips {
                let _ = self.frames.send(self.counts(self.taps));
                let _ = self.frames.send(self.counts(self.taps - 1));
            }
            let _ = self.frames.send(self.counts(self.taps));
        }
    }

    fn counts(&self, taps: i64) -> String {
        json!({"t": "counts", "item": "m", "seq": self.seq, "taps": {"heart": taps}, "comments": self.comments.len()})
            .to_string()
    }

    fn totals(&self) -> Value {
        json!({"taps": {"heart": self.taps}, "likes": 0, "comments": self.comments.len(), "viewers": self.sockets})
    }

    /// The answers to one tap message.
    fn tap(&mut self, id: &Value, n: i64) -> Vec<Value> {
        self.acts += 1;
        let is_the_one = self.acts == 11;
        match self.fault {
            Fault::RefusesSilently if is_the_one && id.is_null() => return vec![],
            Fault::Refuses if self.acts.is_multiple_of(3) => {
                let mut error =
                    json!({"t": "error", "act": "tap", "code": "rate_limited", "message": "", "retryable": true});
                if id.is_null() {
                    error["refused"] = json!(n)
                } else {
                    error["id"] = id.clone()
                }
                return vec![error];
            }
            Fault::LosesTap if is_the_one => self.taps += n - 1,
            Fault::DoublesTap if is_the_one => self.taps += n + 1,
            _ => self.taps += n,
        }
        let ack = json!({"t": "ack", "id": id, "accepted": n, "counts": {"taps": {"heart": self.taps}}});
        let acks = match self.fault {
            Fault::AcksTwice if is_the_one => 2,
            Fault::NeverAcks if is_the_one => 0,
            _ => usize::from(!id.is_null()),
        };
        vec![ack; acks]
    }

    fn comment(&mut self, user: &str, text: &str) -> Value {
        self.comment_acts += 1;
        let is_the_one = self.comment_acts == 7;
        let comment = json!({"id": format!("c{}", self.comment_acts), "user": user, "text": text, "at": 1});
        self.pending.push(comment.clone());
        if is_the_one && self.fault == Fault::DoublesComment {
            self.pending.push(comment.clone());
        }
        self.comments.push(comment.clone());
        comment
    }

    fn history(&self) -> Vec<Value> {
        let mut all = self.comments.clone();
        match self.fault {
            Fault::ForgetsComment if all.len() > 7 => drop(all.remove(7)),
            Fault::HistoryDouble if all.len() > 7 => all.insert(7, all[7].clone()),
            Fault::GarblesText if all.len() > 7 => all[7]["text"] = json!("other"),
            _ => {}
        }
        all
    }
}

/// One connection: requests one after the other, until one of them upgrades.
async fn serve(stream: TcpStream, room: Shared) {
    let _ = stream.set_nodelay(true);
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            if line.trim().is_empty() {
                break;
            }
            head.push(line.trim().to_owned());
        }
        let header = |name: &str| {
            head.iter().find_map(|l| {
                l.split_once(':').filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.trim().to_owned())
            })
        };
        if let Some(key) = header("sec-websocket-key") {
            let user = header("authorization").map_or("anon:1".to_owned(), |a| a.replace("Bearer t-", ""));
            let answer = format!(
                "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: {}\r\n\r\n",
                derive_accept_key(key.as_bytes())
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
            let left = stream.buffer().to_vec();
            let socket = WebSocketStream::from_partially_read(stream.into_inner(), left, Role::Server, None).await;
            return viewer(socket, room, user).await;
        }
        let length: usize = header("content-length").map_or(0, |l| l.parse().unwrap());
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        let user = header("authorization").unwrap_or_default().replace("Bearer t-", "");
        let (status, answer) = rest(&head[0], &serde_json::from_slice(&body).unwrap_or_default(), &user, &room);
        let text = answer.to_string();
        let answer = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{text}",
            text.len()
        );
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

fn rest(request: &str, body: &Value, user: &str, room: &Shared) -> (u16, Value) {
    let mut room = room.lock().unwrap();
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    match (method, path.rsplit('/').next().unwrap()) {
        ("POST", "token") => (200, json!({"token": format!("t-{}", body["sub"].as_str().unwrap())})),
        ("GET", "audit") => {
            let comments = room.comments.len();
            let durable = room.taps - i64::from(room.fault == Fault::BadAudit);
            (
                200,
                json!({"counters": {
                "taps.heart": {"durable": durable, "unflushed": 0, "total": room.taps},
                "comments": {"durable": comments, "unflushed": 0, "total": comments}}, "facts": {"likes": 0}, "drift": {"likes": 0}}),
            )
        }
        ("POST", "comments") => {
            let made = room.comment(user, body["text"].as_str().unwrap());
            (201, json!({"id": made["id"], "at": 1}))
        }
        ("GET", "comments") => {
            let history = room.history();
            let end =
                query.split('&').find_map(|p| p.strip_prefix("cursor=")).map_or(history.len(), |c| c.parse().unwrap());
            let start = end.saturating_sub(100);
            let mut page = json!({"comments": history[start..end]});
            if start > 0 {
                page["next"] = json!(start.to_string());
            }
            (200, page)
        }
        ("PUT", _) => (201, json!({"item": "m"})),
        _ => (404, json!({"error": {"code": "not_found"}})),
    }
}

async fn viewer(mut socket: WebSocketStream<TcpStream>, room: Shared, user: String) {
    let (mut frames, first, index, fault) = {
        let mut room = room.lock().unwrap();
        room.sockets += 1;
        let hello = json!({"t": "hello", "conn": "x", "user": user, "role": "viewer", "ping_ms": 25000, "tick_ms": 20, "limits": {}});
        let shown = &room.comments[..room.comments.len() - room.pending.len()];
        let last = &shown[shown.len().saturating_sub(50)..];
        let counts = room.totals();
        let snapshot = json!({"t": "snapshot", "epoch": "e", "seq": room.seq, "item": "m", "counts": counts, "comments": last, "polls": []});
        let you = json!({"t": "you", "item": "m", "liked": false, "votes": {}, "entered": []});
        (room.frames.subscribe(), [hello, snapshot, you], room.sockets, room.fault)
    };
    for message in first {
        socket.send(Message::text(message.to_string())).await.unwrap();
    }
    let (mut seen, mut acted) = (0, 0);
    loop {
        tokio::select! {
            frame = frames.recv() => {
                let Ok(mut frame) = frame else { return };
                if frame.contains("\"t\":\"comments\"") {
                    frame = tampered(&frame, fault, index, &mut seen);
                }
                if socket.send(Message::text(frame)).await.is_err() {
                    return;
                }
            }
            message = socket.next() => {
                let Some(Ok(Message::Text(text))) = message else { return };
                acted += 1;
                if fault == Fault::CutsOne && index == 2 && acted == 3 {
                    return;
                }
                for answer in act(&serde_json::from_str(&text).unwrap(), &user, &room) {
                    if socket.send(Message::text(answer.to_string())).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

fn act(message: &Value, user: &str, room: &Shared) -> Vec<Value> {
    let mut room = room.lock().unwrap();
    let id = &message["id"];
    match message["t"].as_str().unwrap() {
        "tap" => room.tap(id, message["n"].as_i64().unwrap_or(1)),
        "comment" => {
            let made = room.comment(user, message["text"].as_str().unwrap());
            vec![json!({"t": "ack", "id": id, "comment": made["id"], "at": 1})]
        }
        _ => vec![],
    }
}

/// What the second socket gets instead of a `comments` message.
fn tampered(frame: &str, fault: Fault, index: u64, seen: &mut usize) -> String {
    let mut message: Value = serde_json::from_str(frame).unwrap();
    let list = message["list"].as_array_mut().unwrap();
    let before = *seen;
    *seen += list.len();
    if index == 2 && before <= 5 && *seen > 5 {
        match fault {
            Fault::SkipsForOne => drop(list.remove(5 - before)),
            Fault::SwapsForOne => {
                // Within one tick there may be one comment alone; another id is as wrong as another place.
                if list.len() > 1 { list.swap(0, 1) } else { list[0]["id"] = json!("c999") }
            }
            _ => {}
        }
    }
    message.to_string()
}
