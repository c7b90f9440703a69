//! The fold: a thread that brings accepted facts from the overlay to the table, and takes their rows off the log.
//!
//! It gathers for a while, so that neighbours in the table are written together, puts the facts in the table's order, and hands them
//! to the writer thread in jobs that are over in a few milliseconds: between two of them others have their turn. Nothing of it is
//! waited for by anybody, but by callers who find the overlay full. A fold that breaks off, by an error or with the process, begins
//! anew with the same facts: the log has them until its last job.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;

use super::overlay::Sealed;
use super::table::{self, ItemNo};
use super::{Shared, log, open_batches};
use crate::clock::monotonic;
use crate::protocol::ItemId;
use crate::store::durable::contract::DurableError;
use crate::store::durable::sqlite::writer::Writer;

/// How long facts gather: the more of them, the fewer pages each costs; the fewer, the less a start has to read back.
const GATHER: Duration = Duration::from_secs(1);
/// Facts that are folded at once without gathering further: half of what callers may put in before they wait.
const PRESSING: usize = super::WAITING_MAX / 2;
/// How long one job may hold the writer thread; what it commits comes on top.
const JOB: Duration = Duration::from_millis(8);
/// Facts between two looks at the clock, so the least that a job writes: some 4 ms of CPU. Where others have the CPU the time of a job is
/// over before it did much, and each brings a commit.
const STRIDE: usize = 1_024;
/// How long after a fold that failed the next try begins.
const AGAIN: Duration = Duration::from_secs(1);

/// Ends with its store.
pub(super) struct Folder {
    signal: Arc<Signal>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// How callers reach the thread.
#[derive(Debug, Default)]
pub(super) struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    stop: bool,
    /// Facts that wait.
    waiting: usize,
}

impl Signal {
    /// So many facts wait now.
    pub fn waiting(&self, facts: usize) {
        let mut state = self.state.lock();
        let wakes = (state.waiting == 0 && facts > 0) || (state.waiting < PRESSING && facts >= PRESSING);
        state.waiting = facts;
        if wakes {
            self.changed.notify_one();
        }
    }

    fn stop(&self) {
        self.state.lock().stop = true;
        self.changed.notify_one();
    }

    fn is_stopped(&self) -> bool {
        self.state.lock().stop
    }

    /// Returns when there is something to fold and it has gathered long enough; `false`: it is to stop.
    fn wait(&self) -> bool {
        let mut state = self.state.lock();
        while !state.stop && state.waiting == 0 {
            self.changed.wait(&mut state);
        }
        let until = monotonic() + GATHER;
        while !state.stop && state.waiting < PRESSING {
            if self.changed.wait_until(&mut state, until).timed_out() {
                break;
            }
        }
        !state.stop
    }

    /// `false`: it is to stop.
    fn pause(&self, time: Duration) -> bool {
        let mut state = self.state.lock();
        if !state.stop {
            self.changed.wait_for(&mut state, time);
        }
        !state.stop
    }
}

impl Folder {
    pub fn start(shared: Arc<Shared>, writer: Arc<Writer>) -> std::io::Result<Self> {
        let signal = shared.signal.clone();
        let thread =
            std::thread::Builder::new().name("like-folder".to_owned()).spawn(move || serve(&shared, &writer))?;
        Ok(Self { signal, thread: Mutex::new(Some(thread)) })
    }

    /// Lets the job under way end, and no other begin. What is not folded stays in the log. Blocks.
    pub fn stop(&self) {
        self.signal.stop();
        if let Some(thread) = self.thread.lock().take() {
            // It logs its own failures.
            let _ = thread.join();
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.stop();
    }
}

fn serve(shared: &Shared, writer: &Writer) {
    while shared.signal.wait() {
        let sealed = Arc::new(shared.seal().sort());
        while let Err(error) = fold(shared, writer, &sealed) {
            if shared.signal.is_stopped() {
                return;
            }
            tracing::error!(%error, facts = sealed.facts.len(), "likes were not folded; they stay in the log");
            if !shared.signal.pause(AGAIN) {
                return;
            }
        }
        shared.folded();
    }
}

/// Writes all of it, job by job; the last one takes the rows off the log.
fn fold(shared: &Shared, writer: &Writer, sealed: &Arc<Sealed>) -> Result<(), DurableError> {
    let mut from = 0;
    while from < sealed.facts.len() {
        if shared.signal.is_stopped() {
            return Err(DurableError("the store is closed".to_owned()));
        }
        let part = sealed.clone();
        let done = shared.open.lock().take_done();
        from = writer.run_blocking(move |desk| {
            open_batches::delete(desk.connection, &done)?;
            let reached = fold_from(desk.connection, &part, from)?;
            if reached == part.facts.len() {
                log::delete_up_to(desk.connection, part.up_to)?;
            }
            Ok(reached)
        })?;
    }
    Ok(())
}

/// Writes facts until the job's time is over, and answers how far it came.
fn fold_from(connection: &Connection, sealed: &Sealed, from: usize) -> rusqlite::Result<usize> {
    let until = monotonic() + JOB;
    let mut last: Option<(&ItemId, ItemNo)> = None;
    let mut reached = from;
    for facts in sealed.facts.get(from..).unwrap_or_default().chunks(STRIDE) {
        for (item, user, fact) in facts {
            let no = match last {
                Some((known, no)) if known == item => no,
                _ => table::item_no_or_new(connection, item)?,
            };
            last = Some((item, no));
            table::set(connection, no, user, *fact)?;
        }
        reached += facts.len();
        if monotonic() >= until {
            break;
        }
    }
    Ok(reached)
}
