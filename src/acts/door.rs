//! What the socket doors (viewers' relays, hosts' sessions) stand on, in one place because neither may import the other.
//!
//! [`SocketActs`] is the part of [`Acts`] that a socket needs; the doors take it as a trait so that they are tested over
//! rooms that do what a test wants.

use std::sync::Arc;
use std::time::Duration;

use actix::Message;
use async_trait::async_trait;
use socket2::SockRef;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Act, Acts, Admitted, Outcome};
use crate::auth::Caller;
use crate::clock;
use crate::config::SocketConfig;
use crate::likes::Liked;
use crate::protocol::server::AckBody;
use crate::protocol::{ApiError, ItemId, Millis, UserId};
use crate::room::RoomHandle;
use crate::session::words::HelloRules;
use crate::session::{Deed, Now, SocketStats};

/// Opens rooms and does acts for sockets.
#[async_trait(?Send)]
pub trait SocketActs: Send + Sync {
    /// See [`Acts::open`].
    async fn open(&self, item: &ItemId) -> Result<RoomHandle, ApiError>;
    /// See [`Acts::perform`].
    async fn perform(&self, caller: &Caller, item: &ItemId, act: Act) -> Result<Outcome, ApiError>;
    /// See [`Acts::liked`].
    async fn liked(&self, user: &UserId, item: &ItemId) -> Result<bool, ApiError>;
    /// See [`Acts::admit_taps`].
    fn admit_taps(&self, caller: &Caller, item: &ItemId, n: u32) -> Result<Admitted, ApiError>;
}

#[async_trait(?Send)]
impl SocketActs for Acts {
    async fn open(&self, item: &ItemId) -> Result<RoomHandle, ApiError> {
        self.open(item).await
    }

    async fn perform(&self, caller: &Caller, item: &ItemId, act: Act) -> Result<Outcome, ApiError> {
        self.perform(caller, item, act).await
    }

    async fn liked(&self, user: &UserId, item: &ItemId) -> Result<bool, ApiError> {
        self.liked(user, item).await
    }

    fn admit_taps(&self, caller: &Caller, item: &ItemId, n: u32) -> Result<Admitted, ApiError> {
        self.admit_taps(caller, item, n)
    }
}

/// Who a token names.
pub type Verify = dyn Fn(&str, Millis) -> Result<Caller, ApiError> + Send + Sync;
/// A new anonymous person with their token; `unauthorized` where none are let in.
pub type Anonymous = dyn Fn(Millis) -> Result<(String, Caller), ApiError> + Send + Sync;

/// What every socket of a node is served with. Cloning is a few reference counts.
#[derive(Clone)]
pub struct Door {
    /// What people can do.
    pub acts: Arc<dyn SocketActs>,
    /// Who a token names.
    pub verify: Arc<Verify>,
    /// Who comes without one.
    pub anonymous: Arc<Anonymous>,
    /// Bounds and intervals.
    pub config: Arc<SocketConfig>,
    /// What every `hello` tells alike.
    pub hello: Arc<HelloRules>,
    /// Counters.
    pub stats: Arc<SocketStats>,
}

impl Door {
    /// Whether the person likes the item, for `you`. A store that does not answer within [`LIKED_WAIT`] keeps nobody out of a live show.
    pub async fn liked(&self, user: UserId, item: ItemId) -> bool {
        match timeout(LIKED_WAIT, self.acts.liked(&user, &item)).await {
            Ok(Ok(liked)) => liked,
            Ok(Err(error)) => {
                tracing::warn!(%item, %error, "whether somebody likes an item could not be read");
                false
            }
            Err(_) => false,
        }
    }

    /// The person behind an opening, and the token that they are given if they came without one.
    pub fn identify(&self, token: Option<&str>, now: Millis) -> Result<(Caller, Option<String>), ApiError> {
        match token {
            Some(token) => (self.verify)(token, now).map(|caller| (caller, None)),
            None => (self.anonymous)(now).map(|(token, caller)| (caller, Some(token))),
        }
    }
}

/// How long an opening socket waits for what its person likes.
pub const LIKED_WAIT: Duration = Duration::from_secs(2);
/// How long a peer has to read our farewell and answer it. The slow have [`SocketConfig::slow_grace`].
pub const CLOSE_WAIT: Duration = Duration::from_secs(5);
/// How long a goodbye waits for all peers together before it cuts them: a farewell's own wait ends before.
pub const GOODBYE_WAIT: Duration = Duration::from_secs(8);

/// Send every socket away with `bye` and 4000, each with a delay drawn from the spread. Whoever comes later is sent away too.
#[derive(Message, Debug, Clone, Copy)]
#[rtype(result = "GoodbyeReport")]
pub struct Goodbye {
    /// Over how long clients are to come back. Milliseconds.
    pub spread_ms: u64,
}

/// What a goodbye came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GoodbyeReport {
    /// Sockets that were there.
    pub told: usize,
    /// Of them those whose peers did not answer in time.
    pub cut: usize,
}

/// The kernel's send buffer of one socket (it doubles this). Some 1,000 frames of counts: what lies in there is on its way
/// and can be conflated no more, so a slow client should find its loss in the outbox, not minutes of old counts here.
const SEND_BUFFER_BYTES: usize = 64 * 1024;

/// Sets a socket up that was taken over: small frames leave at once, a peer that vanished with unread bytes ends, the kernel
/// holds little of what was written. Where it refuses one of these the socket still works.
pub fn prepare(stream: &TcpStream, config: &SocketConfig) {
    let socket = SockRef::from(stream);
    let _ = socket.set_tcp_nodelay(true);
    let _ = socket.set_tcp_user_timeout(Some(config.user_timeout));
    let _ = socket.set_send_buffer_size(SEND_BUFFER_BYTES);
}

/// Both clocks, now.
pub fn now() -> Now {
    Now { at: clock::monotonic(), wall: clock::wall() }
}

/// The act that a socket's message asks for.
pub fn act_of(deed: Deed) -> Act {
    match deed {
        Deed::Tap(tap) => Act::Tap(tap),
        Deed::Comment(comment) => Act::Comment(comment),
        Deed::Like(liked) => Act::Like(liked),
    }
}

/// The fields of the `ack` that tells an outcome.
pub fn ack_of(outcome: &Outcome) -> AckBody<'_> {
    match outcome {
        Outcome::Tapped { accepted, counts } => AckBody::Tapped { accepted: *accepted, counts },
        Outcome::Commented { id, at, .. } => AckBody::Commented { comment: *id, at: *at },
        Outcome::Liked(Liked { liked, changed, likes }) => {
            AckBody::Liked { liked: *liked, changed: *changed, likes: *likes }
        }
        // Not asked for over sockets.
        Outcome::ItemPut { .. } | Outcome::Ended { .. } => AckBody::Done {},
    }
}
