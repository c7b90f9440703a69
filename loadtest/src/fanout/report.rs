//! What the comparison found.

use serde::Serialize;

use super::FanoutConfig;
use crate::report::{Circumstances, Violations};

/// The server may cost so much more than the bare write loop.
pub const RATIO_TARGET: f64 = 1.3;
/// Resident memory of the server for each idle socket, in KB of 1,024 bytes.
pub const KB_TARGET: f64 = 5.0;
/// Deliveries may differ by so much from sockets × Hz × time; beyond it the two did not do the same work.
const DELIVERIES_TOLERANCE: f64 = 0.1;

/// One measured window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Window {
    /// Its length.
    pub seconds: f64,
    /// Processor time of the writing process, user and system.
    pub cpu_s: f64,
    /// Frames that arrived.
    pub frames: u64,
    /// Bytes that arrived.
    pub bytes: u64,
}

impl Window {
    /// Processor time for each frame that arrived, in microseconds.
    pub fn us_per_delivery(&self) -> f64 {
        self.cpu_s * 1e6 / self.frames.max(1) as f64
    }
}

/// The figures. Violations say that they are not comparable; whether the targets are met stands beside them.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names say it; README.md explains how to read them")]
pub struct FanoutReport {
    pub sockets: usize,
    pub hz: u32,
    pub server_us_per_delivery: Vec<f64>,
    pub bare_us_per_delivery: Vec<f64>,
    pub server_median_us: f64,
    pub bare_median_us: f64,
    pub ratio: f64,
    pub kb_per_idle_socket: f64,
    pub resident_kb_before: f64,
    pub server_windows: Vec<Window>,
    pub bare_windows: Vec<Window>,
    pub is_within_targets: bool,
    pub circumstances: Circumstances,
    pub violations: Violations,
}

pub(super) fn of(
    config: &FanoutConfig,
    (server, bare): (Vec<Window>, Vec<Window>),
    (before, after): (u64, u64),
    mut violations: Violations,
) -> FanoutReport {
    for (who, windows) in [("server", &server), ("write loop", &bare)] {
        windows.iter().for_each(|window| violations.check(who, deliveries(config, window)));
    }
    let us = |windows: &[Window]| windows.iter().map(Window::us_per_delivery).collect::<Vec<_>>();
    let (server_us, bare_us) = (us(&server), us(&bare));
    let (server_median_us, bare_median_us) = (median(&server_us), median(&bare_us));
    let ratio = server_median_us / bare_median_us;
    let kb = after.saturating_sub(before) as f64 / 1_024.0 / config.sockets as f64;
    FanoutReport {
        sockets: config.sockets,
        hz: config.hz,
        server_us_per_delivery: server_us,
        bare_us_per_delivery: bare_us,
        server_median_us,
        bare_median_us,
        ratio,
        kb_per_idle_socket: kb,
        resident_kb_before: before as f64 / 1_024.0,
        server_windows: server,
        bare_windows: bare,
        is_within_targets: ratio <= RATIO_TARGET && kb <= KB_TARGET,
        circumstances: Circumstances::here(),
        violations,
    }
}

fn deliveries(config: &FanoutConfig, window: &Window) -> Result<(), String> {
    let planned = config.sockets as f64 * f64::from(config.hz) * window.seconds;
    let share = window.frames as f64 / planned;
    if (share - 1.0).abs() <= DELIVERIES_TOLERANCE {
        return Ok(());
    }
    Err(format!("{} deliveries of {planned:.0} planned: not comparable", window.frames))
}

/// The middle value, or the mean of the two in the middle.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |i: usize| sorted.get(i).copied().unwrap_or(f64::NAN);
    f64::midpoint(at(sorted.len() / 2), at(sorted.len().saturating_sub(1) / 2))
}

impl std::fmt::Display for FanoutReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |values: &[f64]| values.iter().map(|us| format!("{us:.2}")).collect::<Vec<_>>().join(" ");
        let bytes = |windows: &[Window]| {
            let (bytes, frames) = windows.iter().fold((0, 0), |(b, n), w| (b + w.bytes, n + w.frames));
            bytes as f64 / frames.max(1) as f64
        };
        writeln!(f, "fanout: {} sockets in one room at {} Hz", self.sockets, self.hz)?;
        writeln!(
            f,
            "server     {:.2} us of processor time per delivery (median of {}), {:.0} bytes a frame",
            self.server_median_us,
            list(&self.server_us_per_delivery),
            bytes(&self.server_windows)
        )?;
        writeln!(
            f,
            "bare loop  {:.2} us (median of {}), {:.0} bytes a frame",
            self.bare_median_us,
            list(&self.bare_us_per_delivery),
            bytes(&self.bare_windows)
        )?;
        writeln!(f, "ratio      {:.2} (target: {RATIO_TARGET} at most)", self.ratio)?;
        writeln!(
            f,
            "memory     {:.2} KB for each idle socket (target: {KB_TARGET} at most); {:.0} KB before the first",
            self.kb_per_idle_socket, self.resident_kb_before
        )?;
        writeln!(f, "targets    {}", if self.is_within_targets { "met" } else { "MISSED" })?;
        writeln!(f, "{}\n{}", self.circumstances, self.violations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_costs_add_up() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
        let window = Window { seconds: 1.0, cpu_s: 0.5, frames: 100_000, bytes: 6_200_000 };
        assert!((window.us_per_delivery() - 5.0).abs() < 1e-9);
    }

    #[test]
    fn half_the_deliveries_are_not_comparable() {
        let config = FanoutConfig {
            server_bin: "x".into(),
            bare_bin: "x".into(),
            sockets: 10,
            hz: 5,
            rounds: 1,
            window: std::time::Duration::from_secs(1),
            is_quiet: true,
        };
        let window = |frames| Window { seconds: 1.0, cpu_s: 0.1, frames, bytes: 0 };
        assert!(deliveries(&config, &window(50)).is_ok());
        assert!(deliveries(&config, &window(25)).is_err());
        assert!(deliveries(&config, &window(100)).is_err());
    }
}
