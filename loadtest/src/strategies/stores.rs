//! The stores of a run: Redis servers of its own, and a database of its own in a MongoDB.

use std::net::TcpListener;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use mongodb::bson::doc;
use mongodb::options::{Acknowledgment, ClientOptions, WriteConcern};
use mongodb::{Client, Database};
use redis::aio::MultiplexedConnection;
use tokio::time::{Instant, sleep};

use crate::process::{Folder, Process, READY_MAX};

/// What starts the MongoDB of the project's tests. It ends when its standard input is closed.
const MONGODB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/services/mongodb");
/// From the start of that to its URL: it may have to be set up first.
const MONGODB_READY_MAX: Duration = Duration::from_secs(180);
/// The name of the replica set that such a `mongod` is started as, and that its starter initiates.
const REPLICA_SET: &str = "heartline";
/// Until that has a primary.
const PRIMARY_MAX: Duration = Duration::from_secs(30);
/// Ports that are tried for one Redis: another process may take one between the look and the start.
const PORTS_MAX: usize = 10;

/// A redis-server of this run, as `docs/operations.md` wants one: append-only file, no eviction.
#[derive(Debug)]
pub struct Redis {
    port: u16,
    _process: Process,
    _data: Folder,
}

impl Redis {
    /// Starts it, empty, and waits until it is ready.
    ///
    /// # Errors
    /// It does not come up.
    pub fn start(binary: &Path) -> Result<Self> {
        for _ in 1..PORTS_MAX {
            if let Ok(redis) = Self::start_once(binary) {
                return Ok(redis);
            }
        }
        Self::start_once(binary)
    }

    fn start_once(binary: &Path) -> Result<Self> {
        let data = Folder::new()?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = Command::new(binary);
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes"]);
        command.args(["--maxmemory-policy", "noeviction", "--dir"]).arg(data.path()).stdin(Stdio::null());
        let process = Process::start(&mut command)?;
        process.await_line(READY_MAX, |line| line.contains("Ready to accept").then_some(())).context("redis-server")?;
        Ok(Self { port, _process: process, _data: data })
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// A new connection.
    ///
    /// # Errors
    /// It has gone.
    pub async fn connect(&self) -> Result<MultiplexedConnection> {
        redis::Client::open(self.url())?.get_multiplexed_async_connection().await.context("Redis")
    }

    /// Processor time that it has spent so far, all threads, user and system, in seconds.
    ///
    /// # Errors
    /// It does not tell.
    pub async fn cpu_s(&self) -> Result<f64> {
        let info = self.info("cpu").await?;
        Ok(field(&info, "used_cpu_user")? + field(&info, "used_cpu_sys")?)
    }

    /// Memory that it has given out, in bytes.
    ///
    /// # Errors
    /// It does not tell.
    pub async fn used_bytes(&self) -> Result<f64> {
        field(&self.info("memory").await?, "used_memory")
    }

    async fn info(&self, section: &str) -> Result<String> {
        Ok(redis::cmd("INFO").arg(section).query_async(&mut self.connect().await?).await?)
    }
}

/// A number in an answer to `INFO`.
fn field(info: &str, name: &str) -> Result<f64> {
    let value = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.and_then(|value| value.trim().parse().ok()).with_context(|| format!("Redis does not tell its {name}"))
}

/// A database of this run.
#[derive(Debug)]
pub struct Mongo {
    /// With the database.
    pub url: String,
    database: Database,
    /// The server, if it is this run's own.
    _service: Option<Service>,
}

/// The MongoDB of the tests. What runs it ends it, folder and all, when its standard input is closed; killed, it could not.
#[derive(Debug)]
struct Service {
    process: Process,
    input: Option<ChildStdin>,
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.input.take());
        // What has not ended by then is killed with the process.
        let _ = self.process.await_end();
    }
}

impl Mongo {
    /// In the MongoDB at this URL, or in one that is started for the run.
    ///
    /// # Errors
    /// It is on another machine, or cannot be reached or started.
    pub async fn open(given: Option<&str>) -> Result<Self> {
        let (server, service) = match given {
            Some(url) => (url.to_owned(), None),
            None => {
                let (url, service) = start_service()?;
                (url, Some(service))
            }
        };
        let name = format!("heartline_strategies_{}", std::process::id());
        let url = with_database(&server, &name);
        let mut options = ClientOptions::parse(&url).await.context("the MongoDB URL")?;
        for host in &options.hosts {
            let host = host.to_string();
            ensure!(is_here(&host), "{host}: only a MongoDB on this machine may be loaded");
        }
        if service.is_some() && options.repl_set_name.as_deref() == Some(REPLICA_SET) {
            initiate(options.clone()).await.context("initiating the replica set")?;
        }
        // As the server writes: a tap that was answered is durable in both ways that are compared.
        options.write_concern = Some(WriteConcern::builder().w(Acknowledgment::Majority).journal(true).build());
        let database = Client::with_options(options)?.database(&name);
        database.run_command(doc! { "ping": 1 }).await.context("MongoDB")?;
        Ok(Self { url, database, _service: service })
    }

    /// The database.
    pub const fn database(&self) -> &Database {
        &self.database
    }

    /// Takes the database off the server, which may be somebody's.
    ///
    /// # Errors
    /// It could not be taken off; it is named.
    pub async fn close(self) -> Result<()> {
        self.database.drop().await.with_context(|| format!("the database {} is left behind", self.database.name()))
    }
}

fn start_service() -> Result<(String, Service)> {
    let mut process = Process::start(Command::new(MONGODB).stdin(Stdio::piped()))?;
    let input = Some(process.take_input().context("no standard input")?);
    let service = Service { process, input };
    let is_url = |line: &str| line.starts_with("mongodb://").then(|| line.trim().to_owned());
    let url = service.process.await_line(MONGODB_READY_MAX, is_url).context("the MongoDB of the tests")?;
    Ok((url, service))
}

/// Makes a fresh `mongod` the replica set that it was started as, and waits until it is its primary.
async fn initiate(mut options: ClientOptions) -> Result<()> {
    let host = options.hosts.first().context("no host")?.to_string();
    (options.repl_set_name, options.direct_connection) = (None, Some(true));
    let admin = Client::with_options(options)?.database("admin");
    let members = [doc! { "_id": 0, "host": host }].to_vec();
    admin.run_command(doc! { "replSetInitiate": { "_id": REPLICA_SET, "members": members } }).await?;
    let deadline = Instant::now() + PRIMARY_MAX;
    while !admin.run_command(doc! { "hello": 1 }).await?.get_bool("isWritablePrimary").unwrap_or(false) {
        if Instant::now() >= deadline {
            bail!("no primary in {} s", PRIMARY_MAX.as_secs());
        }
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// The URL with this database in place of the one that it may name.
fn with_database(url: &str, name: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("mongodb", url));
    let (rest, options) = rest.split_once('?').map_or((rest, String::new()), |(rest, o)| (rest, format!("?{o}")));
    let hosts = rest.split_once('/').map_or(rest, |(hosts, _)| hosts);
    format!("{scheme}://{hosts}/{name}{options}")
}

/// Whether `HOST:PORT` is a literal loopback address, `localhost`, or a socket in the file system.
fn is_here(host: &str) -> bool {
    let is_file = host.starts_with('/');
    is_file || format!("http://{host}").parse::<crate::target::Target>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_own_database_takes_the_place_of_any_other() {
        for (url, expected) in [
            ("mongodb://127.0.0.1:1/?replicaSet=a", "mongodb://127.0.0.1:1/x?replicaSet=a"),
            ("mongodb://127.0.0.1:1", "mongodb://127.0.0.1:1/x"),
            ("mongodb://127.0.0.1:1/prod?w=1", "mongodb://127.0.0.1:1/x?w=1"),
            ("mongodb://a:b%2F@127.0.0.1:1/prod", "mongodb://a:b%2F@127.0.0.1:1/x"),
        ] {
            assert_eq!(with_database(url, "x"), expected);
        }
    }

    #[test]
    fn only_stores_of_this_machine_are_loaded() {
        assert!(is_here("127.0.0.1:27017") && is_here("localhost:1") && is_here("[::1]:1") && is_here("/run/m.sock"));
        assert!(!is_here("10.0.0.1:27017") && !is_here("db.example.org:27017"));
    }

    #[test]
    fn a_field_of_redis_is_found_whole() {
        let info = "# Memory\r\nused_memory_rss:9\r\nused_memory:1536\r\n";
        assert_eq!(field(info, "used_memory").ok(), Some(1_536.0));
        assert!(field(info, "used_memory_peak").is_err());
    }
}
