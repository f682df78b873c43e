//! SURT keys (Sort-friendly URI Reordering Transform).
//!
//! ```text
//! key  = host [":" port] ")" path ["?" query]      all of it in lower case
//! host = labels in reverse order, joined by ","    an address stays as it is
//!
//! https://www.Example.com/A/b?C=d    com,example,www)/a/b?c=d
//! http://example.com:8080/           com,example:8080)/
//! http://192.0.2.7/x                 192.0.2.7)/x
//! http://[2001:db8::1]/              [2001:db8::1])/
//! ```
//!
//! The port is there only if it is not the scheme's default. `www.` stays and the query keeps its order: without them URLs would
//! be joined that the crawler keeps apart. Indexes for replay do join them: see `archive_key`.
//!
//! The key groups, it does not identify: `http` and `https`, and URLs that differ only in case, share a key. Where
//! an order must be total, sort by key, then by the text of the URL.

use crate::{WebUrl, domain::is_address};

/// The SURT form of a host name alone: `www.example.com` becomes `com,example,www`.
///
/// As a prefix of keys, `com,example)` and `com,example:` select the host, `com,example,` the hosts under it.
pub fn surt_of_host(host_name: &str) -> String {
    let mut key = String::with_capacity(host_name.len());
    push_host(&mut key, host_name);
    key.make_ascii_lowercase();
    key
}

pub(crate) fn surt(url: &WebUrl) -> String {
    let mut key = String::with_capacity(url.as_str().len());
    push_host(&mut key, url.host_name());
    key.push_str(&url.authority()[url.host_name().len()..]);
    key.push(')');
    key.push_str(url.path_and_query());
    key.make_ascii_lowercase();
    key
}

fn push_host(key: &mut String, host_name: &str) {
    if is_address(host_name) {
        key.push_str(host_name);
        return;
    }
    for (index, label) in host_name.rsplit('.').enumerate() {
        if index > 0 {
            key.push(',');
        }
        key.push_str(label);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        for (url, key) in [
            ("https://www.Example.com/A/b?C=d", "com,example,www)/a/b?c=d"),
            ("http://example.com", "com,example)/"),
            ("http://example.com:80/", "com,example)/"),
            ("http://example.com:443/", "com,example:443)/"),
            ("https://example.com:443/", "com,example)/"),
            ("http://example.com:8080/%2f", "com,example:8080)/%2f"),
            ("http://192.0.2.7/x", "192.0.2.7)/x"),
            ("http://[2001:DB8::1]:81/", "[2001:db8::1]:81)/"),
            ("http://localhost/", "localhost)/"),
        ] {
            assert_eq!(WebUrl::parse(url).unwrap().surt(), key);
        }
    }

    #[test]
    fn hosts() {
        assert_eq!(surt_of_host("www.example.com"), "com,example,www");
        assert_eq!(surt_of_host("127.0.0.1"), "127.0.0.1");
        assert_eq!(surt_of_host("localhost"), "localhost");
    }
}
