//! What a client asks for when it comes in, read before the upgrade so that a malformed request can still be answered 400.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::protocol::{ApiError, Code, Epoch, ItemId};

/// Items of one studio socket: what fits one bit each in its outbox, and more than a dashboard can show.
pub const STUDIO_ITEMS_MAX: usize = 64;

/// Where a client stood in a room: the epoch and the last number that it saw.
pub type Resume = (Epoch, u64);

/// A number that no other subscriber or connection of this process has.
pub fn fresh_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Reads `?resume=<epoch>:<seq>`. Whether it can be resumed from is the room's to say; only the form is checked here.
pub fn resume(text: &str) -> Result<Resume, ApiError> {
    let malformed = || ApiError::new(Code::BadRequest, "malformed resume: <epoch>:<seq>");
    let (epoch, seq) = text.split_once(':').ok_or_else(malformed)?;
    Ok((epoch.parse().map_err(|_| malformed())?, seq.parse().map_err(|_| malformed())?))
}

/// Reads `?items=a,b`: 1 to [`STUDIO_ITEMS_MAX`], no two alike.
pub fn items(text: &str) -> Result<Vec<ItemId>, ApiError> {
    let items = text.split(',').map(ItemId::parse).collect::<Result<Vec<_>, _>>()?;
    let repeated = items.iter().enumerate().any(|(i, item)| items.iter().take(i).any(|before| before == item));
    if repeated || items.len() > STUDIO_ITEMS_MAX {
        return Err(ApiError::new(Code::BadRequest, "items: 1 to 64, no two alike"));
    }
    Ok(items)
}

/// Reads the studio's `?resume=item@epoch:seq,…`: for each of `items` where to resume from, if that was told.
pub fn studio_resume(text: &str, items: &[ItemId]) -> Result<Vec<Option<Resume>>, ApiError> {
    let mut resumes = vec![None; items.len()];
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (item, from) = part
            .split_once('@')
            .ok_or_else(|| ApiError::new(Code::BadRequest, "malformed resume: item@<epoch>:<seq>"))?;
        let from = resume(from)?;
        if let Some((_, slot)) = items.iter().zip(&mut resumes).find(|(mine, _)| mine.as_str() == item) {
            *slot = Some(from);
        }
    }
    Ok(resumes)
}
