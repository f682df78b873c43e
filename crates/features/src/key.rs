//! The order of URLs: a key that sorts as SURT does, and gives the URL back.
//!
//! ```text
//! key  = host ")" scheme [":" port] path ["?" query]
//! host = labels in reverse order, joined by ","         an address stays as it is
//! scheme = "h" for http, "s" for https
//!
//! https://www.example.com/A?b     com,example,www)s/A?b
//! http://example.com:8080/        com,example)h:8080/
//! ```
//!
//! It differs from SURT in that scheme and port stand behind the name and the case of the path is kept: so equal keys are equal URLs, and
//! every host (scheme, name and port) is one range of keys. Every domain is one, too: no byte that a name may have sorts between `)` and `,`.

use mattock_weburl::{Scheme, WebUrl, surt_of_host};

/// Appends the key of a URL.
pub(crate) fn push_key(key: &mut Vec<u8>, url: &WebUrl) {
    key.extend_from_slice(surt_of_host(url.host_name()).as_bytes());
    key.push(b')');
    key.push(match url.scheme() {
        Scheme::Http => b'h',
        Scheme::Https => b's',
    });
    key.extend_from_slice(&url.authority().as_bytes()[url.host_name().len()..]);
    key.extend_from_slice(url.path_and_query().as_bytes());
}

/// The text of the URL that has this key; `None` for what is no key.
pub(crate) fn url_of(key: &[u8]) -> Option<String> {
    let (host_len, _) = split(key)?;
    let text = std::str::from_utf8(key).ok()?;
    let mut url = String::with_capacity(text.len() + 8);
    url.push_str(if key[host_len + 1] == b's' { "https://" } else { "http://" });
    push_name(&mut url, &text[..host_len]);
    url.push_str(&text[host_len + 2..]);
    Some(url)
}

/// The part of a key that names the host, up to the path.
pub(crate) fn host_part(key: &[u8]) -> Option<&[u8]> {
    split(key).map(|(_, path)| &key[..path])
}

/// The host name in a key or in the host's part of one.
pub(crate) fn host_name_of(key: &[u8]) -> Option<String> {
    let end = key.iter().position(|byte| *byte == b')')?;
    let mut name = String::with_capacity(end);
    push_name(&mut name, std::str::from_utf8(&key[..end]).ok()?);
    Some(name)
}

/// Where the host name ends, and where the path begins.
fn split(key: &[u8]) -> Option<(usize, usize)> {
    let host = key.iter().position(|byte| *byte == b')')?;
    let path = key[host..].iter().position(|byte| *byte == b'/').map_or(key.len(), |at| host + at);
    matches!(key.get(host + 1), Some(b'h' | b's')).then_some((host, path))
}

fn push_name(name: &mut String, reversed: &str) {
    for (index, label) in reversed.rsplit(',').enumerate() {
        if index > 0 {
            name.push('.');
        }
        name.push_str(label);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_weburl::domain_of;
    use proptest::prelude::*;

    fn key(url: &str) -> Vec<u8> {
        let mut key = Vec::new();
        push_key(&mut key, &WebUrl::parse(url).unwrap());
        key
    }

    #[test]
    fn keys_give_their_urls_back() {
        for (url, expected) in [
            ("https://www.example.com/A?b", "com,example,www)s/A?b"),
            ("http://example.com:8080/", "com,example)h:8080/"),
            ("http://192.0.2.7/x)/y", "192.0.2.7)h/x)/y"),
            ("https://[2001:db8::1]:81/", "[2001:db8::1])s:81/"),
            ("http://localhost/", "localhost)h/"),
        ] {
            assert_eq!(key(url), expected.as_bytes());
            assert_eq!(url_of(expected.as_bytes()).as_deref(), Some(url));
        }
        assert_eq!((url_of(b"com,example"), url_of(b"com)x/"), url_of(b"com)")), (None, None, None));
        assert_eq!(host_part(b"com,example)h:8080/a)b/"), Some(&b"com,example)h:8080"[..]));
        assert_eq!(host_name_of(b"com,example)h:8080").as_deref(), Some("example.com"));
    }

    proptest! {
        #[test]
        fn hosts_and_domains_are_ranges(
            urls in proptest::collection::btree_set(
                "https?://([ab]\\.)?(a|a-b|ab|b)\\.(com|co\\.uk|github\\.io)(:80[0-9])?/[aA-]{0,2}", 1..60),
        ) {
            let mut keys: Vec<Vec<u8>> = urls.iter().map(|url| key(url)).collect();
            keys.sort();
            for part in [
                (|key| host_part(key).unwrap().to_vec()) as fn(&[u8]) -> Vec<u8>,
                |key| domain_of(&host_name_of(key).unwrap()).as_bytes().to_vec(),
            ] {
                let mut groups: Vec<Vec<u8>> = keys.iter().map(|key| part(key)).collect();
                groups.dedup();
                let count = groups.len();
                groups.sort();
                groups.dedup();
                prop_assert_eq!(groups.len(), count, "{:?}", urls);
            }
        }
    }
}
