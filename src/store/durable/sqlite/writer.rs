//! The one thread that writes. It takes the jobs that wait, runs them in one transaction, commits, then answers them all.
//!
//! Each job has its own savepoint: one that fails is undone and answered alone. While a commit waits for the disk the next
//! jobs gather, so the more there is to write, the more a commit carries. Nothing is answered before its commit. A disk that
//! is full or broken is an error to those who wait; the next group tries anew.

use std::fs::File;
use std::io;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot, watch};

use super::log::LogIndex;
use crate::store::durable::contract::DurableError;

/// Jobs of one transaction: bounds how long the first of them waits for the last.
const GROUP_MAX: usize = 256;
/// Jobs that may wait; the next caller waits for a place.
const WAITING_MAX: usize = 1_024;

/// What a job works with.
pub(super) struct Desk<'a> {
    pub connection: &'a Connection,
    pub log: &'a mut LogIndex,
}

/// Runs a job inside the transaction; what it answers is called with the fate of the transaction.
type Job = Box<dyn FnOnce(&mut Desk<'_>) -> Answer + Send>;
type Answer = Box<dyn FnOnce(Result<(), DurableError>) + Send>;

pub(super) struct Writer {
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    ended: watch::Receiver<bool>,
}

impl Writer {
    /// Starts the thread. It holds the folder's lock until it has written the last job and closed the database.
    pub fn start(connection: Connection, lock: File) -> io::Result<Self> {
        let (jobs, waiting) = mpsc::channel(WAITING_MAX);
        let (end, ended) = watch::channel(false);
        let thread = std::thread::Builder::new().name("sqlite-writer".to_owned()).spawn(move || {
            serve(connection, waiting);
            drop(lock);
            // Nobody may be waiting for the end.
            let _ = end.send(true);
        })?;
        Ok(Self { jobs: Mutex::new(Some(jobs)), thread: Mutex::new(Some(thread)), ended })
    }

    /// Has the work done and answers when it is durable.
    pub async fn run<T, F>(&self, work: F) -> Result<T, DurableError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Desk<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        self.run_then(work, |_| ()).await
    }

    /// The same; when it is durable, `then` is called on the writer thread, in the order of the jobs, whether the caller still waits
    /// or not. Otherwise it is dropped.
    pub async fn run_then<T, F, G>(&self, work: F, then: G) -> Result<T, DurableError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Desk<'_>) -> rusqlite::Result<T> + Send + 'static,
        G: FnOnce(&T) + Send + 'static,
    {
        let (job, answered) = job(work, then);
        self.jobs()?.send(job).await.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }

    /// The same, for a thread of its own.
    pub fn run_blocking<T, F>(&self, work: F) -> Result<T, DurableError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Desk<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let (job, answered) = job(work, |_| ());
        self.jobs()?.blocking_send(job).map_err(|_| closed())?;
        answered.blocking_recv().map_err(|_| closed())?
    }

    /// Jobs that the thread has not taken.
    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        self.jobs.lock().as_ref().map_or(0, |jobs| WAITING_MAX - jobs.capacity())
    }

    fn jobs(&self) -> Result<mpsc::Sender<Job>, DurableError> {
        self.jobs.lock().clone().ok_or_else(closed)
    }

    /// Takes no more jobs and waits until those that were taken are done and the database is closed.
    pub async fn close(&self) {
        self.jobs.lock().take();
        // An error means that the thread is gone, which is what is waited for.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }
}

fn closed() -> DurableError {
    DurableError("the store is closed".to_owned())
}

fn job<T, F, G>(work: F, then: G) -> (Job, oneshot::Receiver<Result<T, DurableError>>)
where
    T: Send + 'static,
    F: FnOnce(&mut Desk<'_>) -> rusqlite::Result<T> + Send + 'static,
    G: FnOnce(&T) + Send + 'static,
{
    let (answer, answered) = oneshot::channel();
    let job: Job = Box::new(move |desk| {
        let outcome = in_savepoint(desk, work);
        Box::new(move |committed: Result<(), DurableError>| {
            let outcome = outcome.and_then(|value| committed.map(|()| value));
            if let Ok(value) = &outcome {
                then(value);
            }
            // Who waited may have given up; what was written stays written.
            let _ = answer.send(outcome);
        })
    });
    (job, answered)
}

impl Drop for Writer {
    /// Waits for the thread, one group at most, so that the folder is free when the store is gone.
    fn drop(&mut self) {
        self.jobs.lock().take();
        if let Some(thread) = self.thread.lock().take() {
            // It logs its own failures.
            let _ = thread.join();
        }
    }
}

fn serve(connection: Connection, mut waiting: mpsc::Receiver<Job>) {
    let mut log = LogIndex::default();
    let mut group = Vec::new();
    while let Some(first) = waiting.blocking_recv() {
        group.push(first);
        while group.len() < GROUP_MAX
            && let Ok(next) = waiting.try_recv()
        {
            group.push(next);
        }
        write(&mut Desk { connection: &connection, log: &mut log }, std::mem::take(&mut group));
    }
    // What stays in the WAL is read from there at the next start; this only makes the folder tidy.
    if let Err(error) = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())) {
        tracing::warn!(%error, "last checkpoint");
    }
    if let Err((_, error)) = connection.close() {
        tracing::warn!(%error, "closing the database");
    }
}

/// Runs a group of jobs and answers them when it is committed. An error that made SQLite undo the whole transaction (a full or failing
/// disk) fails the jobs up to there; the rest get a transaction of their own.
fn write(desk: &mut Desk<'_>, group: Vec<Job>) {
    let mut jobs = group.into_iter();
    while jobs.len() > 0 {
        let begun = desk.connection.execute_batch("BEGIN IMMEDIATE");
        let mut answers = Vec::with_capacity(jobs.len());
        for job in jobs.by_ref() {
            answers.push(job(desk));
            if desk.connection.is_autocommit() {
                break;
            }
        }
        let fate = begun.and_then(|()| commit(desk.connection)).map_err(DurableError::from);
        if let Err(error) = &fate {
            undo(desk);
            tracing::error!(%error, jobs = answers.len(), "a group was not written");
        }
        for answer in answers {
            answer(fate.clone());
        }
    }
}

fn commit(connection: &Connection) -> rusqlite::Result<()> {
    if connection.is_autocommit() {
        // The job that met the error has its text; this one is for those before it.
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ABORT_ROLLBACK),
            None,
        ));
    }
    connection.prepare_cached("COMMIT")?.execute(()).map(drop)
}

/// Leaves no transaction open behind a group that failed.
fn undo(desk: &mut Desk<'_>) {
    desk.log.forget_all();
    if !desk.connection.is_autocommit()
        && let Err(error) = desk.connection.execute_batch("ROLLBACK")
    {
        tracing::error!(%error, "undoing a group");
    }
}

/// Without a transaction (BEGIN failed) nothing is tried: outside of one, each statement would be a commit of its own.
fn in_savepoint<T>(
    desk: &mut Desk<'_>,
    work: impl FnOnce(&mut Desk<'_>) -> rusqlite::Result<T>,
) -> Result<T, DurableError> {
    let connection = desk.connection;
    if connection.is_autocommit() {
        return Err(DurableError("no transaction could be begun".to_owned()));
    }
    connection.prepare_cached("SAVEPOINT job")?.execute(())?;
    match work(desk) {
        Ok(value) => {
            connection.prepare_cached("RELEASE job")?.execute(())?;
            Ok(value)
        }
        Err(error) => {
            desk.log.forget_all();
            if !connection.is_autocommit() {
                connection.execute_batch("ROLLBACK TO job; RELEASE job")?;
            }
            Err(error.into())
        }
    }
}
