//! Faults that no caller can make: a disk that is full, a job that fails in a group, damaged columns.

use futures_util::future::join_all;
use uuid::Uuid;

use super::*;
use crate::protocol::{Counter, WriterId};
use crate::store::hot::contract::Add;

fn item(name: &str) -> ItemId {
    ItemId::parse(name).unwrap()
}

fn row(op: u64, comment: &str) -> LogRow {
    let user = crate::protocol::UserId::parse("ann").unwrap();
    let comment = Comment {
        id: CommentId(Uuid::from_u128(u128::from(op))),
        user,
        text: comment.to_owned(),
        at: crate::protocol::Millis(1),
        name: None,
    };
    let increments = [(Counter::Comments, 1)].into_iter().collect();
    let add = Add { writer: WriterId(Uuid::from_u128(1)), prev: op - 1, op, increments, comments: vec![(op, comment)] };
    LogRow { item: item("a"), add }
}

fn flight(fold: u64, op: u64) -> Flight {
    let increments = [(Counter::Likes, 1)].into_iter().collect();
    let w = [(WriterId(Uuid::from_u128(1)), op)].into_iter().collect();
    Flight { item: item("a"), fold, increments, w, comments: Vec::new() }
}

/// Bounds the database's pages, as a full disk does.
async fn pages_max(store: &SqliteStore, more: i64) {
    let bound = move |desk: &mut writer::Desk<'_>| {
        let pages: i64 = desk.connection.query_row("PRAGMA page_count", (), |row| row.get(0))?;
        let sql = format!("PRAGMA max_page_count = {}", pages + more);
        desk.connection.query_row(&sql, (), |_| Ok(()))
    };
    store.writer.run(bound).await.unwrap();
}

/// The database can grow by a few pages only, while small and large appends arrive at once; then there is room again.
#[tokio::test]
async fn a_full_disk_is_an_error_to_who_waits_and_what_was_answered_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    store.append(vec![row(1, "before")]).await.unwrap();
    pages_max(&store, 2).await;
    let large = "x".repeat(100_000);
    let appends = (2..40).map(|op| store.append(vec![row(op, if op % 2 == 0 { &large } else { "small" })]));
    let answers = join_all(appends).await;
    assert!(answers.iter().any(Result::is_err), "the large ones do not fit");
    let answered = (2..40).zip(&answers).filter(|(_, answer)| answer.is_ok()).map(|(op, _)| op);
    let expected: Vec<u64> = std::iter::once(1).chain(answered).collect();
    let stored: Vec<u64> = store.read().await.unwrap().into_iter().map(|row| row.add.op).collect();
    assert_eq!(stored, expected);

    pages_max(&store, 100_000).await;
    store.append(vec![row(40, &large)]).await.unwrap();
    assert_eq!(store.apply(&[flight(0, 40)]).await.unwrap(), [Applied::Done]);
    assert_eq!(store.read().await.unwrap(), [], "the index of the log was read anew");
}

/// A job fails half way between two others, all three in one group.
#[tokio::test]
async fn a_job_that_fails_is_undone_and_leaves_its_group_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let bad = |desk: &mut writer::Desk<'_>| {
        log::append(desk, &[row(2, "half")])?;
        desk.connection.execute("INSERT INTO nowhere VALUES (1)", ())
    };
    let group = tokio::join!(store.append(vec![row(1, "a")]), store.writer.run(bad), store.append(vec![row(3, "c")]));
    assert!(group.0.is_ok() && group.1.is_err() && group.2.is_ok());
    let stored: Vec<u64> = store.read().await.unwrap().into_iter().map(|row| row.add.op).collect();
    assert_eq!(stored, [1, 3]);
    store.apply(&[flight(0, 3)]).await.unwrap();
    assert_eq!(store.read().await.unwrap(), []);
}

/// Something else wrote into a column: it must not pass for an item that was never folded.
#[tokio::test]
async fn a_damaged_document_is_an_error_and_not_an_empty_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    store.apply(&[flight(0, 1)]).await.unwrap();
    let damage = |desk: &mut writer::Desk<'_>| desk.connection.execute("UPDATE documents SET totals = '{'", ());
    store.writer.run(damage).await.unwrap();
    assert!(store.document(&item("a")).await.is_err());
    assert!(store.apply(&[flight(1, 2)]).await.is_err());
}

/// What slipped by the doors is kept with its reason for whoever looks into it.
#[tokio::test]
async fn a_comment_that_was_set_aside_is_kept_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let empty = row(1, "").add.comments.remove(0).1;
    let inserted = store.insert_comments(&item("a"), std::slice::from_ref(&empty)).await.unwrap();
    assert_eq!(inserted.rejected[0].reason, "CHECK constraint failed: text_is_1_to_2000_bytes");
    let kept = |connection: &rusqlite::Connection| {
        connection.query_row("SELECT item, reason, comment FROM rejected_comments", (), |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, value::json::<Comment>(row, 2)?))
        })
    };
    let kept = store.readers.run(kept).await.unwrap();
    assert_eq!(kept, ("a".to_owned(), inserted.rejected[0].reason.clone(), empty));
}
