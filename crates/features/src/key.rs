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
//! every host (scheme, name and port) is one range of keys. So are all hosts under a name: the Web has links to hosts with brackets and commas
//! in their names, and bytes of a label that would sort up to `,` are written as `%2c`, with the `%` that no host name has.

use mattock_weburl::{Scheme, WebUrl, surt_of_host};

/// Appends the key of a URL.
pub(crate) fn push_key(key: &mut Vec<u8>, url: &WebUrl) {
    push_host(key, url.host_name());
    key.push(b')');
    key.push(match url.scheme() {
        Scheme::Http => b'h',
        Scheme::Https => b's',
    });
    key.extend_from_slice(&url.authority().as_bytes()[url.host_name().len()..]);
    key.extend_from_slice(url.path_and_query().as_bytes());
}

/// Appends the name of a host as keys have it.
pub(crate) fn push_host(key: &mut Vec<u8>, name: &str) {
    let reversed = surt_of_host(name);
    if !name.bytes().any(needs_escape) {
        return key.extend_from_slice(reversed.as_bytes());
    }
    for (index, label) in name.rsplit('.').enumerate() {
        if index > 0 {
            key.push(b',');
        }
        for byte in label.bytes() {
            match needs_escape(byte) {
                true => key.extend_from_slice(format!("%{byte:02x}").as_bytes()),
                false => key.push(byte),
            }
        }
    }
}

/// Whether a byte of a label would be taken for the end of it, or sort between the ends of two.
fn needs_escape(byte: u8) -> bool {
    byte <= b',' || byte == b'%'
}

/// The part of a key that names the last so many labels of its host, which it begins with; the whole name for 0.
pub(crate) fn domain_part(key: &[u8], labels: u8) -> &[u8] {
    let name = &key[..key.iter().position(|byte| *byte == b')').unwrap_or(key.len())];
    let commas = name.iter().enumerate().filter(|(_, byte)| **byte == b',');
    match labels.checked_sub(1).and_then(|before| commas.map(|(at, _)| at).nth(before.into())) {
        Some(end) => &name[..end],
        None => name,
    }
}

/// Whether a host is one of those whose names end with this part of a key.
pub(crate) fn is_under(key: &[u8], domain: &[u8]) -> bool {
    key.strip_prefix(domain).is_some_and(|rest| matches!(rest.first(), Some(b')' | b',')))
}

/// The text of the URL that has this key; `None` for what is no key.
pub(crate) fn url_of(key: &[u8]) -> Option<String> {
    let (host_len, _) = split(key)?;
    let text = std::str::from_utf8(key).ok()?;
    let mut url = String::with_capacity(text.len() + 8);
    url.push_str(if key[host_len + 1] == b's' { "https://" } else { "http://" });
    push_name(&mut url, &text[..host_len])?;
    url.push_str(&text[host_len + 2..]);
    Some(url)
}

/// The part of a key that names the host, up to the path.
pub(crate) fn host_part(key: &[u8]) -> Option<&[u8]> {
    split(key).map(|(_, path)| &key[..path])
}

/// The host name in a key, or in a part of one that begins with it.
pub(crate) fn host_name_of(key: &[u8]) -> Option<String> {
    let end = key.iter().position(|byte| *byte == b')').unwrap_or(key.len());
    let mut name = String::with_capacity(end);
    push_name(&mut name, std::str::from_utf8(&key[..end]).ok()?)?;
    Some(name)
}

/// Where the host name ends, and where the path begins.
fn split(key: &[u8]) -> Option<(usize, usize)> {
    let host = key.iter().position(|byte| *byte == b')')?;
    let path = key[host..].iter().position(|byte| *byte == b'/').map_or(key.len(), |at| host + at);
    matches!(key.get(host + 1), Some(b'h' | b's')).then_some((host, path))
}

fn push_name(name: &mut String, reversed: &str) -> Option<()> {
    for (index, label) in reversed.rsplit(',').enumerate() {
        if index > 0 {
            name.push('.');
        }
        let mut pieces = label.split('%');
        name.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            name.push(u8::from_str_radix(piece.get(..2)?, 16).ok()?.into());
            name.push_str(&piece[2..]);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
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
            ("http://x,y.com/", "com,x%2cy)h/"),
            ("http://example.com)/", "com%29,example)h/"),
        ] {
            assert_eq!(key(url), expected.as_bytes());
            assert_eq!(url_of(expected.as_bytes()).as_deref(), Some(url));
        }
        assert_eq!((url_of(b"com,example"), url_of(b"com)x/"), url_of(b"com)")), (None, None, None));
        assert_eq!(host_part(b"com,example)h:8080/a)b/"), Some(&b"com,example)h:8080"[..]));
        assert_eq!(host_name_of(b"com,example)h:8080").as_deref(), Some("example.com"));
    }

    #[test]
    fn parts_of_hosts() {
        let host = b"com,example,www)h:8080";
        assert_eq!([0, 1, 2, 3, 4].map(|labels| domain_part(host, labels).len()), [15, 3, 11, 15, 15]);
        assert!(is_under(host, b"com,example") && is_under(host, b"com,example,www"));
        assert!(!is_under(host, b"com,exampl") && !is_under(b"com,example-x)h", b"com,example"));
    }

    proptest! {
        #[test]
        fn every_url_comes_back(name in "[a-c,()*+!$&'=~;_.-]{1,12}", rest in "(:8[0-9])?/[)a,%]{0,3}") {
            if let Ok(url) = WebUrl::parse(&format!("http://{name}.com{rest}")) {
                let key = key(url.as_str());
                prop_assert_eq!(url_of(&key), Some(url.as_str().to_owned()));
                prop_assert_eq!(host_name_of(&key), Some(url.host_name().to_owned()));
            }
        }

        #[test]
        fn hosts_and_all_under_a_name_are_ranges(
            urls in proptest::collection::btree_set(
                "https?://([ab+*]\\.)?(a|a-b|a\\+|a\\)|ab|b)\\.(com|co\\.uk|github\\.io)(:80[0-9])?/[aA-]{0,2}", 1..60),
            domain in "(com,(a|ab)|com|uk,co|io,github,a)",
        ) {
            let mut keys: Vec<Vec<u8>> = urls.iter().map(|url| key(url)).collect();
            keys.sort();
            let mut groups: Vec<&[u8]> = keys.iter().map(|key| host_part(key).unwrap()).collect();
            groups.dedup();
            let count = groups.len();
            groups.sort_unstable();
            groups.dedup();
            prop_assert_eq!(groups.len(), count, "{:?}", urls);
            let mut under: Vec<bool> = keys.iter().map(|key| is_under(key, domain.as_bytes())).collect();
            under.dedup();
            prop_assert!(under.iter().filter(|under| **under).count() <= 1, "{:?}", urls);
        }
    }
}
