//! Which door a socket goes to. Every `Upgrade: websocket` request and `CONNECT` of a worker comes here, before any route of the app.
//!
//! What can be known before the upgrade is answered with a status; all else is told after it, as `error` and a close code, since a
//! browser cannot read a refused upgrade. After the handshake the bare stream belongs to the relay or to a studio session.

use std::rc::Rc;
use std::sync::Arc;

use actix_codec::Framed;
use actix_http::body::{BodySize, BoxBody};
use actix_http::h1::{Codec, Message};
use actix_http::header::{self, HeaderMap, HeaderValue};
use actix_http::{Request, Response, StatusCode, ws};
use futures_util::SinkExt;
use tokio::net::TcpStream;

use super::knock::{self, Asked, Refusal};
use crate::api::host;
use crate::config::{ServerConfig, SocketConfig};
use crate::relay::RelayHandle;
use crate::session::SocketStats;
use crate::studio::Studios;

/// The sub-protocol of the wire contract; selected if the client offers it.
const SUBPROTOCOL: &str = "heartline.v1";

/// What a worker's upgrade service knows.
pub struct Upgrade {
    /// This worker's relay.
    pub relay: RelayHandle,
    /// The node's hosts.
    pub studios: Arc<Studios>,
    /// Origins and host names.
    pub server: Arc<ServerConfig>,
    /// The bound on sockets.
    pub sockets: Arc<SocketConfig>,
    /// Open sockets of the node.
    pub stats: Arc<SocketStats>,
}

impl Upgrade {
    /// Answers one request: the handshake and a new owner for the stream, or a refusal.
    pub async fn answer(
        self: Rc<Self>,
        request: Request,
        mut framed: Framed<TcpStream, Codec>,
    ) -> Result<(), actix_web::Error> {
        let asked = self.admit(&request);
        let response = match &asked {
            Ok(_) => accept(&request),
            Err(refusal) => refuse(*refusal),
        };
        let accepted = response.status() == StatusCode::SWITCHING_PROTOCOLS;
        let response = response.drop_body();
        // A request holds memory for as long as it lives, and the socket may live for hours.
        drop(request);
        framed.send(Message::Item((response, BodySize::None))).await?;
        if let (true, Ok(asked)) = (accepted, asked) {
            let parts = framed.into_parts();
            let first = parts.read_buf.freeze();
            match asked {
                Asked::Viewer(opening) => self.relay.adopt(parts.io, first, opening),
                Asked::Studio(opening) => self.studios.adopt(parts.io, first, opening),
            }
        }
        Ok(())
    }

    fn admit(&self, request: &Request) -> Result<Asked, Refusal> {
        let head = request.head();
        if !host::host_allowed(&self.server, &head.uri, &head.headers)
            || !host::origin_allowed(&self.server, &head.headers)
        {
            return Err(Refusal::ForeignOrigin);
        }
        let asked = knock::read(&head.method, &head.uri, &head.headers)?;
        let open = usize::try_from(self.stats.sockets()).unwrap_or(usize::MAX);
        if open >= self.sockets.sockets_max { Err(Refusal::Full) } else { Ok(asked) }
    }
}

/// The handshake's response, or the refusal of a malformed handshake (actix-http's is the strict one).
fn accept(request: &Request) -> Response<BoxBody> {
    match ws::handshake(request.head()) {
        Ok(mut response) => {
            if offers(&request.head().headers) {
                response.insert_header((header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL)));
            }
            response.finish().map_into_boxed_body()
        }
        Err(error) => Response::from(error),
    }
}

fn offers(headers: &HeaderMap) -> bool {
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).filter_map(|value| value.to_str().ok());
    offered.flat_map(|value| value.split(',')).any(|name| name.trim() == SUBPROTOCOL)
}

fn refuse(refusal: Refusal) -> Response<BoxBody> {
    let status = match refusal {
        Refusal::Malformed => StatusCode::BAD_REQUEST,
        Refusal::ForeignOrigin => StatusCode::FORBIDDEN,
        Refusal::NotFound => StatusCode::NOT_FOUND,
        Refusal::Method => StatusCode::METHOD_NOT_ALLOWED,
        Refusal::Full => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut response = Response::build(status);
    if refusal == Refusal::Full {
        response.insert_header((header::RETRY_AFTER, "1"));
    }
    response.force_close();
    response.finish().map_into_boxed_body()
}
