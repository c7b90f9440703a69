//! What is measured, and how it is told.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use heartline::store::durable::sqlite::DATABASE_FILE;

/// The wall's clock, and this process's own, which says what a like costs on a machine that others use too.
pub struct Clocks {
    wall: Instant,
    cpu: Duration,
}

impl Clocks {
    /// As they stand.
    pub fn now() -> anyhow::Result<Self> {
        let stat = std::fs::read_to_string("/proc/self/stat")?;
        // User and system time are the 14th and 15th field, in hundredths; the name before them may have blanks.
        let (_, fields) = stat.rsplit_once(')').context("/proc/self/stat")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
        Ok(Self { wall: Instant::now(), cpu: Duration::from_millis(10 * ticks) })
    }
}

/// Prints what a phase came to.
pub fn tell(phase: &str, since: &Clocks, (commands, mut latencies): (usize, Vec<Duration>)) -> anyhow::Result<()> {
    let (took, cpu) = (since.wall.elapsed(), Clocks::now()?.cpu - since.cpu);
    latencies.sort_unstable();
    let at = |part: f64| latencies.get((part * (latencies.len() - 1) as f64) as usize).copied().unwrap_or_default();
    let (rate, cost) = (commands as f64 / took.as_secs_f64(), cpu.as_secs_f64() * 1e6 / commands as f64);
    println!("{phase}: {commands} in {took:.1?}, {rate:.0} a second, {cost:.2} us of CPU each");
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
