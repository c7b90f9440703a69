//! What every durable store promises: one function per failure that must not happen. Method, unless one says otherwise: an
//! empty store; writes are made, some of them twice or at once, and everything is read back.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use heartline::protocol::{Comment, CommentsMode, ItemId, ItemSettings, ItemState, ItemView, Kind, Millis};
use heartline::store::durable::{Applied, CommentCursor, Document, DurableStore, ItemChange};
use heartline::store::hot::Flight;

use super::DurableFactory;
use super::support::*;

fn view(name: &str) -> ItemView {
    ItemView::create(item(name), ItemSettings::default(), Millis(5))
}

fn flight(item: &ItemId, fold: u64, by: u128, op: u64, n: i64) -> Flight {
    let w = [(writer(by), op)].into_iter().collect();
    Flight { item: item.clone(), fold, increments: hearts(n), w, comments: Vec::new() }
}

/// Fifty requests create one item at once.
pub async fn an_item_is_created_once<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let created = join_all((0..50).map(|n| {
        let named = ItemView { title: format!("title {n}"), ..view("a") };
        store.change_item(ItemChange::Create(named))
    }))
    .await;
    let created: Vec<_> = created.into_iter().map(|answer| answer.unwrap().unwrap()).collect();
    assert_eq!(created.iter().filter(|(_, changed)| *changed).count(), 1);
    let stored = store.item(&item("a")).await.unwrap().unwrap();
    assert!(created.iter().all(|(view, _)| *view == stored), "all are told what is there");
}

/// Every setting is changed, set to what it is, and set on items that are ended or unknown.
pub async fn settings_are_replaced_on_live_items_only<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    store.change_item(ItemChange::Create(view("a"))).await.unwrap();
    let set = ItemView {
        title: "Абв 👨‍👩‍👧".into(),
        reactions: vec![Kind::parse("wow").unwrap(), Kind::HEART],
        comments_mode: CommentsMode::Closed,
        slow_mode_ms: u32::MAX,
        ..view("a")
    };
    let configure = |view: &ItemView| store.change_item(ItemChange::Configure(view.clone()));
    assert_eq!(configure(&set).await.unwrap(), Some((set.clone(), true)));
    assert_eq!(configure(&set).await.unwrap(), Some((set.clone(), false)), "nothing differs");
    assert_eq!(store.item(&item("a")).await.unwrap(), Some(set.clone()));
    store.change_item(ItemChange::End(item("a"), Millis(9), hearts(1))).await.unwrap();
    let (after, changed) = configure(&view("a")).await.unwrap().unwrap();
    assert_eq!((after.title, changed), (set.title, false));
    assert_eq!(configure(&view("unknown")).await.unwrap(), None);
    assert_eq!(store.item(&item("unknown")).await.unwrap(), None);
}

/// Twenty requests end one item at once with different totals; then somebody creates it again.
pub async fn the_end_is_final<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    store.change_item(ItemChange::Create(view("a"))).await.unwrap();
    assert_eq!(store.final_totals(&item("a")).await.unwrap(), None);
    let ends = join_all((1..=20).map(|n| store.change_item(ItemChange::End(item("a"), Millis(n), hearts(n))))).await;
    let ends: Vec<_> = ends.into_iter().map(|answer| answer.unwrap().unwrap()).collect();
    let first = ends.iter().position(|(_, changed)| *changed).unwrap();
    assert_eq!(ends.iter().filter(|(_, changed)| *changed).count(), 1);
    let at = Millis(i64::try_from(first).unwrap() + 1);
    let ended = ItemView { state: ItemState::Ended, ended_at: Some(at), ..view("a") };
    assert!(ends.iter().all(|(view, _)| *view == ended));
    assert_eq!(store.final_totals(&item("a")).await.unwrap(), Some(hearts(at.0)));
    assert_eq!(store.change_item(ItemChange::Create(view("a"))).await.unwrap(), Some((ended, false)));
    assert_eq!(store.change_item(ItemChange::End(item("b"), Millis(1), hearts(1))).await.unwrap(), None);
    assert_eq!(store.final_totals(&item("b")).await.unwrap(), None);
}

/// 25 items, every third one ended, read in pages of each size.
pub async fn pages_of_items_have_no_gap_and_no_double<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let names: Vec<_> = (0..25).map(|n| item(&format!("Item-{n:02}.{}", ["a", "B", "_"][n % 3]))).collect();
    for (n, name) in names.iter().enumerate() {
        store.change_item(ItemChange::Create(view(name.as_str()))).await.unwrap();
        if n % 3 == 0 {
            store.change_item(ItemChange::End(name.clone(), Millis(1), hearts(0))).await.unwrap();
        }
    }
    for limit in [1, 2, 5, 25, 100] {
        let all = all_pages(&*store, None, limit).await;
        assert_eq!(all, names, "ascending, by {limit}");
        let ended = all_pages(&*store, Some(ItemState::Ended), limit).await;
        let live = all_pages(&*store, Some(ItemState::Live), limit).await;
        assert_eq!(ended, names.iter().step_by(3).cloned().collect::<Vec<_>>());
        assert_eq!(ended.len() + live.len(), names.len());
    }
}

async fn all_pages(store: &dyn DurableStore, state: Option<ItemState>, limit: usize) -> Vec<ItemId> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.items(state, cursor.as_ref(), limit).await.unwrap();
        assert!(page.items.len() <= limit);
        all.extend(page.items.into_iter().map(|view| view.item));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return all,
        }
    }
}

/// A flight is applied, and repeated after its reply was lost; then an older and a future one come.
pub async fn a_flight_is_applied_once<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let a = item("a");
    assert_eq!(store.document(&a).await.unwrap(), Document::default(), "never folded");
    let first = flight(&a, 0, 1, 3, 5);
    assert_eq!(store.apply(std::slice::from_ref(&first)).await.unwrap(), [Applied::Done]);
    assert_eq!(store.apply(std::slice::from_ref(&first)).await.unwrap(), [Applied::NoMatch]);
    assert_eq!(store.apply(&[flight(&a, 2, 1, 9, 5)]).await.unwrap(), [Applied::NoMatch]);
    let folded = Document { totals: hearts(5), fold: 1, folded: first.w.clone() };
    assert_eq!(store.document(&a).await.unwrap(), folded);
    let second = Flight { w: [(writer(2), 1)].into_iter().collect(), ..flight(&a, 1, 2, 1, -7) };
    store.apply(std::slice::from_ref(&second)).await.unwrap();
    let folded = Document { totals: hearts(-2), fold: 2, folded: second.w };
    assert_eq!(store.document(&a).await.unwrap(), folded, "the vector is replaced, not merged");
}

/// Forty flushers apply the same flight at once.
pub async fn concurrent_flushers_do_not_double_a_flight<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let flight = flight(&item("a"), 0, 1, 1, 5);
    let flights = [flight];
    let outcomes = join_all((0..40).map(|_| store.apply(&flights))).await;
    let done = outcomes.into_iter().filter(|outcome| outcome.as_deref().unwrap() == [Applied::Done]).count();
    assert_eq!(done, 1);
    assert_eq!(store.document(&item("a")).await.unwrap().totals, hearts(5));
}

/// A bulk of three, of which the middle one does not match.
pub async fn a_flight_that_does_not_match_is_not_in_the_way_of_its_bulk<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let (a, b, c) = (item("a"), item("b"), item("c"));
    let bulk = [flight(&a, 0, 1, 1, 1), flight(&b, 4, 1, 1, 1), flight(&c, 0, 1, 1, 1)];
    assert_eq!(store.apply(&bulk).await.unwrap(), [Applied::Done, Applied::NoMatch, Applied::Done]);
    assert_eq!(store.document(&b).await.unwrap(), Document::default());
    assert_eq!(store.document(&c).await.unwrap().totals, hearts(1));
    assert_eq!(store.apply(&[]).await.unwrap(), []);
}

/// A thousand flights in one bulk, every seventh of which does not match.
pub async fn each_flight_of_a_large_bulk_is_answered_in_its_place<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let bulk: Vec<_> = (0..1_000_u64)
        .map(|n| flight(&item(&format!("i{n}")), u64::from(n % 7 == 3), 1, 1, i64::try_from(n).unwrap()))
        .collect();
    let outcomes = store.apply(&bulk).await.unwrap();
    for (flight, outcome) in bulk.iter().zip(&outcomes) {
        assert_eq!(*outcome, if flight.fold == 0 { Applied::Done } else { Applied::NoMatch }, "{:?}", flight.item);
    }
    assert_eq!(outcomes.len(), bulk.len());
    assert_eq!(store.document(&item("i998")).await.unwrap().totals, hearts(998));
}

/// A total that would leave 64 bits, in a bulk with one that does not.
pub async fn a_total_that_would_overflow_fails_alone_and_unchanged<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let (a, b) = (item("a"), item("b"));
    let large = (1 << 53) + 1;
    store.apply(&[flight(&a, 0, 1, 1, i64::MAX), flight(&b, 0, 1, 1, large)]).await.unwrap();
    let bulk = [flight(&a, 1, 1, 2, 1), flight(&b, 1, 1, 2, 1)];
    assert!(store.apply(&bulk).await.is_err());
    let unchanged = store.document(&a).await.unwrap();
    assert_eq!((unchanged.fold, unchanged.totals), (1, hearts(i64::MAX)));
    let other = store.document(&b).await.unwrap();
    assert_eq!((other.fold, other.totals), (2, hearts(large + 1)), "exact past 2^53");
}

/// An operator's document in place of one that is at another fold, of none, and of the right one; then a flight upon it.
pub async fn a_document_is_replaced_only_where_it_stands_at_the_fold_that_was_seen<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let (a, b) = (item("a"), item("b"));
    store.apply(&[flight(&a, 0, 1, 3, 5)]).await.unwrap();
    let before = store.document(&a).await.unwrap();
    let new = Document { totals: hearts(-9), fold: 7, folded: [(writer(2), 4)].into_iter().collect() };
    for seen in [0, 2] {
        assert!(!store.replace_document(&a, seen, &new).await.unwrap(), "it is at 1, not at {seen}");
    }
    assert_eq!(store.document(&a).await.unwrap(), before);
    assert!(!store.replace_document(&b, 1, &new).await.unwrap(), "there is none");
    assert!(store.replace_document(&b, 0, &new).await.unwrap());
    assert!(store.replace_document(&a, 1, &new).await.unwrap());
    assert!(!store.replace_document(&a, 1, &before).await.unwrap(), "a repeat finds it gone on");
    for item in [&a, &b] {
        assert_eq!(store.document(item).await.unwrap(), new);
        assert_eq!(store.apply(&[flight(item, 7, 2, 5, 1)]).await.unwrap(), [Applied::Done]);
        assert_eq!(store.document(item).await.unwrap().totals, hearts(-8));
    }
}

/// A batch is repeated after its reply was lost, together with new ones, and with an altered text.
pub async fn a_repeated_comment_is_a_success_and_not_a_double<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let (a, b) = (item("a"), item("b"));
    let batch: Vec<_> = (1..=10).map(comment).collect();
    let first = store.insert_comments(&a, &batch).await.unwrap();
    assert_eq!((first.new, first.rejected.len()), (10, 0));
    let more: Vec<_> = (6..=12).map(comment).collect();
    let again = store.insert_comments(&a, &more).await.unwrap();
    assert_eq!((again.new, again.rejected.len()), (2, 0));
    let altered = Comment { text: "altered".into(), at: Millis(0), ..comment(1) };
    assert_eq!(store.insert_comments(&a, &[altered]).await.unwrap().new, 0);
    let stored = store.comments(&a, None, 100).await.unwrap();
    assert_eq!(stored, (1..=12).rev().map(comment).collect::<Vec<_>>(), "newest first");
    assert_eq!(store.comments(&b, None, 100).await.unwrap(), []);
    assert_eq!(store.insert_comments(&a, &[]).await.unwrap().new, 0);
}

/// Empty and far too long texts among good ones.
pub async fn a_malformed_comment_is_set_aside_without_taking_its_batch_down<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let a = item("a");
    let empty = Comment { text: String::new(), ..comment(2) };
    let long = Comment { text: "x".repeat(100_000), ..comment(4) };
    let longest = Comment { text: "y".repeat(2_000), name: Some("N".into()), ..comment(5) };
    let batch = [comment(1), empty, comment(3), long, longest.clone()];
    for new in [3, 0] {
        let inserted = store.insert_comments(&a, &batch).await.unwrap();
        assert_eq!(inserted.new, new);
        assert_eq!(inserted.rejected.iter().map(|one| one.id).collect::<Vec<_>>(), [batch[1].id, batch[3].id]);
        assert!(inserted.rejected.iter().all(|one| !one.reason.is_empty()));
    }
    assert_eq!(store.comments(&a, None, 9).await.unwrap(), [longest, comment(3), comment(1)]);
    assert_eq!(store.comment(&a, batch[1].id).await.unwrap(), None);
}

/// Sixty comments, many of the same millisecond, read in pages of each size while newer ones arrive.
pub async fn pages_of_comments_have_no_gap_and_no_double<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let a = item("a");
    let mut all: Vec<_> =
        (1..=60_u128).map(|n| Comment { at: Millis(i64::try_from(n % 7).unwrap()), ..comment(n * 37 % 61) }).collect();
    store.insert_comments(&a, &all).await.unwrap();
    all.sort_by_key(|comment| std::cmp::Reverse(CommentCursor::from(comment)));
    for limit in [1, 7, 60, 100] {
        let (mut read, mut before) = (Vec::new(), None);
        loop {
            let page = store.comments(&a, before, limit).await.unwrap();
            store.insert_comments(&a, &[comment(1_000 + limit as u128)]).await.unwrap();
            let Some(last) = page.last() else { break };
            before = Some(CommentCursor::from(last));
            read.extend(page);
        }
        read.retain(|comment| all.contains(comment));
        assert_eq!(read, all, "by {limit}");
    }
}

/// One comment by its id, under its own item and another.
pub async fn a_comment_is_found_by_its_id_under_its_own_item_only<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    store.insert_comments(&item("a"), &[comment(1)]).await.unwrap();
    store.insert_comments(&item("b"), &[comment(2)]).await.unwrap();
    assert_eq!(store.comment(&item("a"), comment(1).id).await.unwrap(), Some(comment(1)));
    assert_eq!(store.comment(&item("a"), comment(2).id).await.unwrap(), None);
    assert_eq!(store.comment(&item("c"), comment(1).id).await.unwrap(), None);
}

/// Writers of every kind at once, on many items.
pub async fn concurrent_writes_of_every_kind_are_all_there<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    join_all((0..100_u128).map(|n| {
        let store = store.clone();
        async move {
            let item = item(&format!("i{}", n % 20));
            store.change_item(ItemChange::Create(view(item.as_str()))).await.unwrap();
            store.insert_comments(&item, &[comment(n), comment(n / 20 * 20)]).await.unwrap();
            while store.apply(&[flight(&item, store.document(&item).await.unwrap().fold, n, 1, 1)]).await.unwrap()
                != [Applied::Done]
            {}
        }
    }))
    .await;
    let mut comments = BTreeSet::new();
    for n in 0..20 {
        let item = item(&format!("i{n}"));
        assert_eq!(store.document(&item).await.unwrap().totals, hearts(5));
        comments.extend(ids(&store.comments(&item, None, 100).await.unwrap()));
    }
    assert_eq!(comments.len(), 100);
}

/// Work is handed over, the store is closed, more work comes.
pub async fn what_was_taken_before_a_close_is_done_and_later_work_is_refused<F: DurableFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let (a, batch) = (item("a"), [comment(1)]);
    let flights = [flight(&a, 0, 1, 1, 1)];
    let (applied, inserted, ()) = tokio::join!(store.apply(&flights), store.insert_comments(&a, &batch), store.close());
    assert_eq!(applied.unwrap(), [Applied::Done]);
    assert_eq!(inserted.unwrap().new, 1);
    assert!(store.document(&a).await.is_err());
    assert!(store.apply(&flights).await.is_err());
    store.close().await;
}

/// Every promise above as one test, for one factory.
macro_rules! durable_suite {
    ($factory:ty) => {
        $crate::contract::suite! { $factory: $crate::contract::durable =>
            an_item_is_created_once,
            settings_are_replaced_on_live_items_only,
            the_end_is_final,
            pages_of_items_have_no_gap_and_no_double,
            a_flight_is_applied_once,
            concurrent_flushers_do_not_double_a_flight,
            a_flight_that_does_not_match_is_not_in_the_way_of_its_bulk,
            each_flight_of_a_large_bulk_is_answered_in_its_place,
            a_total_that_would_overflow_fails_alone_and_unchanged,
            a_document_is_replaced_only_where_it_stands_at_the_fold_that_was_seen,
            a_repeated_comment_is_a_success_and_not_a_double,
            a_malformed_comment_is_set_aside_without_taking_its_batch_down,
            pages_of_comments_have_no_gap_and_no_double,
            a_comment_is_found_by_its_id_under_its_own_item_only,
            concurrent_writes_of_every_kind_are_all_there,
            what_was_taken_before_a_close_is_done_and_later_work_is_refused,
        }
    };
}
pub(crate) use durable_suite;
