//! `/v1/items`: create and change, read, list, end.

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};

use super::caller::{Actor, Reader};
use super::extract::{Body, ItemPath, Page, Query, integer};
use crate::acts::{Act, Acts, Outcome};
use crate::protocol::counts::Display;
use crate::protocol::item::REACTIONS_MAX;
use crate::protocol::{ApiError, Code, CommentsMode, Counts, ItemPatch, ItemState, ItemView, Kind, text};

/// The longest slow mode: a day is longer than any show. Milliseconds.
const SLOW_MODE_MAX_MS: u64 = 24 * 60 * 60 * 1_000;

/// `PUT /v1/items/{item}`.
pub async fn put(
    Actor(caller): Actor,
    ItemPath(item): ItemPath,
    Body(body): Body<PutBody>,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    match acts.perform(&caller, &item, Act::PutItem(body.check()?)).await? {
        Outcome::ItemPut { item, created: true } => Ok(HttpResponse::Created().json(item)),
        Outcome::ItemPut { item, created: false } => Ok(HttpResponse::Ok().json(item)),
        other => Err(unexpected(&other)),
    }
}

/// `GET /v1/items/{item}`.
pub async fn get(_: Reader, ItemPath(item): ItemPath, acts: web::Data<Acts>) -> Result<HttpResponse, ApiError> {
    let (item, counts) = acts.item(&item).await?;
    Ok(HttpResponse::Ok().json(Whole { item: &item, counts: &counts, display: counts.display() }))
}

/// `GET /v1/items`.
pub async fn list(
    _: Reader,
    Query(page): Query<Page>,
    Query(filter): Query<Filter>,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    let (items, next) = acts.items(filter.state()?, page.cursor.as_deref(), page.limit()?).await?;
    Ok(HttpResponse::Ok().json(List { items, next }))
}

/// `POST /v1/items/{item}/end`.
pub async fn end(
    Actor(caller): Actor,
    ItemPath(item): ItemPath,
    acts: web::Data<Acts>,
) -> Result<HttpResponse, ApiError> {
    match acts.perform(&caller, &item, Act::EndItem).await? {
        Outcome::Ended { counts } => Ok(HttpResponse::Ok().json(Ended { counts: &counts })),
        other => Err(unexpected(&other)),
    }
}

/// Acts answer an act with its own outcome; anything else is a fault of ours.
pub(super) fn unexpected(outcome: &Outcome) -> ApiError {
    tracing::error!(?outcome, "an act was answered with another's outcome");
    ApiError::outcome_unknown("the answer was lost")
}

#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    item: &'a ItemView,
    counts: &'a Counts,
    display: Display<'a>,
}

#[derive(Serialize)]
struct List {
    items: Vec<ItemView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize)]
struct Ended<'a> {
    counts: &'a Counts,
}

/// `?state=`.
#[derive(Debug, Deserialize)]
pub struct Filter {
    state: Option<String>,
}

impl Filter {
    fn state(&self) -> Result<Option<ItemState>, ApiError> {
        match self.state.as_deref() {
            None => Ok(None),
            Some("live") => Ok(Some(ItemState::Live)),
            Some("ended") => Ok(Some(ItemState::Ended)),
            Some(_) => Err(ApiError::new(Code::Unprocessable, "state is live or ended")),
        }
    }
}

/// `{title?, reactions?, comments_mode?, slow_mode_ms?}` as sent.
#[derive(Debug, Default, Deserialize)]
pub struct PutBody {
    title: Option<String>,
    reactions: Option<Vec<String>>,
    comments_mode: Option<String>,
    slow_mode_ms: Option<i128>,
}

impl PutBody {
    fn check(self) -> Result<ItemPatch, ApiError> {
        let title = self.title.map(|title| text::normalize_title(&title)).transpose();
        Ok(ItemPatch {
            title: title.map_err(|why| ApiError::new(Code::Unprocessable, format!("title: {why}")))?,
            reactions: self.reactions.map(kinds).transpose()?,
            comments_mode: self.comments_mode.map(|mode| comments_mode(&mode)).transpose()?,
            slow_mode_ms: self.slow_mode_ms.map(slow_mode_ms).transpose()?,
        })
    }
}

fn kinds(names: Vec<String>) -> Result<Vec<Kind>, ApiError> {
    let kinds = names.iter().map(|name| Kind::parse(name)).collect::<Result<Vec<_>, _>>()?;
    let distinct: std::collections::BTreeSet<_> = kinds.iter().collect();
    if (1..=REACTIONS_MAX).contains(&kinds.len()) && distinct.len() == kinds.len() {
        Ok(kinds)
    } else {
        Err(ApiError::new(Code::Unprocessable, "reactions are 1 to 8 kinds, no two alike"))
    }
}

fn comments_mode(mode: &str) -> Result<CommentsMode, ApiError> {
    match mode {
        "open" => Ok(CommentsMode::Open),
        "closed" => Ok(CommentsMode::Closed),
        _ => Err(ApiError::new(Code::Unprocessable, "comments_mode is open or closed")),
    }
}

fn slow_mode_ms(value: i128) -> Result<u32, ApiError> {
    let ms = integer("slow_mode_ms", value, 0..=SLOW_MODE_MAX_MS)?;
    u32::try_from(ms).map_err(|_| ApiError::new(Code::Unprocessable, "slow_mode_ms is too long"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::client::read_body;

    fn patch(json: &str) -> Result<ItemPatch, Code> {
        read_body::<PutBody>(json.as_bytes()).and_then(PutBody::check).map_err(|error| error.code)
    }

    /// Scenario: a host sends some settings. Method: absent ones stay absent, values arrive normalised, unknown fields are ignored.
    #[test]
    fn only_what_is_sent_is_changed() {
        assert_eq!(patch(""), Ok(ItemPatch::default()));
        assert_eq!(patch(r#"{"title":null,"counter_shards":4,"new":{}}"#), Ok(ItemPatch::default()));
        let full = patch(r#"{"title":" A\tB ","reactions":["heart","wow"],"comments_mode":"closed","slow_mode_ms":5}"#);
        let full = full.unwrap();
        assert_eq!((full.title.as_deref(), full.slow_mode_ms), (Some("A B"), Some(5)));
        assert_eq!(full.comments_mode, Some(CommentsMode::Closed));
        assert_eq!(full.reactions.unwrap().len(), 2);
    }

    /// Scenario: wrong settings. Method: what is malformed is 400, what is well formed and not allowed is 422.
    #[test]
    fn malformed_and_not_allowed_are_told_apart() {
        for json in [
            "[]",
            "{",
            r#"{"title":1}"#,
            r#"{"reactions":["No"]}"#,
            r#"{"reactions":["a_str"]}"#,
            r#"{"reactions":"heart"}"#,
            r#"{"slow_mode_ms":1.5}"#,
            r#"{"slow_mode_ms":"5"}"#,
            r#"{"slow_mode_ms":18446744073709551616}"#,
        ] {
            assert_eq!(patch(json), Err(Code::BadRequest), "{json}");
        }
        let nine =
            format!(r#"{{"reactions":[{}]}}"#, (0..9).map(|n| format!("\"k{n}\"")).collect::<Vec<_>>().join(","));
        for json in [
            r#"{"reactions":[]}"#,
            r#"{"reactions":["a","a"]}"#,
            &nine,
            r#"{"comments_mode":"maybe"}"#,
            r#"{"slow_mode_ms":-1}"#,
            r#"{"slow_mode_ms":86400001}"#,
            r#"{"slow_mode_ms":18446744073709551615}"#,
            r#"{"title":"a\u202eb"}"#,
        ] {
            assert_eq!(patch(json), Err(Code::Unprocessable), "{json}");
        }
    }

    /// Scenario: lists are filtered by state. Method: an unknown state is not taken for none.
    #[test]
    fn an_unknown_state_is_refused() {
        let state = |text: Option<&str>| Filter { state: text.map(str::to_owned) }.state().map_err(|error| error.code);
        assert_eq!(state(None), Ok(None));
        assert_eq!(state(Some("ended")), Ok(Some(ItemState::Ended)));
        assert_eq!(state(Some("paused")), Err(Code::Unprocessable));
    }
}
