//! What is answered: replies to the contract's values. A reply of another form is the store's fault and an error, never a panic.

use std::collections::BTreeSet;
use std::str::FromStr;

use ::redis::{RedisError, Value};
use uuid::Uuid;

use crate::protocol::{Comment, Counter, Counters, Epoch, ItemId, WriterId};
use crate::store::durable::Document;
use crate::store::hot::contract::{Aligned, Audit, Event, Flight, HotError, Standing, Stood, Vector};
use crate::store::hot::fence::Raised;

type Read<T> = Result<T, HotError>;

/// The reply, unless it is an error.
pub(super) fn accepted(reply: Value) -> Read<Value> {
    match reply {
        Value::ServerError(error) => Err(HotError::Unavailable(RedisError::from(error).to_string())),
        reply => Ok(reply),
    }
}

pub(super) fn standing(reply: Value) -> Read<Standing> {
    match reply {
        Value::Int(0) => return Ok(Standing::Missing),
        Value::Int(_) => return Err(HotError::Overflow),
        _ => {}
    }
    let [at, folded, fold, epoch, seq, counters, events, elsewhere] = parts(reply)?;
    let held = Held::of(counters)?;
    Ok(Standing::At(Stood {
        at: parse(at)?,
        folded: parse(folded)?,
        fold: parse(fold)?,
        totals: held.totals()?,
        epoch: parse::<Epoch>(epoch)?,
        seq: parse(seq)?,
        events: list(events)?.into_iter().map(event).collect::<Read<_>>()?,
        elsewhere: parse(elsewhere)?,
    }))
}

pub(super) fn flight(item: &ItemId, reply: Value) -> Read<Option<Flight>> {
    if matches!(reply, Value::Int(_)) {
        return Ok(None);
    }
    let [fold, increments, w, comments] = parts(reply)?;
    Ok(Some(Flight {
        item: item.clone(),
        fold: parse(fold)?,
        increments: counters(increments)?,
        w: pairs(w)?.into_iter().map(|(writer, op)| Ok((named(&writer)?, named(&op)?))).collect::<Read<Vector>>()?,
        comments: in_order(list(comments)?)?,
    }))
}

pub(super) fn aligned(reply: Value) -> Read<Aligned> {
    match text(reply)?.as_str() {
        "settled" => Ok(Aligned::Settled),
        "laid" => Ok(Aligned::LaidAnew),
        "nothing" => Ok(Aligned::Nothing),
        "behind" => Ok(Aligned::DurableBehind),
        other => Err(unexpected(other)),
    }
}

/// Of scripts that answer 1 or 0.
pub(super) fn is_one(reply: &Value) -> Read<bool> {
    match reply {
        Value::Int(n) => Ok(*n == 1),
        other => Err(unexpected(other)),
    }
}

/// Of scripts that answer a number that cannot be negative.
pub(super) fn number(reply: Value) -> Read<u64> {
    parse(reply)
}

/// Which may like the item, of so many; `None`: there is no filter that answers.
pub(super) fn maybes(reply: Value, people: usize) -> Read<Option<Vec<bool>>> {
    if matches!(reply, Value::Int(_)) {
        return Ok(None);
    }
    let maybes = list(reply)?.iter().map(is_one).collect::<Read<Vec<_>>>()?;
    if maybes.len() == people { Ok(Some(maybes)) } else { Err(unexpected(maybes.len())) }
}

/// The mark that stood before, if one did.
pub(super) fn mark(reply: Value) -> Read<Option<Uuid>> {
    if matches!(reply, Value::Nil) { Ok(None) } else { parse(reply).map(Some) }
}

/// Of an item's whole hash.
pub(super) fn totals(reply: Value) -> Read<Option<Counters>> {
    let held = Held::of(reply)?;
    held.there.then(|| held.totals()).transpose()
}

/// Of an item's whole hash.
pub(super) fn audit(reply: Value) -> Read<Option<Audit>> {
    let held = Held::of(reply)?;
    let audit =
        || Audit { fold: held.fold, base: held.base, delta: held.delta, flight: held.flying.then_some(held.flight) };
    Ok(held.there.then(audit))
}

/// Of an item's whole hash.
pub(super) fn base(reply: Value) -> Read<Option<Document>> {
    let held = Held::of(reply)?;
    Ok(held.there.then_some(Document { totals: held.base, fold: held.fold, folded: held.folded }))
}

/// Of a whole write-ahead.
pub(super) fn write_ahead(reply: Value) -> Read<Vec<Comment>> {
    in_order(pairs_of(reply)?.into_iter().map(|(_, entry)| entry).collect())
}

/// People whom nodes told of, as far as that still lasts. "people deadline" by node.
pub(super) fn viewers(replies: Vec<Value>) -> Read<u64> {
    let [time, told] = <[Value; 2]>::try_from(replies).map_err(unexpected)?;
    let [seconds, _micros] = parts(accepted(time)?)?;
    let now_ms = parse::<u64>(seconds)?.saturating_mul(1_000);
    let mut people = 0_u64;
    for (_, told) in pairs(accepted(told)?)? {
        let (n, until_ms) = told.split_once(' ').ok_or_else(|| unexpected("a presence without its parts"))?;
        if named::<u64>(until_ms)? > now_ms {
            people = people.saturating_add(named(n)?);
        }
    }
    Ok(people)
}

/// Members of the shards' dirty sets.
pub(super) fn items(replies: Vec<Value>) -> Read<Vec<ItemId>> {
    let mut items = Vec::new();
    for reply in replies {
        for id in list(accepted(reply)?)? {
            items.push(parse(id)?);
        }
    }
    Ok(items)
}

pub(super) fn writers(reply: Value) -> Read<Vec<WriterId>> {
    list(reply)?.into_iter().map(parse).collect()
}

/// Of a fence that was raised or held.
pub(super) fn raised(reply: Value) -> Read<Option<Raised>> {
    if matches!(reply, Value::Int(_)) {
        return Ok(None);
    }
    let [asked, quiet] = parts(reply)?;
    Ok(Some(Raised { asked: parse(asked)?, quiet: writers(quiet)?.into_iter().collect() }))
}

/// Of the fields of an item's likes: whose entries are among them.
pub(super) fn openers(reply: Value) -> Read<BTreeSet<WriterId>> {
    let fields = list(reply)?.into_iter().map(text).collect::<Read<Vec<_>>>()?;
    let entries = fields.iter().filter_map(|field| field.strip_prefix("open:"));
    entries.map(|entry| named(entry.split_once(':').map_or(entry, |(writer, _)| writer))).collect()
}

/// What an item's hash has of numbers.
#[derive(Default)]
struct Held {
    there: bool,
    fold: u64,
    flying: bool,
    base: Counters,
    delta: Counters,
    flight: Counters,
    folded: Vector,
}

impl Held {
    fn of(reply: Value) -> Read<Self> {
        let mut held = Self::default();
        for (field, value) in pairs(reply)? {
            held.there = true;
            let (part, counter) = field.split_once(':').unwrap_or((&field, ""));
            let numbers = match part {
                "base" => &mut held.base,
                "delta" => &mut held.delta,
                "flight" => &mut held.flight,
                "fold" => {
                    held.fold = named(&value)?;
                    continue;
                }
                "folded" => {
                    held.folded.insert(named(counter)?, named(&value)?);
                    continue;
                }
                "flying" => {
                    held.flying = true;
                    continue;
                }
                _ => continue,
            };
            numbers.add(named::<Counter>(counter)?, named(&value)?);
        }
        Ok(held)
    }

    /// `base + delta`, which every add has been found to fit.
    fn totals(&self) -> Read<Counters> {
        self.base.plus(&self.delta).ok_or_else(|| unexpected("totals that leave 64 bits"))
    }
}

/// "seq tag event".
fn event(entry: Value) -> Read<Event> {
    let entry = text(entry)?;
    let mut parts = entry.splitn(3, ' ');
    let mut next = || parts.next().ok_or_else(|| unexpected("an event without its parts"));
    let (seq, tag, event) = (named(next()?)?, named(next()?)?, next()?);
    Ok(Event { seq, tag, event: serde_json::from_str(event).map_err(unexpected)? })
}

/// "order writer number comment", in the order of acceptance.
fn in_order(entries: Vec<Value>) -> Read<Vec<Comment>> {
    let mut ordered = Vec::new();
    for entry in entries {
        let entry = text(entry)?;
        let mut parts = entry.splitn(4, ' ');
        let order: u64 = named(parts.next().unwrap_or_default())?;
        let comment = parts.nth(2).ok_or_else(|| unexpected("a comment without its parts"))?;
        ordered.push((order, serde_json::from_str::<Comment>(comment).map_err(unexpected)?));
    }
    ordered.sort_by_key(|(order, _)| *order);
    Ok(ordered.into_iter().map(|(_, comment)| comment).collect())
}

fn counters(reply: Value) -> Read<Counters> {
    pairs(reply)?.into_iter().map(|(counter, n)| Ok((named(&counter)?, named(&n)?))).collect()
}

fn pairs(reply: Value) -> Read<Vec<(String, String)>> {
    pairs_of(reply)?.into_iter().map(|(key, value)| Ok((text(key)?, text(value)?))).collect()
}

/// A map as commands answer it, or the flat list that scripts do.
fn pairs_of(reply: Value) -> Read<Vec<(Value, Value)>> {
    match reply {
        Value::Map(pairs) => Ok(pairs),
        reply => {
            let mut flat = list(reply)?.into_iter();
            let mut pairs = Vec::new();
            while let (Some(key), Some(value)) = (flat.next(), flat.next()) {
                pairs.push((key, value));
            }
            Ok(pairs)
        }
    }
}

fn parts<const N: usize>(reply: Value) -> Read<[Value; N]> {
    list(reply)?.try_into().map_err(unexpected)
}

fn list(reply: Value) -> Read<Vec<Value>> {
    reply.into_sequence().map_err(unexpected)
}

pub(super) fn text(reply: Value) -> Read<String> {
    match reply {
        Value::BulkString(bytes) => String::from_utf8(bytes).map_err(unexpected),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => Ok(text),
        Value::Int(n) => Ok(n.to_string()),
        other => Err(unexpected(other)),
    }
}

fn parse<T: FromStr>(reply: Value) -> Read<T> {
    named(&text(reply)?)
}

fn named<T: FromStr>(text: &str) -> Read<T> {
    text.parse().map_err(|_| unexpected(text))
}

fn unexpected(what: impl std::fmt::Debug) -> HotError {
    HotError::Unavailable(format!("Redis answered with something else: {what:?}"))
}
