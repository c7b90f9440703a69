//! All hosts' sockets of a node: taken over here, and sent away together at shutdown.

use std::cell::Cell;
use std::collections::HashMap;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use actix::Addr;
use actix_web::error::PayloadError;
use actix_web_actors::ws::WebsocketContext;
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use super::guard::Guard;
use super::pump::{Pump, READS_MAX, Transit};
use super::session::{CloseWith, Cut, StudioSession};
use crate::acts::door::{Door, GOODBYE_WAIT, GoodbyeReport, prepare};
use crate::protocol::{CloseCode, ItemId};
use crate::session::opening::{Resume, fresh_id};
use crate::session::stats::ABNORMAL;

/// What a host's request asked for; its `Origin` was checked before the upgrade.
#[derive(Debug, Clone)]
pub struct Studio {
    /// The items of `?items=`, as [`crate::session::opening::items`] reads them.
    pub items: Vec<ItemId>,
    /// The token, if there was one.
    pub token: Option<String>,
    /// For each item where to resume from; may be shorter than `items`.
    pub resumes: Vec<Option<Resume>>,
}

/// One per node, shared by its workers.
pub struct Studios {
    door: Door,
    sessions: Mutex<HashMap<u64, Addr<StudioSession>>>,
    leaving: AtomicBool,
    overdue: AtomicUsize,
    emptied: Notify,
}

/// With what a session ended, told by its actor to whoever counts.
pub(super) type Ending = Rc<Cell<u16>>;

impl Studios {
    /// No sockets yet.
    pub fn new(door: Door) -> Arc<Self> {
        let (sessions, emptied) = (Mutex::default(), Notify::new());
        Arc::new(Self { door, sessions, leaving: AtomicBool::new(false), overdue: AtomicUsize::new(0), emptied })
    }

    /// Takes over a socket whose handshake response has been written, on the calling worker. `read_buf` is what was read of it
    /// already.
    pub fn adopt(self: &Arc<Self>, stream: TcpStream, read_buf: Bytes, studio: Studio) {
        prepare(&stream, &self.door.config);
        let (payload, mut reads) = mpsc::channel(READS_MAX);
        let payloads = stream::poll_fn(move |cx| reads.poll_recv(cx).map(|read| read.map(Ok::<Bytes, PayloadError>)));
        let (transit, ending) = (Rc::new(Transit::default()), Ending::new(Cell::new(ABNORMAL)));
        let Studio { items, token, resumes } = studio;
        let session = StudioSession::new(self.door.clone(), items, token, resumes, transit.clone(), ending.clone());
        let (session, context) = WebsocketContext::create_with_addr(session, payloads);
        let guard = Guard::new(self.door.config.message_max_bytes);
        let (context, out) = (Box::pin(context), BytesMut::new());
        let pump = Pump { stream, guard, payload: Some(payload), context, session: session.clone(), transit, out };
        let key = fresh_id();
        self.enter(key, session);
        let studios = self.clone();
        actix_rt::spawn(async move {
            let transit = pump.transit.clone();
            pump.run(read_buf).await;
            studios.remove(key, ending.get(), transit.cut.get());
        });
    }

    /// Sends every host away, each to come back at a time of its own, and waits for them to go.
    pub async fn goodbye(&self, spread_ms: u64) -> GoodbyeReport {
        self.leaving.store(true, Ordering::SeqCst);
        let overdue_before = self.overdue.load(Ordering::Relaxed);
        let sessions: Vec<_> = self.sessions.lock().values().cloned().collect();
        let told = sessions.len();
        sessions.iter().for_each(|session| session.do_send(CloseWith { code: CloseCode::Shutdown, spread_ms }));
        if timeout(GOODBYE_WAIT, self.empty()).await.is_err() {
            sessions.iter().for_each(|session| session.do_send(Cut));
            // A cut waits for nobody: its session goes with the next turn of its worker.
            let _ = timeout(GOODBYE_WAIT, self.empty()).await;
        }
        GoodbyeReport { told, cut: self.overdue.load(Ordering::Relaxed) - overdue_before }
    }

    /// Hosts' sockets that are open.
    pub fn sockets(&self) -> usize {
        self.sessions.lock().len()
    }

    fn enter(&self, key: u64, session: Addr<StudioSession>) {
        self.door.stats.opened();
        self.sessions.lock().insert(key, session.clone());
        // Whoever comes in while goodbye is said is either among those who are told or sees that it is said.
        if self.leaving.load(Ordering::SeqCst) {
            let spread_ms = u64::try_from(self.door.config.reconnect_spread.as_millis()).unwrap_or(u64::MAX);
            session.do_send(CloseWith { code: CloseCode::Shutdown, spread_ms });
        }
    }

    fn remove(&self, key: u64, code: u16, cut: bool) {
        self.door.stats.closed(code);
        if cut {
            self.overdue.fetch_add(1, Ordering::Relaxed);
        }
        let mut sessions = self.sessions.lock();
        sessions.remove(&key);
        if sessions.is_empty() {
            self.emptied.notify_waiters();
        }
    }

    async fn empty(&self) {
        loop {
            let mut emptied = pin!(self.emptied.notified());
            emptied.as_mut().enable();
            if self.sessions.lock().is_empty() {
                return;
            }
            emptied.await;
        }
    }
}
