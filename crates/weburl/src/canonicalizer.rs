//! The rules that decide which texts are the same URL, and the slow path that applies them.
//!
//! In this order:
//!
//! 1. The WHATWG URL standard, by the `url` crate: white space and control characters at the ends go, tabs and line
//!    ends everywhere; scheme and host in lower case; host names in punycode, addresses in their one form; the
//!    default port goes; `.` and `..` segments (`%2e` too) are resolved; what a URL cannot hold is escaped as UTF-8.
//! 2. Only `http` and `https` are taken.
//! 3. User info, fragment and an empty query go. So do dots at the end of the host.
//! 4. Escapes get upper-case digits; escapes of A-Z, a-z, 0-9, `-`, `.`, `_` and `~` are decoded, but never so
//!    that a new escape comes about (see `percent`).
//! 5. `;jsessionid=…` goes from the path, session parameters go from the query (see [`SESSION_PARAMETERS`]); `utm_…`
//!    too, but only if asked for.
//! 6. A URL that is longer than the limit then is refused.
//!
//! Where rule 3 or 5 may have made work for an earlier rule (`/a/..;jsessionid=1`, `http://1.2.3.4../`), all of them
//! are applied again, until nothing changes. Each round shortens the text, so it ends.
//!
//! Deliberately *not* done, because it joins different pages on real servers: sorting the query, dropping `www.`,
//! `index.html` or a trailing slash, joining double slashes, making the path lower-case.

use std::sync::LazyLock;

use url::Url;

use crate::{
    Base, Scheme, UrlError, WebUrl, base, domain_of,
    error::excerpt,
    parameters::{Parameters, SESSION_PARAMETERS},
    percent::{self, Part},
    scan,
    weburl::{Offsets, offset},
};

/// The length of the longest URL, in bytes, where nothing else is said. What sitemaps allow, and more than
/// almost every real page needs; longer ones are mostly traps.
pub const LENGTH_MAX_DEFAULT: usize = 2048;

/// The greatest value of the limit.
pub const LENGTH_MAX_LIMIT: usize = u16::MAX as usize;

/// How much longer than the limit a text may be before it is canonicalised: fragments and sessions go, escapes shrink.
const RAW_LENGTH_FACTOR: usize = 4;

/// The session that Java servers put in the path.
const PATH_SESSION: &[u8] = b";jsessionid=";

/// The rules, ready to be applied. One per crawl: two crawls with different rules do not agree on fingerprints.
#[derive(Debug, Clone)]
pub struct Canonicalizer {
    pub(crate) parameters: Parameters,
    pub(crate) length_max: usize,
    /// Whether `;jsessionid=…` goes from the path.
    path_sessions_go: bool,
}

impl Default for Canonicalizer {
    fn default() -> Canonicalizer {
        let parameters = Parameters::new(SESSION_PARAMETERS).expect("the default patterns are patterns");
        Canonicalizer { parameters, length_max: LENGTH_MAX_DEFAULT, path_sessions_go: true }
    }
}

impl Canonicalizer {
    /// The default rules, made once.
    pub fn standard() -> &'static Canonicalizer {
        static STANDARD: LazyLock<Canonicalizer> = LazyLock::new(Canonicalizer::default);
        &STANDARD
    }

    /// The rules for URLs of archives, made once: rule 5 is left out, since another session is another record there, and URLs are as long as they
    /// may be at all.
    pub fn archived() -> &'static Canonicalizer {
        static ARCHIVED: LazyLock<Canonicalizer> = LazyLock::new(|| Canonicalizer {
            parameters: Parameters::new([]).expect("there is no pattern"),
            length_max: LENGTH_MAX_LIMIT,
            path_sessions_go: false,
        });
        &ARCHIVED
    }

    /// Whether `utm_…` parameters go. Off by default: they are part of the URL, and sites may use the names.
    pub fn strip_trackers(mut self, strip: bool) -> Canonicalizer {
        self.parameters.set_trackers(strip);
        self
    }

    /// Replaces the patterns of the query parameters that go, in the form of [`SESSION_PARAMETERS`]. What
    /// [`Canonicalizer::strip_trackers`] said stays.
    pub fn session_parameters<'a>(
        mut self,
        patterns: impl IntoIterator<Item = &'a str>,
    ) -> Result<Canonicalizer, UrlError> {
        let parameters = Parameters::new(patterns)?;
        let trackers = self.parameters.has_trackers() || parameters.has_trackers();
        self.parameters = parameters;
        self.parameters.set_trackers(trackers);
        Ok(self)
    }

    /// Sets the length of the longest URL, in bytes; at most [`LENGTH_MAX_LIMIT`].
    pub fn length_max(mut self, length_max: usize) -> Canonicalizer {
        self.length_max = length_max.min(LENGTH_MAX_LIMIT);
        self
    }

    /// Parses and canonicalises an absolute URL.
    #[inline]
    pub fn parse(&self, text: &str) -> Result<WebUrl, UrlError> {
        match scan::absolute(text, self) {
            Some(url) => Ok(url),
            None => self.parse_without_scan(text),
        }
    }

    /// The same without the fast path, which is tested and measured against it.
    #[doc(hidden)]
    pub fn parse_without_scan(&self, text: &str) -> Result<WebUrl, UrlError> {
        self.check_raw_length(text)?;
        match Url::parse(text) {
            Ok(url) => match self.canonicalise(url, text) {
                Err(UrlError::Scheme { scheme }) if scheme.contains('.') || &*scheme == "localhost" => {
                    Err(UrlError::without_scheme(text, self))
                }
                result => result,
            },
            Err(url::ParseError::RelativeUrlWithoutBase) => Err(UrlError::without_scheme(text, self)),
            Err(error) => Err(UrlError::from_parser(error, text)),
        }
    }

    /// Resolves a reference that was found in the document at `base`, and canonicalises it. For more than a few
    /// references of one document, [`Base`] is cheaper.
    pub fn join(&self, base: &WebUrl, reference: &str) -> Result<WebUrl, UrlError> {
        match base::join_by_scan(base, reference, self) {
            Some(result) => result,
            None => Base::new(base).join_without_scan(reference, self),
        }
    }

    pub(crate) fn check_raw_length(&self, text: &str) -> Result<(), UrlError> {
        if text.len() > self.length_max.saturating_mul(RAW_LENGTH_FACTOR) {
            return Err(UrlError::TooLong { length: text.len(), length_max: self.length_max });
        }
        Ok(())
    }

    /// Rules 2 to 6, again if need be. `text` is for messages.
    pub(crate) fn canonicalise(&self, mut url: Url, text: &str) -> Result<WebUrl, UrlError> {
        loop {
            let (found, again) = self.canonicalise_once(&url, text)?;
            if !again {
                return self.finish(found);
            }
            url = Url::parse(&found.text).map_err(|error| UrlError::from_parser(error, text))?;
        }
    }

    fn canonicalise_once(&self, url: &Url, text: &str) -> Result<(Draft, bool), UrlError> {
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other => return Err(UrlError::Scheme { scheme: excerpt(other) }),
        };
        let mut again = false;
        let mut out = String::with_capacity(url.as_str().len());
        out.push_str(scheme.as_str());
        out.push_str("://");

        let host_start = out.len();
        let host = url.host_str().unwrap_or_default();
        let host_name = host.trim_end_matches('.');
        if host_name.is_empty() {
            return Err(UrlError::Host { text: excerpt(text), reason: "it is empty" });
        }
        again |= host_name.len() < host.len();
        out.push_str(host_name);
        let host_end = out.len();
        if let Some(port) = url.port() {
            out.push_str(&format!(":{port}"));
        }
        let path_start = out.len();

        percent::normalise(url.path(), Part::Path, &mut out);
        again |= self.path_sessions_go && remove_path_sessions(&mut out, path_start);

        let mut query_start = 0;
        if let Some(query) = url.query().filter(|query| !query.is_empty()) {
            query_start = out.len();
            out.push('?');
            percent::normalise(query, Part::Query, &mut out);
            if let Some(kept) = self.parameters.remove(&out[query_start + 1..]) {
                out.truncate(query_start + 1);
                out.push_str(&kept);
            }
            if out.len() == query_start + 1 {
                out.truncate(query_start);
                query_start = 0;
            }
        }
        let port = url.port().unwrap_or(scheme.default_port());
        Ok((Draft { text: out, host_start, host_end, path_start, query_start, port }, again))
    }

    fn finish(&self, draft: Draft) -> Result<WebUrl, UrlError> {
        let Draft { text, host_start, host_end, path_start, query_start, port } = draft;
        if text.len() > self.length_max {
            return Err(UrlError::TooLong { length: text.len(), length_max: self.length_max });
        }
        let offsets = Offsets {
            host_end: offset(host_end),
            path_start: offset(path_start),
            query_start: offset(query_start),
            domain_start: offset(host_end - domain_of(&text[host_start..host_end]).len()),
            port,
        };
        Ok(WebUrl::from_parts(text.into(), offsets))
    }
}

/// A URL whose length is not known to be allowed yet.
struct Draft {
    text: String,
    host_start: usize,
    host_end: usize,
    path_start: usize,
    query_start: usize,
    port: u16,
}

/// Removes each `;jsessionid=…` up to the next `;`, `/` or end from the path; whether there was one.
fn remove_path_sessions(out: &mut String, path_start: usize) -> bool {
    let mut found = false;
    let mut from = path_start;
    while let Some(at) = out[from..].find(';').map(|at| from + at) {
        let rest = &out.as_bytes()[at..];
        if rest.get(..PATH_SESSION.len()).is_some_and(|start| start.eq_ignore_ascii_case(PATH_SESSION)) {
            let value = &rest[PATH_SESSION.len()..];
            let length = value.iter().position(|byte| matches!(byte, b';' | b'/')).unwrap_or(value.len());
            out.replace_range(at..at + PATH_SESSION.len() + length, "");
            found = true;
            from = at;
        } else {
            from = at + 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule() {
        for (text, canonical) in [
            // The standard.
            (" http://example.com/a\n", "http://example.com/a"),
            ("HTTP://EXAMPLE.com/A", "http://example.com/A"),
            ("http://example.com", "http://example.com/"),
            ("http://example.com:80/", "http://example.com/"),
            ("https://example.com:443/", "https://example.com/"),
            ("http://example.com:443/", "http://example.com:443/"),
            ("http://example.com:0080/", "http://example.com/"),
            ("http://example.com/a/./b/../c", "http://example.com/a/c"),
            ("http://example.com/a/%2e%2E/c", "http://example.com/c"),
            ("http:\\\\example.com\\a", "http://example.com/a"),
            ("http://b\u{fc}cher.example/\u{fc}?\u{fc}", "http://xn--bcher-kva.example/%C3%BC?%C3%BC"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            // User info, fragment, empty query, final dots.
            ("http://user:secret@example.com/", "http://example.com/"),
            ("http://example.com/a#b?c", "http://example.com/a"),
            ("http://example.com/a?", "http://example.com/a"),
            ("http://example.com/a?#b", "http://example.com/a"),
            ("http://example.com/a??", "http://example.com/a??"),
            ("http://example.com./a", "http://example.com/a"),
            ("http://example.com..:81/a", "http://example.com:81/a"),
            ("http://1.2.3.4../", "http://1.2.3.4/"),
            ("http://0x7f.1../", "http://127.0.0.1/"),
            // Escapes.
            ("http://example.com/%7e%41%2f?%7e%41%2f", "http://example.com/~A%2F?~A%2F"),
            ("http://example.com/a^b?a^b", "http://example.com/a%5Eb?a^b"),
            ("http://example.com/%2%65", "http://example.com/%2%65"),
            // Sessions.
            ("http://example.com/a;jsessionid=1F?b=c", "http://example.com/a?b=c"),
            ("http://example.com/a;JSESSIONID=1F.x!2;v=1/b", "http://example.com/a;v=1/b"),
            ("http://example.com/a;%6Asessionid=1;jsessionid=2", "http://example.com/a"),
            ("http://example.com/a/..;jsessionid=1/b", "http://example.com/b"),
            ("http://example.com/a;jsessionid", "http://example.com/a;jsessionid"),
            ("http://example.com/?PHPSESSID=1", "http://example.com/"),
            ("http://example.com/?a=1&PHPSESS%49D=1&b", "http://example.com/?a=1&b"),
            ("http://example.com/?utm_source=a", "http://example.com/?utm_source=a"),
            // Not ours to decide.
            ("http://www.example.com//index.html/?b&a", "http://www.example.com//index.html/?b&a"),
        ] {
            let url = WebUrl::parse(text).unwrap();
            assert_eq!(url.as_str(), canonical, "{text}");
            assert_eq!(WebUrl::parse(canonical).unwrap().offsets(), url.offsets(), "{text}");
        }
    }

    #[test]
    fn rules_can_be_changed() {
        let text = "http://example.com/?utm_source=a&PHPSESSID=b&mine=c";
        let rules = Canonicalizer::default().strip_trackers(true);
        assert_eq!(rules.parse(text).unwrap().query(), Some("mine=c"));
        let rules = Canonicalizer::default().session_parameters(["mine"]).unwrap();
        assert_eq!(rules.parse(text).unwrap().query(), Some("utm_source=a&PHPSESSID=b"));
        let rules = Canonicalizer::default().strip_trackers(true).session_parameters(["mine"]).unwrap();
        assert_eq!(rules.parse(text).unwrap().query(), Some("PHPSESSID=b"));
        let rules = Canonicalizer::default().session_parameters([]).unwrap();
        assert_eq!(rules.parse(text).unwrap().as_str(), text);
    }

    #[test]
    fn the_length_limit_is_exact_and_about_the_canonical_text() {
        let rules = Canonicalizer::default().length_max(30);
        let longest = format!("http://example.com/{}", "a".repeat(11));
        assert_eq!(longest.len(), 30);
        assert_eq!(rules.parse(&longest).unwrap().as_str(), longest);
        assert_eq!(rules.parse(&format!("{longest}#fragment")).unwrap().as_str(), longest);
        assert_eq!(
            rules.parse(&format!("{longest}a")).unwrap_err(),
            UrlError::TooLong { length: 31, length_max: 30 }
        );
        let base = rules.parse("http://example.com/").unwrap();
        assert_eq!(rules.join(&base, &"a".repeat(11)).unwrap().as_str(), longest);
        assert_eq!(
            rules.join(&base, &"a".repeat(12)).unwrap_err(),
            UrlError::TooLong { length: 31, length_max: 30 }
        );
        let rules = Canonicalizer::default().length_max(usize::MAX);
        assert!(rules.parse(&format!("http://a.b/{}", "a".repeat(LENGTH_MAX_LIMIT - 11))).is_ok());
        assert!(rules.parse(&format!("http://a.b/{}", "a".repeat(LENGTH_MAX_LIMIT - 10))).is_err());
    }

    #[test]
    fn messages_end_in_what_to_do() {
        for (text, message) in [
            ("example.com", "`example.com` has no scheme; write http://example.com/"),
            ("//example.com/a", "`//example.com/a` has no scheme; write http://example.com/a"),
            ("localhost:8080/a", "`localhost:8080/a` has no scheme; write http://localhost:8080/a"),
            ("example.com:81", "`example.com:81` has no scheme; write http://example.com:81/"),
            ("ftp://example.com/", "cannot crawl `ftp:` URLs; give one that begins with http:// or https://"),
            ("", "`` is not a URL (it has no scheme); write it as http://host/path"),
            (
                "http://",
                "`http://` has no valid host (it is empty); check the part between // and the next /",
            ),
            (
                "http://./",
                "`http://./` has no valid host (it is empty); check the part between // and the next /",
            ),
            (
                "http://a b/",
                "`http://a b/` has no valid host (it has a character or a label that no host name may have); \
                 check the part between // and the next /",
            ),
            (
                "http://a:99999/",
                "`http://a:99999/` is not a URL (its port is not a number up to 65535); write it as http://host/path",
            ),
        ] {
            assert_eq!(WebUrl::parse(text).unwrap_err().to_string(), message);
        }
    }
}
