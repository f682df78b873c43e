//! The keys of replay indexes: SURT as CDX files, Common Crawl's index and pywb have it.
//!
//! Replay tools look pages up by a key that joins what is nearly always one page, and compute it from the URL that they are asked for. So
//! the rules are not ours to choose; they are those of the Internet Archive's canonicalizer:
//!
//! - host: labels in reverse order (also those of an IPv4 address), without `www`, `www2`, … in front; the port if it is not the default
//! - path: escapes undone and done again where they must be, several slashes are one, none at the end; session ids of ASP.NET go
//! - query: parameters in order of their names and values; session ids go
//! - all of it in lower case
//!
//! Unlike [`surt`](crate::WebUrl::surt) it joins URLs that the crawler keeps apart, and is no prefix of anything that rules are made of.

use crate::WebUrl;
use crate::domain::is_address;

/// Parameters that name a session, and of how many letters and digits their values are.
const SESSIONS: [(&str, usize); 3] = [("jsessionid=", 32), ("phpsessid=", 32), ("sid=", 32)];

pub(crate) fn archive_key(url: &WebUrl) -> String {
    let mut key = String::with_capacity(url.as_str().len());
    push_host(&mut key, url.host_name());
    key.push_str(&url.authority()[url.host_name().len()..]);
    key.push(')');
    let (path, query) = match url.path_and_query().split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (url.path_and_query(), None),
    };
    match plain_already(path) {
        Some(path) => key.push_str(path),
        None => key.push_str(&without_session_in_path(&plain_path(path))),
    }
    let query = query.map(|query| plain_query(&escaped_anew(query).to_ascii_lowercase()));
    if let Some(query) = query.filter(|query| !query.is_empty()) {
        key.push('?');
        key.push_str(&query);
    }
    key
}

fn push_host(key: &mut String, host: &str) {
    if let Some(address) = host.strip_prefix('[') {
        return key.push_str(address.trim_end_matches(']'));
    }
    let digits =
        host.strip_prefix("www").map(|rest| rest.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    let host = match digits.and_then(|rest| rest.strip_prefix('.')) {
        Some(rest) if !is_address(host) => rest,
        _ => host,
    };
    for (index, label) in host.rsplit('.').enumerate() {
        if index > 0 {
            key.push(',');
        }
        key.push_str(label);
    }
}

/// The path as it stands in the key, where nothing of it changes but slashes at its end: most of them.
fn plain_already(path: &str) -> Option<&str> {
    let mut before = 0;
    for byte in path.bytes() {
        // Parentheses may be a session.
        let changes = matches!(byte, 0..=b' ' | 0x7f.. | b'A'..=b'Z' | b'#' | b'%' | b'(');
        if changes || (byte == b'/' && before == b'/') {
            return None;
        }
        before = byte;
    }
    Some(match path.strip_suffix('/') {
        None | Some("") => path,
        Some(path) => path,
    })
}

fn plain_path(path: &str) -> String {
    let path = escaped_anew(path).to_ascii_lowercase();
    let mut plain = String::with_capacity(path.len());
    for part in path.split('/').filter(|part| !part.is_empty()) {
        plain.push('/');
        plain.push_str(part);
    }
    if plain.is_empty() { "/".to_owned() } else { plain }
}

/// Undoes escapes until none is left, and escapes what cannot stand in a URL.
fn escaped_anew(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    while let Some(fewer) = unescaped(&bytes) {
        bytes = fewer;
    }
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            0..=b' ' | 0x7f.. | b'#' | b'%' => {
                out.push('%');
                out.extend(
                    [byte >> 4, byte & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])),
                );
            }
            _ => out.push(char::from(byte)),
        }
    }
    out
}

/// The bytes with one layer of escapes undone; `None` if there is none.
fn unescaped(bytes: &[u8]) -> Option<Vec<u8>> {
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut out = Vec::with_capacity(bytes.len());
    let (mut at, mut found) = (0, false);
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                found = true;
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    found.then_some(out)
}

/// Takes `(…)` with 24 letters and digits out of the path of a page in `.aspx`.
fn without_session_in_path(path: &str) -> String {
    let is_session = |part: &str| {
        let Some(inner) = part.strip_prefix('(').and_then(|part| part.strip_suffix(')')) else {
            return false;
        };
        let id = |text: &str| text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        id(inner)
            || inner.strip_suffix(')').is_some_and(|inner| {
                inner.split(')').all(|group| {
                    group.split_once('(').is_some_and(|(letter, value)| letter.len() == 1 && id(value))
                })
            })
    };
    let parts: Vec<&str> = path.split('/').collect();
    match parts.iter().rposition(|part| is_session(part)) {
        Some(at) if path.contains(".aspx") => [&parts[..at], &parts[at + 1..]].concat().join("/"),
        _ => path.to_owned(),
    }
}

fn plain_query(query: &str) -> String {
    let mut query = query.to_owned();
    for (name, length) in SESSIONS {
        if let Some(at) = query.rfind(name) {
            let value = &query[at + name.len()..];
            let end = value.find('&').unwrap_or(value.len());
            if end == length && value[..end].bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                let behind = value.get(end + 1..).unwrap_or_default().to_owned();
                query.truncate(at);
                query.push_str(&behind);
            }
        }
    }
    if let Some((before, rest)) = query.split_once("cfid=")
        && let Some((_, token)) = rest.split_once("&cftoken=")
    {
        let behind = token.split_once('&').map_or("", |(_, behind)| behind);
        query = format!("{before}{behind}");
    }
    let mut parameters: Vec<(&str, Option<&str>)> = query
        .split('&')
        .map(|parameter| match parameter.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (parameter, None),
        })
        .collect();
    parameters.sort_unstable();
    let joined = parameters.iter().map(|(name, value)| match value {
        Some(value) => format!("{name}={value}"),
        None => (*name).to_owned(),
    });
    joined.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_that_replay_tools_compute() {
        for (url, key) in [
            ("http://www.a.com/", "com,a)/"),
            ("http://www12.a.com/x/", "com,a)/x"),
            ("http://wwwx.a.com/x//", "com,a,wwwx)/x"),
            ("http://www.www.a.com/", "com,a,www)/"),
            ("http://www.com/", "com)/"),
            ("http://a.com:8080/X?", "com,a:8080)/x"),
            ("https://a.com:443/x/", "com,a)/x"),
            ("http://a.com/?", "com,a)/"),
            ("http://a.com/a/b/?q=1&B=2&a=3&a=1", "com,a)/a/b?a=1&a=3&b=2&q=1"),
            ("http://a.com/?a&b=&=c", "com,a)/?=c&a&b="),
            ("http://a.com/?&&a", "com,a)/?&&a"),
            ("http://a.com/p?PHPSESSID=0123456789abcdef0123456789abcdef&x=1", "com,a)/p?x=1"),
            ("http://a.com/a?jsessionid=0123456789abcdef0123456789abcdef", "com,a)/a"),
            ("http://a.com/a?sid=0123456789abcdef", "com,a)/a?sid=0123456789abcdef"),
            ("http://a.com/a?CFID=1234&CFTOKEN=abcd&z=1", "com,a)/a?z=1"),
            ("http://a.com/(S(0123456789abcdef01234567))/x.aspx", "com,a)/x.aspx"),
            ("http://a.com/x%20y%2Fz", "com,a)/x%20y/z"),
            ("http://a.com/%C3%9C?%C3%9C=%c3%9c", "com,a)/%c3%9c?%c3%9c=%c3%9c"),
            ("http://a.com/index.html", "com,a)/index.html"),
            ("http://a.com/a//b/", "com,a)/a/b"),
            ("http://a.com//", "com,a)/"),
            ("http://a.com/(x)/Y/", "com,a)/(x)/y"),
            ("http://1.2.3.4/x", "4,3,2,1)/x"),
            ("http://[::1]/x", "::1)/x"),
        ] {
            assert_eq!(WebUrl::parse(url).unwrap().archive_key(), key, "{url}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_plain_already_is_what_becomes_of_it(path in "/[a-cA-C0-1/%(). ü~]{0,12}") {
            if let Some(plain) = plain_already(&path) {
                proptest::prop_assert_eq!(plain, without_session_in_path(&plain_path(&path)));
            }
        }
    }
}
