//! Coded errors as HTTP: the only place with status codes of refusals.

use actix_web::http::{Method, StatusCode, header};
use actix_web::{HttpResponse, HttpResponseBuilder, ResponseError};
use serde::Serialize;

use crate::protocol::{ApiError, Code};

/// The status of a code, as the wire contract has it.
pub const fn status(code: Code) -> StatusCode {
    match code {
        Code::BadRequest => StatusCode::BAD_REQUEST,
        Code::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
        Code::Unauthorized => StatusCode::UNAUTHORIZED,
        Code::Forbidden => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::Conflict => StatusCode::CONFLICT,
        Code::Gone => StatusCode::GONE,
        Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// `{"error": {…}}`.
#[derive(Serialize)]
struct Body<'a> {
    error: &'a ApiError,
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        status(self.code)
    }

    fn error_response(&self) -> HttpResponse {
        if self.code == Code::Internal {
            tracing::error!(message = %self.message, "internal error answered");
        }
        let mut response = HttpResponse::build(status(self.code));
        if self.code == Code::Unauthorized {
            response.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
        if let (true, Some(ms)) = (self.retryable, self.retry_after_ms) {
            // Whole seconds (RFC 9110, 10.2.3), rounded up: whoever comes then is not early.
            response.insert_header((header::RETRY_AFTER, ms.div_ceil(1_000).max(1).to_string()));
        }
        finish(response, self)
    }
}

/// No such path.
pub fn no_such_path() -> ApiError {
    ApiError::new(Code::NotFound, "no such path")
}

/// A path that exists, but not for this method. There is no code of its own for it: the request is at fault.
pub fn method_not_allowed(method: &Method, allow: &'static str) -> HttpResponse {
    let error = ApiError::new(Code::BadRequest, format!("{method} is not for this path; allowed: {allow}"));
    let mut response = HttpResponse::build(StatusCode::METHOD_NOT_ALLOWED);
    response.insert_header((header::ALLOW, allow));
    finish(response, &error)
}

fn finish(mut response: HttpResponseBuilder, error: &ApiError) -> HttpResponse {
    response.json(Body { error })
}
