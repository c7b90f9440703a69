//! The connection: whose MongoDB it is, what is asked of every read and write, and the collections with their indexes.

use std::fmt;
use std::time::Duration;

use mongodb::bson::{Document, doc};
use mongodb::error::{Error, ErrorKind};
use mongodb::options::{ClientOptions, IndexOptions, ReadConcern, ReadPreference, SelectionCriteria, WriteConcern};
use mongodb::{Client, Collection, Database, IndexModel};
use tokio::time::timeout;

use super::likes::TOMBSTONE_S;

/// Connections per server, and pieces of work at once. A flush is a few bulks, people's reads and writes are the rest; MongoDB
/// spends a thread and a megabyte on each.
pub(super) const POOL_MAX: u32 = 64;
/// How long a majority may take to acknowledge a write before it is answered as unknown.
pub(super) const MAJORITY_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a primary is looked for: an election takes that long. The driver's own 30 s would outlast what people wait.
const SELECTION_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long the first answer may take, with everything before it.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long indexes may take to be made; only once, on collections that somebody filled without them.
const INDEXES_TIMEOUT: Duration = Duration::from_secs(60);
/// The database if the URL names none.
const DATABASE: &str = "heartline";
/// Codes of a server that knows the user not, or knows that they may not.
const REFUSALS: [i32; 2] = [18, 13];

/// Where the store is.
#[derive(Clone)]
pub struct Settings {
    /// `mongodb://…`, with credentials as the case may be. Its read and write concerns are not used: the store has its own.
    pub url: String,
    /// The database, if not the one that the URL names, or `heartline`.
    pub database: Option<String>,
}

impl fmt::Debug for Settings {
    /// Without the URL, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("database", &self.database).finish_non_exhaustive()
    }
}

/// What kind of MongoDB answers, as it is told at start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deployment {
    /// One server alone: what it acknowledged is on its disk, but after a crash it may for a moment show what it then forgets.
    Standalone,
    /// A replica set of this name.
    ReplicaSet(String),
    /// A sharded cluster, behind its routers.
    Sharded,
}

impl fmt::Display for Deployment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standalone => f.write_str("a standalone server"),
            Self::ReplicaSet(name) => write!(f, "the replica set {name}"),
            Self::Sharded => f.write_str("a sharded cluster"),
        }
    }
}

/// Why the store could not be opened; each is one line, without credentials.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL.
    #[error("the MongoDB URL cannot be used: {0}")]
    Url(String),
    /// Nobody answered in time.
    #[error("MongoDB at {hosts} cannot be reached: {why}")]
    Unreachable {
        /// The URL's hosts.
        hosts: String,
        /// What was met.
        why: String,
    },
    /// Somebody answered, and does not want us.
    #[error("MongoDB at {hosts} refuses the credentials: {why}")]
    Refused {
        /// The URL's hosts.
        hosts: String,
        /// What it said.
        why: String,
    },
    /// The indexes could not be made.
    #[error("setting up the MongoDB database {database}: {why}")]
    SetUp {
        /// The database.
        database: String,
        /// What was met.
        why: String,
    },
}

/// The collections. Cloning is a reference count.
#[derive(Clone)]
pub(super) struct Tables {
    pub database: Database,
    pub items: Collection<Document>,
    pub documents: Collection<Document>,
    pub comments: Collection<Document>,
    pub rejected: Collection<Document>,
    pub likes: Collection<Document>,
}

impl Tables {
    fn of(database: Database) -> Self {
        Self {
            items: database.collection("items"),
            documents: database.collection("documents"),
            comments: database.collection("comments"),
            rejected: database.collection("rejected_comments"),
            likes: database.collection("likes"),
            database,
        }
    }

    /// Makes the indexes that are missing: lists of items by state, pages of comments, who likes an item, what somebody likes. The last
    /// two know likes only; tombstones have one of their own, which takes them away.
    async fn index(&self) -> Result<(), Error> {
        let by = |keys: Document| IndexModel::builder().keys(keys).build();
        self.items.create_index(by(doc! { "state": 1, "_id": 1 })).await?;
        self.comments.create_index(by(doc! { "item": 1, "at": 1, "_id": 1 })).await?;
        let of = |liked: bool| IndexOptions::builder().partial_filter_expression(doc! { "liked": liked }).build();
        let facts = |keys, options| IndexModel::builder().keys(keys).options(options).build();
        self.likes.create_index(facts(doc! { "item": 1, "at": 1, "user": 1 }, of(true))).await?;
        self.likes.create_index(facts(doc! { "user": 1, "at": 1, "item": 1 }, of(true))).await?;
        let mut expiring = of(false);
        expiring.expire_after = Some(Duration::from_secs(TOMBSTONE_S));
        self.likes.create_index(facts(doc! { "gone": 1 }, expiring)).await?;
        Ok(())
    }
}

pub(super) struct Opened {
    pub client: Client,
    pub tables: Tables,
    pub deployment: Deployment,
}

pub(super) async fn open(settings: &Settings) -> Result<Opened, OpenError> {
    let options = options(&settings.url).await?;
    let hosts = options.hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let named = settings.database.as_ref().or(options.default_database.as_ref());
    let name = named.map_or(DATABASE, String::as_str).to_owned();
    let client = Client::with_options(options).map_err(|error| OpenError::Url(why(&error, &settings.url)))?;
    let tables = Tables::of(client.database(&name));
    let deployment = match timeout(OPEN_TIMEOUT, greet(&tables.database)).await {
        Ok(Ok(deployment)) => deployment,
        Ok(Err(error)) if is_refusal(&error) => return Err(OpenError::Refused { hosts, why: error.to_string() }),
        Ok(Err(error)) => return Err(OpenError::Unreachable { hosts, why: error.to_string() }),
        Err(_) => return Err(OpenError::Unreachable { hosts, why: late(OPEN_TIMEOUT) }),
    };
    match timeout(INDEXES_TIMEOUT, tables.index()).await {
        Ok(Ok(())) => Ok(Opened { client, tables, deployment }),
        Ok(Err(error)) => Err(OpenError::SetUp { database: name, why: error.to_string() }),
        Err(_) => Err(OpenError::SetUp { database: name, why: late(INDEXES_TIMEOUT) }),
    }
}

fn late(within: Duration) -> String {
    format!("no answer within {} s", within.as_secs())
}

/// The URL's options, with ours in place of those that the store's promises rest on.
async fn options(url: &str) -> Result<ClientOptions, OpenError> {
    let mut options = ClientOptions::parse(url).await.map_err(|error| OpenError::Url(why(&error, url)))?;
    let majority = WriteConcern::builder().w(mongodb::options::Acknowledgment::Majority).journal(true);
    options.write_concern = Some(majority.w_timeout(MAJORITY_TIMEOUT).build());
    options.read_concern = Some(ReadConcern::majority());
    options.selection_criteria = Some(SelectionCriteria::ReadPreference(ReadPreference::Primary));
    options.server_selection_timeout = Some(SELECTION_TIMEOUT);
    options.connect_timeout = Some(CONNECT_TIMEOUT);
    options.max_pool_size = Some(POOL_MAX);
    options.app_name.get_or_insert_with(|| "heartline".to_owned());
    Ok(options)
}

/// The driver's complaint, unless it repeats the user's name or password.
fn why(error: &Error, url: &str) -> String {
    let said = error.to_string();
    let secrets = url.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@')).map_or("", |(secrets, _)| secrets);
    let repeats = secrets.split(':').any(|secret| !secret.is_empty() && said.contains(secret));
    if repeats { "it cannot be read; user and password have to be percent-encoded".to_owned() } else { said }
}

/// The first answer, which needs the credentials to be right, and what kind of server gives it.
async fn greet(database: &Database) -> Result<Deployment, Error> {
    let hello = database.run_command(doc! { "hello": 1 }).await?;
    let set = hello.get_str("setName").ok().map(str::to_owned);
    let routed = hello.get_str("msg").is_ok_and(|msg| msg == "isdbgrid");
    Ok(match set {
        Some(name) => Deployment::ReplicaSet(name),
        None if routed => Deployment::Sharded,
        None => Deployment::Standalone,
    })
}

fn is_refusal(error: &Error) -> bool {
    match &*error.kind {
        ErrorKind::Authentication { .. } => true,
        ErrorKind::Command(command) => REFUSALS.contains(&command.code),
        _ => false,
    }
}
