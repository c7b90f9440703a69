//! Requests that are not requests, written by hand onto a socket.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use crate::support::rest::Node;
use crate::support::{PATIENCE, Server};

/// What the server answers to these bytes, up to its close or the end of the first answer's head.
fn raw(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // A server that has refused already may have closed: that is an answer too.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let mut chunk = [0; 4_096];
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => break,
            Ok(n) => answer.extend_from_slice(&chunk[..n]),
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

/// Scenario: a gigabyte is declared and never sent. Method: the refusal comes without it.
#[test]
fn a_declared_gigabyte_is_refused_without_reading() {
    let server = Server::start(&[]);
    let head = "POST /v1/dev/token HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\n";
    assert_eq!(status(&raw(&server, head.as_bytes())), "413");
    server.stop();
}

/// Scenario: a body that says no length and does not end. Method: 413 once it is over the limit.
#[test]
fn an_endless_body_is_cut_at_the_limit() {
    let server = Server::start(&[]);
    let mut bytes = b"POST /v1/dev/token HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..40 {
        bytes.extend_from_slice(b"4000\r\n");
        bytes.extend_from_slice(&[b' '; 0x4000]);
        bytes.extend_from_slice(b"\r\n");
    }
    assert_eq!(status(&raw(&server, &bytes)), "413");
    server.stop();
}

/// Scenario: paths with bad encodings and tricks. Method: 400 or 404, never 500, and never a file from outside.
#[test]
fn paths_that_lie_are_refused() {
    let server = Server::start(&[]);
    for (path, expected) in [
        ("/v1/items/%zz", "400"),
        ("/v1/items/%ff%fe", "400"),
        ("/v1/items/a%00b", "400"),
        ("/v1/items/a%2541", "400"),
        ("/v1/items/%2e%2e", "400"),
        ("/../Cargo.toml", "404"),
        ("/%2e%2e/Cargo.toml", "404"),
        ("/watch/..%2f..%2fCargo.toml", "404"),
        ("/..%5cCargo.toml", "404"),
    ] {
        let answer = raw(&server, format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        assert_eq!(status(&answer), expected, "{path}");
    }
    server.stop();
}

/// Scenario: a foreign page points its own name at this machine. Method: the name alone decides.
#[test]
fn a_foreign_host_name_is_not_answered() {
    let server = Server::start(&[]);
    for (host, expected) in [("evil.example", "403"), ("localhost:1", "200"), ("[::1]", "200")] {
        let answer = raw(&server, format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes());
        assert_eq!(status(&answer), expected, "{host}");
    }
    server.stop();
}

/// Scenario: noise on the port. Method: 2,000 strings from a fixed sequence, as heads and as bodies; then a normal request is answered.
#[test]
fn noise_does_not_stop_the_server() {
    let server = Server::start(&[]);
    let viewer = server.token("ann", "viewer");
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut noise = |len: usize| -> Vec<u8> {
        let byte = |_| {
            // xorshift64 (Marsaglia 2003): the same noise in every run.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        (0..len).map(byte).collect()
    };
    for n in 0..1_000 {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        let _ = stream.write_all(&noise(n % 200));
        let body = noise(n % 97);
        let head = format!(
            "POST /v1/items/show/comments HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {viewer}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let answer = raw(&server, &[head.as_bytes(), &body].concat());
        assert_eq!(status(&answer), "400", "{answer}");
    }
    assert_eq!(server.post("/v1/items/show/taps", Some(&viewer), &json!({})).0, 200);
    server.stop();
}
