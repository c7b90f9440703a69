//! The wall's clock, and this process's own, which says what something costs on a machine that others use too.

use std::time::{Duration, Instant};

use anyhow::Context;

/// See the module.
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

    /// How many a second there were since then, and microseconds of CPU for each.
    pub fn rate_and_cost(&self, of: u64) -> anyhow::Result<(f64, f64)> {
        let cpu = Self::now()?.cpu - self.cpu;
        Ok((of as f64 / self.wall.elapsed().as_secs_f64(), cpu.as_secs_f64() * 1e6 / of as f64))
    }
}
