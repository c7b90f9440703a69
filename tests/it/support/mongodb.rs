//! The MongoDB of this run: `MONGODB_URL` if that is set, else the server that `tests/services/mongodb` starts, one for the whole
//! binary. Each test has a database of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

use heartline::store::durable::mongodb::Settings;
use mongodb::bson::{Document, doc};
use mongodb::options::ClientOptions;
use mongodb::{Client, Database};
use tokio::sync::Mutex;
use uuid::Uuid;

use super::PATIENCE;

/// The server's URL; the first to ask starts it.
pub fn url() -> &'static str {
    static SERVICE: OnceLock<Service> = OnceLock::new();
    &SERVICE.get_or_init(Service::start).url
}

/// With a database that nobody else has.
pub fn settings() -> Settings {
    Settings { url: url().to_owned(), database: Some(format!("heartline_test_{}", Uuid::new_v4().simple())) }
}

/// A client of the test's own, to look at what is stored.
pub async fn database(settings: &Settings) -> Database {
    let client = Client::with_uri_str(&settings.url).await.unwrap();
    client.database(settings.database.as_ref().unwrap())
}

/// Does `act` while the server is to fail, in the way of `how`, the next `update` of the client that calls itself `app`. A server
/// has one `failCommand`, which the next test to set it would take away: they take turns.
pub async fn failing_update<T>(app: &str, mut how: Document, act: impl Future<Output = T>) -> T {
    static TURN: Mutex<()> = Mutex::const_new(());
    let _turn = TURN.lock().await;
    how.extend(doc! { "failCommands": ["update"], "appName": app });
    let command = doc! { "configureFailPoint": "failCommand", "mode": { "times": 1 }, "data": how };
    Client::with_uri_str(url()).await.unwrap().database("admin").run_command(command).await.unwrap();
    act.await
}

/// Takes a test's database off a server that outlives the run.
pub fn drop_database(settings: Settings) {
    if std::env::var_os("MONGODB_URL").is_some() {
        apart(async move { database(&settings).await.drop().await.unwrap() });
    }
}

struct Service {
    url: String,
    /// Its standard input is closed with this process, which ends it.
    _child: Option<Child>,
}

impl Service {
    fn start() -> Self {
        if let Ok(url) = std::env::var("MONGODB_URL") {
            return Self { url, _child: None };
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/services/mongodb");
        let mut child = Command::new(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        assert!(!url.is_empty(), "the server did not start; it said why above");
        if url.ends_with("replicaSet=heartline") {
            apart(initiate(url.clone()));
        }
        Self { url, _child: Some(child) }
    }
}

/// Makes a fresh `mongod` the replica set that it was started as, and waits until it is its primary.
async fn initiate(url: String) {
    let mut options = ClientOptions::parse(&url).await.unwrap();
    (options.repl_set_name, options.direct_connection) = (None, Some(true));
    let host = options.hosts[0].to_string();
    let admin = Client::with_options(options).unwrap().database("admin");
    let members = [doc! { "_id": 0, "host": host }].to_vec();
    admin.run_command(doc! { "replSetInitiate": { "_id": "heartline", "members": members } }).await.unwrap();
    let since = Instant::now();
    while !admin.run_command(doc! { "hello": 1 }).await.unwrap().get_bool("isWritablePrimary").unwrap() {
        assert!(since.elapsed() < PATIENCE, "no primary");
    }
}

/// On a thread and runtime of its own, whatever the caller runs on.
fn apart(work: impl Future<Output = ()> + Send + 'static) {
    let on_thread = move || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
    std::thread::spawn(on_thread).join().unwrap();
}
