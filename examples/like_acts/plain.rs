//! The plain way of likes, on the same SQLite with the same promise: a transaction for each, which counts itself, and a query for each item.

use std::time::{Duration, Instant};

use anyhow::ensure;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rusqlite::{Connection, OptionalExtension, params};

use crate::clocks::Clocks;

/// As the embedded store has them: the fact, who likes an item by time, what a person likes by time.
const TABLES: &str = "
    PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE counters (item TEXT PRIMARY KEY, likes INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE likes (item TEXT, user TEXT, at INTEGER, PRIMARY KEY (item, user)) WITHOUT ROWID;
    CREATE INDEX by_item ON likes (item, at, user);
    CREATE INDEX by_user ON likes (user, at, item);
    INSERT INTO counters VALUES ('item-0', 0);";

/// So many people like one item for so long, one after the other, as a counter's row would have it anyway; then as long of reads.
pub fn run(people: usize, each: Duration) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut database = Connection::open(folder.path().join("plain.db"))?;
    database.execute_batch(TABLES)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let (since, until, mut likes) = (Clocks::now()?, Instant::now() + each, 0);
    while Instant::now() < until {
        like(&mut database, &format!("u{}", rng.random_range(0..people)))?;
        likes += 1;
    }
    let (per_s, cost) = since.rate_and_cost(likes)?;
    println!("plain: {per_s:.0} likes a second, {cost:.2} us of CPU each: a transaction per like on one counter's row");
    let (counted, facts): (i64, i64) =
        database.query_row("SELECT likes, (SELECT count(*) FROM likes) FROM counters", (), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    ensure!(counted == facts, "{counted} counted, {facts} facts");
    let (since, until, mut reads) = (Clocks::now()?, Instant::now() + each, 0);
    while Instant::now() < until {
        read(&database, &format!("u{}", reads % 1_000))?;
        reads += 1;
    }
    let (per_s, cost) = since.rate_and_cost(reads)?;
    println!("plain: {per_s:.0} item reads a second, {cost:.2} us of CPU each: a query per item");
    Ok(())
}

fn like(database: &mut Connection, user: &str) -> anyhow::Result<()> {
    let transaction = database.transaction()?;
    let new = transaction
        .prepare_cached("INSERT OR IGNORE INTO likes VALUES ('item-0', ?1, unixepoch('subsec') * 1000)")?
        .execute([user])?;
    if new > 0 {
        transaction.prepare_cached("UPDATE counters SET likes = likes + 1 WHERE item = 'item-0'")?.execute(())?;
    }
    Ok(transaction.commit()?)
}

/// Its count, and whether this reader likes it.
fn read(database: &Connection, user: &str) -> anyhow::Result<Option<(i64, bool)>> {
    let sql = "SELECT likes, EXISTS (SELECT 1 FROM likes WHERE item = ?1 AND user = ?2) FROM counters WHERE item = ?1";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    Ok(database.prepare_cached(sql)?.query_row(params!["item-0", user], read).optional()?)
}
