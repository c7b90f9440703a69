//! What the reply of an `update` command says: it is `ok` in any case, the rest has to be read out of its lists.

use mongodb::bson::Document;

use super::value::integer;
use crate::store::durable::contract::DurableError;

/// The code of a statement that met its own id.
pub(super) const DUPLICATE_KEY: i64 = 11_000;

/// A write that the majority has not acknowledged is an error of the whole command, though it may well stand.
pub(super) fn acknowledged(reply: &Document) -> Result<(), DurableError> {
    match reply.get_document("writeConcernError") {
        Ok(error) => Err(DurableError(format!("not acknowledged by the majority: {error}"))),
        Err(_) => Ok(()),
    }
}

/// The entries of a list in the reply, each with the statement that it is about.
pub(super) fn entries<'a>(reply: &'a Document, list: &str) -> Result<Vec<(usize, &'a Document)>, DurableError> {
    let Some(list_of) = reply.get(list) else { return Ok(Vec::new()) };
    let documents = list_of.as_array().ok_or_else(|| unexpected(list))?.iter().map(|entry| {
        let entry = entry.as_document().ok_or_else(|| unexpected(list))?;
        let index = usize::try_from(integer(entry, "index")?).map_err(|_| unexpected(list))?;
        Ok((index, entry))
    });
    documents.collect()
}

pub(super) fn unexpected(part: &str) -> DurableError {
    DurableError(format!("{part} of the server's reply makes no sense"))
}
