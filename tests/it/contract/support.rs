//! Short names for what the suites build again and again.

use heartline::protocol::{Comment, CommentId, Counter, Counters, ItemId, Kind, Millis, RoomEvent, UserId, WriterId};
use heartline::store::durable::Document;
use heartline::store::hot::{Add, Flight, HotStore, Standing, Step, Stood};
use uuid::Uuid;

pub const HEART: Counter = Counter::Taps(Kind::HEART);

pub fn item(name: &str) -> ItemId {
    ItemId::parse(name).unwrap()
}

pub fn writer(n: u128) -> WriterId {
    WriterId(Uuid::from_u128(n))
}

pub fn hearts(n: i64) -> Counters {
    [(HEART, n)].into_iter().collect()
}

pub fn comment(n: u128) -> Comment {
    let user = UserId::parse("ann").unwrap();
    let at = Millis(1_000 + i64::try_from(n).unwrap());
    Comment { id: CommentId(Uuid::from_u128(n)), user, text: format!("comment {n}"), at, name: None }
}

pub fn add(by: u128, prev: u64, op: u64, n: i64) -> Add {
    Add { writer: writer(by), prev, op, increments: hearts(n), comments: Vec::new() }
}

/// An add whose only content are comments, each with the number that it belongs to; counted, as rooms count them.
pub fn say(by: u128, prev: u64, op: u64, comments: &[(u64, u128)]) -> Add {
    let increments = [(Counter::Comments, i64::try_from(comments.len()).unwrap())].into_iter().collect();
    let comments = comments.iter().map(|(number, n)| (*number, comment(*n))).collect();
    Add { writer: writer(by), prev, op, increments, comments }
}

pub fn ending() -> RoomEvent {
    RoomEvent::Ending {}
}

pub fn step(item: &ItemId, add: Add) -> Step {
    Step { item: item.clone(), add: Some(add), events: Vec::new(), after: None, watching: None }
}

pub fn read(item: &ItemId) -> Step {
    Step { item: item.clone(), add: None, events: Vec::new(), after: None, watching: None }
}

pub fn ids(comments: &[Comment]) -> Vec<u128> {
    comments.iter().map(|comment| comment.id.0.as_u128()).collect()
}

/// A step on an item that is there.
pub async fn stood(store: &dyn HotStore, step: Step) -> Stood {
    match store.step(step).await.unwrap() {
        Standing::At(stood) => stood,
        Standing::Missing => panic!("the item is missing"),
    }
}

/// An item as a cold room lays it: from the default document.
pub async fn laid(store: &dyn HotStore, name: &str) -> ItemId {
    let item = item(name);
    store.align(&item, &Document::default()).await.unwrap();
    item
}

/// What a durable store makes of a flight.
pub fn applied(document: &Document, flight: &Flight) -> Document {
    assert_eq!(document.fold, flight.fold);
    Document {
        totals: document.totals.plus(&flight.increments).unwrap(),
        fold: document.fold + 1,
        folded: flight.w.clone(),
    }
}

/// Claims, applies and settles all that is there.
pub async fn fold(store: &dyn HotStore, item: &ItemId, document: &Document) -> Document {
    let flight = store.claim(item, &[]).await.unwrap().expect("something to fold");
    let document = applied(document, &flight);
    store.align(item, &document).await.unwrap();
    document
}
