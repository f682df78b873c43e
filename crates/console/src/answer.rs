//! What a request is answered with: a body with its type, or a problem that says what to do.

use std::convert::Infallible;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use serde::Serialize;

/// The body of a response.
pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// The policy of the console's own pages: everything comes from here, nothing runs that does not.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/// The policy of what an archive holds: a document without origin, scripts, forms, frames or network.
const POLICY_ARCHIVED: &str = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; \
                               frame-ancestors 'self'";

/// A good answer.
#[derive(Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    kind: &'static str,
    archived: bool,
    bytes: Bytes,
}

impl Answer {
    pub(crate) fn json(value: &impl Serialize) -> Answer {
        let bytes = serde_json::to_vec(value).expect("maps have text for keys");
        Answer::new("application/json", bytes)
    }

    pub(crate) fn new(kind: &'static str, bytes: impl Into<Bytes>) -> Answer {
        Answer { status: StatusCode::OK, kind, archived: false, bytes: bytes.into() }
    }

    /// Bytes of the archive: shown, and never trusted.
    pub(crate) fn archived(kind: &'static str, bytes: Vec<u8>) -> Answer {
        Answer { archived: true, ..Answer::new(kind, bytes) }
    }

    pub(crate) fn with_status(self, status: StatusCode) -> Answer {
        Answer { status, ..self }
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Full::new(self.bytes).boxed_unsync());
        *response.status_mut() = self.status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        secure(&mut response, self.archived);
        response
    }
}

/// Puts the headers on a response that all have.
pub(crate) fn secure(response: &mut Response<Body>, archived: bool) {
    let common = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, if archived { POLICY_ARCHIVED } else { POLICY }),
        (header::X_FRAME_OPTIONS, if archived { "SAMEORIGIN" } else { "DENY" }),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), geolocation=(), microphone=(), payment=()",
        ),
    ];
    for (name, value) in common {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
}

/// Why a request is not done; shown as JSON `{error, detail}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// A name that programs can rely on.
    pub(crate) error: &'static str,
    /// For people: what is wrong, and what to do.
    pub(crate) detail: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, error: &'static str, detail: impl Into<String>) -> Problem {
        Problem { status, error, detail: detail.into() }
    }

    /// The request is wrong in itself.
    pub(crate) fn invalid(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "invalid", detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not-found", detail)
    }

    /// It cannot be done as things are.
    pub(crate) fn conflict(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, "conflict", detail)
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let body = serde_json::json!({ "error": self.error, "detail": self.detail });
        let mut response = Answer::json(&body).with_status(self.status).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
