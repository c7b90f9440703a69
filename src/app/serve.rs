//! Starts a built node: actors, ticker, workers. From here on it runs until [`Running::stop`].

use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use actix::{Actor, Addr, Arbiter};
use actix_codec::Framed;
use actix_http::h1::Codec;
use actix_http::{HttpService, Request};
use actix_server::{Server, ServerHandle};
use actix_service::{fn_service, map_config};
use actix_web::App as WebApp;
use actix_web::dev::AppConfig;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::build::{App, BuildError};
use super::upgrade::Upgrade;
use crate::acts::door::Door as SocketDoor;
use crate::acts::{Acts, Grounds, Recounter};
use crate::api::{self, Door, Gate};
use crate::clock;
use crate::flush::FlushActor;
use crate::likes::counter::RoomCounter;
use crate::likes::{LikeReads, Likes};
use crate::protocol::{ApiError, Code};
use crate::reconcile::Reconciler;
use crate::reconcile::recount::Recounts;
use crate::reconcile::schedule::Schedule;
use crate::reconcile::survey::Survey;
use crate::relay::{self, Relay};
use crate::room::Registry;
use crate::session::words::HelloRules;
use crate::studio::Studios;

/// How often rooms that ended and rates that are full again are looked after.
const SWEEP: Duration = Duration::from_secs(5);

/// How long the server's workers may take for requests under way when it stops; the drain's own deadline cuts them sooner.
const REQUESTS_WAIT_S: u64 = 30;

/// A node that serves.
pub struct Running {
    /// Where it serves.
    pub address: SocketAddr,
    /// Where `/metrics` is, if it has a port of its own.
    pub metrics_address: Option<SocketAddr>,
    pub(super) app: App,
    pub(super) server: ServerHandle,
    pub(super) registry: Arc<Registry>,
    pub(super) flush: Addr<FlushActor>,
    pub(super) likes: Likes,
    acts: Arc<Acts>,
    pub(super) relays: Arc<Mutex<Vec<Addr<Relay>>>>,
    pub(super) studios: Arc<Studios>,
    arbiters: Vec<Arbiter>,
    tasks: Vec<JoinHandle<()>>,
}

impl App {
    /// Binds the port and serves. Must be called inside an actix system.
    pub async fn start(self) -> Result<Running, BuildError> {
        let listener = TcpListener::bind(self.config.server.listen)?;
        let metrics_listener = self.config.server.metrics_listen.map(TcpListener::bind).transpose()?;
        let (address, metrics_address) =
            (listener.local_addr()?, metrics_listener.as_ref().map(TcpListener::local_addr));
        let (hot, durable) = (self.stores.hot.clone(), self.stores.durable.clone());
        let flush =
            FlushActor::new(hot.clone(), durable.clone(), self.config.rooms.flush, self.flush_stats.clone()).start();
        let _ = self.fold.0.set(flush.clone());
        let arbiters: Vec<Arbiter> = (0..self.config.server.workers).map(|_| Arbiter::new()).collect();
        let registry = Arc::new(Registry::new(self.rooms.clone(), arbiters.iter().map(Arbiter::handle).collect()));
        super::metrics::join(&self, &registry);
        registry.note_cold(self.stores.left_over.iter().cloned(), clock::monotonic());
        let relays = Arc::<Mutex<Vec<Addr<Relay>>>>::default();
        let (likes, reconciler) = self.likes(&registry);
        let doors = self.doors(&registry, likes.clone(), reconciler.recipient());
        let acts = doors.0.acts.clone();
        let studios = Studios::new(doors.1.clone());
        let server = self.serve(listener, metrics_listener, doors, relays.clone(), studios.clone())?;
        let tasks = vec![
            actix_rt::spawn(self.rooms.ticker.clone().run(self.config.rooms.tick)),
            actix_rt::spawn(sweep(registry.clone(), self.limits.clone())),
        ];
        let handle = server.handle();
        actix_rt::spawn(server);
        self.ready.store(true, Ordering::Relaxed);
        let metrics_address = metrics_address.transpose()?;
        Ok(Running {
            address,
            metrics_address,
            app: self,
            server: handle,
            registry,
            flush,
            likes,
            acts,
            relays,
            studios,
            arbiters,
            tasks,
        })
    }

    /// Likes, and what recounts them.
    fn likes(&self, registry: &Arc<Registry>) -> (Likes, Addr<Reconciler>) {
        let (stores, writer) = (&self.stores, self.rooms.writer);
        let (facts, hot) = (stores.facts.clone(), stores.likes_hot.clone());
        let counter = Arc::new(RoomCounter { registry: registry.clone(), hot: stores.hot.clone() });
        let likes = Likes::new(counter, facts.clone(), hot.clone(), writer, stores.runtime());
        let side = Arc::new(likes.clone());
        let survey = Survey {
            durable: stores.durable.clone(),
            hot: stores.hot.clone(),
            facts: facts.clone(),
            fence: hot.clone(),
            side: side.clone(),
        };
        let schedule = Schedule::new(self.config.recounts.at_min, clock::wall(), clock::monotonic());
        let recounts = Recounts { hot, facts, side, writer };
        (likes, Reconciler::new(recounts, survey, schedule, self.reconcile_stats.clone()).start())
    }

    fn doors(&self, registry: &Arc<Registry>, likes: Likes, recounter: Recounter) -> (Door, SocketDoor) {
        let acts = Arc::new(Acts::new(Grounds {
            registry: registry.clone(),
            hot: self.stores.hot.clone(),
            durable: self.stores.durable.clone(),
            facts: self.stores.facts.clone(),
            reads: LikeReads::new(self.stores.facts.clone(), self.stores.likes_hot.clone(), self.read_stats.clone()),
            likes,
            recounter,
            limits: self.limits.clone(),
        }));
        let gate = Gate {
            auth: self.auth.clone(),
            config: Arc::new(self.config.clone()),
            metrics: self.metrics.clone(),
            ready: self.ready.clone(),
        };
        let (verifier, issuer) = (self.auth.clone(), self.auth.clone());
        let sockets = SocketDoor {
            acts: acts.clone(),
            verify: Arc::new(move |token, now| verifier.verify(token, now).map_err(unauthorized)),
            anonymous: Arc::new(move |now| {
                if !issuer.anonymous_allowed() {
                    return Err(ApiError::new(Code::Unauthorized, "a token is needed"));
                }
                let issued = issuer.anonymous(now).map_err(unauthorized)?;
                Ok((issued.token, issued.caller))
            }),
            config: Arc::new(self.config.sockets.clone()),
            hello: Arc::new(HelloRules {
                ping_ms: u64::try_from(self.config.sockets.ping.as_millis()).unwrap_or(u64::MAX),
                tick_ms: u64::try_from(self.config.rooms.tick.as_millis()).unwrap_or(u64::MAX),
                limits: crate::limits::client_limits(&self.config.rates, &self.config.sockets),
            }),
            stats: self.socket_stats.clone(),
        };
        (Door { acts, gate }, sockets)
    }

    /// The workers: an app for REST and pages, and beside it, on the same threads, the relays that own the sockets.
    fn serve(
        &self,
        listener: TcpListener,
        metrics_listener: Option<TcpListener>,
        (door, sockets): (Door, SocketDoor),
        relays: Arc<Mutex<Vec<Addr<Relay>>>>,
        studios: Arc<Studios>,
    ) -> Result<Server, BuildError> {
        let (ticker, stats) = (self.rooms.ticker.clone(), self.socket_stats.clone());
        let (server, bounds) = (Arc::new(self.config.server.clone()), Arc::new(self.config.sockets.clone()));
        let gate = door.gate.clone();
        // Called once on each worker's own thread.
        let worker = move || {
            let relay = relay::start(sockets.clone());
            ticker.add_relay(relay.address().recipient());
            relays.lock().push(relay.address());
            let upgrade = Rc::new(Upgrade {
                relay,
                studios: studios.clone(),
                server: server.clone(),
                sockets: bounds.clone(),
                stats: stats.clone(),
            });
            let answer =
                move |(request, framed): (Request, Framed<TcpStream, Codec>)| upgrade.clone().answer(request, framed);
            HttpService::build()
                .upgrade(fn_service(answer))
                .finish(map_config(WebApp::new().configure(api::configure(door.clone())), |_| AppConfig::default()))
                .tcp()
        };
        let mut server = Server::build()
            .workers(self.config.server.workers)
            .shutdown_timeout(REQUESTS_WAIT_S)
            .disable_signals()
            .listen("heartline", listener, worker)?;
        if let Some(listener) = metrics_listener {
            let page = move || {
                let app = WebApp::new().configure(api::routes::metrics_only(gate.clone()));
                HttpService::build().finish(map_config(app, |_| AppConfig::default())).tcp()
            };
            server = server.listen("metrics", listener, page)?;
        }
        Ok(server.run())
    }
}

fn unauthorized(error: crate::auth::AuthError) -> ApiError {
    ApiError::new(Code::Unauthorized, error.to_string())
}

async fn sweep(registry: Arc<Registry>, limits: Arc<crate::limits::Limits>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        registry.sweep(clock::monotonic()).await;
        limits.shrink();
    }
}

impl Running {
    /// Everything that people can do and read, without a door: for programs that run a node inside of themselves.
    pub fn acts(&self) -> Arc<Acts> {
        self.acts.clone()
    }

    /// Which stores it runs on and what they promise, in a few lines.
    pub fn stores(&self) -> &str {
        &self.app.stores.told
    }

    /// The last phase: nothing is left to do for anybody.
    pub(super) async fn close(self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        for arbiter in &self.arbiters {
            arbiter.stop();
        }
        self.app.stores.durable.close().await;
    }
}
