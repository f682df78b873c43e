//! A URL taken apart as Common Crawl's columns want it.

use std::net::Ipv4Addr;

use mattock_weburl::{Scheme, WebUrl};

/// The columns that begin with `url_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlParts<'a> {
    /// The key that rows are ordered by.
    pub surt: String,
    /// Host name or address.
    pub host: &'a str,
    /// The last five labels of the host name, the last first; none of an address.
    pub labels: [Option<&'a str>; 5],
    /// The suffix under which names are registered, as registries have it: `com`, `co.uk`.
    pub registry_suffix: Option<&'a str>,
    /// The name below it.
    pub registered_domain: Option<&'a str>,
    /// The suffix with those that companies give names under: `github.io`.
    pub private_suffix: Option<&'a str>,
    /// The name below that.
    pub private_domain: Option<&'a str>,
    /// The labels the other way round: `com.example.www`.
    pub reversed: Option<String>,
    /// `http` or `https`.
    pub protocol: &'static str,
    /// Unless it is the protocol's own.
    pub port: Option<u16>,
    /// With its slash.
    pub path: &'a str,
    /// Without its question mark.
    pub query: Option<&'a str>,
}

impl<'a> UrlParts<'a> {
    /// Takes a URL apart.
    pub fn of(url: &'a WebUrl) -> UrlParts<'a> {
        let host = url.host_name();
        let (path, query) = match url.path_and_query().split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (url.path_and_query(), None),
        };
        let (protocol, default) = match url.scheme() {
            Scheme::Http => ("http", 80),
            Scheme::Https => ("https", 443),
        };
        let mut parts = UrlParts {
            surt: url.archive_key(),
            host,
            labels: [None; 5],
            registry_suffix: None,
            registered_domain: None,
            private_suffix: None,
            private_domain: None,
            reversed: None,
            protocol,
            port: Some(url.port()).filter(|port| *port != default),
            path,
            query,
        };
        if host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok() {
            return parts;
        }
        for (place, label) in parts.labels.iter_mut().zip(host.rsplit('.')) {
            *place = Some(label);
        }
        let reversed: Vec<&str> = host.rsplit('.').collect();
        parts.reversed = Some(reversed.join("."));
        let private = suffix(host, true);
        let registry = suffix(host, false);
        parts.private_suffix = private;
        parts.registry_suffix = registry;
        parts.private_domain = private.and_then(|suffix| below(host, suffix));
        parts.registered_domain = registry.and_then(|suffix| below(host, suffix));
        parts
    }
}

/// The public suffix that ends the host name; without those of companies unless `private`.
fn suffix(host: &str, private: bool) -> Option<&str> {
    let mut name = host;
    loop {
        let suffix = psl::suffix(name.as_bytes())?;
        let text = &name[name.len() - suffix.as_bytes().len()..];
        match suffix.typ() {
            Some(psl::Type::Private) if !private => name = text.split_once('.')?.1,
            Some(_) => return Some(text),
            // A name that no list has.
            None => return None,
        }
    }
}

/// The name one label longer than the suffix.
fn below<'a>(host: &'a str, suffix: &str) -> Option<&'a str> {
    let before = host.len().checked_sub(suffix.len() + 1)?;
    let start = host[..before].rfind('.').map_or(0, |dot| dot + 1);
    Some(&host[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<T>(url: &str, look: impl FnOnce(&UrlParts<'_>) -> T) -> T {
        look(&UrlParts::of(&WebUrl::parse(url).unwrap()))
    }

    #[test]
    fn urls_come_apart_as_common_crawl_has_them() {
        with("https://www.example.co.uk:8443/a/b?c=d", |parts| {
            assert_eq!(parts.surt, "uk,co,example:8443)/a/b?c=d");
            assert_eq!(parts.labels, [Some("uk"), Some("co"), Some("example"), Some("www"), None]);
            assert_eq!(
                (parts.registry_suffix, parts.registered_domain),
                (Some("co.uk"), Some("example.co.uk"))
            );
            assert_eq!(parts.reversed.as_deref(), Some("uk.co.example.www"));
            assert_eq!((parts.protocol, parts.port), ("https", Some(8443)));
            assert_eq!((parts.path, parts.query), ("/a/b", Some("c=d")));
        });
        with("http://user.github.io/", |parts| {
            assert_eq!((parts.registry_suffix, parts.registered_domain), (Some("io"), Some("github.io")));
            assert_eq!(
                (parts.private_suffix, parts.private_domain),
                (Some("github.io"), Some("user.github.io"))
            );
            assert_eq!((parts.port, parts.query), (None, None));
        });
        for address in ["http://192.0.2.7/x", "http://[2001:db8::1]/"] {
            with(address, |parts| {
                assert_eq!(
                    (parts.labels[0], parts.reversed.as_deref(), parts.private_domain),
                    (None, None, None)
                );
            });
        }
        with("http://co.uk/", |parts| assert_eq!(parts.registered_domain, None));
    }
}
