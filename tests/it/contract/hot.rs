//! What every hot store promises: one function per failure that must not happen. Method, unless one says otherwise: a store
//! with one item laid from the default document; steps are made and the answers compared.

use futures_util::future::join_all;
use heartline::store::durable::Document;
use heartline::store::hot::{Aligned, Audit, HotError, Standing, Step};

use super::HotFactory;
use super::support::*;

/// A client repeats an add whose reply it lost.
pub async fn a_repeated_add_is_not_counted_twice<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    let first = stood(&*store, step(&item, say(1, 0, 2, &[(1, 10), (2, 11)]))).await;
    let again = stood(&*store, step(&item, say(1, 0, 2, &[(1, 10), (2, 11)]))).await;
    assert_eq!(first, again, "counts, number and events are those of the first time");
    assert_eq!((again.at, again.seq), (2, 1));
    assert_eq!(ids(&store.unflushed_comments(&item).await.unwrap()), [10, 11]);
}

/// The reply to 0→1 was lost; the writer offers 0→3, is told that it stands at 1, and sends the rest.
pub async fn a_contribution_whose_reply_was_lost_is_not_counted_again_with_what_came_since<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    stood(&*store, step(&item, add(1, 0, 1, 5))).await;
    let between = stood(&*store, step(&item, add(1, 0, 3, 5 + 7 + 9))).await;
    assert_eq!((between.at, between.totals), (1, hearts(5)));
    let rest = stood(&*store, step(&item, add(1, 1, 3, 7 + 9))).await;
    assert_eq!((rest.at, rest.totals), (3, hearts(21)));
}

/// An add names a number that the item does not stand at: too high, too low, or one of another writer.
pub async fn an_add_across_a_gap_changes_nothing<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    stood(&*store, step(&item, add(1, 0, 4, 1))).await;
    for (gap, at) in [(add(1, 5, 6, 100), 4), (add(1, 3, 6, 100), 4), (add(2, 4, 5, 100), 0)] {
        let answer = stood(&*store, step(&item, gap)).await;
        assert_eq!((answer.at, answer.totals), (at, hearts(1)));
    }
}

/// Steps on an item that the store does not have.
pub async fn a_missing_item_is_told_and_not_made_up<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = item("never");
    for step in [step(&item, add(1, 0, 1, 1)), read(&item)] {
        assert_eq!(store.step(step).await.unwrap(), Standing::Missing);
    }
    assert_eq!(store.claim(&item, &[]).await.unwrap(), None);
    assert_eq!(store.audit(&item).await.unwrap(), None);
    assert_eq!(store.totals(std::slice::from_ref(&item)).await.unwrap(), [None]);
    assert_eq!(store.dirty(10).await.unwrap(), []);
    assert!(store.let_go(&item).await.unwrap(), "it is gone");
}

/// One counter of an add would leave 64 bits; the add brings others, comments and events too.
pub async fn an_overflow_applies_nothing_of_its_step<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    let before = stood(&*store, step(&item, add(1, 0, 1, i64::MAX - 5))).await;
    let mut too_much = say(1, 1, 2, &[(2, 10)]);
    too_much.increments.add(HEART, 6).unwrap();
    let refused = Step { events: vec![ending()], ..step(&item, too_much) };
    assert!(matches!(store.step(refused).await, Err(HotError::Overflow)));
    assert_eq!(stood(&*store, step(&item, add(1, 0, 1, i64::MAX - 5))).await, before);
    assert_eq!(store.unflushed_comments(&item).await.unwrap(), []);
    let fits = stood(&*store, step(&item, add(1, 1, 2, 5))).await;
    assert_eq!(fits.totals, hearts(i64::MAX));
}

/// Totals fit all the way, but what would remain after the flight is settled does not.
pub async fn a_settle_never_overflows<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    stood(&*store, step(&item, add(1, 0, 1, -i64::MAX))).await;
    let flight = store.claim(&item, &[]).await.unwrap().unwrap();
    stood(&*store, step(&item, add(1, 1, 2, i64::MAX))).await;
    assert!(matches!(store.step(step(&item, add(1, 2, 3, 1))).await, Err(HotError::Overflow)));
    let document = applied(&Document::default(), &flight);
    assert_eq!(store.align(&item, &document).await.unwrap(), Aligned::Settled);
    let audit = Audit { fold: 1, base: hearts(-i64::MAX), delta: hearts(i64::MAX), flight: None };
    assert_eq!(store.audit(&item).await.unwrap(), Some(audit));
}

/// Counts past what a double holds (2^53), where a script's numbers would round.
pub async fn large_counts_are_exact<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    let large = (1 << 53) + 1;
    stood(&*store, step(&item, add(1, 0, 1, large))).await;
    let sum = stood(&*store, step(&item, add(1, 1, 2, 1_000_000_000_000_000))).await;
    assert_eq!(sum.totals, hearts(large + 1_000_000_000_000_000));
    let flight = store.claim(&item, &[]).await.unwrap().unwrap();
    assert_eq!(flight.increments, hearts(large + 1_000_000_000_000_000));
}

/// Two flushers claim, with contributions in between.
pub async fn a_second_claim_does_not_change_the_flight<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    assert_eq!(store.claim(&item, &[]).await.unwrap(), None, "nothing to fold");
    stood(&*store, step(&item, say(1, 0, 1, &[(1, 10)]))).await;
    let first = store.claim(&item, &[]).await.unwrap().unwrap();
    stood(&*store, step(&item, say(1, 1, 2, &[(2, 11)]))).await;
    stood(&*store, step(&item, add(2, 0, 1, 3))).await;
    let second = store.claim(&item, &[writer(1)]).await.unwrap().unwrap();
    assert_eq!(first, second);
    assert_eq!(first.fold, 0);
    assert_eq!(first.w, [(writer(1), 1)].into_iter().collect());
    assert_eq!(ids(&first.comments), [10], "what came later is not in it");
}

/// +5 and -5: the counter is where it was, but a journal waits to read the numbers as folded.
pub async fn increments_that_cancel_out_are_still_folded<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    stood(&*store, step(&item, add(1, 0, 1, 5))).await;
    stood(&*store, step(&item, add(1, 1, 2, -5))).await;
    assert_eq!(store.dirty(9).await.unwrap(), std::slice::from_ref(&item));
    let document = fold(&*store, &item, &Document::default()).await;
    assert!(document.totals.is_empty());
    let answer = stood(&*store, step(&item, add(1, 1, 2, -5))).await;
    assert_eq!((answer.folded, answer.fold), (2, 1));
}

/// Writers 1 (folded) and 2 (not) are gone when a claim is made; 3 lives.
pub async fn a_gone_writer_leaves_only_when_it_is_folded<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    stood(&*store, step(&item, add(1, 0, 1, 1))).await;
    let document = fold(&*store, &item, &Document::default()).await;
    stood(&*store, step(&item, add(2, 0, 1, 10))).await;
    stood(&*store, step(&item, add(3, 0, 1, 100))).await;
    let gone = [writer(1), writer(2)];
    let flight = store.claim(&item, &gone).await.unwrap().unwrap();
    assert_eq!(flight.w, [(writer(2), 1), (writer(3), 1)].into_iter().collect());
    assert_eq!(flight.increments, hearts(110));
    let document = applied(&document, &flight);
    assert_eq!(store.align(&item, &document).await.unwrap(), Aligned::Settled);
    stood(&*store, step(&item, add(3, 1, 2, 1))).await;
    let flight = store.claim(&item, &gone).await.unwrap().unwrap();
    assert_eq!(flight.w, [(writer(3), 2)].into_iter().collect(), "2 is folded now");
    assert_eq!(stood(&*store, read(&item)).await.totals, hearts(112), "what it gave stays");
}

/// The document is one fold ahead, but names another flight than the item has: after a roll-back both exist.
pub async fn a_flight_is_settled_only_by_the_document_that_names_it<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    stood(&*store, step(&item, add(1, 0, 1, 5))).await;
    store.claim(&item, &[]).await.unwrap().unwrap();
    let other = Document { totals: hearts(7), fold: 1, folded: [(writer(1), 2)].into_iter().collect() };
    assert_eq!(store.align(&item, &other).await.unwrap(), Aligned::LaidAnew);
    let answer = stood(&*store, step(&item, add(1, 2, 3, 0))).await;
    assert_eq!((answer.at, answer.folded, answer.fold, answer.totals), (3, 2, 1, hearts(7)));
    let audit = Audit { fold: 1, base: hearts(7), delta: hearts(0), flight: None };
    assert_eq!(store.audit(&item).await.unwrap(), Some(audit), "the flight is gone with it");
}

/// Documents of the same and of a lower fold, as stale reads and restored backups bring them.
pub async fn an_item_never_goes_back_to_an_older_document<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    stood(&*store, step(&item, add(1, 0, 1, 5))).await;
    let document = fold(&*store, &item, &Document::default()).await;
    stood(&*store, step(&item, add(1, 1, 2, 5))).await;
    let before = store.audit(&item).await.unwrap();
    assert_eq!(store.align(&item, &document).await.unwrap(), Aligned::Nothing);
    assert_eq!(store.align(&item, &Document::default()).await.unwrap(), Aligned::DurableBehind);
    assert_eq!(store.audit(&item).await.unwrap(), before);
}

/// The item was lost, or is two folds behind: numbers of the old numbering must not be taken for the new one's.
pub async fn an_item_laid_anew_begins_a_new_epoch<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    let old = stood(&*store, step(&item, say(1, 0, 1, &[(1, 10)]))).await;
    let document = Document { totals: hearts(3), fold: 2, folded: [(writer(1), 1)].into_iter().collect() };
    assert_eq!(store.align(&item, &document).await.unwrap(), Aligned::LaidAnew);
    let new = stood(&*store, Step { after: Some((old.epoch, old.seq)), ..read(&item) }).await;
    assert_ne!(new.epoch, old.epoch);
    assert_eq!((new.seq, new.totals), (0, hearts(3)));
    assert_eq!(store.unflushed_comments(&item).await.unwrap(), [], "its writer gives again what is not folded");
    assert_eq!(store.dirty(9).await.unwrap(), []);
}

/// A reader looks at every moment of a flush.
pub async fn totals_do_not_move_while_a_flush_runs<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    stood(&*store, step(&item, add(1, 0, 1, 5))).await;
    let flight = store.claim(&item, &[]).await.unwrap().unwrap();
    assert_eq!(stood(&*store, read(&item)).await.totals, hearts(5));
    stood(&*store, step(&item, add(1, 1, 2, 2))).await;
    let audit = Audit { fold: 0, base: hearts(0), delta: hearts(7), flight: Some(hearts(5)) };
    assert_eq!(store.audit(&item).await.unwrap(), Some(audit));
    store.align(&item, &applied(&Document::default(), &flight)).await.unwrap();
    assert_eq!(stood(&*store, read(&item)).await.totals, hearts(7));
    let audit = Audit { fold: 1, base: hearts(5), delta: hearts(2), flight: None };
    assert_eq!(store.audit(&item).await.unwrap(), Some(audit), "decremented by exactly what was flushed");
}

/// Comments and other events of several steps; readers that know some, none, and something unprovable.
pub async fn events_are_numbered_without_gaps_and_resumed_where_the_reader_stopped<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    let both = Step { events: vec![ending(), ending()], ..step(&item, say(1, 0, 1, &[(1, 10)])) };
    let first = stood(&*store, both).await;
    assert_eq!(first.seq, 3, "the comments first, then the step's own");
    stood(&*store, Step { events: vec![ending()], ..read(&item) }).await;
    let after = |known| Step { after: known, ..read(&item) };
    let seqs = |events: &[heartline::store::hot::Event]| events.iter().map(|event| event.seq).collect::<Vec<_>>();
    let all = stood(&*store, after(None)).await;
    assert_eq!(seqs(&all.events), [1, 2, 3, 4]);
    let later = stood(&*store, after(Some((all.epoch, 2)))).await;
    assert_eq!(later.events, all.events[2..], "the same entries, with the same tags");
    assert_eq!(stood(&*store, after(Some((all.epoch, 4)))).await.events, []);
    let unknown = heartline::protocol::Epoch(uuid::Uuid::from_u128(1));
    for unprovable in [(unknown, 2), (all.epoch, 9)] {
        assert_eq!(stood(&*store, after(Some(unprovable))).await.events, all.events);
    }
    let tags: std::collections::BTreeSet<_> = all.events.iter().map(|event| event.tag).collect();
    assert_eq!(tags.len(), 4);
}

/// Events ride on an add that is not taken, and then on one that is in already.
pub async fn events_are_taken_only_with_their_add<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    let gap = Step { events: vec![ending()], ..step(&item, add(1, 1, 2, 1)) };
    assert_eq!(stood(&*store, gap).await.seq, 0);
    stood(&*store, step(&item, add(1, 0, 1, 1))).await;
    let repeat = Step { events: vec![ending()], ..step(&item, add(1, 0, 1, 1)) };
    let answer = stood(&*store, repeat).await;
    assert_eq!((answer.at, answer.seq, answer.totals), (1, 1, hearts(1)));
}

/// Two writers' comments, a claim in the middle, a comment that comes a second time under another number.
pub async fn unflushed_comments_keep_their_order_and_leave_with_their_flight<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    stood(&*store, step(&item, say(1, 0, 2, &[(1, 10), (2, 11)]))).await;
    stood(&*store, step(&item, say(2, 0, 1, &[(1, 20)]))).await;
    let flight = store.claim(&item, &[]).await.unwrap().unwrap();
    let before = stood(&*store, step(&item, say(1, 2, 3, &[(3, 12)]))).await.seq;
    let known = stood(&*store, step(&item, say(2, 1, 2, &[(2, 20)]))).await;
    assert_eq!(known.seq, before, "it is there: no second event");
    assert_eq!(ids(&flight.comments), [10, 11, 20]);
    assert_eq!(ids(&store.unflushed_comments(&item).await.unwrap()), [10, 11, 20, 12]);
    store.align(&item, &applied(&Document::default(), &flight)).await.unwrap();
    assert_eq!(ids(&store.unflushed_comments(&item).await.unwrap()), [12]);
}

/// Three items become dirty; listings with a limit; items that are folded while others are contributed to.
pub async fn a_dirty_item_is_listed_until_nothing_is_left_to_fold<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let mut items = Vec::new();
    for name in ["a", "b", "c", "cold"] {
        items.push(laid(&*store, name).await);
    }
    for item in &items[..3] {
        stood(&*store, step(item, add(1, 0, 1, 1))).await;
    }
    let mut listed = std::collections::BTreeSet::new();
    for _ in 0..3 {
        let some = store.dirty(2).await.unwrap();
        assert!(some.len() <= 2);
        listed.extend(some);
    }
    assert_eq!(listed.into_iter().collect::<Vec<_>>(), items[..3], "none waits for ever behind a limit");
    let flight = store.claim(&items[0], &[]).await.unwrap().unwrap();
    stood(&*store, step(&items[0], add(1, 1, 2, 1))).await;
    store.align(&items[0], &applied(&Document::default(), &flight)).await.unwrap();
    fold(&*store, &items[1], &Document::default()).await;
    let mut left = store.dirty(9).await.unwrap();
    left.sort();
    assert_eq!(left, [items[0].clone(), items[2].clone()], "a was contributed to after its claim");
}

/// Items in each state are asked to go.
pub async fn an_item_is_let_go_only_if_nothing_of_it_is_unfolded_or_in_flight<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    stood(&*store, step(&item, add(1, 0, 1, 1))).await;
    assert!(!store.let_go(&item).await.unwrap(), "unfolded");
    let flight = store.claim(&item, &[]).await.unwrap().unwrap();
    assert!(!store.let_go(&item).await.unwrap(), "in flight");
    let document = applied(&Document::default(), &flight);
    store.align(&item, &document).await.unwrap();
    assert!(store.let_go(&item).await.unwrap());
    assert_eq!(store.step(read(&item)).await.unwrap(), Standing::Missing);
    assert_eq!(store.align(&item, &document).await.unwrap(), Aligned::LaidAnew);
    let back = stood(&*store, step(&item, add(1, 1, 2, 1))).await;
    assert_eq!((back.at, back.folded, back.totals), (2, 1, hearts(2)), "its writers go on where they were");
}

/// What the item takes for its document, at each moment of a flush; and of an item that is not there.
pub async fn the_base_of_an_item_is_the_document_that_it_was_last_brought_in_line_with<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    assert_eq!(store.base(&item("never")).await.unwrap(), None);
    let item = laid(&*store, "a").await;
    stood(&*store, step(&item, add(1, 0, 2, 5))).await;
    stood(&*store, step(&item, add(2, 0, 1, -7))).await;
    assert_eq!(store.base(&item).await.unwrap(), Some(Document::default()));
    let flight = store.claim(&item, &[]).await.unwrap().unwrap();
    assert_eq!(store.base(&item).await.unwrap(), Some(Document::default()), "claimed is not folded");
    let document = applied(&Document::default(), &flight);
    store.align(&item, &document).await.unwrap();
    stood(&*store, step(&item, add(1, 2, 3, 1))).await;
    assert_eq!(store.base(&item).await.unwrap(), Some(document));
}

/// A node tells how many people it has, and takes it back.
pub async fn a_nodes_own_people_are_not_counted_as_somebody_elses<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    for watching in [Some(5), None, Some(0)] {
        assert_eq!(stood(&*store, Step { watching, ..read(&item) }).await.elsewhere, 0);
    }
    let with_an_add = Step { watching: Some(2), ..step(&item, add(1, 0, 1, 1)) };
    assert_eq!(stood(&*store, with_an_add).await.elsewhere, 0);
}

/// A page of items, some of them unknown.
pub async fn totals_come_in_the_order_asked<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let (b, a) = (laid(&*store, "b").await, laid(&*store, "a").await);
    stood(&*store, step(&b, add(1, 0, 1, 2))).await;
    let asked = [b.clone(), item("unknown"), a, b];
    let totals = store.totals(&asked).await.unwrap();
    assert_eq!(totals, [Some(hearts(2)), None, Some(hearts(0)), Some(hearts(2))]);
}

/// 200 writers contribute to one item at once, each three times in order, each with a comment.
pub async fn concurrent_steps_are_each_counted_once<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    join_all((1..=200_u128).map(|by| {
        let (store, item) = (store.clone(), item.clone());
        async move {
            for op in 1..=3 {
                let mut add = say(by, op - 1, op, &[(op, by * 10 + u128::from(op))]);
                add.increments.add(HEART, 7).unwrap();
                assert_eq!(stood(&*store, step(&item, add)).await.at, op);
            }
        }
    }))
    .await;
    let end = stood(&*store, read(&item)).await;
    assert_eq!(end.totals.get(HEART), 200 * 3 * 7);
    let mut unflushed = ids(&store.unflushed_comments(&item).await.unwrap());
    unflushed.sort_unstable();
    unflushed.dedup();
    assert_eq!(unflushed.len(), 600);
    assert_eq!(end.seq, 600);
}

/// One writer hands over twenty steps on one item without waiting for answers.
pub async fn steps_of_one_item_keep_their_order<F: HotFactory>() {
    let factory = F::fresh().await;
    let store = factory.store();
    let item = laid(&*store, "a").await;
    let steps = (1..=20_u64).map(|op| stood(&*store, step(&item, say(1, op - 1, op, &[(op, u128::from(op))]))));
    let answers = join_all(steps).await;
    assert!(answers.iter().zip(1..).all(|(answer, op)| answer.at == op), "each was taken when its turn came");
    let order = ids(&store.unflushed_comments(&item).await.unwrap());
    assert_eq!(order, (1..=20).collect::<Vec<_>>());
}

/// Every promise above as one test, for one factory.
macro_rules! hot_suite {
    ($factory:ty) => {
        $crate::contract::suite! { $factory: $crate::contract::hot =>
            a_repeated_add_is_not_counted_twice,
            a_contribution_whose_reply_was_lost_is_not_counted_again_with_what_came_since,
            an_add_across_a_gap_changes_nothing,
            a_missing_item_is_told_and_not_made_up,
            an_overflow_applies_nothing_of_its_step,
            a_settle_never_overflows,
            large_counts_are_exact,
            a_second_claim_does_not_change_the_flight,
            increments_that_cancel_out_are_still_folded,
            a_gone_writer_leaves_only_when_it_is_folded,
            a_flight_is_settled_only_by_the_document_that_names_it,
            an_item_never_goes_back_to_an_older_document,
            an_item_laid_anew_begins_a_new_epoch,
            totals_do_not_move_while_a_flush_runs,
            events_are_numbered_without_gaps_and_resumed_where_the_reader_stopped,
            events_are_taken_only_with_their_add,
            unflushed_comments_keep_their_order_and_leave_with_their_flight,
            a_dirty_item_is_listed_until_nothing_is_left_to_fold,
            an_item_is_let_go_only_if_nothing_of_it_is_unfolded_or_in_flight,
            the_base_of_an_item_is_the_document_that_it_was_last_brought_in_line_with,
            a_nodes_own_people_are_not_counted_as_somebody_elses,
            totals_come_in_the_order_asked,
            concurrent_steps_are_each_counted_once,
            steps_of_one_item_keep_their_order,
        }
    };
}
pub(crate) use hot_suite;
