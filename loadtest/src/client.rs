//! Opening WebSockets to a room, many at a time, up to the moment when a client has everything that it starts from.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::{Message, WebSocketConfig};

use crate::inbound::Inbound;
use crate::target::Target;

/// A socket to a room.
pub type Socket = WebSocketStream<TcpStream>;

/// Handshakes under way at the same time: enough to be quick, below any accept queue.
const JOINING_MAX: usize = 64;
/// From connecting to `you`, at most.
const JOIN_MAX: Duration = Duration::from_secs(20);
/// Read buffer of a socket; frames are small and sockets are many.
const BUFFER_BYTES: usize = 8 << 10;
/// Sockets for one source address: below the 28,232 ports that Linux gives to one by default.
pub const PER_SOURCE: usize = 20_000;

/// A socket that has had `hello`, `snapshot` and `you`.
#[derive(Debug)]
pub struct Joined {
    /// The open socket.
    pub socket: Socket,
    /// The frames of the beginning, as they came.
    pub frames: Vec<String>,
}

/// The source address of the `index`-th socket: 127.0.0.1, then 127.0.0.2 … where the ports of one do not suffice.
pub fn source_of(index: usize) -> Ipv4Addr {
    let step = u8::try_from(index / PER_SOURCE).unwrap_or(u8::MAX - 1);
    Ipv4Addr::new(127, 0, 0, 1 + step.min(u8::MAX - 2))
}

/// Joins with one socket per token; `None` is an anonymous one.
///
/// # Errors
/// One of them could not join: a run with fewer sockets than asked for would measure something else.
pub async fn join_all(target: &Target, item: &str, tokens: Vec<Option<String>>) -> Result<Vec<Joined>> {
    let joins = tokens.into_iter().enumerate().map(|(index, token)| async move {
        let joined = tokio::time::timeout(JOIN_MAX, join(target, item, index, token.as_deref())).await;
        joined.context("no snapshot in time").flatten().with_context(|| format!("socket {index}"))
    });
    stream::iter(joins).buffered(JOINING_MAX).try_collect().await
}

async fn join(target: &Target, item: &str, index: usize, token: Option<&str>) -> Result<Joined> {
    let stream = connect(target.address, index).await?;
    let mut request = format!("ws://{}/v1/items/{item}/ws", target.host).into_client_request()?;
    if let Some(token) = token {
        request.headers_mut().insert("authorization", HeaderValue::from_str(&format!("Bearer {token}"))?);
    }
    let config = WebSocketConfig::default().read_buffer_size(BUFFER_BYTES).write_buffer_size(0);
    let (mut socket, _) = tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await?;
    let mut frames = Vec::new();
    while !has_you(frames.last())? {
        match socket.next().await.ok_or_else(|| anyhow!("closed before `you`"))?? {
            Message::Text(text) => frames.push(text.as_str().to_owned()),
            Message::Close(frame) => bail!("closed before `you`: {frame:?}"),
            _ => {}
        }
    }
    Ok(Joined { socket, frames })
}

fn has_you(frame: Option<&String>) -> Result<bool> {
    let Some(frame) = frame else { return Ok(false) };
    for message in Inbound::of_frame(frame) {
        if message.map_err(|e| anyhow!(e))?.t == "you" {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn connect(address: SocketAddr, index: usize) -> Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    if address.is_ipv4() && index >= PER_SOURCE {
        socket.bind(SocketAddr::new(IpAddr::V4(source_of(index)), 0))?;
    }
    let stream = socket.connect(address).await.context("cannot connect")?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_stay_on_this_machine() {
        assert_eq!(source_of(0), Ipv4Addr::LOCALHOST);
        assert_eq!(source_of(PER_SOURCE), Ipv4Addr::new(127, 0, 0, 2));
        assert!(source_of(usize::MAX).is_loopback());
    }
}
