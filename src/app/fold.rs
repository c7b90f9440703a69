//! Joins rooms to the flush, which stand on one floor and do not know each other.

use std::sync::OnceLock;

use actix::Addr;
use async_trait::async_trait;

use crate::flush::{FlushActor, FlushItem};
use crate::protocol::{ApiError, Code, ItemId};
use crate::room::FoldNow;

/// The flush as rooms see it. Filled once the actor runs, before the first room does.
#[derive(Default)]
pub struct FoldThroughFlush(pub OnceLock<Addr<FlushActor>>);

#[async_trait]
impl FoldNow for FoldThroughFlush {
    async fn fold_now(&self, item: &ItemId) -> Result<(), ApiError> {
        let unavailable = |why: String| ApiError::new(Code::Unavailable, why).retry_after(1_000);
        let flush = self.0.get().ok_or_else(|| unavailable("the flush does not run yet".to_owned()))?;
        let folded = flush.send(FlushItem(item.clone())).await.map_err(|error| unavailable(error.to_string()))?;
        folded.map_err(|error| unavailable(error.to_string()))
    }
}
