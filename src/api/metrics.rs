//! `/metrics`, here or on a listener of its own.

use actix_web::{HttpResponse, web};

use super::Gate;
use crate::protocol::{ApiError, Code};
use crate::telemetry::metrics::CONTENT_TYPE;

/// `GET /metrics`: the OpenMetrics text.
pub async fn get(gate: web::Data<Gate>) -> Result<HttpResponse, ApiError> {
    let text = gate.metrics.expose().map_err(|why| ApiError::new(Code::Internal, format!("metrics: {why}")))?;
    Ok(HttpResponse::Ok().content_type(CONTENT_TYPE).body(text))
}
