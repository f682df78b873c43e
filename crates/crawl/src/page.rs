//! From a fetched page to the links on it.

use mattock_analyze::{Document, index_languages, languages_found};
use mattock_extract::{Options, extract};
use mattock_fetch::{DecodeLimits, Exchange, Redirect};
use mattock_frontier::novelty::simhash;
use mattock_frontier::{Link, Request, Sketch};
use mattock_robots::Directives;
use mattock_weburl::{Base, WebUrl};

use crate::rules::{Harvest, LinkRules};

/// Whether links are looked for in the body of a response.
pub(crate) fn is_read(exchange: &Exchange) -> bool {
    matches!(exchange.outcome.status(), Some(200..300)) && is_html(exchange.field("content-type"))
}

/// The target of a redirect. It is what the URL that redirects is taken for: a sitemap stays one.
pub(crate) fn moved(request: &Request, exchange: &Exchange, rules: &LinkRules) -> Harvest {
    let mut harvest = Harvest::default();
    if let Some(url) = redirect(&request.url, exchange) {
        let &Request { depth, redirects, target, .. } = request;
        let via = Some(request.url.fingerprint());
        harvest.offer(Link { url, depth, redirects: redirects.saturating_add(1), target, via }, rules);
    }
    harvest
}

/// Where a redirect leads.
pub(crate) fn redirect(url: &WebUrl, exchange: &Exchange) -> Option<WebUrl> {
    match exchange.redirect(url) {
        Some(Redirect::To(target)) => Some(target),
        Some(Redirect::Refused(reason)) => {
            tracing::debug!(%reason, "a redirect leads nowhere");
            None
        }
        None => None,
    }
}

fn is_html(content_type: Option<&str>) -> bool {
    let kind = content_type.unwrap_or("text/html").split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("text/html") || kind.eq_ignore_ascii_case("application/xhtml+xml")
}

/// What a page was read for.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) harvest: Harvest,
    pub(crate) sketch: Sketch,
    /// The charset that it was read in.
    pub(crate) charset: &'static str,
    /// Its languages, as the index has them, if its text was read.
    pub(crate) languages: Option<String>,
}

impl Read {
    /// Only links.
    pub(crate) fn of_links(harvest: Harvest) -> Read {
        Read { harvest, sketch: Sketch::NoText, charset: "", languages: None }
    }
}

/// The type that a server declares, without its parameters.
pub(crate) fn declared_type(exchange: &Exchange) -> String {
    let kind = exchange.field("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    // Nothing that is one is longer.
    if kind.len() > 127 { String::new() } else { kind.to_ascii_lowercase() }
}

/// The links of an HTML page, and the sketch of its text if that is asked for.
///
/// Only navigation counts (anchors, areas, frames, refresh); links that say `nofollow`, and pages that say it of
/// all their links, are not followed.
pub(crate) fn read(
    request: &Request,
    exchange: &Exchange,
    body: &[u8],
    options: &Options,
    rules: &LinkRules,
) -> Read {
    let mut harvest = Harvest::default();
    let page = extract(body, exchange.field("content-type"), options);
    let in_head = exchange
        .fields("x-robots-tag")
        .filter_map(|value| std::str::from_utf8(value).ok())
        .map(|value| Directives::parse_header(value, &options.product_token));
    let in_page = page.robots_meta.iter().map(|content| Directives::parse(content));
    let directives = in_head.chain(in_page).fold(Directives::default(), Directives::merge);
    let sketch = match page.raw_text.as_deref().map(simhash) {
        None => Sketch::Unknown,
        Some(0) => Sketch::NoText,
        Some(sketch) => Sketch::Simhash(sketch),
    };
    let charset = page.charset.name();
    let languages = page.text.as_deref().map(|text| languages_found(text, page.language.as_deref()));
    if directives.nofollow {
        return Read { harvest, sketch, charset, languages };
    }
    let base = match &page.base {
        Some(href) => Base::with_href(&request.url, href),
        None => Base::new(&request.url),
    };
    let via = Some(request.url.fingerprint());
    for link in page.links.iter().filter(|link| link.kind.is_navigation() && !link.nofollow) {
        if let Ok(url) = base.join(&link.target) {
            harvest.offer(Link { via, ..Link::page(url, request.depth + 1) }, rules);
        }
    }
    Read { harvest, sketch, charset, languages }
}

/// The languages of what came and is no page; none where there is no text in it.
pub(crate) fn languages_of_text(url: &WebUrl, exchange: &Exchange, limits: &DecodeLimits) -> String {
    let is_text = exchange.field("content-type").is_some_and(|kind| {
        kind.trim_start().get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case("text/"))
    });
    if !is_text || !matches!(exchange.outcome.status(), Some(200..300)) {
        return String::new();
    }
    let decoded = exchange.decoded(limits);
    let (status, head) = (exchange.outcome.status().unwrap_or_default(), exchange.head_bytes());
    index_languages(&Document::new(url.as_str(), 0, status, head, &decoded.bytes, false))
}

#[cfg(test)]
mod tests {
    use super::is_html;

    #[test]
    fn html_is_recognised_by_its_type() {
        assert!(is_html(Some("text/html; charset=utf-8")));
        assert!(is_html(Some("Application/XHTML+XML")));
        assert!(is_html(None));
        assert!(!is_html(Some("text/plain")));
        assert!(!is_html(Some("")));
    }
}
