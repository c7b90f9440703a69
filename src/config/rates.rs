//! Rates per person.

/// What one person may do in a second. `off` is for load tests: no rates at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateConfig {
    /// No rates: `--limits off`.
    pub off: bool,
    /// Tap messages a second: a client that follows `tick_ms` sends 10.
    pub tap_messages_per_s: u32,
    /// Taps a second: two thumbs make about 20.
    pub taps_per_s: u32,
    /// Taps saved up by who did not tap for a while.
    pub taps_burst: u32,
    /// Comments of a viewer a second.
    pub comments_per_s: u32,
    /// Comments saved up.
    pub comments_burst: u32,
    /// Comments of a host a second.
    pub host_comments_per_s: u32,
}

impl Default for RateConfig {
    fn default() -> Self {
        Self {
            off: false,
            tap_messages_per_s: 20,
            taps_per_s: 100,
            taps_burst: 300,
            comments_per_s: 1,
            comments_burst: 5,
            host_comments_per_s: 10,
        }
    }
}
