//! `heartline realign`: opens the stores as a server does, and brings items in line one after the other.

use std::collections::BTreeSet;
use std::sync::Arc;

use uuid::Uuid;

use super::build::BuildError;
use super::stores::Stores;
use crate::config::Config;
use crate::config::realign::{Keep, RealignConfig, Which};
use crate::flush::realign::{Realigned, in_words, realign};
use crate::protocol::{ItemId, WriterId};
use crate::store::durable::{DurableStore, sqlite};
use crate::store::hot::HotStore;

/// Items of one page of a listing.
const PAGE: usize = 1_000;
/// Items with something to fold that are taken up beside those that have a record: more than that Redis has no memory for.
const DIRTY_MAX: usize = 10_000_000;

/// Realigns, telling one line per item, in order. Answers how many failed.
pub async fn run(config: RealignConfig, mut tell: impl FnMut(String)) -> Result<usize, BuildError> {
    let RealignConfig { server, which, keep } = config;
    is_there(&server)?;
    // A writer that never contributes: its lease is all that is seen of it.
    let stores = Stores::open(&server, WriterId(Uuid::now_v7())).await?;
    let (hot, durable) = (stores.hot.clone(), stores.durable.clone());
    let items = match which {
        Which::One(item) => Ok(BTreeSet::from([item])),
        Which::All => all(&hot, &durable).await,
    };
    let mut failed = 0;
    match items {
        Ok(items) => {
            for item in items {
                match one(&hot, &durable, &item, keep).await {
                    Ok(line) => tell(format!("{item}: {line}")),
                    Err(why) => {
                        failed += 1;
                        tell(format!("{item}: FAILED: {why}"));
                    }
                }
            }
        }
        Err(why) => {
            failed += 1;
            tell(format!("FAILED to list the items: {why}"));
        }
    }
    durable.close().await;
    Ok(failed)
}

/// A folder that was mistyped must not be made, and then told to be in line.
fn is_there(config: &Config) -> Result<(), BuildError> {
    let database = config.data_dir.join(sqlite::DATABASE_FILE);
    if config.stores.is_none() && !database.exists() {
        return Err(BuildError::NoData(config.data_dir.clone()));
    }
    Ok(())
}

async fn one(
    hot: &Arc<dyn HotStore>,
    durable: &Arc<dyn DurableStore>,
    item: &ItemId,
    keep: Keep,
) -> Result<String, String> {
    let realigned = realign(hot.as_ref(), durable.as_ref(), item, keep).await.map_err(|error| error.to_string())?;
    match realigned {
        Realigned::Done(document) => {
            let kept = if keep == Keep::Hot { "hot" } else { "durable" };
            Ok(format!("kept {kept}: durable at fold {} with {}", document.fold, in_words(&document.totals)))
        }
        Realigned::InLine => {
            let known = durable.item(item).await.map_err(|error| error.to_string())?.is_some();
            let warm = hot.base(item).await.map_err(|error| error.to_string())?.is_some();
            if known || warm { Ok("in line, left alone".to_owned()) } else { Err("no such item".to_owned()) }
        }
    }
}

/// Every item with a record, and every one that is dirty: a backup from before an item's time has no record of it.
async fn all(hot: &Arc<dyn HotStore>, durable: &Arc<dyn DurableStore>) -> Result<BTreeSet<ItemId>, String> {
    let dirty = hot.dirty(DIRTY_MAX).await.map_err(|error| error.to_string())?;
    let (mut items, mut cursor) = (BTreeSet::from_iter(dirty), None);
    loop {
        let page = durable.items(None, cursor.as_ref(), PAGE).await.map_err(|error| error.to_string())?;
        items.extend(page.items.into_iter().map(|view| view.item));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(items),
        }
    }
}
