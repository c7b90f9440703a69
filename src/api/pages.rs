//! The pages, from the binary. A path is a name in a closed list of files, never a path on a disk.

use actix_web::http::header::{self, EntityTag, Header, IfNoneMatch};
use actix_web::http::{Method, Uri};
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use rust_embed::{EmbeddedFile, RustEmbed};

use super::error::{method_not_allowed, no_such_path};

/// `static/`; in a debug build read from the source folder, so that a page can be edited while the server runs.
#[derive(RustEmbed)]
#[folder = "static/"]
#[allow_missing = true]
struct Static;

/// What a page may do. Scripts and styles come from this server alone; `?video=` may name any address, so media may come from
/// anywhere, and pictures over TLS.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; font-src 'self'; \
    img-src 'self' data: https:; media-src 'self' https: http: blob: data:; manifest-src 'self'; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'self'";

/// Bytes of the hash that make an entity tag: 128 bits tell any two files apart.
const TAG_BYTES: usize = 16;

/// `GET` and `HEAD` of any path that is no other resource.
pub async fn get(request: HttpRequest) -> HttpResponse {
    serve(&request, Static::get)
}

/// Answers from a list of files.
pub(super) fn serve(request: &HttpRequest, find: impl Fn(&str) -> Option<EmbeddedFile>) -> HttpResponse {
    let path = request.match_info().get("path").unwrap_or_default();
    match look(path, find) {
        Found::Nothing => no_such_path().error_response(),
        _ if !matches!(*request.method(), Method::GET | Method::HEAD) => {
            method_not_allowed(request.method(), "GET, HEAD")
        }
        Found::Folder => to_folder(request.uri()),
        Found::File(file) => answer(request, file),
    }
}

enum Found {
    File(EmbeddedFile),
    /// A folder without its slash: links in its page would be relative to the folder above.
    Folder,
    Nothing,
}

fn look(path: &str, find: impl Fn(&str) -> Option<EmbeddedFile>) -> Found {
    if !is_name(path) {
        return Found::Nothing;
    }
    if path.is_empty() || path.ends_with('/') {
        return find(&format!("{path}index.html")).map_or(Found::Nothing, Found::File);
    }
    match find(path) {
        Some(file) => Found::File(file),
        None if find(&format!("{path}/index.html")).is_some() => Found::Folder,
        None => Found::Nothing,
    }
}

/// Letters, digits and a few marks, no segment that begins with a dot. In release builds the list of files alone decides; in debug
/// builds, which read a folder, this keeps a path inside it.
fn is_name(path: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'/');
    path.bytes().all(allowed)
        && !path.starts_with('/')
        && !path.split('/').any(|segment| segment.starts_with('.'))
        && !path.contains("//")
}

fn to_folder(uri: &Uri) -> HttpResponse {
    let folder = uri.path().rsplit('/').next().unwrap_or_default();
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    HttpResponse::MovedPermanently().insert_header((header::LOCATION, format!("{folder}/{query}"))).finish()
}

fn answer(request: &HttpRequest, file: EmbeddedFile) -> HttpResponse {
    // Weak: the same page compressed is the same page.
    let tag = EntityTag::new_weak(hex(&file.metadata.sha256_hash()));
    let unchanged = known(request, &tag);
    let mut response = if unchanged { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response
        .insert_header(header::ETag(tag))
        // Always asked again, answered with 304: a new release must not run yesterday's script.
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header((header::CONTENT_SECURITY_POLICY, PAGE_POLICY))
        .insert_header((header::CONTENT_TYPE, content_type(file.metadata.mimetype())));
    if unchanged { response.finish() } else { response.body(file.data.into_owned()) }
}

fn known(request: &HttpRequest, tag: &EntityTag) -> bool {
    match IfNoneMatch::parse(request) {
        Ok(IfNoneMatch::Any) => true,
        Ok(IfNoneMatch::Items(tags)) => tags.iter().any(|sent| sent.weak_eq(tag)),
        Err(_) => false,
    }
}

/// Text is UTF-8, which browsers do not guess.
fn content_type(mime: &str) -> String {
    let text =
        mime.starts_with("text/") || matches!(mime, "application/javascript" | "application/json" | "image/svg+xml");
    if text { format!("{mime}; charset=utf-8") } else { mime.to_owned() }
}

fn hex(hash: &[u8]) -> String {
    hash.iter().take(TAG_BYTES).map(|byte| format!("{byte:02x}")).collect()
}
