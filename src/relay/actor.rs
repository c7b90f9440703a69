//! The relay's actor: the mailbox through which rooms, the node's ticker and the stop sequence reach a worker's sockets.

use std::rc::Rc;
use std::time::Duration;

use actix::{Actor, AsyncContext, Context, Handler, Message, ResponseFuture};
use bytes::Bytes;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::hub::Hub;
use super::opening::{Opening, adopt};
use crate::acts::door::{Door, GOODBYE_WAIT, Goodbye, GoodbyeReport};
use crate::room::{Frames, Gather, SubscriberId};
use crate::session::opening::fresh_id;

/// How often deadlines are looked at: the grain of pings, silence and farewells, all of which are seconds.
const SWEEP: Duration = Duration::from_secs(1);
/// Messages that senders who respect the bound may have waiting. A room has at most one frame list on its way to a relay,
/// so this is a bound on rooms with news at once; above it they wait for their turn, in order.
const MAILBOX_MAX: usize = 16_384;

/// A socket that knows its place has its turn; which one stands in the hub.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct ReleaseNext;

/// The actor of one worker. Made by [`start`].
pub struct Relay {
    hub: Rc<Hub>,
}

/// The way to the relay of this thread; cheap to clone, stays on it.
#[derive(Clone)]
pub struct RelayHandle {
    hub: Rc<Hub>,
    address: actix::Addr<Relay>,
}

/// Starts the relay of the calling worker thread.
pub fn start(door: Door) -> RelayHandle {
    let context = Context::new();
    let hub = Rc::new(Hub::new(door, SubscriberId(fresh_id()), context.address()));
    let address = context.run(Relay { hub: hub.clone() });
    RelayHandle { hub, address }
}

impl RelayHandle {
    /// Takes over a socket whose handshake response has been written. `read_buf` is what was read of it already.
    pub fn adopt(&self, stream: TcpStream, read_buf: Bytes, opening: Opening) {
        adopt(&self.hub, stream, read_buf, opening);
    }

    /// For the node's ticker and the stop sequence; may go to other threads.
    pub fn address(&self) -> actix::Addr<Relay> {
        self.address.clone()
    }

    /// Sockets of this worker.
    pub fn sockets(&self) -> usize {
        self.hub.sockets()
    }
}

impl Actor for Relay {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(MAILBOX_MAX);
        ctx.run_interval(SWEEP, |relay, _| {
            relay.hub.sweep();
            relay.hub.gather();
        });
    }
}

impl Handler<Frames> for Relay {
    type Result = ();

    fn handle(&mut self, frames: Frames, _: &mut Self::Context) {
        if let Some(audience) = self.hub.audience(&frames.item) {
            audience.fan_out(&self.hub, frames);
        }
    }
}

impl Handler<Gather> for Relay {
    type Result = ();

    fn handle(&mut self, _: Gather, _: &mut Self::Context) {
        self.hub.gather();
    }
}

impl Handler<ReleaseNext> for Relay {
    type Result = ();

    fn handle(&mut self, _: ReleaseNext, _: &mut Self::Context) {
        self.hub.release_next();
    }
}

impl Handler<Goodbye> for Relay {
    type Result = ResponseFuture<GoodbyeReport>;

    fn handle(&mut self, goodbye: Goodbye, _: &mut Self::Context) -> Self::Result {
        let hub = self.hub.clone();
        Box::pin(async move {
            let overdue_before = hub.overdue();
            let told = hub.say_goodbye(goodbye.spread_ms);
            let emptied = async {
                while hub.sockets() > 0 {
                    hub.emptied.notified().await;
                }
            };
            if timeout(GOODBYE_WAIT, emptied).await.is_err() {
                hub.cut();
            }
            GoodbyeReport { told, cut: hub.overdue() - overdue_before }
        })
    }
}
