//! [`Base`]: what the references of one page are relative to.
//!
//! Made by extraction once per page (from the page's URL, or again when it meets `<base href>`), asked for each of the
//! page's sixty or so references, then dropped. Most references are settled by the scan; the base is parsed by the
//! `url` crate when the first one is not, and kept.

use std::sync::OnceLock;

use url::Url;

use crate::{Canonicalizer, UrlError, WebUrl, error::excerpt, scan};

/// What the references of a document are relative to.
#[derive(Debug, Clone)]
pub struct Base {
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Web {
        url: WebUrl,
        parsed: OnceLock<Url>,
    },
    /// From a `<base href>` of another scheme. References may still be absolute.
    Other(Url),
}

impl Base {
    /// The base of a document without `<base href>`: its own URL.
    pub fn new(page: &WebUrl) -> Base {
        Base { kind: Kind::Web { url: page.clone(), parsed: OnceLock::new() } }
    }

    /// The base of a document with `<base href>`. As in the HTML standard, an `href` that is no URL, or a
    /// `data:` or `javascript:` one, is as if it was not there.
    pub fn with_href(page: &WebUrl, href: &str) -> Base {
        let own = Base::new(page);
        match own.join(href) {
            Ok(url) => Base::new(&url),
            Err(UrlError::Scheme { .. }) => match own.parsed().join(href) {
                Ok(url) if !matches!(url.scheme(), "data" | "javascript") => Base { kind: Kind::Other(url) },
                _ => own,
            },
            Err(_) => own,
        }
    }

    /// Resolves a reference and canonicalises it by the default rules.
    #[inline]
    pub fn join(&self, reference: &str) -> Result<WebUrl, UrlError> {
        self.join_with(reference, Canonicalizer::standard())
    }

    /// Resolves a reference and canonicalises it by the given rules.
    pub fn join_with(&self, reference: &str, rules: &Canonicalizer) -> Result<WebUrl, UrlError> {
        if let Kind::Web { url, .. } = &self.kind
            && let Some(result) = join_by_scan(url, reference, rules)
        {
            return result;
        }
        self.join_without_scan(reference, rules)
    }

    /// The same without the fast path, which is tested and measured against it.
    #[doc(hidden)]
    pub fn join_without_scan(&self, reference: &str, rules: &Canonicalizer) -> Result<WebUrl, UrlError> {
        rules.check_raw_length(reference)?;
        let slashes = match self.kind {
            Kind::Web { .. } => leading_slashes(reference),
            Kind::Other(_) => None,
        };
        let joined = match slashes {
            Some(rest) => self.parsed().join(&format!("//{rest}")),
            None => self.parsed().join(reference),
        };
        let url = joined.map_err(|error| UrlError::from_parser(error, reference))?;
        rules.canonicalise(url, reference)
    }

    fn parsed(&self) -> &Url {
        match &self.kind {
            Kind::Web { url, parsed } => {
                parsed.get_or_init(|| Url::parse(url.as_str()).expect("a canonical URL is a URL"))
            }
            Kind::Other(url) => url,
        }
    }
}

/// What follows the slashes of a reference that begins with more than two of them: in the standard two are as good
/// as ten, and backslashes as good as slashes; the `url` crate finds an empty host.
fn leading_slashes(reference: &str) -> Option<&str> {
    let reference = reference.trim_start_matches(|c: char| c <= ' ');
    let rest = reference.trim_start_matches(['/', '\\', '\t', '\n', '\r']);
    let slashes = reference[..reference.len() - rest.len()].matches(['/', '\\']).count();
    (slashes > 2).then_some(rest)
}

/// The scan's answer, if it has one: also the refusal of other schemes, which every page has (`mailto:`,
/// `javascript:`).
pub(crate) fn join_by_scan(
    base: &WebUrl,
    reference: &str,
    rules: &Canonicalizer,
) -> Option<Result<WebUrl, UrlError>> {
    let reference = reference.trim_matches(|c: char| c <= ' ');
    let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let word = reference.bytes().take_while(is_scheme).count();
    if word == 0 || reference.as_bytes().get(word) != Some(&b':') {
        // A colon further on in the first segment is in it; the byte before it cannot be in a scheme.
        return scan::relative(base, reference, rules).map(Ok);
    }
    let scheme = &reference[..word];
    if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") {
        return scan::absolute(reference, rules).map(Ok);
    }
    // `1:2` is a relative reference.
    let begins_as_scheme = scheme.as_bytes()[0].is_ascii_alphabetic();
    begins_as_scheme.then(|| Err(UrlError::Scheme { scheme: excerpt(&scheme.to_ascii_lowercase()) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> WebUrl {
        WebUrl::parse("http://example.com/a/b?c").unwrap()
    }

    #[test]
    fn references() {
        let base = Base::new(&page());
        for (reference, url) in [
            ("d", "http://example.com/a/d"),
            (" d\n", "http://example.com/a/d"),
            ("/d", "http://example.com/d"),
            ("//d.e", "http://d.e/"),
            ("///d.e", "http://d.e/"),
            ("/\t\\//d.e", "http://d.e/"),
            ("?d", "http://example.com/a/b?d"),
            ("?", "http://example.com/a/b"),
            ("", "http://example.com/a/b?c"),
            ("http:d", "http://example.com/a/d"),
            ("https://d.e/f", "https://d.e/f"),
            ("1:2", "http://example.com/a/1:2"),
            ("a/1:2", "http://example.com/a/a/1:2"),
            ("_:2", "http://example.com/a/_:2"),
            ("d;jsessionid=1", "http://example.com/a/d"),
            ("..", "http://example.com/"),
            ("../.", "http://example.com/"),
            ("d?PHPSESSID=1", "http://example.com/a/d"),
        ] {
            assert_eq!(base.join(reference).unwrap().as_str(), url, "{reference:?}");
            assert_eq!(page().join(reference).unwrap().as_str(), url, "{reference:?}");
        }
        for reference in ["mailto:a@b", "JavaScript:void(0)", "java\nscript:void(0)", "ftp://d.e/"] {
            assert!(matches!(base.join(reference), Err(UrlError::Scheme { .. })), "{reference:?}");
        }
        assert!(matches!(base.join("http://"), Err(UrlError::Host { .. })));
    }

    #[test]
    fn base_element() {
        for (href, reference, url) in [
            ("http://other.example/x/", "d", Some("http://other.example/x/d")),
            ("x/", "d", Some("http://example.com/a/x/d")),
            ("//u@other.example", "d", Some("http://other.example/d")),
            ("", "d", Some("http://example.com/a/d")),
            ("data:,x", "d", Some("http://example.com/a/d")),
            ("javascript:1", "d", Some("http://example.com/a/d")),
            ("http://[", "d", Some("http://example.com/a/d")),
            ("ftp://other.example/", "d", None),
            ("ftp://other.example/", "http://d.e/", Some("http://d.e/")),
            ("about:blank", "d", None),
        ] {
            let base = Base::with_href(&page(), href);
            assert_eq!(base.join(reference).ok().as_ref().map(WebUrl::as_str), url, "{href:?} {reference:?}");
        }
    }
}
