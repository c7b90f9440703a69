//! What the plan promises: order, batches, back-off, nobody starved.

use super::*;

const INTERVAL: Duration = Duration::from_secs(5);

fn items(range: std::ops::Range<usize>) -> Vec<ItemId> {
    range.map(|n| ItemId::parse(&format!("i{n:06}")).unwrap()).collect()
}

fn outcomes(items: &[ItemId], outcome: &Outcome) -> BTreeMap<ItemId, Outcome> {
    items.iter().map(|item| (item.clone(), outcome.clone())).collect()
}

fn failed() -> Outcome {
    Outcome::Failed("down".to_owned())
}

/// An interval over `dirty`, in which `outcome` says how each item goes. Answers the items in the order of service.
fn interval(plan: &mut Plan, dirty: &[ItemId], now: Instant, outcome: impl Fn(&ItemId) -> Outcome) -> Vec<ItemId> {
    plan.listed(dirty, true, now);
    let mut order = Vec::new();
    for batch in plan.batches(dirty, &BTreeSet::new(), false, now) {
        let taken = plan.take(batch.items);
        let ended = taken.iter().map(|item| (item.clone(), outcome(item))).collect();
        plan.ended(&ended, &Findings::default(), now, now);
        plan.release(&taken);
        order.extend(taken);
    }
    order
}

/// A thousand items are dirty again at once after every fold, and one could not be folded: it comes first, all have a turn.
#[test]
fn an_item_never_starves_behind_busier_ones() {
    let (mut plan, start, all) = (Plan::new(INTERVAL), Instant::now(), items(0..1_001));
    let (busier, starved) = (&all[..1_000], &all[1_000]);
    plan.listed(&all, true, start);
    let begun = start + INTERVAL / 5;
    plan.ended(&outcomes(busier, &Outcome::Folded), &Findings::default(), begun, begun);
    plan.ended(&outcomes(&all[1_000..], &failed()), &Findings::default(), begun, begun);
    let order = interval(&mut plan, &all, start + INTERVAL, |_| Outcome::Folded);
    assert_eq!(order.first(), Some(starved));
    assert_eq!(order.len(), all.len(), "everything listed gets its turn");
    let again = plan.batches(&all, &all.iter().cloned().collect(), false, start + INTERVAL);
    assert!(again.is_empty(), "and only one in an interval");
}

/// One item always fails the bulk that it is in. Its batch mates must be free of it soon.
#[test]
fn an_item_that_spoils_its_bulk_is_soon_alone() {
    let (mut plan, mut now, all) = (Plan::new(INTERVAL), Instant::now(), items(0..300));
    let poison = &all[7];
    let mut left: BTreeSet<_> = all.iter().cloned().collect();
    for _ in 0..16 {
        let dirty: Vec<_> = left.iter().cloned().collect();
        plan.listed(&dirty, true, now);
        for batch in plan.batches(&dirty, &BTreeSet::new(), false, now) {
            let spoilt = batch.items.contains(poison);
            let outcome = if spoilt { failed() } else { Outcome::Clean };
            plan.ended(&outcomes(&batch.items, &outcome), &Findings::default(), now, now);
            left.retain(|item| spoilt || !batch.items.contains(item));
        }
        now += INTERVAL;
    }
    assert_eq!(left.into_iter().collect::<Vec<_>>(), std::slice::from_ref(poison));
}

/// A store is down for an hour and comes back: how long until the item is tried again?
#[test]
fn a_store_that_comes_back_is_noticed_within_the_longest_back_off() {
    let (mut plan, start, one) = (Plan::new(INTERVAL), Instant::now(), items(0..1));
    let (mut tried, mut longest) = (start, Duration::ZERO);
    for tick in 1..=720 {
        let now = start + INTERVAL * tick;
        if !interval(&mut plan, &one, now, |_| failed()).is_empty() {
            longest = longest.max(now - tried);
            tried = now;
        }
        assert!(tick != 2 || tried == now, "the interval after the first failure tries again");
    }
    assert!(longest <= BACKOFF_MAX + INTERVAL, "{longest:?}");
    assert_eq!(plan.lag(start + INTERVAL * 721), INTERVAL * 720, "the lag tells the whole time");
    interval(&mut plan, &[], start + INTERVAL * 722, |_| Outcome::Clean);
    assert_eq!(plan.lag(start + INTERVAL * 722), Duration::ZERO);
}

#[test]
fn two_rounds_never_have_the_same_item() {
    let (mut plan, now, two) = (Plan::new(INTERVAL), Instant::now(), items(0..2));
    plan.listed(&two, true, now);
    assert_eq!(plan.take(two[..1].to_vec()), &two[..1]);
    assert_eq!(plan.take(two.clone()), &two[1..]);
    assert!(plan.batches(&two, &BTreeSet::new(), true, now).is_empty());
    plan.release(&two);
    assert_eq!(plan.batches(&two, &BTreeSet::new(), true, now).len(), 1);
}
