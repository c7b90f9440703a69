//! How a server finds its stores, or says in one line why it does not: TLS, credentials, addresses behind which nothing answers.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use redis::{Client as RedisClient, Commands};
use serde_json::json;
use socket2::{Domain, Socket, Type};

use crate::support::client::Client;
use crate::support::pair::Pair;
use crate::support::process::Process;

/// Longer than any bound of the start, on a busy machine.
const BOUNDED: Duration = Duration::from_secs(30);

/// Starts a server that cannot start: exit 64, in bounded time, one line with the field's name and no password in it.
fn refused(redis_url: &str, mongodb_url: &str, field: &str, env: &[(&str, &Path)]) -> String {
    let (folder, since) = (tempfile::tempdir().unwrap(), Instant::now());
    let output = Command::new(env!("CARGO_BIN_EXE_heartline"))
        .args(["--listen", "127.0.0.1:0", "--redis-url", redis_url, "--mongodb-url", mongodb_url, "--data-dir"])
        .arg(folder.path())
        .envs(env.iter().copied())
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(64), "{told}");
    assert_eq!((told.lines().count(), told.contains(field), told.contains("s3cret")), (1, true, false), "{told}");
    assert!(since.elapsed() < BOUNDED, "{:?}", since.elapsed());
    told
}

/// A certificate that vouches for itself, and its key, as files of a folder.
struct Certificate(tempfile::TempDir);

impl Certificate {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        std::fs::write(folder.path().join("cert.pem"), made.cert.pem()).unwrap();
        std::fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }
}

/// Scenario: a Redis with TLS. Method: with its certificate trusted the server works over it; with another one trusted, and where the port speaks no
/// TLS, it says so.
#[test]
fn redis_is_spoken_to_over_tls_and_only_if_its_certificate_is_trusted() {
    let (certificate, other) = (Certificate::new(), Certificate::new());
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let (cert, key) = (certificate.file("cert.pem"), certificate.file("key.pem"));
    let tls = ["--tls-port", &port, "--tls-cert-file", &cert, "--tls-key-file", &key, "--tls-auth-clients", "no"];
    let pair = Pair::with(&tls);
    let [_, plain, _, mongodb] = pair.urls();
    let secure = format!("rediss://127.0.0.1:{port}/");

    let folder = tempfile::tempdir().unwrap();
    let urls = ["--redis-url", &secure, "--mongodb-url", &mongodb];
    let mut server = Process::start_with(folder.path(), &urls, &[("SSL_CERT_FILE", Path::new(&cert))]);
    let mut ann = Client::named(&server, "show", "ann");
    assert_eq!(ann.ask("t", json!({"t": "tap", "n": 3}))["accepted"], 3);
    assert_eq!(server.terminate(), Some(0));

    let wrong = other.file("cert.pem");
    let told = refused(&secure, &mongodb, "redis_url", &[("SSL_CERT_FILE", Path::new(&wrong))]);
    assert!(told.contains("certificate"), "{told}");
    let no_tls = plain.replace("redis://", "rediss://");
    refused(&no_tls, &mongodb, "redis_url", &[("SSL_CERT_FILE", Path::new(&cert))]);
}

/// Scenario: a Redis with a user of its own, and a numbered database. Method: everything is in that database; a wrong password, none,
/// and a user of nobody are told as such, by Redis and by MongoDB.
#[test]
fn users_passwords_and_databases_are_those_of_the_urls() {
    let pair = Pair::with(&["--user", "ann", "on", ">s3cret@+", "~*", "&*", "+@all"]);
    let [_, plain, _, mongodb] = pair.urls();
    let as_ann = |password: &str| plain.replace("redis://", &format!("redis://ann:{password}@"));
    let folder = tempfile::tempdir().unwrap();
    let urls = ["--redis-url", &format!("{}2", as_ann("s3cret%40%2B")), "--mongodb-url", &mongodb];
    let mut server = Process::start(folder.path(), &urls);
    let mut ann = Client::named(&server, "show", "ann");
    assert_eq!(ann.ask("t", json!({"t": "tap", "n": 3}))["accepted"], 3);
    let mut second = RedisClient::open(format!("{plain}2")).unwrap().get_connection().unwrap();
    assert!(!second.keys::<_, Vec<String>>("*item:show").unwrap().is_empty());
    assert_eq!(pair.redis.keys(), Vec::<String>::new(), "nothing in database 0");
    assert_eq!(server.terminate(), Some(0));

    let told = refused(&as_ann("s3cret"), &mongodb, "redis_url", &[]);
    assert!(told.contains("credentials"), "{told}");
    let nobody = mongodb.replace("mongodb://", "mongodb://nobody:s3cret@");
    let told = refused(&plain, &nobody, "mongodb_url", &[]);
    assert!(told.contains("credentials"), "{told}");
}

/// An address that takes no more connections and refuses none: packets go in and nothing comes back.
struct BlackHole {
    address: SocketAddr,
    _listener: Socket,
    _queued: Vec<TcpStream>,
}

impl BlackHole {
    fn new() -> Self {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        listener.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        listener.listen(0).unwrap();
        let address = listener.local_addr().unwrap().as_socket().unwrap();
        let mut queued = Vec::new();
        while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
            queued.push(stream);
        }
        Self { address, _listener: listener, _queued: queued }
    }
}

/// Scenario: an address whose packets vanish. Method: for either store, with TLS and without, the start gives up in bounded time.
#[test]
fn a_black_hole_does_not_hold_up_the_start() {
    let (pair, hole) = (Pair::start(), BlackHole::new());
    let [_, plain, _, mongodb] = pair.urls();
    for scheme in ["redis", "rediss"] {
        refused(&format!("{scheme}://:s3cret@{}/", hole.address), &mongodb, "redis_url", &[]);
    }
    refused(&plain, &format!("mongodb://ann:s3cret@{}/heartline", hole.address), "mongodb_url", &[]);
}

/// Scenario: URLs that this build does not speak. Method: the line says what to write instead.
#[test]
fn a_url_that_needs_a_resolver_is_refused_with_the_way_out() {
    let told = refused("redis://127.0.0.1:1/", "mongodb+srv://ann:s3cret@cluster.example/db", "mongodb_url", &[]);
    assert!(told.contains("mongodb://HOST"), "{told}");
}
