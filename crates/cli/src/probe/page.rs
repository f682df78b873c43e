//! What a crawl would read on the page: type, charset, title, directives, links.

use mattock_crawl::Config;
use mattock_extract::{Extracted, Options, extract};
use mattock_fetch::Exchange;
use mattock_robots::Directives;
use mattock_weburl::{Base, WebUrl};
use serde::Serialize;

use super::text::printable;

/// A page as a crawl reads it.
#[derive(Debug, Serialize)]
pub(crate) struct PageReport {
    pub(crate) content_type: Option<String>,
    /// Whether it is read for links.
    pub(crate) html: bool,
    pub(crate) charset: Option<&'static str>,
    pub(crate) title: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) canonical: Option<String>,
    /// What the page asks of robots, in `X-Robots-Tag` and in metas, each as it is written.
    pub(crate) x_robots_tag: Vec<String>,
    pub(crate) robots_meta: Vec<String>,
    pub(crate) noindex: bool,
    pub(crate) nofollow: bool,
    pub(crate) noarchive: bool,
    /// All links, and those of them that a crawl would follow if they are in its scope.
    pub(crate) links_found: usize,
    pub(crate) links_followed: usize,
    /// Links beyond the limits, which are not among these.
    pub(crate) links_dropped: u32,
    pub(crate) links: Vec<LinkReport>,
}

/// One link.
#[derive(Debug, Serialize)]
pub(crate) struct LinkReport {
    /// The URL that it leads to; as written if that is no URL of the Web.
    pub(crate) url: String,
    pub(crate) kind: String,
    /// Whether a crawl would follow it.
    pub(crate) followed: bool,
    /// Why not.
    pub(crate) because: Option<&'static str>,
}

/// Reads a response as a crawl does; `None` if there is no page in it.
pub(crate) fn read(config: &Config, url: &WebUrl, exchange: &Exchange) -> Option<PageReport> {
    if !matches!(exchange.outcome.status(), Some(200..300)) {
        return None;
    }
    let content_type = exchange.field("content-type");
    let options = Options { product_token: config.product.clone(), ..Options::default() };
    let tags: Vec<String> = exchange.fields("x-robots-tag").map(printable).collect();
    let mut directives = tags
        .iter()
        .map(|tag| Directives::parse_header(tag, &config.product))
        .fold(Directives::default(), Directives::merge);
    let html = is_html(content_type);
    let page = html.then(|| {
        let body = exchange.decoded(&config.limits.decode);
        extract(&body.bytes, content_type, &options)
    });
    for meta in page.iter().flat_map(|page| &page.robots_meta) {
        directives = directives.merge(Directives::parse(meta));
    }
    let links = page.as_ref().map(|page| links(url, page, directives.nofollow)).unwrap_or_default();
    let said = |text: &Option<String>| text.as_ref().map(|text| printable(text.as_bytes()));
    Some(PageReport {
        content_type: content_type.map(|value| printable(value.as_bytes())),
        html,
        charset: page.as_ref().map(|page| page.charset.name()),
        title: page.as_ref().and_then(|page| said(&page.title)),
        language: page.as_ref().and_then(|page| said(&page.language)),
        canonical: page.as_ref().and_then(|page| said(&page.canonical)),
        x_robots_tag: tags,
        robots_meta: page
            .iter()
            .flat_map(|page| &page.robots_meta)
            .map(|meta| printable(meta.as_bytes()))
            .collect(),
        noindex: directives.noindex,
        nofollow: directives.nofollow,
        noarchive: directives.noarchive,
        links_found: links.len(),
        links_followed: links.iter().filter(|link| link.followed).count(),
        links_dropped: page.as_ref().map_or(0, |page| page.links_dropped),
        links,
    })
}

/// As the crawl decides: a response without a type is taken for a page.
fn is_html(content_type: Option<&str>) -> bool {
    let kind = content_type.unwrap_or("text/html").split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("text/html") || kind.eq_ignore_ascii_case("application/xhtml+xml")
}

fn links(url: &WebUrl, page: &Extracted, nofollow: bool) -> Vec<LinkReport> {
    let base = match &page.base {
        Some(href) => Base::with_href(url, href),
        None => Base::new(url),
    };
    let report = |link: &mattock_extract::Link| {
        let target = base.join(&link.target);
        let because = match &target {
            Err(_) => Some("no URL of the Web"),
            Ok(_) if !link.kind.is_navigation() => Some("leads to no page"),
            Ok(_) if nofollow => Some("the page says nofollow"),
            Ok(_) if link.nofollow => Some("nofollow"),
            Ok(_) => None,
        };
        LinkReport {
            url: target
                .map_or_else(|_| printable(link.target.as_bytes()), |target| target.as_str().to_owned()),
            kind: format!("{:?}", link.kind).to_ascii_lowercase(),
            followed: because.is_none(),
            because,
        }
    };
    page.links.iter().map(report).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_say_why_they_are_not_followed() {
        let html = b"<base href=/d/><a href=a>1</a><a rel=nofollow href=b>2</a><link rel=author href=c>\
            <a href='http://[x'>4</a>";
        let page = extract(html, None, &Options::default());
        let url = WebUrl::parse("http://a.example/").unwrap();
        let told = |nofollow| {
            links(&url, &page, nofollow).into_iter().map(|link| (link.url, link.because)).collect::<Vec<_>>()
        };
        let expected = [
            ("http://a.example/d/a".to_owned(), None),
            ("http://a.example/d/b".to_owned(), Some("nofollow")),
            ("http://a.example/d/c".to_owned(), Some("leads to no page")),
            ("http://[x".to_owned(), Some("no URL of the Web")),
        ];
        assert_eq!(told(false), expected);
        assert_eq!(told(true)[0].1, Some("the page says nofollow"));
    }
}
