//! What is measured, and how it is told.

use std::path::Path;
use std::time::Duration;

use heartline::store::durable::sqlite::DATABASE_FILE;

use crate::clocks::Clocks;

/// Prints what a phase came to.
pub fn tell(phase: &str, since: &Clocks, (commands, mut latencies): (usize, Vec<Duration>)) -> anyhow::Result<()> {
    let (rate, cost) = since.rate_and_cost(commands as u64)?;
    latencies.sort_unstable();
    let at = |part: f64| latencies.get((part * (latencies.len() - 1) as f64) as usize).copied().unwrap_or_default();
    println!("{phase}: {commands}, {rate:.0} a second, {cost:.2} us of CPU each");
    println!("{phase}: a batch p50 {:.1?}, p99 {:.1?}, max {:.1?}", at(0.5), at(0.99), at(1.0));
    Ok(())
}

/// Prints what each tree takes of the file.
pub fn sqlite_size(folder: &Path) -> anyhow::Result<()> {
    // What waited for a fold when the store was closed is folded by the next one.
    let database = rusqlite::Connection::open(folder.join(DATABASE_FILE))?;
    let likes: f64 = database.query_row("SELECT count(*) FROM likes", (), |row| row.get(0))?;
    let sql =
        "SELECT name, sum(pgsize), sum(payload) FROM dbstat WHERE name LIKE '%like%' GROUP BY name ORDER BY 2 DESC";
    let mut statement = database.prepare(sql)?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let (name, bytes, payload): (String, f64, f64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        println!("{name}: {:.1} bytes a like, {:.1} of them payload", bytes / likes, payload / likes);
    }
    Ok(())
}

/// Prints what the server says of the collection, and drops the database.
pub async fn mongodb_size(url: &str, name: &str, facts: usize) -> anyhow::Result<()> {
    let database = mongodb::Client::with_uri_str(url).await?.database(name);
    let stats = database.run_command(mongodb::bson::doc! { "collStats": "likes" }).await?;
    for field in ["count", "size", "storageSize", "totalIndexSize", "indexSizes"] {
        println!("collStats {field}: {:?} of {facts} facts", stats.get(field));
    }
    Ok(database.drop().await?)
}
