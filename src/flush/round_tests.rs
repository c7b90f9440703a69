//! What a round promises: comments before their flight, one bulk, no false alarm, drift found.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::protocol::{CommentId, Counter, UserId};

fn items(range: std::ops::Range<usize>) -> Vec<ItemId> {
    range.map(|n| ItemId::parse(&format!("i{n}")).unwrap()).collect()
}

fn failed() -> Outcome {
    Outcome::Failed("down".to_owned())
}

fn flight(item: &ItemId) -> Flight {
    Flight {
        item: item.clone(),
        fold: 3,
        increments: Default::default(),
        w: Default::default(),
        comments: vec![Comment {
            id: CommentId(uuid::Uuid::nil()),
            user: UserId::parse("u").unwrap(),
            text: "t".to_owned(),
            at: Default::default(),
            name: None,
        }],
    }
}

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
    assert_eq!(std::iter::from_fn(|| round.ask()).last(), Some(Ask::Audit(all[2].clone())));
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

/// Batches of any size, answered in any order, any of them with an error: what the stores are asked for is written down.
#[test]
fn whatever_fails_in_a_batch_each_item_is_written_once_and_in_order() {
    for seed in 0..2_000 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let all = items(0..rng.random_range(1..12));
        let (mut round, mut asks, mut asked) = (Round::new(all.clone()), Vec::new(), Vec::new());
        loop {
            asks.extend(std::iter::from_fn(|| round.ask()));
            if asks.is_empty() {
                break;
            }
            let ask = asks.swap_remove(rng.random_range(0..asks.len()));
            asked.push(ask.clone());
            round.told(answer(&mut rng, ask));
        }
        assert!(round.is_over(), "seed {seed}: a round that nothing moves on");
        let bulks: Vec<_> =
            asked.iter().filter_map(|ask| if let Ask::Apply(flights) = ask { Some(flights) } else { None }).collect();
        assert!(bulks.len() <= 1, "seed {seed}: one bulk for the whole batch");
        for flight in bulks.into_iter().flatten() {
            let inserts = asked.iter().take_while(|ask| !matches!(ask, Ask::Apply(_)));
            let inserts = inserts.filter(|ask| matches!(ask, Ask::Insert(item, _) if *item == flight.item)).count();
            assert_eq!(inserts as u64, flight.fold % 2, "seed {seed}: comments once, before their flight");
        }
        let (outcomes, _) = round.finish();
        assert_eq!(outcomes.into_keys().collect::<BTreeSet<_>>(), all.into_iter().collect(), "seed {seed}");
    }
}

/// A random answer. Flights of an odd fold have comments.
fn answer(rng: &mut Xoshiro256PlusPlus, ask: Ask) -> Answer {
    let down = rng.random_bool(0.2).then(|| "down".to_owned());
    fn or<T>(down: Option<String>, answer: T) -> Result<T, String> {
        down.map_or(Ok(answer), Err)
    }
    match ask {
        Ask::Claim(item) => {
            let fold = rng.random_range(0..2);
            let comments = if fold == 1 { flight(&item).comments } else { Vec::new() };
            let claimed = rng.random_bool(0.8).then(|| Flight { fold, comments, ..flight(&item) });
            Answer::Claimed(item, or(down, claimed))
        }
        Ask::Insert(item, _) => Answer::Inserted(item, or(down, Inserted::default())),
        Ask::Apply(flights) => {
            let items = flights.into_iter().map(|flight| flight.item).collect();
            Answer::Applied(items, or(down, vec![Applied::NoMatch]))
        }
        Ask::Read(item) => Answer::Read(item, or(down, document(rng.random_range(0..9)))),
        Ask::Align(item, _) => {
            let aligned = [Aligned::Settled, Aligned::DurableBehind][rng.random_range(0..2)];
            Answer::Aligned(item, or(down, aligned))
        }
        Ask::Audit(item) => Answer::Audited(item, or(down, None)),
    }
}
