//! What the URL says: its registered domain and its SURT key.

use mattock_weburl::WebUrl;

use crate::{Document, Value};

pub(crate) fn domain(document: &Document<'_>) -> Value {
    Value::text(WebUrl::parse(document.url).ok().map(|url| url.domain().to_owned()))
}

pub(crate) fn surt(document: &Document<'_>) -> Value {
    Value::text(WebUrl::parse(document.url).ok().map(|url| url.surt()))
}
