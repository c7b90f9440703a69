//! Hostile sockets: each gets its code, nobody else notices, and memory stays flat.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::json;

use crate::support::client::Client;
use crate::support::process::Process;
use crate::support::rest::Node;
use crate::support::{PATIENCE, Server, eventually};

/// A bare socket after its handshake: what a library would not send.
fn bare(server: &impl Node, path: &str) -> TcpStream {
    over(TcpStream::connect(server.address()).unwrap(), server.address(), path)
}

/// The same over a connection that is there already.
fn over(mut stream: TcpStream, host: &str, path: &str) -> TcpStream {
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    .unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    stream
}

/// Everything until the server hangs up; the code of its close frame.
fn close_code(mut stream: TcpStream) -> Option<u16> {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let mut rest = bytes.as_slice();
    while let [first, second, tail @ ..] = rest {
        let (length, tail) = match second & 0x7f {
            126 => (usize::from(u16::from_be_bytes([tail[0], tail[1]])), &tail[2..]),
            length => (usize::from(length), tail),
        };
        if first & 0x0f == 8 {
            return Some(u16::from_be_bytes([tail[0], tail[1]]));
        }
        rest = tail.get(length..)?;
    }
    None
}

/// A masked frame with a mask of zeros: the payload as it is.
fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..=125 => frame.push(0x80 | length as u8),
        length @ 126..=0xffff => {
            frame.push(0x80 | 126);
            frame.extend((length as u16).to_be_bytes());
        }
        length => {
            frame.push(0x80 | 127);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(payload);
    frame
}

/// Scenario: each way to break the WebSocket protocol. Method: the close frame has RFC 6455's code, on both doors.
#[test]
fn violations_of_the_protocol_close_with_their_own_codes() {
    let server = Server::start(&[]);
    let host = server.token("hana", "host");
    assert_eq!(server.put("/v1/items/show", Some(&host), &json!({})).0, 201);
    let studio = format!("/v1/studio/ws?items=show&token={host}");
    let huge = [&[0x81, 0x80 | 127][..], &(1_u64 << 30).to_be_bytes(), &[0; 4], b"dripped"].concat();
    let cases: [(&str, Vec<u8>, u16); 8] = [
        ("unmasked", vec![0x81, 0x02, b'h', b'i'], 1002),
        ("binary", masked(0x82, b"x"), 1003),
        ("invalid UTF-8", masked(0x81, &[0xff, 0xfe]), 1007),
        ("over 8 KiB", masked(0x81, &[b'x'; 8_193]), 1009),
        ("a declared GiB", huge, 1009),
        ("reserved bits", masked(0xf1, b"x"), 1002),
        ("a continuation of nothing", masked(0x80, b"x"), 1002),
        ("a long ping", masked(0x89, &[0; 126]), 1002),
    ];
    for (what, bytes, code) in cases {
        for path in ["/v1/items/show/ws", &studio] {
            let mut stream = bare(&server, path);
            stream.write_all(&bytes).unwrap();
            assert_eq!(close_code(stream), Some(code), "{what} at {path}");
        }
    }
    server.stop();
}

/// Scenario: messages that are no messages. Method: each is answered by an error with a code, the socket stays open.
#[test]
fn malformed_messages_are_errors_and_not_closes() {
    let server = Server::start(&["--limits", "off"]);
    let mut client = Client::named(&server, "show", "ann");
    client.wait_t("you");
    for (text, code) in [
        ("nonsense", "bad_request"),
        ("[]", "bad_request"),
        (r#"{"t":"dance"}"#, "bad_request"),
        (r#"{"t":"tap","n":"many"}"#, "bad_request"),
        (r#"{"t":"tap","n":0}"#, "unprocessable"),
        (r#"{"t":"tap","n":101}"#, "unprocessable"),
        (r#"{"t":"tap","kind":"Heart!"}"#, "bad_request"),
        (r#"{"t":"comment","text":""}"#, "unprocessable"),
        ("{\"t\":\"comment\",\"text\":\"a\\u202eb\"}", "unprocessable"),
        (r#"{"t":"comment"}"#, "bad_request"),
    ] {
        client.send_text(text);
        assert_eq!(client.wait_t("error")["code"], code, "{text}");
    }
    client.send_text("{\"t\":\"ping\"}\n{\"t\":\"tap\",\"id\":1}");
    client.wait_t("pong");
    assert_eq!(client.wait_t("ack")["id"], 1);
    drop(client);
    server.stop();
}

/// Scenario: 10,000 random byte strings, as HTTP and as WebSocket. Method: the process lives, its memory has not grown by more than
/// a few MiB, and a viewer that was there before is still served.
#[test]
fn random_bytes_neither_end_the_server_nor_grow_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Process::start(folder.path(), &["--limits", "off"]);
    let mut viewer = Client::viewer(&server, "show", "");
    viewer.wait_t("you");
    let mut random = StdRng::seed_from_u64(7);
    let mut throw = |server: &Process, rounds: usize| {
        for round in 0..rounds {
            let length = random.random_range(1..400);
            let mut bytes = vec![0; length];
            random.fill(&mut bytes[..]);
            let mut stream = if round % 2 == 0 {
                bare(server, "/v1/items/show/ws")
            } else {
                TcpStream::connect(server.address()).unwrap()
            };
            let _ = stream.write_all(&bytes);
        }
    };
    throw(&server, 1_000);
    let before = server.resident_kib();
    throw(&server, 9_000);
    eventually("sockets gone", || (server.metric("heartline_sockets") <= 1.0).then_some(()));
    let grown = server.resident_kib().saturating_sub(before);
    assert!(grown < 8 * 1024, "grew by {grown} KiB");
    assert_eq!(viewer.ask("t", json!({"t": "tap"}))["t"], "ack");
    assert_eq!(server.terminate(), Some(0));
}

/// A connection whose kernel takes little before its reader reads.
fn narrow(address: &str) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4 * 1024).unwrap();
    socket.connect(&address.parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    socket.into()
}

/// Scenario: one reader that stopped among others, while long comments come. Method: it is told `dropped` and closed with 4001; the
/// others get every comment.
#[test]
fn a_slow_reader_is_told_its_loss_and_closed_and_nobody_waits_for_it() {
    let server = Server::start(&["--limits", "off", "--tick-ms", "20"]);
    let slow = over(narrow(server.address()), server.address(), "/v1/items/show/ws");
    let mut writer = Client::named(&server, "show", "ann");
    let mut reader = Client::viewer(&server, "show", "?observe=1");
    reader.wait_t("you");
    let (text, mut accepted, mut seen) = ("x".repeat(490), 0, 0);
    let comments = |message: &serde_json::Value| message["list"].as_array().map_or(0, Vec::len);
    while server.metric("heartline_closed_total{code=\"4001\"}") == 0.0 {
        for n in 0..50 {
            writer.send(&json!({"t": "comment", "text": format!("{accepted} {n} {text}"), "id": n}));
        }
        for _ in 0..50 {
            // Refusals overtake acks; each message has one answer.
            accepted += usize::from(writer.wait_for("an answer", |answer| answer["id"].is_number())["t"] == "ack");
        }
        while let Some(message) = reader.next_within(Duration::from_millis(1)) {
            seen += comments(&message);
        }
        assert!(accepted < 20_000, "the slow reader was never closed");
    }
    while seen < accepted {
        seen += comments(&reader.wait_t("comments"));
    }
    assert_eq!(seen, accepted);
    assert!(server.metric("heartline_dropped_total{what=\"comments\"}") > 0.0);
    drop((slow, writer, reader));
    server.stop();
}

/// Scenario: a foreign page, a rebound name, a wrong method, no such door. Method: a status before the upgrade.
#[test]
fn what_may_not_be_upgraded_is_refused_before() {
    let server = Server::start(&[]);
    let status_of = |lines: &str, version: &str| {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
        write!(stream, "{lines}\r\n{upgrade}\r\nSec-WebSocket-Version: {version}\r\n\r\n").unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        String::from_utf8_lossy(&head[9..]).parse::<u16>().unwrap()
    };
    let status = |lines: &str| status_of(lines, "13");
    let host = server.address();
    assert_eq!(status_of(&format!("GET /v1/items/a/ws HTTP/1.1\r\nHost: {host}"), "8"), 426);
    assert_eq!(status(&format!("GET /v1/items/a/ws HTTP/1.1\r\nHost: {host}")), 101);
    assert_eq!(status(&format!("GET /v1/items/a/ws HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}")), 101);
    assert_eq!(status(&format!("GET /v1/items/a/ws HTTP/1.1\r\nHost: {host}\r\nOrigin: https://evil.example")), 403);
    assert_eq!(status(&format!("GET /v1/items/a/ws HTTP/1.1\r\nHost: {host}\r\nOrigin: null")), 403);
    assert_eq!(status("GET /v1/items/a/ws HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example"), 403);
    assert_eq!(status(&format!("POST /v1/items/a/ws HTTP/1.1\r\nHost: {host}")), 405);
    assert_eq!(status(&format!("GET /v1/items/a%20b/ws HTTP/1.1\r\nHost: {host}")), 400);
    assert_eq!(status(&format!("GET /v1/nowhere HTTP/1.1\r\nHost: {host}")), 404);
    server.stop();
}

/// Scenario: a bad token, an unknown item, a viewer at the studio's door. Method: told after the upgrade, with an error and a code.
#[test]
fn what_a_browser_could_not_read_is_told_after_the_upgrade() {
    let server = Server::start(&["--auto-create", "false"]);
    let viewer = server.token("ann", "viewer");
    for (path, code) in [
        ("/v1/items/show/ws?token=nonsense".to_owned(), 4500),
        ("/v1/items/show/ws".to_owned(), 4502),
        (format!("/v1/studio/ws?items=show&token={viewer}"), 4500),
    ] {
        let mut client = Client::open(&server, &path).unwrap();
        client.wait_t("error");
        assert_eq!(client.wait_closed(), code, "{path}");
    }
    server.stop();
}
