//! From a fetched page to the links on it.

use mattock_extract::{Options, extract};
use mattock_fetch::{DecodeLimits, Exchange, Redirect};
use mattock_frontier::Link;
use mattock_robots::Directives;
use mattock_weburl::{Base, WebUrl};

/// The links that a response leads to: those of an HTML page, or the target of a redirect.
///
/// Only navigation counts (anchors, areas, frames, refresh); links that say `nofollow`, and pages that say it of
/// all their links, are not followed.
pub(crate) fn links(
    url: &WebUrl,
    depth: u32,
    exchange: &Exchange,
    options: &Options,
    limits: &DecodeLimits,
) -> Vec<Link> {
    match exchange.outcome.status() {
        Some(300..400) => redirect(url, exchange).map(|url| Link { url, depth }).into_iter().collect(),
        Some(200..300) if is_html(exchange.field("content-type")) => {
            on_page(url, depth, exchange, options, limits)
        }
        _ => Vec::new(),
    }
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

fn on_page(
    url: &WebUrl,
    depth: u32,
    exchange: &Exchange,
    options: &Options,
    limits: &DecodeLimits,
) -> Vec<Link> {
    let body = exchange.decoded(limits);
    let page = extract(&body.bytes, exchange.field("content-type"), options);
    let in_head = exchange
        .fields("x-robots-tag")
        .filter_map(|value| std::str::from_utf8(value).ok())
        .map(|value| Directives::parse_header(value, &options.product_token));
    let in_page = page.robots_meta.iter().map(|content| Directives::parse(content));
    let directives = in_head.chain(in_page).fold(Directives::default(), Directives::merge);
    if directives.nofollow {
        return Vec::new();
    }
    let base = match &page.base {
        Some(href) => Base::with_href(url, href),
        None => Base::new(url),
    };
    page.links
        .iter()
        .filter(|link| link.kind.is_navigation() && !link.nofollow)
        .filter_map(|link| base.join(&link.target).ok())
        .map(|url| Link { url, depth: depth + 1 })
        .collect()
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
