//! The door without items behind it: what is refused before `acts` is asked, and the resources that need none.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use actix_web::App;
use actix_web::body::to_bytes;
use actix_web::dev::{Service, ServiceResponse};
use actix_web::http::header::{self, HeaderMap};
use actix_web::http::{Method, StatusCode};
use actix_web::test::{TestRequest, init_service};
use rust_embed::RustEmbed;
use serde_json::{Value, json};

use super::error::status;
use super::{Gate, pages, routes};
use crate::auth::{Auth, Caller};
use crate::clock;
use crate::config::Config;
use crate::protocol::{ApiError, Code, Millis, Role, UserId};
use crate::telemetry::Metrics;

const KEY: &str = "0123456789abcdef0123456789abcdef";

fn gate(args: &[&str]) -> Gate {
    let config = Config::from_layers([&["heartline"], args].concat(), &|_| None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    Gate {
        auth: Arc::new(Auth::open(&config.auth, folder.path()).unwrap()),
        config: Arc::new(config),
        metrics: Arc::new(Metrics::new()),
        ready: Arc::new(AtomicBool::new(false)),
    }
}

fn keyed() -> Gate {
    gate(&["--jwt-secret", KEY])
}

fn token(gate: &Gate, role: Role) -> String {
    let user = UserId::parse("ann").unwrap();
    let expires = Millis(clock::wall().0 + 60_000);
    gate.auth.issue(Caller { user, role, items: None, name: None, expires }).unwrap().token
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{:?}", String::from_utf8_lossy(&self.body)))
    }

    fn code(&self) -> (u16, String) {
        (self.status.as_u16(), self.json()["error"]["code"].as_str().unwrap_or("none").to_owned())
    }

    fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}

fn request(method: Method, uri: &str) -> TestRequest {
    TestRequest::with_uri(uri).method(method).insert_header((header::HOST, "localhost:8080"))
}

async fn ask(gate: &Gate, request: TestRequest) -> Answer {
    let app = init_service(App::new().configure(|app| routes::mount(app, gate))).await;
    let response: ServiceResponse<_> = app.call(request.to_request()).await.unwrap();
    let (_, response) = response.into_parts();
    let (response, body) = response.into_parts();
    let body = to_bytes(body).await.unwrap_or_else(|_| panic!("body")).to_vec();
    Answer { status: response.status(), headers: response.headers().clone(), body }
}

/// Scenario: every code of the contract. Method: the table, written out a second time.
#[test]
fn each_code_has_the_status_of_the_contract() {
    for (code, expected) in [
        (Code::BadRequest, 400),
        (Code::Unauthorized, 401),
        (Code::Forbidden, 403),
        (Code::NotFound, 404),
        (Code::Conflict, 409),
        (Code::Gone, 410),
        (Code::TooLarge, 413),
        (Code::Unprocessable, 422),
        (Code::RateLimited, 429),
        (Code::Internal, 500),
        (Code::Unavailable, 503),
    ] {
        assert_eq!(status(code).as_u16(), expected, "{code:?}");
    }
}

/// Scenario: a refusal that passes with time. Method: its header is in whole seconds, never early; other refusals have none.
#[actix_web::test]
async fn retry_after_is_told_in_seconds_and_only_where_a_retry_helps() {
    use actix_web::ResponseError;
    let header = |error: ApiError| {
        let response = error.error_response();
        response.headers().get(header::RETRY_AFTER).map(|value| value.to_str().unwrap().to_owned())
    };
    assert_eq!(header(ApiError::new(Code::RateLimited, "").retry_after(1_001)).as_deref(), Some("2"));
    assert_eq!(header(ApiError::new(Code::Unavailable, "").retry_after(5)).as_deref(), Some("1"));
    assert_eq!(header(ApiError::new(Code::Unavailable, "")), None);
    assert_eq!(header(ApiError::outcome_unknown("").retry_after(5)), None);
}

/// Scenario: writing without a token, and with bad ones, also where reading needs none. Method: each path once.
#[actix_web::test]
async fn writing_needs_a_token_and_a_bad_one_is_refused_everywhere() {
    let gate = keyed();
    for (method, uri) in [
        (Method::PUT, "/v1/items/a"),
        (Method::POST, "/v1/items/a/end"),
        (Method::POST, "/v1/items/a/taps"),
        (Method::POST, "/v1/items/a/comments"),
        (Method::GET, "/v1/items/a/audit"),
    ] {
        let answer = ask(&gate, request(method.clone(), uri)).await;
        assert_eq!(answer.code(), (401, "unauthorized".to_owned()), "{method} {uri}");
        assert_eq!(answer.header(header::WWW_AUTHENTICATE), "Bearer");
    }
    let good = token(&gate, Role::Viewer);
    for value in ["Bearer nonsense", "Bearer", "Basic YTpi", &good, &format!("Bearer {good}x")] {
        let sent = request(Method::GET, "/v1/limits").insert_header((header::AUTHORIZATION, value));
        assert_eq!(ask(&gate, sent).await.code().0, 401, "{value}");
    }
    let sent = request(Method::GET, "/v1/limits").insert_header((header::AUTHORIZATION, format!("bearer {good}")));
    assert_eq!(ask(&gate, sent).await.status, 200);
}

/// Scenario: a server where nobody is anonymous. Method: reading without a token, and asking for one.
#[actix_web::test]
async fn deny_closes_reading_to_people_without_a_token() {
    let gate = gate(&["--jwt-secret", KEY, "--anonymous", "deny"]);
    for uri in ["/v1/limits", "/v1/items", "/v1/items/a", "/v1/items/a/comments"] {
        assert_eq!(ask(&gate, request(Method::GET, uri)).await.code().0, 401, "{uri}");
    }
    assert_eq!(ask(&gate, request(Method::POST, "/v1/anonymous")).await.code(), (403, "forbidden".to_owned()));
    let good = format!("Bearer {}", token(&gate, Role::Viewer));
    let sent = request(Method::GET, "/v1/limits").insert_header((header::AUTHORIZATION, good));
    assert_eq!(ask(&gate, sent).await.status, 200);
}

/// Scenario: malformed ids, bodies and queries. Method: one wrong thing at a time, with a good token.
#[actix_web::test]
async fn malformed_requests_are_coded_and_never_500() {
    let gate = keyed();
    let good = format!("Bearer {}", token(&gate, Role::Host));
    let with = |method: Method, uri: &str, body: &str| {
        let sent = request(method, uri).insert_header((header::AUTHORIZATION, good.as_str()));
        sent.set_payload(body.to_owned())
    };
    for uri in [
        "/v1/items/a%20b/taps",
        "/v1/items/%zz/taps",
        "/v1/items/%ff/taps",
        "/v1/items/a%2Fb/taps",
        "/v1/items/../taps",
    ] {
        assert_eq!(ask(&gate, with(Method::POST, uri, "{}")).await.code(), (400, "bad_request".to_owned()), "{uri}");
    }
    for (uri, body) in [
        ("/v1/items/a/taps", "{"),
        ("/v1/items/a/taps", "\u{0}"),
        ("/v1/items/a/taps", r#"{"n":"1"}"#),
        ("/v1/items/a/comments", ""),
        ("/v1/items/a/comments", r#"{"text":7}"#),
    ] {
        assert_eq!(ask(&gate, with(Method::POST, uri, body)).await.code().0, 400, "{uri} {body}");
    }
    let bytes = request(Method::POST, "/v1/items/a/comments").insert_header((header::AUTHORIZATION, good.as_str()));
    assert_eq!(ask(&gate, bytes.set_payload(&b"{\"text\":\"\xff\"}"[..])).await.code().0, 400);
}

/// Scenario: bodies over the limit, declared and not. Method: 413 for both, and exactly the limit passes to the next check.
#[actix_web::test]
async fn a_body_over_the_limit_is_refused() {
    let gate = gate(&[]);
    let max = gate.config.server.body_max_bytes;
    let uri = "/v1/dev/token";
    let declared = request(Method::POST, uri).insert_header((header::CONTENT_LENGTH, (max + 1).to_string()));
    assert_eq!(ask(&gate, declared).await.code(), (413, "too_large".to_owned()));
    let undeclared = request(Method::POST, uri).set_payload(vec![b' '; max + 1]);
    assert_eq!(ask(&gate, undeclared.insert_header((header::TRANSFER_ENCODING, "chunked"))).await.code().0, 413);
    assert_eq!(ask(&gate, request(Method::POST, uri).set_payload(vec![b' '; max])).await.code().0, 400);
}

/// Scenario: paths and methods that do not exist. Method: the answer has the error's shape and tells what is allowed.
#[actix_web::test]
async fn unknown_paths_and_methods_have_the_error_shape() {
    let gate = keyed();
    for uri in ["/v1/nothing", "/v1/items/a/b/c", "/v2/items", "/nothing.html"] {
        assert_eq!(ask(&gate, request(Method::GET, uri)).await.code(), (404, "not_found".to_owned()), "{uri}");
    }
    for uri in ["/v1/items/a/ws", "/v1/studio/ws?items=a"] {
        assert_eq!(ask(&gate, request(Method::GET, uri)).await.code(), (400, "bad_request".to_owned()), "{uri}");
    }
    for (method, uri, allow) in [
        (Method::POST, "/v1/items/a/ws", "GET"),
        (Method::DELETE, "/v1/items", "GET"),
        (Method::POST, "/v1/items/a", "GET, PUT"),
        (Method::GET, "/v1/items/a/taps", "POST"),
        (Method::PATCH, "/v1/items/a/comments", "GET, POST"),
        (Method::POST, "/healthz", "GET"),
    ] {
        let answer = ask(&gate, request(method, uri)).await;
        assert_eq!(answer.code(), (405, "bad_request".to_owned()), "{uri}");
        assert_eq!(answer.header(header::ALLOW), allow);
    }
}

/// Scenario: pages of lists. Method: limits in and out of range.
#[test]
fn a_list_has_fifty_entries_unless_asked_and_never_over_a_hundred() {
    use super::extract::Page;
    let limit = |query: &str| {
        let page = actix_web::web::Query::<Page>::from_query(query).unwrap();
        page.limit().map_err(|error| error.code)
    };
    assert_eq!((limit(""), limit("limit=100&x=1")), (Ok(50), Ok(100)));
    for (query, code) in [
        ("limit=0", Code::Unprocessable),
        ("limit=101", Code::Unprocessable),
        ("limit=-1", Code::Unprocessable),
        ("limit=", Code::BadRequest),
        ("limit=ten", Code::BadRequest),
        ("limit=%zz", Code::BadRequest),
        ("limit=99999999999999999999", Code::BadRequest),
    ] {
        assert_eq!(limit(query), Err(code), "{query}");
    }
}

/// Scenario: a foreign page reaches a development server by a rebound name. Method: the same request under two names.
#[actix_web::test]
async fn a_development_server_answers_only_loopback_names() {
    let gate = gate(&[]);
    let body = json!({"sub": "eve", "role": "service"}).to_string();
    let named = |host: &str| {
        TestRequest::post().uri("/v1/dev/token").insert_header((header::HOST, host)).set_payload(body.clone())
    };
    let refused = ask(&gate, named("evil.example:8080")).await;
    assert_eq!(refused.code(), (403, "forbidden".to_owned()));
    assert_eq!(refused.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
    let given = ask(&gate, named("127.0.0.1:8080")).await;
    assert_eq!(given.status, 200);
    let caller = gate.auth.verify(given.json()["token"].as_str().unwrap(), clock::wall()).unwrap();
    assert_eq!((caller.user.as_str(), caller.role), ("eve", Role::Service));
}

/// Scenario: development's door on a server with a key. Method: no such path, whatever is sent.
#[actix_web::test]
async fn there_is_no_development_token_outside_development_mode() {
    let gate = keyed();
    for body in ["", r#"{"sub":"eve","role":"service"}"#] {
        let answer = ask(&gate, request(Method::POST, "/v1/dev/token").set_payload(body)).await;
        assert_eq!(answer.code(), (404, "not_found".to_owned()), "{body}");
    }
}

/// Scenario: somebody without an account. Method: the token is good, names the user, and ends when it says.
#[actix_web::test]
async fn an_anonymous_person_gets_a_token() {
    let gate = keyed();
    let answer = ask(&gate, request(Method::POST, "/v1/anonymous")).await.json();
    let caller = gate.auth.verify(answer["token"].as_str().unwrap(), clock::wall()).unwrap();
    assert_eq!(answer["user"], caller.user.as_str());
    assert_eq!(answer["exp"], caller.expires.0);
    assert_eq!(caller.role, Role::Anonymous);
}

/// Scenario: a balancer watches a server start and stop. Method: the flag, both ways; alive all the time.
#[actix_web::test]
async fn a_server_that_takes_no_work_says_so() {
    let gate = keyed();
    assert_eq!(ask(&gate, request(Method::GET, "/healthz")).await.status, 200);
    let starting = ask(&gate, request(Method::GET, "/readyz")).await;
    assert_eq!(starting.code(), (503, "unavailable".to_owned()));
    assert_eq!(starting.header(header::RETRY_AFTER), "1");
    gate.ready.store(true, Ordering::Release);
    assert_eq!(ask(&gate, request(Method::GET, "/readyz")).await.status, 200);
    assert_eq!(ask(&gate, request(Method::HEAD, "/readyz")).await.status, 200);
}

/// Scenario: clients and operators ask what holds. Method: the numbers are the configured ones.
#[actix_web::test]
async fn limits_are_told_as_they_are_configured() {
    let gate = gate(&["--tick-ms", "50", "--limits", "off"]);
    let limits = ask(&gate, request(Method::GET, "/v1/limits")).await.json();
    assert_eq!((&limits["tick_ms"], &limits["rates"], &limits["taps_burst"]), (&json!(50), &json!(false), &json!(300)));
}

/// Scenario: metrics are scraped here or elsewhere. Method: with and without a listener of their own.
#[actix_web::test]
async fn metrics_move_to_their_own_listener() {
    let here = ask(&keyed(), request(Method::GET, "/metrics")).await;
    assert!(here.header(header::CONTENT_TYPE).starts_with("application/openmetrics-text"));
    assert!(String::from_utf8(here.body).unwrap().ends_with("# EOF\n"));
    let elsewhere = gate(&["--jwt-secret", KEY, "--metrics-listen", "127.0.0.1:9000"]);
    assert_eq!(ask(&elsewhere, request(Method::GET, "/metrics")).await.status, 404);
    let app = init_service(App::new().configure(routes::metrics_only(elsewhere))).await;
    assert_eq!(app.call(request(Method::GET, "/metrics").to_request()).await.unwrap().status(), 200);
}

/// Scenario: pages of other sites call. Method: a configured origin is let in, another is not, and the preflight says what may be sent.
#[actix_web::test]
async fn only_configured_origins_may_call_from_a_browser() {
    let gate = gate(&["--jwt-secret", KEY, "--allowed-origins", "https://shop.example,https://b.example"]);
    let from = |origin: &str| request(Method::GET, "/v1/limits").insert_header((header::ORIGIN, origin));
    let allow = header::ACCESS_CONTROL_ALLOW_ORIGIN;
    assert_eq!(ask(&gate, from("https://shop.example")).await.header(allow.clone()), "https://shop.example");
    assert_eq!(ask(&gate, from("https://evil.example")).await.header(allow.clone()), "");
    let preflight = request(Method::OPTIONS, "/v1/items/a/taps")
        .insert_header((header::ORIGIN, "https://b.example"))
        .insert_header((header::ACCESS_CONTROL_REQUEST_METHOD, "POST"))
        .insert_header((header::ACCESS_CONTROL_REQUEST_HEADERS, "authorization,content-type"));
    let answer = ask(&gate, preflight).await;
    assert_eq!((answer.status.as_u16(), answer.header(allow)), (200, "https://b.example"));
    assert_eq!(answer.header(header::ACCESS_CONTROL_ALLOW_CREDENTIALS), "");
}

/// Pages of the tests' own, so that the door is tested whatever the product's pages are.
#[derive(RustEmbed)]
#[folder = "src/api/testdata/"]
struct Pages;

fn page(method: Method, path: &str, tag: Option<&str>) -> actix_web::HttpResponse {
    let mut sent = TestRequest::with_uri("/x?a=1").method(method).param("path", path.to_owned());
    if let Some(tag) = tag {
        sent = sent.insert_header((header::IF_NONE_MATCH, tag));
    }
    pages::serve(&sent.to_http_request(), Pages::get)
}

/// Scenario: a browser loads a page. Method: type, policy and tag are there; the same tag again is not sent twice.
#[actix_web::test]
async fn a_page_comes_with_its_type_policy_and_tag() {
    let index = page(Method::GET, "", None);
    let text = |name: header::HeaderName| index.headers().get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(index.status(), 200);
    assert_eq!(text(header::CONTENT_TYPE), "text/html; charset=utf-8");
    let policy = text(header::CONTENT_SECURITY_POLICY);
    assert!(policy.contains("script-src 'self';") && policy.contains("media-src 'self' https: http: blob: data:"));
    assert!(!policy.contains("unsafe"));
    let tag = text(header::ETAG);
    assert!(tag.starts_with("W/\""));
    let again = page(Method::GET, "", Some(&tag));
    assert_eq!(again.status(), 304);
    assert!(to_bytes(again.into_body()).await.unwrap().is_empty());
    assert_eq!(page(Method::GET, "", Some("W/\"other\"")).status(), 200);
    assert_eq!(page(Method::GET, "", Some("*")).status(), 304);
    let script = page(Method::GET, "sdk/a.js", None);
    assert_eq!(script.headers().get(header::CONTENT_TYPE).unwrap(), "text/javascript; charset=utf-8");
}

/// Scenario: a folder without its slash. Method: it is sent on with its query, by a link that stays on this host.
#[actix_web::test]
async fn a_folder_is_sent_on_to_its_slash() {
    let moved = page(Method::GET, "sdk", None);
    assert_eq!(moved.status(), 301);
    assert_eq!(moved.headers().get(header::LOCATION).unwrap(), "x/?a=1");
    assert_eq!(page(Method::GET, "sdk/", None).status(), 200);
    assert_eq!(page(Method::POST, "sdk/", None).status(), 405);
}

/// Scenario: a path tries to leave the folder. Method: every trick in a path names no file.
#[actix_web::test]
async fn no_path_leaves_the_folder() {
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/api/testdata/../mod.rs").exists());
    for path in [
        "../mod.rs",
        "sdk/../../mod.rs",
        "./index.html",
        "/index.html",
        "//index.html",
        "sdk//a.js",
        ".hidden",
        "sdk/.hidden",
        "%2e%2e/mod.rs",
        "..\\mod.rs",
        "index.html\0",
        "sdk/..",
        "/etc/passwd",
    ] {
        assert_eq!(page(Method::GET, path, None).status(), 404, "{path}");
    }
}

/// Scenario: a phone on a slow network. Method: the page is compressed where the browser takes it.
#[actix_web::test]
async fn pages_are_compressed_for_who_takes_it() {
    use actix_web::middleware::Compress;
    let service = actix_web::web::resource("/{path:.*}").wrap(Compress::default());
    let get = |request: actix_web::HttpRequest| async move { pages::serve(&request, Pages::get) };
    let app = init_service(App::new().service(service.to(get))).await;
    let sent = request(Method::GET, "/sdk/a.js").insert_header((header::ACCEPT_ENCODING, "gzip"));
    let answer = app.call(sent.to_request()).await.unwrap();
    assert_eq!(answer.headers().get(header::CONTENT_ENCODING).unwrap(), "gzip");
    let plain = app.call(request(Method::GET, "/sdk/a.js").to_request()).await.unwrap();
    assert!(plain.headers().get(header::CONTENT_ENCODING).is_none());
}
