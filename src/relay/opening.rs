//! How a viewer comes in: who, `hello`, the room, the place in it.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::hub::{Hub, Release};
use super::socket::{NO_LIFE, Socket, serve};
use crate::acts::door::{now, prepare};
use crate::protocol::{ApiError, CloseCode, Code, ItemId};
use crate::room::messages::unreachable_room;
use crate::room::{Join, Joined, Leave, RoomHandle};
use crate::session::opening::Resume;
use crate::session::{Session, words};

/// How long a room may take to be found and to answer a join; then the client is asked to come again.
const OPEN_WAIT: Duration = Duration::from_secs(10);

/// What a viewer's request asked for; its `Origin` was checked before the upgrade.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The item, as the path named it.
    pub item: ItemId,
    /// The token, if there was one.
    pub token: Option<String>,
    /// `?resume=`
    pub resume: Option<Resume>,
    /// `?observe=1`: counts for no viewer.
    pub observe: bool,
}

/// Takes a socket over whose handshake is written; `read_buf` may already hold the client's first frames.
pub(super) fn adopt(hub: &Rc<Hub>, stream: TcpStream, read_buf: Bytes, opening: Opening) {
    prepare(&stream, &hub.door.config);
    let audience = hub.audience_for(&opening.item);
    let socket = Socket::new(stream, audience, !opening.observe, hub.door.config.message_max_bytes);
    let socket = Rc::new(socket);
    hub.add(&socket);
    let way_in = Box::pin(come_in(hub.clone(), socket.clone(), read_buf, opening));
    actix_rt::spawn(serve(hub.clone(), socket, way_in));
}

async fn come_in(hub: Rc<Hub>, socket: Rc<Socket>, read_buf: Bytes, opening: Opening) {
    if hub.leaving.get() {
        return socket.close(&hub, CloseCode::Shutdown);
    }
    if let Err(error) = greet(&hub, &socket, opening.token.as_deref()) {
        return refuse(&hub, &socket, &error, CloseCode::BadToken);
    }
    socket.hold();
    match join(&hub, &socket, &opening).await {
        Ok((joined, liked)) => {
            let (done, released) = oneshot::channel();
            hub.release_in_turn(Release { socket: socket.clone(), joined, liked, done });
            if released.await.is_ok() {
                socket.take(&hub, &mut Vec::from(read_buf));
            }
        }
        Err(error) => refuse(&hub, &socket, &error, words::close_code_of(&error)),
    }
}

/// Who it is, and `hello`. The token is not kept.
fn greet(hub: &Hub, socket: &Socket, token: Option<&str>) -> Result<(), ApiError> {
    let now = now();
    let (caller, given) = hub.door.identify(token, now.wall)?;
    let connection = hub.next_connection();
    let name = format!("{}-{connection}", hub.subscriber.0);
    let hello = words::hello(&name, &caller, &hub.door.hello, given.as_deref());
    socket.session.replace(Some(Session::new(caller, &hub.door.config, phase(connection), now.at)));
    socket.send_first(hub, [hello]);
    Ok(())
}

/// The fractions of multiples of the golden ratio are spread evenly, however many there are (Knuth, TAOCP 3, 6.4).
fn phase(connection: u64) -> f32 {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    (connection.wrapping_mul(GOLDEN) >> 40) as f32 / (1_u32 << 24) as f32
}

/// Finds the room and joins it; with whether the person likes the item.
async fn join(hub: &Rc<Hub>, socket: &Rc<Socket>, opening: &Opening) -> Result<(Joined, bool), ApiError> {
    let Some(user) = socket.session.borrow().as_ref().map(|session| session.caller().user.clone()) else {
        return Err(ApiError::new(Code::Internal, "no session"));
    };
    let room = timeout(OPEN_WAIT, hub.door.acts.open(&opening.item)).await.map_err(|_| too_slow())??;
    let life = socket.audience.found(hub, room.clone());
    let (counted, resume) = (socket.counted, opening.resume);
    let liked = hub.door.liked(user.clone(), opening.item.clone());
    let join = Join { subscriber: hub.subscriber, frames: hub.frames(), user, counted, resume };
    let (joined, liked) = futures_util::future::join(answer_in_time(&room, join), liked).await;
    let joined = joined?;
    // The room may have ended while the answer was on its way.
    if socket.audience.room().is_none_or(|(current, _)| current != life) {
        return Err(ApiError::new(Code::Unavailable, "room: started anew").retry_after(0));
    }
    // An ended room takes nobody in, so there is nothing to leave.
    socket.set_life(if joined.ended { NO_LIFE } else { life });
    socket.audience.joined(&joined);
    Ok((joined, liked))
}

/// A join that is answered too late is left again, so that nobody is counted who is not there.
async fn answer_in_time(room: &RoomHandle, join: Join) -> Result<Joined, ApiError> {
    let leave = Leave { subscriber: join.subscriber, user: join.user.clone(), counted: join.counted };
    let mut answer = Box::pin(room.join.send(join));
    if let Ok(answer) = timeout(OPEN_WAIT, &mut answer).await {
        return answer.map_err(unreachable_room)?;
    }
    let leave_room = room.leave.clone();
    actix_rt::spawn(async move {
        if let Ok(Ok(joined)) = answer.await
            && !joined.ended
        {
            leave_room.do_send(leave);
        }
    });
    Err(too_slow())
}

fn too_slow() -> ApiError {
    ApiError::new(Code::Unavailable, "room: no answer in time").retry_after(1_000)
}

fn refuse(hub: &Hub, socket: &Socket, error: &ApiError, code: CloseCode) {
    socket.send_first(hub, [words::error(None, None, error, None)]);
    socket.close(hub, code);
}
