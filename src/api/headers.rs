//! Headers of every answer: what a browser must not do with it.

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::middleware::Next;

/// For answers that are data: nothing of it is to be run or framed. Pages bring their own.
const DATA_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// Adds what the handler has not set.
pub async fn secure<B: MessageBody>(request: ServiceRequest, next: Next<B>) -> Result<ServiceResponse<B>, Error> {
    let mut response = next.call(request).await?;
    let headers = response.headers_mut();
    let mut default = |name: HeaderName, value: &'static str| {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    };
    default(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    default(header::REFERRER_POLICY, "no-referrer");
    default(header::CONTENT_SECURITY_POLICY, DATA_POLICY);
    default(header::CACHE_CONTROL, "no-store");
    Ok(response)
}
