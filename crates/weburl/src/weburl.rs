//! [`WebUrl`]: the text of a canonical URL and where its parts are.
//!
//! Filled by [`Canonicalizer`] and the fast path, read by everybody. Invariants: the text is ASCII, begins with
//! `http://` or `https://`, has a host and a path that begins with `/`, no user info, no fragment, no default port,
//! and at most 65,535 bytes; canonicalising it gives it back. 32 bytes and one allocation.

use std::{
    borrow::Borrow,
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    net::IpAddr,
    str::FromStr,
};

use crate::{Canonicalizer, Fingerprint, UrlError, archive_key, surt};

/// The schemes that are crawled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// Without encryption, port 80.
    Http,
    /// With TLS, port 443.
    Https,
}

impl Scheme {
    /// The port that is meant where none is written.
    pub const fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }

    /// `http` or `https`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Where the parts of a canonical URL begin and end. The host begins after `://`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offsets {
    pub(crate) host_end: u16,
    pub(crate) path_start: u16,
    /// Of the question mark; 0 if there is no query.
    pub(crate) query_start: u16,
    pub(crate) domain_start: u16,
    /// The effective port, not an offset.
    pub(crate) port: u16,
}

/// An offset in a text whose length was checked.
pub(crate) fn offset(at: usize) -> u16 {
    u16::try_from(at).expect("the length limit is below 65,536")
}

/// A canonical absolute `http` or `https` URL. Compares, sorts and hashes as its text.
#[derive(Clone)]
pub struct WebUrl {
    text: Box<str>,
    offsets: Offsets,
}

impl WebUrl {
    /// Parses and canonicalises an absolute URL by the default rules.
    pub fn parse(text: &str) -> Result<WebUrl, UrlError> {
        Canonicalizer::standard().parse(text)
    }

    /// Parses an absolute URL as an archive has it, and canonicalises it without taking anything away that tells records apart: sessions stay,
    /// and up to [`LENGTH_MAX_LIMIT`](crate::LENGTH_MAX_LIMIT) bytes are taken.
    pub fn parse_archived(text: &str) -> Result<WebUrl, UrlError> {
        Canonicalizer::archived().parse(text)
    }

    /// Resolves a reference that was found in the document at this URL, and canonicalises it by the default rules.
    /// For more than a few references of one document, [`crate::Base`] is cheaper.
    pub fn join(&self, reference: &str) -> Result<WebUrl, UrlError> {
        Canonicalizer::standard().join(self, reference)
    }

    pub(crate) fn from_parts(text: Box<str>, offsets: Offsets) -> WebUrl {
        debug_assert_eq!(text.as_bytes()[usize::from(offsets.path_start)], b'/');
        WebUrl { text, offsets }
    }

    pub(crate) fn offsets(&self) -> Offsets {
        self.offsets
    }

    pub(crate) fn path_start(&self) -> usize {
        usize::from(self.offsets.path_start)
    }

    pub(crate) fn path_end(&self) -> usize {
        match self.offsets.query_start {
            0 => self.text.len(),
            start => usize::from(start),
        }
    }

    /// The whole URL.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> Scheme {
        if self.text.as_bytes()[4] == b's' { Scheme::Https } else { Scheme::Http }
    }

    fn host_start(&self) -> usize {
        self.scheme().as_str().len() + 3
    }

    /// The fully qualified name or the address, without port; an IPv6 address is in brackets.
    pub fn host_name(&self) -> &str {
        &self.text[self.host_start()..usize::from(self.offsets.host_end)]
    }

    /// The port to connect to: the one in the URL, or the scheme's default.
    pub fn port(&self) -> u16 {
        self.offsets.port
    }

    /// `host[:port]` as in the URL, and as in the `Host` header.
    pub fn authority(&self) -> &str {
        &self.text[self.host_start()..self.path_start()]
    }

    /// The host in the sense of the crawler, `scheme://name[:port]`: the unit of politeness and of robots.txt.
    pub fn host(&self) -> &str {
        &self.text[..self.path_start()]
    }

    /// What follows the authority, as in the request line. Begins with `/`.
    pub fn path_and_query(&self) -> &str {
        &self.text[self.path_start()..]
    }

    /// The path. Begins with `/`.
    pub fn path(&self) -> &str {
        &self.text[self.path_start()..self.path_end()]
    }

    /// The query without its question mark. Never empty.
    pub fn query(&self) -> Option<&str> {
        (self.offsets.query_start > 0).then(|| &self.text[usize::from(self.offsets.query_start) + 1..])
    }

    /// The pay-level domain, or the address, or the whole name where there is none; see [`crate::domain_of`].
    pub fn domain(&self) -> &str {
        &self.text[usize::from(self.offsets.domain_start)..usize::from(self.offsets.host_end)]
    }

    /// The address, if the host is one.
    pub fn ip(&self) -> Option<IpAddr> {
        let name = self.host_name();
        match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            Some(address) => address.parse().ok().map(IpAddr::V6),
            None if name.ends_with(|last: char| last.is_ascii_digit()) => name.parse().ok().map(IpAddr::V4),
            None => None,
        }
    }

    /// The SURT key: `com,example,www)/path?query`, lower case, with the port if it is not the default. It groups
    /// and sorts, it does not identify: `http` and `https` share it, and so do URLs that differ in case only.
    pub fn surt(&self) -> String {
        surt::surt(self)
    }

    /// The key of replay indexes: as [`WebUrl::surt`], with what the archives of the Web have agreed to leave out. Pages that differ in `www.`, in the order
    /// of parameters or in a session's id share it. That of a record is made of the URL as the archive has it: [`crate::archive_key`].
    pub fn archive_key(&self) -> String {
        archive_key::archive_key(&self.text).expect("it has a port that is a number")
    }

    /// The fingerprint of the whole URL.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.text)
    }

    /// The fingerprint of [`WebUrl::host`].
    pub fn host_fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self.host())
    }

    /// The fingerprint of [`WebUrl::domain`].
    pub fn domain_fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self.domain())
    }
}

impl PartialEq for WebUrl {
    fn eq(&self, other: &WebUrl) -> bool {
        self.text == other.text
    }
}

impl Eq for WebUrl {}

impl PartialOrd for WebUrl {
    fn partial_cmp(&self, other: &WebUrl) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for WebUrl {
    fn cmp(&self, other: &WebUrl) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl Hash for WebUrl {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl Borrow<str> for WebUrl {
    fn borrow(&self) -> &str {
        &self.text
    }
}

impl AsRef<str> for WebUrl {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl FromStr for WebUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<WebUrl, UrlError> {
        WebUrl::parse(text)
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.text)
    }
}

impl fmt::Debug for WebUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "WebUrl({})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let url = WebUrl::parse("https://www.example.co.uk:8443/a/b?c=d").unwrap();
        assert_eq!(url.scheme(), Scheme::Https);
        assert_eq!(url.host_name(), "www.example.co.uk");
        assert_eq!(url.port(), 8443);
        assert_eq!(url.authority(), "www.example.co.uk:8443");
        assert_eq!(url.host(), "https://www.example.co.uk:8443");
        assert_eq!(url.path_and_query(), "/a/b?c=d");
        assert_eq!(url.path(), "/a/b");
        assert_eq!(url.query(), Some("c=d"));
        assert_eq!(url.domain(), "example.co.uk");
        assert_eq!(url.ip(), None);
    }

    #[test]
    fn parts_that_are_missing() {
        let url = WebUrl::parse("http://localhost").unwrap();
        assert_eq!(url.as_str(), "http://localhost/");
        assert_eq!((url.port(), url.path(), url.query()), (80, "/", None));
        assert_eq!((url.path_and_query(), url.domain()), ("/", "localhost"));
    }

    #[test]
    fn addresses() {
        for (text, name, address) in [
            ("http://127.1/", "127.0.0.1", "127.0.0.1"),
            ("http://0x7f000001:81/", "127.0.0.1", "127.0.0.1"),
            ("http://[2001:DB8:0::1]:81/", "[2001:db8::1]", "2001:db8::1"),
        ] {
            let url = WebUrl::parse(text).unwrap();
            assert_eq!((url.host_name(), url.domain()), (name, name));
            assert_eq!(url.ip(), Some(address.parse().unwrap()));
        }
        assert_eq!(WebUrl::parse("http://web2.example.h4/").unwrap().ip(), None);
    }

    #[test]
    fn it_is_small() {
        assert_eq!(size_of::<WebUrl>(), 32);
    }
}
