//! What a page says of itself: title, headings, links, charset, and its source as text.

use std::collections::HashSet;

use mattock_extract::{Link, LinkKind};

use crate::document::Form;
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
    targets(document, |link| link.kind.is_navigation())
}

pub(crate) fn mmlinks(document: &Document<'_>) -> Value {
    targets(document, |link| matches!(link.kind, LinkKind::Image | LinkKind::Media | LinkKind::Object))
}

/// The canonical URLs of some links, each once, in the order of the page; those that are no http(s) URLs are left out.
fn targets(document: &Document<'_>, wanted: impl Fn(&Link) -> bool) -> Value {
    let (Some(page), Some(base)) = (document.page(), document.base()) else { return Value::Null };
    let mut seen = HashSet::new();
    let mut targets = Vec::new();
    for link in page.links.iter().filter(|link| wanted(link)) {
        if let Ok(url) = base.join(&link.target)
            && seen.insert(url.fingerprint().0)
        {
            targets.push(url.as_str().to_owned());
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

/// The same with commas between them, as Common Crawl's index has it; null where it knows none.
pub(crate) fn content_languages(document: &Document<'_>) -> Value {
    let found = found_languages(document).filter(|found| !found.is_empty());
    Value::text(found.map(|found| found.join(",")))
}

fn found_languages(document: &Document<'_>) -> Option<Vec<&'static str>> {
    let hint = document.page().and_then(|page| page.language.as_deref());
    Some(language::languages(document.main_text()?, hint))
}
