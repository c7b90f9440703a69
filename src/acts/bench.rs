#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]
//! For the tests of the socket doors: a room that does what a test wants, acts over it, and clients on real loopback sockets.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use actix::{Actor, Addr, Context, Handler, Recipient, ResponseFuture};
use async_trait::async_trait;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Notify;

use super::door::{Door, SocketActs};
use super::{Act, Admitted, Outcome};
use crate::auth::Caller;
use crate::config::SocketConfig;
use crate::protocol::server::ClientLimits;
use crate::protocol::{ApiError, Code, Counts, ItemId, ItemSettings, ItemView, Kind, Millis, Role, UserId};
use crate::room::messages::{Configure, Contribute, Contributed, End, HandOver, Knows};
use crate::room::{Frame, Frames, Join, Joined, Leave, RoomHandle, SubscriberId, TapSums};
use crate::session::SocketStats;
use crate::session::words::HelloRules;
use crate::wire::encode;

/// Whatever a test waits for is there within this, on a busy machine too.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// What a test's room knows and does; shared with its actor, which runs on the same thread.
#[derive(Default)]
pub struct RoomState {
    pub subscribers: RefCell<HashMap<SubscriberId, Recipient<Frames>>>,
    pub joins: RefCell<Vec<(UserId, bool)>>,
    pub leaves: RefCell<Vec<(UserId, bool)>>,
    pub sums: RefCell<Vec<Vec<(Kind, u64)>>>,
    /// Where joining sockets are told to stand.
    pub seq: Cell<u64>,
    pub hearts: Cell<i64>,
    pub ended: Cell<bool>,
    /// Answers to joins and sums wait while this is set.
    pub stalled: Cell<bool>,
    pub resumed: Notify,
}

impl RoomState {
    async fn unstalled(&self) {
        while self.stalled.get() {
            self.resumed.notified().await;
        }
    }

    pub fn resume(&self) {
        self.stalled.set(false);
        self.resumed.notify_waiters();
    }

    /// Sends frames to every subscriber and waits until they have been taken.
    pub async fn broadcast(&self, item: &ItemId, list: Vec<Frame>) {
        let subscribers: Vec<_> = self.subscribers.borrow().values().cloned().collect();
        for subscriber in subscribers {
            subscriber.send(Frames { item: item.clone(), list: list.clone() }).await.unwrap();
        }
    }
}

pub fn counts(hearts: i64) -> Arc<Counts> {
    Arc::new(Counts { taps: vec![(Kind::HEART, hearts)], likes: Some(0), comments: Some(0), viewers: Some(1) })
}

/// A `counts` frame; `pad_bytes` make it long.
pub fn counts_frame(hearts: i64, seq: u64, pad_bytes: usize) -> Frame {
    let text = json!({"t": "counts", "seq": seq, "taps": {"heart": hearts}, "pad": "x".repeat(pad_bytes)});
    Frame::Counts { bytes: encode::text(&text.to_string()), seq, all: counts(hearts), version: hearts.unsigned_abs() }
}

/// A `comments` event with one comment.
pub fn event_frame(seq: u64, pad_bytes: usize) -> Frame {
    let text = json!({"t": "comments", "seq": seq, "pad": "x".repeat(pad_bytes)});
    Frame::Event { bytes: encode::text(&text.to_string()), seq, comments: 1 }
}

pub struct FakeRoom(pub Rc<RoomState>);

/// Ends the actor, as a panic would.
#[derive(actix::Message)]
#[rtype(result = "()")]
pub struct Die;

impl Actor for FakeRoom {
    type Context = Context<Self>;
}

impl Handler<Die> for FakeRoom {
    type Result = ();
    fn handle(&mut self, _: Die, ctx: &mut Context<Self>) {
        actix::ActorContext::terminate(ctx);
    }
}

impl Handler<Join> for FakeRoom {
    type Result = ResponseFuture<Result<Joined, ApiError>>;
    fn handle(&mut self, join: Join, _: &mut Context<Self>) -> Self::Result {
        let state = self.0.clone();
        state.subscribers.borrow_mut().insert(join.subscriber, join.frames);
        state.joins.borrow_mut().push((join.user, join.counted));
        Box::pin(async move {
            state.unstalled().await;
            let (seq, hearts) = (state.seq.get(), state.hearts.get());
            let kind = if join.resume.is_some() { "resumed" } else { "snapshot" };
            let first = json!({"t": kind, "seq": seq, "counts": {"taps": {"heart": hearts}}}).to_string();
            Ok(Joined {
                frames: vec![encode::text(&first)],
                seq,
                counts: counts(hearts),
                version: hearts.unsigned_abs(),
                reactions: [Kind::HEART].into(),
                tick_ms: 100,
                ended: state.ended.get(),
            })
        })
    }
}

impl Handler<Leave> for FakeRoom {
    type Result = ();
    fn handle(&mut self, leave: Leave, _: &mut Context<Self>) {
        self.0.leaves.borrow_mut().push((leave.user, leave.counted));
    }
}

impl Handler<TapSums> for FakeRoom {
    type Result = ResponseFuture<()>;
    fn handle(&mut self, taps: TapSums, _: &mut Context<Self>) -> Self::Result {
        let state = self.0.clone();
        state.sums.borrow_mut().push(taps.sums);
        Box::pin(async move { state.unstalled().await })
    }
}

impl Handler<Contribute> for FakeRoom {
    type Result = Result<Contributed, ApiError>;
    fn handle(&mut self, _: Contribute, _: &mut Context<Self>) -> Self::Result {
        Ok(Contributed::Taps(counts(self.0.hearts.get())))
    }
}

impl Handler<Knows> for FakeRoom {
    type Result = bool;
    fn handle(&mut self, _: Knows, _: &mut Context<Self>) -> bool {
        false
    }
}

impl Handler<Configure> for FakeRoom {
    type Result = Result<ItemView, ApiError>;
    fn handle(&mut self, configure: Configure, _: &mut Context<Self>) -> Self::Result {
        Ok(ItemView::create(ItemId::parse("a").unwrap(), configure.patch.apply(ItemSettings::default()), Millis(0)))
    }
}

impl Handler<End> for FakeRoom {
    type Result = Result<Arc<Counts>, ApiError>;
    fn handle(&mut self, _: End, _: &mut Context<Self>) -> Self::Result {
        Ok(counts(self.0.hearts.get()))
    }
}

impl Handler<HandOver> for FakeRoom {
    type Result = ();
    fn handle(&mut self, _: HandOver, _: &mut Context<Self>) {}
}

pub fn handle_of(room: &Addr<FakeRoom>) -> RoomHandle {
    let item = ItemView::create(ItemId::parse("a").unwrap(), ItemSettings::default(), Millis(0));
    RoomHandle {
        join: room.clone().recipient(),
        leave: room.clone().recipient(),
        taps: room.clone().recipient(),
        contribute: room.clone().recipient(),
        knows: room.clone().recipient(),
        configure: room.clone().recipient(),
        end: room.clone().recipient(),
        hand_over: room.clone().recipient(),
        seen: Arc::new(parking_lot::RwLock::new(Arc::new(crate::room::Seen {
            item: Arc::new(item),
            counts: counts(0),
        }))),
    }
}

/// Acts over one room, which is every item's but `unknown`'s. Taps of one message pass up to `taps_max`.
pub struct FakeActs {
    pub room: parking_lot::Mutex<RoomHandle>,
    pub taps_max: AtomicU32,
}

#[async_trait(?Send)]
impl SocketActs for FakeActs {
    async fn open(&self, item: &ItemId) -> Result<RoomHandle, ApiError> {
        if item.as_str() == "unknown" {
            return Err(ApiError::new(Code::NotFound, "no such item"));
        }
        Ok(self.room.lock().clone())
    }

    async fn perform(&self, _: &Caller, _: &ItemId, act: Act) -> Result<Outcome, ApiError> {
        match act {
            Act::Tap(tap) => Ok(Outcome::Tapped { accepted: tap.n, counts: counts(tap.n.into()) }),
            _ => Err(ApiError::new(Code::Forbidden, "chat closed")),
        }
    }

    async fn liked(&self, user: &UserId, _: &ItemId) -> Result<bool, ApiError> {
        Ok(user.as_str() == "fan")
    }

    fn admit_taps(&self, _: &Caller, _: &ItemId, n: u32) -> Result<Admitted, ApiError> {
        Ok(Admitted { accepted: n.min(self.taps_max.load(Ordering::Relaxed)), retry_after_ms: 50 })
    }
}

/// One room, one door, one item.
pub struct Bench {
    pub item: ItemId,
    pub room: Rc<RoomState>,
    pub address: Addr<FakeRoom>,
    pub acts: Arc<FakeActs>,
    pub door: Door,
}

impl Bench {
    pub fn new(config: SocketConfig) -> Self {
        let room = Rc::new(RoomState::default());
        let address = FakeRoom(room.clone()).start();
        let acts = FakeActs { room: parking_lot::Mutex::new(handle_of(&address)), taps_max: AtomicU32::new(u32::MAX) };
        let acts = Arc::new(acts);
        let door = Door {
            acts: acts.clone(),
            verify: Arc::new(|token, _| match token.split_once(' ') {
                Some(("viewer", sub)) => Ok(caller(sub, Role::Viewer)),
                Some(("host", sub)) => Ok(caller(sub, Role::Host)),
                _ => Err(ApiError::new(Code::Unauthorized, "token: bad")),
            }),
            anonymous: Arc::new(|_| Ok(("made".to_owned(), caller("anon:1", Role::Anonymous)))),
            config: Arc::new(config),
            hello: Arc::new(hello_rules()),
            stats: Arc::new(SocketStats::default()),
        };
        Self { item: ItemId::parse("a").unwrap(), room, address, acts, door }
    }

    pub async fn broadcast(&self, list: Vec<Frame>) {
        self.room.broadcast(&self.item, list).await;
    }

    /// A new room in place of the old one, which is dead.
    pub async fn restart_room(&mut self) {
        self.address.send(Die).await.unwrap();
        self.room = Rc::new(RoomState::default());
        self.address = FakeRoom(self.room.clone()).start();
        *self.acts.room.lock() = handle_of(&self.address);
    }
}

fn caller(sub: &str, role: Role) -> Caller {
    Caller { user: UserId::parse(sub).unwrap(), role, items: None, name: None, expires: Millis(i64::MAX) }
}

fn hello_rules() -> HelloRules {
    let limits = ClientLimits {
        tap_n_max: 100,
        tap_messages_per_s: 20,
        taps_per_s: 100,
        taps_burst: 300,
        comments_per_s: 1,
        comments_burst: 5,
        comment_max_graphemes: 500,
        comment_max_bytes: 2_000,
        message_max_bytes: 8_192,
    };
    HelloRules { ping_ms: 20_000, tick_ms: 100, limits }
}

/// A connected pair; the client's receive buffer is small, so that it can be slow.
pub async fn pair() -> (Client, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(16 * 1024).unwrap();
    let (client, server) = tokio::join!(socket.connect(listener.local_addr().unwrap()), listener.accept());
    (Client { stream: client.unwrap(), read: Vec::new(), waiting: VecDeque::new() }, server.unwrap().0)
}

/// What a client can read.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    Message(Value),
    Ping,
    Pong(Bytes),
    Close(Option<u16>),
    /// The connection is over.
    End,
}

/// A client that answers nothing by itself.
pub struct Client {
    pub stream: TcpStream,
    read: Vec<u8>,
    waiting: VecDeque<Seen>,
}

impl Client {
    pub async fn send(&mut self, text: &str) {
        self.frame(0x81, text.as_bytes()).await;
    }

    /// Writes one masked frame.
    pub async fn frame(&mut self, first: u8, payload: &[u8]) {
        self.stream.write_all(&client_frame(first, payload)).await.unwrap();
    }

    /// The next thing that the server sent.
    pub async fn next(&mut self) -> Seen {
        let waited = tokio::time::timeout(PATIENCE, self.read_next()).await;
        waited.expect("the server sent nothing more")
    }

    async fn read_next(&mut self) -> Seen {
        loop {
            if let Some(seen) = self.waiting.pop_front().or_else(|| self.parse()) {
                return seen;
            }
            let mut buffer = [0; 4_096];
            match self.stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return Seen::End,
                Ok(count) => self.read.extend_from_slice(&buffer[..count]),
            }
        }
    }

    fn parse(&mut self) -> Option<Seen> {
        let [first, second, ..] = self.read[..] else { return None };
        let (start, length) = match second {
            126 => (4, usize::from(u16::from_be_bytes([*self.read.get(2)?, *self.read.get(3)?]))),
            127 => (10, usize::try_from(u64::from_be_bytes(self.read.get(2..10)?.try_into().unwrap())).unwrap()),
            short => (2, usize::from(short)),
        };
        let payload = Bytes::copy_from_slice(self.read.get(start..start + length)?);
        self.read.drain(..start + length);
        Some(match first & 15 {
            1 => Seen::Message(serde_json::from_slice(&payload).unwrap()),
            8 => Seen::Close(payload.first_chunk().map(|code| u16::from_be_bytes(*code))),
            9 => Seen::Ping,
            10 => Seen::Pong(payload),
            other => panic!("opcode {other}"),
        })
    }

    /// The next message; pings are passed over.
    pub async fn message(&mut self) -> Value {
        loop {
            match self.next().await {
                Seen::Message(message) => return message,
                Seen::Ping | Seen::Pong(_) => {}
                other => panic!("{other:?} instead of a message"),
            }
        }
    }

    /// The next message, which is a `t`.
    pub async fn expect(&mut self, t: &str) -> Value {
        let message = self.message().await;
        assert_eq!(message["t"], t, "{message}");
        message
    }

    /// Reads on to the close: the messages before it and its code.
    pub async fn until_close(&mut self) -> (Vec<Value>, Option<u16>) {
        let mut messages = Vec::new();
        loop {
            match self.next().await {
                Seen::Message(message) => messages.push(message),
                Seen::Close(code) => return (messages, code),
                Seen::Ping | Seen::Pong(_) => {}
                Seen::End => return (messages, None),
            }
        }
    }
}

/// One masked frame, as clients send them.
pub fn client_frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mask = [7_u8, 11, 13, 17];
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..=125 => frame.push(0x80 | u8::try_from(length).unwrap()),
        length => {
            frame.push(0x80 | 126);
            frame.extend_from_slice(&u16::try_from(length).unwrap().to_be_bytes());
        }
    }
    frame.extend_from_slice(&mask);
    frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
    frame
}

/// Waits for a condition, looking again whenever other tasks have run.
pub async fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !condition() {
        assert!(tokio::time::Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
