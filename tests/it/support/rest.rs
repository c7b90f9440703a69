//! REST calls of tests: blocking, with the status and the body as JSON.

use serde_json::{Value, json};

/// A status and a body; `null` where there is none.
pub type Answer = (u16, Value);

/// Calls with a method, a token and a body.
pub fn call(method: &str, url: &str, token: Option<&str>, body: Option<&Value>) -> Answer {
    try_call(method, url, token, body).unwrap()
}

/// The same of a server that may be dying, or dead.
pub fn try_call(method: &str, url: &str, token: Option<&str>, body: Option<&Value>) -> Result<Answer, ureq::Error> {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let mut request = ureq::http::Request::builder().method(method).uri(url);
    if let Some(token) = token {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let body = body.map(Value::to_string).unwrap_or_default();
    let request = request.header("Content-Type", "application/json").body(body).unwrap();
    let mut response = agent.run(request)?;
    let text = response.body_mut().read_to_string()?;
    Ok((response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::Null)))
}

/// A server that can be asked.
pub trait Node {
    /// `127.0.0.1:PORT`.
    fn address(&self) -> &str;

    /// `http://127.0.0.1:PORT` and a path.
    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address())
    }

    /// A token of development mode.
    fn token(&self, sub: &str, role: &str) -> String {
        let (status, answer) = self.post("/v1/dev/token", None, &json!({"sub": sub, "role": role}));
        assert_eq!(status, 200, "{answer}");
        answer["token"].as_str().unwrap().to_owned()
    }

    /// `GET`.
    fn get(&self, path: &str, token: Option<&str>) -> Answer {
        call("GET", &self.url(path), token, None)
    }

    /// `POST` with a JSON body.
    fn post(&self, path: &str, token: Option<&str>, body: &Value) -> Answer {
        call("POST", &self.url(path), token, Some(body))
    }

    /// `PUT` with a JSON body.
    fn put(&self, path: &str, token: Option<&str>, body: &Value) -> Answer {
        call("PUT", &self.url(path), token, Some(body))
    }

    /// The ledger of one counter: durable, unflushed, total; which must fit.
    fn ledger(&self, item: &str, counter: &str) -> (i64, i64, i64) {
        let host = self.token("auditor", "host");
        let (status, audit) = self.get(&format!("/v1/items/{item}/audit"), Some(&host));
        assert_eq!(status, 200, "{audit}");
        let of = |name: &str| audit["counters"][counter][name].as_i64().unwrap();
        let (durable, unflushed, total) = (of("durable"), of("unflushed"), of("total"));
        assert_eq!(durable + unflushed, total, "{audit}");
        (durable, unflushed, total)
    }

    /// The sum of all samples of a metric whose name and labels begin like this.
    fn metric(&self, sample: &str) -> f64 {
        let mut response = ureq::get(self.url("/metrics")).call().unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        let lines = text.lines().filter(|line| line.starts_with(sample));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
    }

    /// Every comment of an item, oldest first, page by page.
    fn history(&self, item: &str) -> Vec<Value> {
        let (mut pages, mut cursor) = (Vec::new(), String::new());
        loop {
            let (status, page) = self.get(&format!("/v1/items/{item}/comments?limit=100{cursor}"), None);
            assert_eq!(status, 200, "{page}");
            pages.push(page["comments"].as_array().unwrap().clone());
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return pages.into_iter().rev().flatten().collect(),
            }
        }
    }
}
