use super::*;
use crate::protocol::CommentId;
use crate::store::durable::Rejected;
use crate::store::hot::Flight;

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

fn flight(item: &ItemId) -> Flight {
    Flight {
        item: item.clone(),
        fold: 3,
        increments: Default::default(),
        w: Default::default(),
        comments: vec![crate::protocol::Comment {
            id: CommentId(uuid::Uuid::nil()),
            user: crate::protocol::UserId::parse("u").unwrap(),
            text: "t".to_owned(),
            at: Default::default(),
            name: None,
        }],
    }
}

mod rounds {
    use super::super::super::round::{Answer, Ask, REREADS_MAX, Round};
    use super::*;
    use crate::protocol::{Counter, Counters};
    use crate::store::durable::{Applied, Document, Inserted};
    use crate::store::hot::{Aligned, Audit};

    fn document(fold: u64) -> Document {
        Document { fold, ..Document::default() }
    }

    /// A round over one item that stands before its align with a document of this fold.
    fn before_align(item: &ItemId, fold: u64) -> Round {
        let mut round = Round::new([item.clone()]);
        round.told(Answer::Claimed(item.clone(), Ok(Some(Flight { comments: Vec::new(), ..flight(item) }))));
        round.told(Answer::Applied(vec![item.clone()], Ok(vec![Applied::NoMatch])));
        round.told(Answer::Read(item.clone(), Ok(document(fold))));
        while round.ask().is_some() {}
        round
    }

    fn outcome(round: Round) -> Outcome {
        round.finish().0.into_values().next().unwrap()
    }

    /// Three items: one clean, one whose comments cannot be inserted, one that goes through with a rejected comment.
    #[test]
    fn a_flight_is_applied_only_after_its_comments_and_a_refused_one_is_not_in_the_way() {
        let all = items(0..3);
        let mut round = Round::new(all.clone());
        assert_eq!(
            (0..3).map(|_| round.ask().unwrap()).collect::<Vec<_>>(),
            all.iter().cloned().map(Ask::Claim).collect::<Vec<_>>()
        );
        round.told(Answer::Claimed(all[0].clone(), Ok(None)));
        round.told(Answer::Claimed(all[1].clone(), Ok(Some(flight(&all[1])))));
        round.told(Answer::Claimed(all[2].clone(), Ok(Some(flight(&all[2])))));
        assert_eq!(round.ask(), Some(Ask::Insert(all[1].clone(), flight(&all[1]).comments)));
        assert_eq!(round.ask(), Some(Ask::Insert(all[2].clone(), flight(&all[2]).comments)));
        assert_eq!(round.ask(), None, "no apply before the comments");
        let rejected = Rejected { id: CommentId(uuid::Uuid::nil()), reason: "malformed".to_owned() };
        round.told(Answer::Inserted(all[2].clone(), Ok(Inserted { new: 0, rejected: vec![rejected.clone()] })));
        assert_eq!(round.ask(), None, "one bulk: the batch waits for its last item");
        round.told(Answer::Inserted(all[1].clone(), Err("down".to_owned())));
        let Some(Ask::Apply(flights)) = round.ask() else { panic!("no apply") };
        assert_eq!(flights.iter().map(|flight| &flight.item).collect::<Vec<_>>(), vec![&all[2]]);
        round.told(Answer::Applied(vec![all[2].clone()], Ok(vec![Applied::Done])));
        round.told(Answer::Read(all[2].clone(), Ok(document(4))));
        round.told(Answer::Aligned(all[2].clone(), Ok(Aligned::Settled)));
        assert_eq!(round.ask(), Some(Ask::Audit(all[2].clone())));
        round.told(Answer::Audited(all[2].clone(), Ok(None)));
        assert!(round.is_over());
        let (outcomes, findings) = round.finish();
        assert_eq!(outcomes.into_values().collect::<Vec<_>>(), vec![Outcome::Clean, failed(), Outcome::Folded]);
        assert_eq!((findings.rejected, findings.folded), (vec![(all[2].clone(), rejected)], 1));
    }

    /// This flusher slept between read and align while another one folded on: the documents that it reads rise.
    #[test]
    fn a_flusher_that_slept_raises_no_alarm() {
        let one = &items(0..1)[0];
        let mut round = before_align(one, 1);
        round.told(Answer::Aligned(one.clone(), Ok(Aligned::DurableBehind)));
        assert_eq!(round.ask(), Some(Ask::Read(one.clone())));
        round.told(Answer::Read(one.clone(), Ok(document(2))));
        assert_eq!(round.ask(), Some(Ask::Align(one.clone(), document(2))));
        round.told(Answer::Aligned(one.clone(), Ok(Aligned::Nothing)));
        round.told(Answer::Audited(one.clone(), Err("down".to_owned())));
        assert_eq!(outcome(round), Outcome::Folded);
    }

    /// The hot store takes 7 for durable where the document says none; then a pair from different folds, which says nothing.
    #[test]
    fn what_is_not_as_durable_as_it_looks_is_drift() {
        let one = &items(0..1)[0];
        let base = [(Counter::Likes, 7)].into_iter().collect();
        let audit = Audit { fold: 1, base, delta: Counters::default(), flight: None };
        let drift = |audit: Audit| {
            let mut round = before_align(one, 1);
            round.told(Answer::Aligned(one.clone(), Ok(Aligned::Settled)));
            round.told(Answer::Audited(one.clone(), Ok(Some(audit))));
            round.finish().1.drift.get(one).copied()
        };
        assert_eq!(drift(audit.clone()), Some(7));
        assert_eq!(drift(Audit { fold: 2, ..audit }), None);
    }

    #[test]
    fn a_restored_backup_is_an_alarm_and_no_endless_round() {
        let one = &items(0..1)[0];
        let mut round = before_align(one, 1);
        round.told(Answer::Aligned(one.clone(), Ok(Aligned::DurableBehind)));
        round.told(Answer::Read(one.clone(), Ok(document(1))));
        assert_eq!(outcome(round), Outcome::Behind);

        let mut racing = before_align(one, 1);
        for fold in 2..=u64::from(REREADS_MAX) + 2 {
            racing.told(Answer::Aligned(one.clone(), Ok(Aligned::DurableBehind)));
            racing.told(Answer::Read(one.clone(), Ok(document(fold))));
        }
        assert!(racing.is_over());
    }
}
