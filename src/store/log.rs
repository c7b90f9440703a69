//! The log of contributions behind the embedded hot store: what makes an answered step survive `kill -9` and power loss.
//!
//! A store trait like the other two, one floor beside them: the memory hot store appends, at start it reads everything back. Rows
//! go where flights are applied: a durable store that is also the log deletes, in the transaction that applies a flight, the rows
//! that the flight folds. So a crash finds either the row or its fold, never neither; a row at or below the folded number says nothing.

use async_trait::async_trait;

use crate::protocol::ItemId;
use crate::store::hot::contract::Add;

/// One contribution as it was applied to one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRow {
    /// Which item.
    pub item: ItemId,
    /// What was added.
    pub add: Add,
}

/// Why rows were not appended or read. Whether an append is in the log is unknown: the same contribution may later come again
/// under other bounds.
#[derive(Debug, Clone, thiserror::Error)]
#[error("contribution log unavailable: {0}")]
pub struct LogError(pub String);

/// See the module.
#[async_trait]
pub trait ContributionLog: Send + Sync + 'static {
    /// Appends rows, all or none, in this order. Durable when answered.
    async fn append(&self, rows: Vec<LogRow>) -> Result<(), LogError>;

    /// All rows that no applied flight has folded, in the order in which they were appended; for the start of the process.
    async fn read(&self) -> Result<Vec<LogRow>, LogError>;
}
