//! Sessions are driven by values alone: no socket, no clock.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::auth::Caller;
use crate::config::SocketConfig;
use crate::protocol::client::{RequestId, Tap};
use crate::protocol::server::AckBody;
use crate::protocol::{ApiError, CloseCode, Code, ItemId, Kind, Millis, Role, UserId};
use crate::session::{Deed, Effect, Input, Now, Session, Setting};

const TOKEN_MS: i64 = 3_600_000;

struct Bench {
    session: Session,
    config: SocketConfig,
    items: Vec<ItemId>,
    now: Now,
}

impl Bench {
    fn new(items: &[&str]) -> Self {
        let now = Now { at: Instant::now(), wall: Millis(0) };
        let config = SocketConfig::default();
        let session = Session::new(caller("ann", TOKEN_MS), &config, 0.5, now.at);
        Self { session, config, items: items.iter().map(|id| ItemId::parse(id).unwrap()).collect(), now }
    }

    fn after(&mut self, wait: Duration) -> &mut Self {
        self.now.at += wait;
        self.now.wall = Millis(self.now.wall.0 + i64::try_from(wait.as_millis()).unwrap());
        self
    }

    fn handle(&mut self, input: Input<'_>) -> Vec<Effect> {
        let mut effects = Vec::new();
        let setting = Setting { config: &self.config, items: &self.items, now: self.now };
        self.session.handle(input, &setting, &mut effects);
        effects
    }

    fn text(&mut self, text: &str) -> Vec<Effect> {
        self.handle(Input::Text(text))
    }
}

fn caller(sub: &str, expires_ms: i64) -> Caller {
    Caller {
        user: UserId::parse(sub).unwrap(),
        role: Role::Viewer,
        items: None,
        name: None,
        expires: Millis(expires_ms),
    }
}

/// The message in a frame that is short enough for a two- or four-byte header.
fn message(effect: &Effect) -> Value {
    let Effect::Send(frame) = effect else { panic!("{effect:?} sends nothing") };
    let start = frame.iter().position(|byte| *byte == b'{').unwrap();
    serde_json::from_slice(&frame[start..]).unwrap()
}

#[test]
fn several_objects_in_one_message_are_not_taken_for_one() {
    // Scenario: a tap, a tap with an id, a comment, rubbish and a ping in one message. Method: one effect each, in order.
    let mut bench = Bench::new(&["a"]);
    let text = "{\"t\":\"tap\",\"n\":3}\n{\"t\":\"tap\",\"id\":1}\n\n{\"t\":\"comment\",\"text\":\"hi\",\"id\":\"c\"}\nno\n{\"t\":\"ping\"}";
    let effects = bench.text(text);
    assert!(matches!(effects[0], Effect::Tap { room: 0, tap: Tap { kind: Kind::HEART, n: 3 } }));
    assert!(matches!(&effects[1], Effect::Perform { id: Some(RequestId::Number(1)), deed: Deed::Tap(_), .. }));
    assert!(matches!(&effects[2], Effect::Perform { deed: Deed::Comment(_), .. }));
    assert_eq!(message(&effects[3])["code"], "bad_request");
    assert_eq!(message(&effects[4])["t"], "pong");
    assert_eq!(effects.len(), 5);
}

#[test]
fn malformed_objects_do_not_close_and_keep_their_id() {
    let mut bench = Bench::new(&["a"]);
    let effects = bench.text(r#"{"t":"tap","n":0,"id":"x"}"#);
    let told = message(&effects[0]);
    assert_eq!((&told["id"], &told["act"], &told["code"]), (&"x".into(), &"tap".into(), &"unprocessable".into()));
    assert_eq!(effects.len(), 1);
}

#[test]
fn acts_without_end_under_way_do_not_grow_memory() {
    // Scenario: one more act with an answer than may be under way. Method: the last is refused; an answer frees its place.
    let mut bench = Bench::new(&["a"]);
    for n in 0..bench.config.acts_in_flight_max {
        assert!(matches!(bench.text(&format!(r#"{{"t":"tap","id":{n}}}"#))[0], Effect::Perform { .. }));
    }
    let refused = bench.text(r#"{"t":"tap","id":"late"}"#);
    assert_eq!(message(&refused[0])["code"], "rate_limited");
    assert_eq!(message(&refused[0])["id"], "late");
    bench.session.answered(None, "tap", Ok(AckBody::Done {}), &mut Vec::new());
    assert!(matches!(bench.text(r#"{"t":"tap","id":"again"}"#)[0], Effect::Perform { .. }));
}

#[test]
fn without_an_id_only_refusals_are_told() {
    let mut bench = Bench::new(&["a"]);
    let mut effects = Vec::new();
    bench.session.answered(None, "comment", Ok(AckBody::Done {}), &mut effects);
    assert!(effects.is_empty());
    let error = ApiError::new(Code::Forbidden, "chat closed");
    bench.session.answered(None, "comment", Err(&error), &mut effects);
    assert_eq!(message(&effects[0])["act"], "comment");
}

#[test]
fn refused_taps_are_not_answered_by_a_flood_of_errors() {
    // Scenario: 100 refusals within a second. Method: the first is told at once, the other 99 together a second later.
    let mut bench = Bench::new(&["a"]);
    let mut effects = Vec::new();
    for _ in 0..100 {
        bench.after(Duration::from_millis(5));
        bench.session.taps_over_rate(2, 40, bench.now, &mut effects);
    }
    assert_eq!(effects.len(), 1);
    let first = message(&effects[0]);
    assert_eq!((&first["act"], &first["refused"], &first["retry_after_ms"]), (&"tap".into(), &2.into(), &40.into()));
    let later = bench.after(Duration::from_secs(1)).handle(Input::Clock);
    assert_eq!(message(&later[0])["refused"], 198);
    assert!(bench.after(Duration::from_secs(1)).handle(Input::Clock).is_empty());
}

#[test]
fn a_silent_client_is_closed_and_outbound_pings_do_not_keep_it() {
    // Scenario: nothing comes in for 2.5 pings. Method: a clock once a second; pings on the way, then 4002.
    let mut bench = Bench::new(&["a"]);
    let (mut pings, mut seconds) = (0, 0);
    let code = loop {
        seconds += 1;
        match bench.after(Duration::from_secs(1)).handle(Input::Clock).pop() {
            Some(Effect::Control(_)) => pings += 1,
            Some(Effect::Close(code)) => break code,
            other => assert!(other.is_none(), "{other:?}"),
        }
    };
    assert_eq!((code, seconds, pings), (CloseCode::Idle, 50, 2));
}

#[test]
fn a_pong_counts_as_life() {
    let mut bench = Bench::new(&["a"]);
    for _ in 0..200 {
        let effects = bench.after(Duration::from_secs(1)).handle(Input::Clock);
        if matches!(effects.first(), Some(Effect::Control(_))) {
            assert!(bench.handle(Input::Pong).is_empty());
        }
        assert!(!matches!(effects.last(), Some(Effect::Close(_))));
    }
}

#[test]
fn an_expired_token_ends_the_session_even_if_the_clock_never_comes() {
    // Scenario: the sweep is starved. Method: the message that comes after the expiry is refused and closes 4500.
    let mut bench = Bench::new(&["a"]);
    bench.after(Duration::from_millis(TOKEN_MS.unsigned_abs()));
    let effects = bench.text(r#"{"t":"tap"}"#);
    assert_eq!(message(&effects[0])["code"], "unauthorized");
    assert!(matches!(effects[1], Effect::Close(CloseCode::BadToken)));
    assert!(bench.text(r#"{"t":"tap"}"#).is_empty(), "nothing is taken after the close");
}

#[test]
fn an_expiring_token_is_renewed_in_place() {
    // realtime-js#246: an expiring token killed the channel.
    let mut bench = Bench::new(&["a"]);
    let asked = bench.text(r#"{"t":"auth","token":"new","id":9}"#);
    assert!(matches!(&asked[0], Effect::Renew { token, .. } if token == "new"));
    let mut effects = Vec::new();
    bench.session.renewed(Some(&RequestId::Number(9)), Ok(caller("ann", 2 * TOKEN_MS)), &mut effects);
    assert_eq!(message(&effects[0])["t"], "ack");
    bench.after(Duration::from_millis(TOKEN_MS.unsigned_abs()));
    assert!(matches!(bench.text(r#"{"t":"tap"}"#)[0], Effect::Tap { .. }));
}

#[test]
fn somebody_elses_token_does_not_take_a_session_over() {
    for verified in [Ok(caller("bob", TOKEN_MS)), Err(ApiError::new(Code::Unauthorized, "token: bad"))] {
        let mut bench = Bench::new(&["a"]);
        let mut effects = Vec::new();
        bench.session.renewed(None, verified, &mut effects);
        assert_eq!(message(&effects[0])["code"], "unauthorized");
        assert!(matches!(effects[1], Effect::Close(CloseCode::BadToken)));
        assert_eq!(bench.session.caller().user.as_str(), "ann");
    }
}

#[test]
fn a_hosts_message_goes_to_the_item_that_it_names_and_to_no_other() {
    let mut bench = Bench::new(&["a", "b"]);
    assert!(matches!(bench.text(r#"{"t":"tap","item":"b"}"#)[0], Effect::Tap { room: 1, .. }));
    assert_eq!(message(&bench.text(r#"{"t":"tap"}"#)[0])["code"], "bad_request");
    assert_eq!(message(&bench.text(r#"{"t":"tap","item":"c","id":1}"#)[0])["code"], "not_found");
    let mut viewer = Bench::new(&["a"]);
    assert!(matches!(viewer.text(r#"{"t":"tap","item":"zz"}"#)[0], Effect::Tap { room: 0, .. }));
}

#[test]
fn sockets_that_came_in_together_are_not_pinged_together() {
    let config = SocketConfig::default();
    let start = Instant::now();
    let first_ping = |phase: f32| {
        let mut session = Session::new(caller("ann", i64::MAX), &config, phase, start);
        (0..).find(|second| {
            let now = Now { at: start + Duration::from_secs(*second), wall: Millis(0) };
            let mut effects = Vec::new();
            session.handle(Input::Clock, &Setting { config: &config, items: &[], now }, &mut effects);
            !effects.is_empty()
        })
    };
    let seconds: Vec<_> = [0.0, 0.25, 0.5, 0.75].into_iter().map(first_ping).collect();
    assert_eq!(seconds, [Some(0), Some(5), Some(10), Some(15)]);
}
