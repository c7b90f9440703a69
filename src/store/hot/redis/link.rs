//! One connection to Redis, made again whenever it has failed.
//!
//! The client does not reconnect after a response timeout, and a connection that is cut without a word only shows as one: so every
//! failure drops the connection here, and the next request makes a new one. Requests are never repeated, with one exception: a
//! server that does not have a script has not run it. The connection's task lives on the store's runtime.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ::redis::aio::MultiplexedConnection;
use ::redis::io::tcp::{TcpSettings, socket2::TcpKeepalive};
use ::redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, IntoConnectionInfo, Pipeline, ProtocolVersion, RedisError,
    ServerErrorKind, Value, pipe,
};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::Settings;
use super::inspect::OpenError;
use crate::store::hot::contract::HotError;

/// After a failed attempt to connect everybody fails at once for so long, instead of each waiting in turn.
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);
/// How long a quiet connection goes unproved: a firewall that forgets connections does so after minutes.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// See the module.
pub(super) struct Link {
    client: Client,
    config: AsyncConnectionConfig,
    connect_timeout: Duration,
    response_timeout: Duration,
    loading: Pipeline,
    runtime: Handle,
    held: Mutex<Held>,
    connections: AtomicU64,
    failures: AtomicU64,
}

#[derive(Default)]
struct Held {
    /// The connection and its number.
    connection: Option<(u64, MultiplexedConnection)>,
    failed: Option<(Instant, HotError)>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    /// Nobody answered in time.
    #[error("no answer within {0:?}")]
    Slow(Duration),
    /// Somebody did, with this.
    #[error(transparent)]
    Refused(#[from] RedisError),
    /// The runtime has been shut down.
    #[error("the store has stopped")]
    Stopped,
}

impl Link {
    /// Connects to nobody yet.
    pub fn new(settings: &Settings, loading: Vec<Cmd>, runtime: Handle) -> Result<Self, OpenError> {
        // The crate's words do not repeat the URL, which may hold a password.
        let info = settings.url.as_str().into_connection_info().map_err(|why| OpenError::Url(why.to_string()))?;
        let tcp = TcpSettings::default()
            .set_nodelay(true)
            .set_keepalive(TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE / 3).with_retries(3))
            .set_user_timeout(settings.response_timeout);
        let redis = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        let info = info.set_tcp_settings(tcp).set_redis_settings(redis);
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(settings.connect_timeout))
            .set_response_timeout(Some(settings.response_timeout));
        Ok(Self {
            client: Client::open(info).map_err(|why| OpenError::Url(why.to_string()))?,
            config,
            connect_timeout: settings.connect_timeout,
            response_timeout: settings.response_timeout,
            loading: pipeline(loading),
            runtime,
            held: Mutex::default(),
            connections: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        })
    }

    /// Where it connects to, without credentials.
    pub fn address(&self) -> String {
        self.client.get_connection_info().addr().to_string()
    }

    /// Connections made so far.
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Pipelines that were not answered so far.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Sends requests in one pipeline and answers a reply for each, errors of the server among them.
    pub async fn send(&self, requests: Vec<Cmd>) -> Result<Vec<Value>, HotError> {
        // To connect, load, send, load and send again: each within its own bound; this is for what waits for others to connect.
        let bound = self.connect_timeout * 2 + self.response_timeout * 3;
        let late = || HotError::Unavailable(format!("no answer within {bound:?}"));
        let sent = timeout(bound, self.send_unbounded(pipeline(requests))).await.unwrap_or_else(|_| Err(late()));
        if sent.is_err() {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
        sent
    }

    async fn send_unbounded(&self, requests: Pipeline) -> Result<Vec<Value>, HotError> {
        let (number, mut connection) = self.connection().await?;
        let sent = send_on(&mut connection, &requests).await;
        if let Err(failure) = &sent {
            self.drop_connection(number, failure).await;
        }
        let mut replies = sent.map_err(unavailable)?;
        if replies.iter().any(|reply| is(reply, ServerErrorKind::ReadOnly)) {
            // The server was demoted: the same name may lead to another one now.
            self.drop_connection(number, &"the server has become read-only").await;
        }
        // Scripts are not kept over a restart, and an operator may flush them. Steps of one item may now change places, if
        // somebody else loads them in the middle; then the later one finds a gap and is offered again.
        let lost: Vec<_> = (0..).zip(&replies).filter(|(_, reply)| is(reply, ServerErrorKind::NoScript)).collect();
        let lost: Vec<usize> = lost.into_iter().map(|(place, _)| place).collect();
        if !lost.is_empty() {
            self.send_again(&mut connection, &requests, &lost, &mut replies).await.map_err(unavailable)?;
        }
        Ok(replies)
    }

    async fn send_again(
        &self,
        connection: &mut MultiplexedConnection,
        requests: &Pipeline,
        lost: &[usize],
        replies: &mut [Value],
    ) -> Result<(), RedisError> {
        send_on(connection, &self.loading).await?;
        let again = lost.iter().filter_map(|place| requests.cmd_iter().nth(*place));
        let again = send_on(connection, &pipeline(again.cloned().collect())).await?;
        for (place, reply) in lost.iter().zip(again) {
            if let Some(slot) = replies.get_mut(*place) {
                *slot = reply;
            }
        }
        Ok(())
    }

    async fn connection(&self) -> Result<(u64, MultiplexedConnection), HotError> {
        let mut held = self.held.lock().await;
        if let Some(connection) = &held.connection {
            return Ok(connection.clone());
        }
        if let Some((at, failure)) = &held.failed
            && at.elapsed() < RECONNECT_PAUSE
        {
            return Err(failure.clone());
        }
        match self.connect().await {
            Ok(connection) => {
                let number = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
                if number > 1 {
                    tracing::info!(address = %self.address(), "connected to the hot store again");
                }
                *held = Held { connection: Some((number, connection.clone())), failed: None };
                Ok((number, connection))
            }
            Err(failure) => {
                let failure = HotError::Unavailable(format!("{}: {failure}", self.address()));
                held.failed = Some((Instant::now(), failure.clone()));
                Err(failure)
            }
        }
    }

    /// A new connection, with all scripts loaded.
    pub async fn connect(&self) -> Result<MultiplexedConnection, ConnectError> {
        let (client, config, loading) = (self.client.clone(), self.config.clone(), self.loading.clone());
        let bound = self.connect_timeout;
        let connecting = self.runtime.spawn(async move {
            let connecting = async {
                let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
                let loaded = send_on(&mut connection, &loading).await?;
                loaded.into_iter().try_for_each(|reply| reply.extract_error().map(drop))?;
                Ok(connection)
            };
            timeout(bound, connecting).await.unwrap_or(Err(ConnectError::Slow(bound)))
        });
        let connected = connecting.await.map_err(|_| ConnectError::Stopped)?;
        // The crate's own bound runs out at the same time.
        connected.map_err(|why| match why {
            ConnectError::Refused(why) if why.is_timeout() => ConnectError::Slow(bound),
            why => why,
        })
    }

    async fn drop_connection(&self, number: u64, why: &(dyn std::fmt::Display + Sync)) {
        let mut held = self.held.lock().await;
        if held.connection.as_ref().is_some_and(|(current, _)| *current == number) {
            tracing::warn!(address = %self.address(), %why, "the connection to the hot store is given up");
            held.connection = None;
        }
    }
}

fn pipeline(requests: Vec<Cmd>) -> Pipeline {
    let mut pipeline = pipe();
    pipeline.ignore_errors();
    for request in requests {
        pipeline.add_command(request);
    }
    pipeline
}

/// Replies in order, errors of the server among them; fails only where the connection does.
async fn send_on(connection: &mut MultiplexedConnection, requests: &Pipeline) -> Result<Vec<Value>, RedisError> {
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    match requests.query_async(connection).await? {
        Value::Array(replies) if replies.len() == requests.len() => Ok(replies),
        _ => Err((ErrorKind::UnexpectedReturnType, "replies do not fit the requests").into()),
    }
}

fn is(reply: &Value, kind: ServerErrorKind) -> bool {
    matches!(reply, Value::ServerError(error) if error.kind() == Some(kind))
}

fn unavailable(failure: RedisError) -> HotError {
    HotError::Unavailable(failure.to_string())
}
