//! The metrics of one node. Every handle is an atomic that is cloned and passed on; each has a sample from the first scrape.
//!
//! Owned by `app`, which also joins in the numbers that stores and flush keep themselves ([`Metrics::read_counters`]). The
//! names are the wire contract's; the exposition appends `_total` to counters.

use std::fmt;

use parking_lot::RwLock;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::read::{ReadCounters, ReadGauges, Sample};

/// What the text of [`Metrics::expose`] is (OpenMetrics 1.0).
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Close codes that are counted under their own number; any other that a client makes up is `other`, so that labels are bounded.
pub const CLOSE_CODES: [u16; 17] =
    [1000, 1001, 1002, 1003, 1005, 1006, 1007, 1009, 1011, 4000, 4001, 4002, 4003, 4500, 4501, 4502, 4504];

/// Durable statements by what they are for.
#[derive(Debug, Clone)]
pub struct DurableWrites {
    /// One per item and flush.
    pub fold: Counter,
    /// One per item and flush.
    pub comments: Counter,
    /// Commits of the log of contributions.
    pub log: Counter,
}

/// What was shed for slow clients, and declared to them.
#[derive(Debug, Clone)]
pub struct Dropped {
    /// Comments that a socket was not sent.
    pub comments: Counter,
    /// Taps that were refused by a rate.
    pub taps: Counter,
    /// Frames that a socket was not sent.
    pub frames: Counter,
}

/// Every handle of a node.
pub struct Metrics {
    registry: RwLock<Registry>,
    /// Taps that were accepted.
    pub taps_accepted: Counter,
    /// Durable statements.
    pub durable_writes: DurableWrites,
    /// Ticks' round trips to the hot store.
    pub hot_round_trips: Counter,
    /// Round trips of claim and align.
    pub flush_round_trips: Counter,
    /// Ticks of rooms that had something to apply.
    pub ticks: Counter,
    /// Age of the oldest thing that is not yet durable. Seconds.
    pub flush_lag_seconds: Gauge<f64, std::sync::atomic::AtomicU64>,
    /// Taps that are not yet durable.
    pub unflushed_taps: Gauge,
    /// Comments that are not yet durable.
    pub unflushed_comments: Gauge,
    /// Σ|base - durable at the same fold|; must read 0.
    pub drift: Gauge,
    /// Items whose durable fold is lower than the hot one; must read 0.
    pub fold_behind: Gauge,
    /// Open sockets.
    pub sockets: Gauge,
    /// Frames times sockets that took them.
    pub deliveries: Counter,
    /// Declared loss.
    pub dropped: Dropped,
    /// Rooms in memory.
    pub rooms: Gauge,
    closed: Vec<(u16, Counter)>,
    closed_other: Counter,
}

impl Metrics {
    /// All at 0.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("heartline");
        let r = &mut registry;
        let durable = family(r, "durable_writes", "Durable statements, per document or batch");
        let unflushed = gauges(r, "unflushed", "Accepted and not yet durable");
        let dropped = family(r, "dropped", "Declared loss");
        let closed = family(r, "closed", "Sockets closed, by close code");
        Self {
            taps_accepted: counter(r, "taps_accepted", "Taps accepted"),
            durable_writes: DurableWrites {
                fold: durable.get_or_create_owned(&[("kind", "fold".into())]),
                comments: durable.get_or_create_owned(&[("kind", "comments".into())]),
                log: durable.get_or_create_owned(&[("kind", "log".into())]),
            },
            hot_round_trips: counter(r, "hot_round_trips", "Round trips of ticks to the hot store"),
            flush_round_trips: counter(r, "flush_round_trips", "Round trips of claim and align to the hot store"),
            ticks: counter(r, "ticks", "Ticks of rooms that had something to apply"),
            flush_lag_seconds: registered(r, "flush_lag_seconds", "Age of the oldest change that is not yet durable"),
            unflushed_taps: unflushed.get_or_create_owned(&[("kind", "taps".into())]),
            unflushed_comments: unflushed.get_or_create_owned(&[("kind", "comments".into())]),
            drift: registered(r, "drift", "Distance of counters from what is durable; must be 0"),
            fold_behind: registered(r, "fold_behind", "Items whose durable fold is behind the hot one; must be 0"),
            sockets: registered(r, "sockets", "Open sockets"),
            deliveries: counter(r, "deliveries", "Frames delivered, times sockets"),
            dropped: Dropped {
                comments: dropped.get_or_create_owned(&[("what", "comments".into())]),
                taps: dropped.get_or_create_owned(&[("what", "taps".into())]),
                frames: dropped.get_or_create_owned(&[("what", "frames".into())]),
            },
            rooms: registered(r, "rooms", "Rooms in memory"),
            closed: CLOSE_CODES.map(|code| (code, closed.get_or_create_owned(&[("code", code.to_string())]))).into(),
            closed_other: closed.get_or_create_owned(&[("code", "other".into())]),
            registry: RwLock::new(registry),
        }
    }

    /// The counter of sockets that were closed with this code.
    pub fn closed(&self, code: u16) -> &Counter {
        self.closed.iter().find(|(known, _)| *known == code).map_or(&self.closed_other, |(_, counter)| counter)
    }

    /// Joins in counters that somebody else keeps. `name` comes without the prefix and without `_total`.
    pub fn read_counters(&self, name: &'static str, help: &'static str, samples: Vec<Sample<u64>>) {
        self.registry.write().register_collector(Box::new(ReadCounters { name, help, samples }));
    }

    /// Joins in numbers that rise and fall and that somebody else keeps.
    pub fn read_gauges(&self, name: &'static str, help: &'static str, samples: Vec<Sample<f64>>) {
        self.registry.write().register_collector(Box::new(ReadGauges { name, help, samples }));
    }

    /// The text that is scraped.
    pub fn expose(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry.read())?;
        Ok(text)
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

type Labels = [(&'static str, String); 1];

fn registered<M: prometheus_client::registry::Metric + Clone + Default>(
    registry: &mut Registry,
    name: &str,
    help: &str,
) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

fn counter(registry: &mut Registry, name: &str, help: &str) -> Counter {
    registered(registry, name, help)
}

fn family(registry: &mut Registry, name: &str, help: &str) -> Family<Labels, Counter> {
    registered(registry, name, help)
}

fn gauges(registry: &mut Registry, name: &str, help: &str) -> Family<Labels, Gauge> {
    registered(registry, name, help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Scenario: a dashboard asks before anything has happened. Method: a fresh node's text has a sample for every promised name.
    #[test]
    fn no_promised_metric_is_missing_before_its_first_event() {
        let text = Metrics::new().expose().unwrap();
        for sample in [
            "heartline_taps_accepted_total 0",
            "heartline_durable_writes_total{kind=\"fold\"} 0",
            "heartline_durable_writes_total{kind=\"comments\"} 0",
            "heartline_durable_writes_total{kind=\"log\"} 0",
            "heartline_hot_round_trips_total 0",
            "heartline_flush_round_trips_total 0",
            "heartline_ticks_total 0",
            "heartline_flush_lag_seconds 0.0",
            "heartline_unflushed{kind=\"taps\"} 0",
            "heartline_unflushed{kind=\"comments\"} 0",
            "heartline_drift 0",
            "heartline_fold_behind 0",
            "heartline_sockets 0",
            "heartline_deliveries_total 0",
            "heartline_dropped_total{what=\"comments\"} 0",
            "heartline_dropped_total{what=\"taps\"} 0",
            "heartline_dropped_total{what=\"frames\"} 0",
            "heartline_closed_total{code=\"1000\"} 0",
            "heartline_closed_total{code=\"4001\"} 0",
            "heartline_rooms 0",
        ] {
            assert!(text.lines().any(|line| line == sample), "{sample} is not in\n{text}");
        }
        assert!(!text.contains("total_total"));
    }

    /// Scenario: clients close with codes of their own making. Method: two unknown codes come under one label.
    #[test]
    fn made_up_close_codes_do_not_grow_the_labels() {
        let metrics = Metrics::new();
        for code in [4999, 3000, 4001] {
            metrics.closed(code).inc();
        }
        let text = metrics.expose().unwrap();
        assert!(text.contains("heartline_closed_total{code=\"other\"} 2"));
        assert!(text.contains("heartline_closed_total{code=\"4001\"} 1"));
    }

    /// Scenario: a store counts in an atomic of its own. Method: the text follows the atomic.
    #[test]
    fn numbers_kept_elsewhere_are_read_at_each_scrape() {
        let metrics = Metrics::new();
        let kept = Arc::new(AtomicU64::new(0));
        let (read, also) = (Arc::clone(&kept), Arc::clone(&kept));
        let counted = Sample::labelled("kind", "a", move || read.load(Ordering::Relaxed));
        metrics.read_counters("kept", "Kept", vec![counted]);
        metrics.read_gauges("lag_seconds", "Lag", Sample::plain(move || also.load(Ordering::Relaxed) as f64));
        kept.store(7, Ordering::Relaxed);
        let text = metrics.expose().unwrap();
        assert!(text.contains("# TYPE heartline_kept counter\nheartline_kept_total{kind=\"a\"} 7"), "{text}");
        assert!(text.contains("heartline_lag_seconds 7.0"), "{text}");
    }
}
