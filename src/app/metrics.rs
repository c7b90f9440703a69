//! Gives names to the numbers that rooms, sockets, flush and stores keep. The names are the wire contract's; `docs/metrics.md` has them all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::build::App;
use super::stores::{Figures, Named};
use crate::likes::ReadStats;
use crate::protocol::{Counter, Counters};
use crate::reconcile::ReconcileStats;
use crate::room::{Registry, RoomStats};
use crate::session::SocketStats;
use crate::session::stats::Dropped;
use crate::telemetry::metrics::Label;
use crate::telemetry::read::Read;

/// Joins everything; once, when the node starts.
pub(super) fn join(app: &App, registry: &Arc<Registry>) {
    join_rooms(app, registry);
    join_stores(app, registry);
    join_sockets(app);
}

fn join_rooms(app: &App, registry: &Arc<Registry>) {
    let (metrics, ticker, registry) = (&app.metrics, app.rooms.ticker.clone(), registry.clone());
    metrics.counters("taps_accepted", "Taps accepted", plain(room(app, |stats| &stats.taps_accepted)));
    metrics.counters(
        "room_restarts",
        "Rooms that died and were started anew",
        plain(room(app, |stats| &stats.restarts)),
    );
    let (by_rooms, by_flush) = (room(app, |stats| &stats.laid_anew), app.flush_stats.clone());
    metrics.counters(
        "laid_anew",
        "Items laid anew because the hot store had lost state",
        plain(Box::new(move || by_rooms() + by_flush.laid_anew())),
    );
    metrics.counters("ticks", "Ticks of the node", plain(Box::new(move || ticker.ticks())));
    metrics.gauges("rooms", "Rooms in memory", vec![(None, Box::new(move || registry.len() as f64))]);
}

fn join_stores(app: &App, registry: &Arc<Registry>) {
    let (metrics, flush) = (&app.metrics, &app.flush_stats);
    let figures = app.stores.figures.clone();
    metrics.counters(
        "hot_round_trips",
        "Round trips of ticks to the hot store",
        plain(Box::new(move || (figures.round_trips)())),
    );
    let stats = flush.clone();
    let trips = Box::new(move || stats.round_trips());
    metrics.counters("flush_round_trips", "Round trips of claim, align and audit to the hot store", plain(trips));
    let writes = each(app, "kind", |figures| &figures.writes);
    metrics.counters("durable_writes", "Durable statements, per document or batch", writes);
    let failures = each(app, "store", |figures| &figures.failures);
    metrics.counters("store_failures", "Calls of a store that came to no outcome", failures);
    let stats = flush.clone();
    metrics.counters(
        "rejected_comments",
        "Comments that the durable store set aside",
        plain(Box::new(move || stats.rejected())),
    );
    join_ledger(app, registry);
}

/// What is accepted and not yet durable, and whether the two stores agree on the rest.
fn join_ledger(app: &App, registry: &Arc<Registry>) {
    let (metrics, flush) = (&app.metrics, &app.flush_stats);
    let unflushed = |of: fn(&Counters) -> i64| -> Read<f64> {
        let (figures, registry) = (app.stores.figures.clone(), registry.clone());
        let sums = move || figures.unflushed.as_ref().map_or_else(|| registry.unfolded(), |read| read());
        Box::new(move || of(&sums()) as f64)
    };
    let kinds = vec![
        (
            kind("taps"),
            unflushed(|sums| sums.iter().filter(|(c, _)| matches!(c, Counter::Taps(_))).map(|(_, n)| n).sum()),
        ),
        (kind("likes"), unflushed(|sums| sums.get(Counter::Likes))),
        (kind("comments"), unflushed(|sums| sums.get(Counter::Comments))),
    ];
    metrics.gauges("unflushed", "Accepted and not yet durable", kinds);
    let gauge = |read: fn(&crate::flush::FlushStats) -> f64| -> Vec<(Label, Read<f64>)> {
        let stats = flush.clone();
        vec![(None, Box::new(move || read(&stats)))]
    };
    metrics.gauges(
        "flush_lag_seconds",
        "Age of the oldest change that is not yet durable",
        gauge(|s| s.lag().as_secs_f64()),
    );
    let (flush_drift, recounts) = (flush.clone(), app.reconcile_stats.clone());
    let drift: Read<f64> = Box::new(move || (flush_drift.drift() + recounts.drift()) as f64);
    metrics.gauges(
        "drift",
        "Distance of counters from what is durable at the same fold, and of likes from their facts; must be 0",
        vec![(None, drift)],
    );
    join_recounts(app);
    join_reads(app);
    metrics.gauges("fold_behind", "Items whose document is behind them; must be 0", gauge(|s| s.behind() as f64));
}

fn join_recounts(app: &App) {
    let read = |of: fn(&ReconcileStats) -> u64| -> Read<u64> {
        let stats = app.reconcile_stats.clone();
        Box::new(move || of(&stats))
    };
    let outcomes = vec![
        (Some(("outcome", "exact".to_owned())), read(ReconcileStats::exact)),
        (Some(("outcome", "given_up".to_owned())), read(ReconcileStats::failed)),
    ];
    app.metrics.counters("recounts", "Recounts of likes from their facts", outcomes);
    app.metrics.counters(
        "likes_repaired",
        "By how much recounts moved counters",
        plain(read(ReconcileStats::repaired)),
    );
}

fn join_reads(app: &App) {
    let read = |of: fn(&ReadStats) -> u64| -> Read<u64> {
        let stats = app.read_stats.clone();
        Box::new(move || of(&stats))
    };
    let by = |name: &str| Some(("by", name.to_owned()));
    let people = vec![(by("filter"), read(ReadStats::filtered)), (by("facts"), read(ReadStats::looked_up))];
    let figures = app.stores.figures.clone();
    let bytes: Read<f64> = Box::new(move || (figures.filter_bytes)() as f64);
    app.metrics.gauges("filter_bytes", "Filters of who likes an item", vec![(None, bytes)]);
    app.metrics.counters("liker_checks", "People asked about for one item, by what answered", people);
    let pages = vec![(by("kept"), read(ReadStats::kept)), (by("facts"), read(ReadStats::read))];
    app.metrics.counters("own_likes_reads", "Pages of a reader's own likes, by what answered", pages);
}

fn join_sockets(app: &App) {
    let metrics = &app.metrics;
    let socket = |read: fn(&SocketStats) -> u64| -> Read<u64> {
        let stats = app.socket_stats.clone();
        Box::new(move || read(&stats))
    };
    let open = socket(SocketStats::sockets);
    metrics.gauges("sockets", "Open sockets", vec![(None, Box::new(move || open() as f64))]);
    metrics.counters("deliveries", "Frames delivered, times sockets", plain(socket(SocketStats::deliveries)));
    let (queued, summed) = (room(app, |stats| &stats.comments_dropped), room(app, |stats| &stats.taps_dropped));
    let dropped = |of: fn(Dropped) -> u64| -> Read<u64> {
        let stats = app.socket_stats.clone();
        Box::new(move || of(stats.dropped()))
    };
    let (comments, taps) = (dropped(|dropped| dropped.comments), dropped(|dropped| dropped.taps));
    let what = |name: &str| Some(("what", name.to_owned()));
    let samples: Vec<(Label, Read<u64>)> = vec![
        (what("comments"), Box::new(move || comments() + queued())),
        (what("taps"), Box::new(move || taps() + summed())),
        (what("frames"), dropped(|dropped| dropped.frames)),
    ];
    metrics.counters("dropped", "Declared loss", samples);
    let stats = app.socket_stats.clone();
    let closed = stats.closed_by_code().map(|(code, _)| {
        let stats = app.socket_stats.clone();
        let name = code.map_or_else(|| "other".to_owned(), |code| code.to_string());
        let read: Read<u64> =
            Box::new(move || stats.closed_by_code().find(|(known, _)| *known == code).map_or(0, |(_, n)| n));
        (Some(("code", name)), read)
    });
    metrics.counters("closed", "Sockets closed, by close code", closed.collect());
}

fn room(app: &App, of: fn(&RoomStats) -> &AtomicU64) -> Read<u64> {
    let stats = app.rooms.stats.clone();
    Box::new(move || of(&stats).load(Ordering::Relaxed))
}

/// A sample for each of the stores' figures of one sort.
fn each(app: &App, label: &'static str, of: fn(&Figures) -> &Named) -> Vec<(Label, Read<u64>)> {
    let sample = |(n, (name, _)): (usize, &(&'static str, Read<u64>))| -> (Label, Read<u64>) {
        let figures = app.stores.figures.clone();
        let read = move || of(&figures).get(n).map_or(0, |(_, read)| read());
        (Some((label, (*name).to_owned())), Box::new(read))
    };
    of(&app.stores.figures).iter().enumerate().map(sample).collect()
}

fn plain(read: Read<u64>) -> Vec<(Label, Read<u64>)> {
    vec![(None, read)]
}

fn kind(name: &str) -> Label {
    Some(("kind", name.to_owned()))
}
