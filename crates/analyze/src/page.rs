//! What a page says of itself: title, headings, links, charset, and its source as text.

use std::collections::HashSet;

use mattock_extract::{Link, LinkKind};
use mattock_weburl::Fingerprint;

use crate::document::Form;
use crate::found::index_languages;
use crate::language;
use crate::{Document, Value};

pub(crate) fn title(document: &Document<'_>) -> Value {
    Value::text(document.page().and_then(|page| page.title.clone()).filter(|title| !title.is_empty()))
}

pub(crate) fn headings(document: &Document<'_>) -> Value {
    match document.page() {
        Some(page) => Value::TextList(page.headings.iter().map(|heading| heading.text.clone()).collect()),
        None => Value::Null,
    }
}

pub(crate) fn links(document: &Document<'_>) -> Value {
    targets(document, |link| link.kind.is_navigation() && !is_streamed(&link.target))
}

/// What is shown and played: images, sound, film; and links of the protocols that play as they load.
pub(crate) fn mmlinks(document: &Document<'_>) -> Value {
    targets(document, |link| {
        matches!(link.kind, LinkKind::Image | LinkKind::Media | LinkKind::Object) || is_streamed(&link.target)
    })
}

/// Protocols of streams. Nothing of them is fetched, and they have no canonical form: such links are as the page has them.
const STREAMED: [&str; 6] = ["pnm:", "rtsp:", "rtspu:", "mms:", "mmsh:", "mmst:"];

fn is_streamed(target: &str) -> bool {
    let target = target.trim_ascii_start().as_bytes();
    STREAMED.iter().any(|scheme| {
        target.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

/// The targets of some links, each once, in the order of the page: canonical URLs of http(s), streams as they are. Others are left out.
fn targets(document: &Document<'_>, wanted: impl Fn(&Link) -> bool) -> Value {
    let (Some(page), Some(base)) = (document.page(), document.base()) else { return Value::Null };
    let mut seen = HashSet::new();
    let mut targets = Vec::new();
    for link in page.links.iter().filter(|link| wanted(link)) {
        let target = match base.join(&link.target) {
            Ok(url) => url.as_str().to_owned(),
            Err(_) if is_streamed(&link.target) => link.target.trim_ascii().to_owned(),
            Err(_) => continue,
        };
        if seen.insert(Fingerprint::of(&target).0) {
            targets.push(target);
        }
    }
    Value::TextList(targets)
}

pub(crate) fn charset(document: &Document<'_>) -> Value {
    Value::text(match document.form() {
        Form::Html => document.page().map(|page| page.charset.name()),
        Form::Plain => Some(document.plain_charset().name()),
        Form::Other => None,
    })
}

pub(crate) fn content(document: &Document<'_>) -> Value {
    Value::text(document.content())
}

pub(crate) fn text(document: &Document<'_>) -> Value {
    Value::text(document.main_text())
}

/// The main language, as ISO 639-3.
pub(crate) fn language(document: &Document<'_>) -> Value {
    Value::text(found_languages(document).and_then(|found| found.first().copied()))
}

/// All languages of note, the main one first.
pub(crate) fn languages(document: &Document<'_>) -> Value {
    match found_languages(document) {
        Some(found) => Value::TextList(found.into_iter().map(str::to_owned).collect()),
        None => Value::Null,
    }
}

/// What the index has of them where somebody looked them up: see `found`.
pub(crate) fn content_languages(document: &Document<'_>) -> Value {
    let found = index_languages(document);
    Value::text(Some(found).filter(|found| !found.is_empty()))
}

fn found_languages(document: &Document<'_>) -> Option<Vec<&'static str>> {
    let hint = document.page().and_then(|page| page.language.as_deref());
    Some(language::languages(document.main_text()?, hint))
}
