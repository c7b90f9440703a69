//! `/v1/batch`: what an existing back end forwards for its users.

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::caller::Actor;
use super::extract::Body;
use crate::acts::door::ack_of;
use crate::acts::forward::{FORWARDED_MAX, Forwarded};
use crate::acts::{Act, Acts, Outcome};
use crate::protocol::client::{Envelope, malformed};
use crate::protocol::server::AckBody;
use crate::protocol::{ApiError, ClientIn, Code, ItemId, UserId};

/// `POST /v1/batch`: `[{item, user, t, …}, …]` → `{results}` in order.
pub async fn post(
    Actor(caller): Actor,
    Body(entries): Body<Vec<Box<RawValue>>>,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    if entries.len() > FORWARDED_MAX {
        return Err(ApiError::new(Code::Unprocessable, "a batch is at most 1,000 acts"));
    }
    // What cannot be read is refused in its place; the others are done.
    let read: Vec<Result<Forwarded, ApiError>> = entries.iter().map(|entry| forwarded(entry.get())).collect();
    let good = read.iter().filter_map(|entry| entry.as_ref().ok().cloned()).collect();
    let mut done = acts.forward(&caller, good).await?.into_iter();
    let lost = || Err(ApiError::outcome_unknown("the answer was lost"));
    let results: Vec<_> = read.into_iter().map(|entry| entry.and_then(|_| done.next().unwrap_or_else(lost))).collect();
    Ok(HttpResponse::Ok().json(Results { results: results.iter().map(Entry::of).collect() }))
}

fn forwarded(json: &str) -> Result<Forwarded, ApiError> {
    let whom: Whom = serde_json::from_str(json).map_err(|error| malformed(&error))?;
    let (item, user) = (ItemId::parse(&whom.item)?, UserId::parse(&whom.user)?);
    let act = match Envelope::parse(json).map_err(|refused| refused.error)?.message {
        ClientIn::Tap(tap) => Act::Tap(tap),
        ClientIn::Like(liked) => Act::Like(liked),
        ClientIn::Comment(comment) => Act::Comment(comment),
        ClientIn::Auth { .. } | ClientIn::Ping => return Err(ApiError::new(Code::BadRequest, "t is not an act")),
    };
    Ok(Forwarded { item, user, act })
}

#[derive(Deserialize)]
struct Whom<'a> {
    #[serde(borrow)]
    item: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    user: std::borrow::Cow<'a, str>,
}

#[derive(Serialize)]
struct Results<'a> {
    results: Vec<Entry<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Done(AckBody<'a>),
    Refused { error: &'a ApiError },
}

impl<'a> Entry<'a> {
    fn of(result: &'a Result<Outcome, ApiError>) -> Self {
        match result {
            Ok(outcome) => Self::Done(ack_of(outcome)),
            Err(error) => Self::Refused { error },
        }
    }
}
