//! A few connections that only read, each on a snapshot of its own; the writer never waits for them, nor they for it.
//!
//! Reading blocks, so it happens on Tokio's threads for that, at most one per connection.

use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::store::durable::contract::DurableError;

pub(super) struct Readers {
    idle: Arc<Mutex<Vec<Connection>>>,
    /// As many permits as there are connections; closed when the store is.
    permits: Arc<Semaphore>,
    all: u32,
}

impl Readers {
    pub fn new(connections: Vec<Connection>) -> Self {
        let all = u32::try_from(connections.len()).unwrap_or(u32::MAX);
        let permits = Arc::new(Semaphore::new(connections.len()));
        Self { idle: Arc::new(Mutex::new(connections)), permits, all }
    }

    /// Reads when a connection is free.
    pub async fn run<T, F>(&self, read: F) -> Result<T, DurableError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let closed = || DurableError("the store is closed".to_owned());
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| closed())?;
        let idle = self.idle.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let connection = idle.lock().pop().ok_or_else(closed)?;
            let outcome = read(&connection);
            idle.lock().push(connection);
            drop(permit);
            outcome.map_err(DurableError::from)
        });
        reading.await.map_err(|stopped| DurableError(stopped.to_string()))?
    }

    /// Waits for the reads under way, then closes the connections.
    pub async fn close(&self) {
        if let Ok(_all) = self.permits.acquire_many(self.all).await {
            self.permits.close();
            self.idle.lock().clear();
        }
    }
}
