//! The few REST calls that runs need, typed. Each answers what the wire contract says or an error that quotes what came instead.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use crate::http::{Answer, Http, Request};
use crate::target::Target;

/// Comments asked for in one page: the most that the contract allows.
const PAGE: usize = 100;
/// Pages of history, at most: ten million comments, past any run.
const PAGES_MAX: usize = 100_000;

/// One item of a server, seen with a host's rights.
#[derive(Debug)]
pub struct Api {
    http: Http,
    item: String,
    host_token: String,
}

/// One counter at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Counter {
    /// In the durable store.
    pub durable: i64,
    /// Accepted and not folded yet.
    pub unflushed: i64,
    /// Both together, as the server says.
    pub total: i64,
}

/// The item's ledger at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Audit {
    counters: std::collections::BTreeMap<String, Counter>,
    /// What the facts say.
    #[serde(default)]
    pub facts: LikesOnly,
    /// How far counters are from facts.
    #[serde(default)]
    pub drift: LikesOnly,
}

/// Figures that there are of likes alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct LikesOnly {
    /// Of likes.
    pub likes: i64,
}

/// One comment of the history.
#[derive(Debug, Deserialize)]
pub struct OldComment {
    /// Its id, as the JSON token that the server sent.
    pub id: Box<RawValue>,
    /// Who wrote it.
    pub user: String,
    /// What they wrote; `None` once removed.
    pub text: Option<String>,
}

impl Audit {
    /// A counter by its name (`taps.heart`, `comments`); one that is not listed stands at 0.
    pub fn counter(&self, name: &str) -> Counter {
        self.counters.get(name).copied().unwrap_or_default()
    }

    /// That `durable + unflushed = total` for every counter.
    ///
    /// # Errors
    /// Names the counter for which it is not.
    pub fn check(&self) -> Result<(), String> {
        let broken = self.counters.iter().find(|(_, c)| c.durable + c.unflushed != c.total);
        broken.map_or(Ok(()), |(name, counter)| Err(format!("audit: {name} does not add up: {counter:?}")))
    }
}

impl Api {
    /// Gets a host's token and makes the item if it is unknown.
    pub async fn open(target: &Target, item: &str) -> Result<Self> {
        let mut http = Http::new(target.clone());
        let host_token = token(&mut http, "loadtest-host", "host").await?;
        let mut api = Self { http, item: item.to_owned(), host_token };
        let known = api.ask("GET", "", None).await?;
        if known.status == 404 {
            let made = api.ask("PUT", "", Some("{\"title\":\"Load test\"}")).await?;
            expect(&made, &[200, 201])?;
        } else {
            expect(&known, &[200])?;
        }
        Ok(api)
    }

    /// Gets a host's token and makes an item with these settings, a JSON object; one that is there is given them.
    pub async fn make(target: &Target, item: &str, settings: &str) -> Result<Self> {
        let mut http = Http::new(target.clone());
        let host_token = token(&mut http, "loadtest-host", "host").await?;
        let mut api = Self { http, item: item.to_owned(), host_token };
        expect(&api.ask("PUT", "", Some(settings)).await?, &[200, 201])?;
        Ok(api)
    }

    /// Taps; returns when it is applied.
    pub async fn tap(&mut self, kind: &str, n: u32) -> Result<()> {
        expect(&self.ask("POST", "/taps", Some(&json!({"kind": kind, "n": n}).to_string())).await?, &[200])
    }

    /// The ledger now.
    pub async fn audit(&mut self) -> Result<Audit> {
        let answer = self.ask("GET", "/audit", None).await?;
        read(&answer)
    }

    /// All comments, oldest first.
    pub async fn history(&mut self) -> Result<Vec<OldComment>> {
        #[derive(Deserialize)]
        struct Page {
            comments: Vec<OldComment>,
            next: Option<String>,
        }
        let mut pages = Vec::new();
        let mut cursor = String::new();
        for _ in 0..PAGES_MAX {
            let answer = self.ask("GET", &format!("/comments?limit={PAGE}{cursor}"), None).await?;
            let page: Page = read(&answer)?;
            pages.push(page.comments);
            let Some(next) = page.next else {
                return Ok(pages.into_iter().rev().flatten().collect());
            };
            cursor = format!("&cursor={}", percent_encoded(&next));
        }
        bail!("the history does not end")
    }

    async fn ask(&mut self, method: &str, below: &str, body: Option<&str>) -> Result<Answer> {
        let path = format!("/v1/items/{}{below}", self.item);
        self.http.ask(Request { method, path: &path, token: Some(&self.host_token), body }).await
    }
}

/// A token of development mode.
pub async fn token(http: &mut Http, sub: &str, role: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Token {
        token: String,
    }
    let body = json!({"sub": sub, "role": role, "ttl_s": 86_400}).to_string();
    let answer = http.ask(Request { method: "POST", path: "/v1/dev/token", token: None, body: Some(&body) }).await?;
    Ok(read::<Token>(&answer).context("is the server in development mode?")?.token)
}

/// A comment by the bearer of the token; answers its id as the JSON token that the server sent.
pub async fn comment(http: &mut Http, item: &str, token: &str, text: &str) -> Result<Box<str>> {
    #[derive(Deserialize)]
    struct Made {
        id: Box<RawValue>,
    }
    let path = format!("/v1/items/{item}/comments");
    let body = json!({ "text": text }).to_string();
    let answer = http.ask(Request { method: "POST", path: &path, token: Some(token), body: Some(&body) }).await?;
    expect(&answer, &[201])?;
    Ok(read::<Made>(&answer)?.id.get().into())
}

fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T> {
    expect(answer, &[200, 201])?;
    serde_json::from_str(&answer.body).with_context(|| format!("an answer that cannot be read: {}", head(&answer.body)))
}

fn expect(answer: &Answer, allowed: &[u16]) -> Result<()> {
    if allowed.contains(&answer.status) {
        return Ok(());
    }
    bail!("status {}: {}", answer.status, head(&answer.body))
}

fn head(body: &str) -> String {
    body.chars().take(200).collect()
}

/// A cursor in a query: all but unreserved characters (RFC 3986) as `%XX`.
fn percent_encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_that_does_not_add_up_is_told() {
        let audit = |durable| -> Audit {
            let text = format!(r#"{{"counters":{{"taps.heart":{{"durable":{durable},"unflushed":3,"total":10}}}}}}"#);
            serde_json::from_str(&text).unwrap_or_else(|_| unreachable!())
        };
        assert!(audit(7).check().is_ok());
        assert!(audit(6).check().is_err());
        assert_eq!(audit(7).counter("comments").total, 0);
    }

    #[test]
    fn cursors_survive_a_query() {
        assert_eq!(percent_encoded("a-1_~.+/=&"), "a-1_~.%2B%2F%3D%26");
    }
}
