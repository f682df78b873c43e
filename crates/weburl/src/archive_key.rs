//! The keys of replay indexes: SURT as CDX files, Common Crawl's index and pywb have it.
//!
//! Replay tools look pages up by a key that joins what is nearly always one page, and compute it from the URL as they are asked for it. So
//! the rules are not ours to choose, and the key is made of the text that an archive has, not of a [`WebUrl`](crate::WebUrl): those leave out
//! sessions that the key keeps. The rules are the Internet Archive's, as the Python package `surt` applies them:
//!
//! - text: no blanks around it, no line ends in it; one scheme of `http://https://`; user and fragment go
//! - host: in ASCII, numbers are addresses, labels in reverse order (also those of an address), without `www`, `www2`, … in front; the
//!   port if it is not the default
//! - path: escapes undone and done again where they must be, `.` and `..` resolved then, several slashes are one, none at the end; session
//!   ids of ASP.NET go
//! - query: parameters in order of their names and values; session ids of six kinds go, if they are as long as theirs are
//! - all of it in lower case
//!
//! Unlike [`surt`](crate::WebUrl::surt) it joins URLs that the crawler keeps apart, and is no prefix of anything that rules are made of.

use std::borrow::Cow;
use std::net::Ipv4Addr;

use url::Host;

mod session;

/// The key of a URL as an archive writes it. `None` if its port is no number up to 65,535, which replay tools refuse.
pub fn archive_key(text: &str) -> Option<String> {
    let text = plain_text(text);
    let parts = Parts::of(&text)?;
    let mut key = String::with_capacity(text.len() + 1);
    match parts.host.as_bytes() {
        [] => {
            key.push_str(parts.scheme);
            key.push(':');
        }
        _ => {
            push_host(&mut key, &plain_host(parts.host), !parts.scheme.eq_ignore_ascii_case("dns"));
            if let Some(port) = parts.port.filter(|port| Some(*port) != default_port(parts.scheme)) {
                key.push_str(&format!(":{port}"));
            }
            key.push(')');
        }
    }
    match plain_already(&parts.path) {
        Some(path) if !parts.host.is_empty() => key.push_str(path),
        _ => key.push_str(&plain_path(&parts.path, !parts.host.is_empty())),
    }
    let query = parts.query.map(plain_query).filter(|query| !query.is_empty());
    if let Some(query) = query {
        key.push('?');
        key.push_str(&query);
    }
    Some(key)
}

/// The text without what browsers and archives' tools leave out before they read it.
fn plain_text(text: &str) -> Cow<'_, str> {
    let text = text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let text = match text.contains(['\n', '\r', '\t']) {
        true => Cow::Owned(text.replace(['\n', '\r', '\t'], "")),
        false => Cow::Borrowed(text),
    };
    let mut skipped = 0;
    loop {
        let rest = &text[skipped..];
        let Some(behind) = rest.strip_prefix("http://").or_else(|| rest.strip_prefix("https://")) else {
            break;
        };
        if !behind.starts_with("http://") && !behind.starts_with("https://") {
            break;
        }
        skipped += rest.len() - behind.len();
    }
    match skipped {
        0 => text,
        _ => Cow::Owned(text[skipped..].to_owned()),
    }
}

/// What is between the delimiters, as it stands there.
struct Parts<'a> {
    scheme: &'a str,
    /// Empty if there is none.
    host: &'a str,
    port: Option<u16>,
    path: Cow<'a, str>,
    query: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Option<Parts<'a>> {
        let is_scheme = |scheme: &&str| {
            scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        };
        let scheme = text.split_once(':').map(|(scheme, _)| scheme).filter(is_scheme);
        let (scheme, rest, is_bare) = match scheme {
            Some(scheme) => (scheme, &text[scheme.len() + 1..], false),
            None => ("http", text, true),
        };
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query).filter(|query| !query.is_empty())),
            None => (rest, None),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None if is_bare => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", rest),
        };
        let authority = authority.trim_end_matches(':');
        let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
        let (host, port) = match server.split_once('[') {
            Some((_, bracketed)) => {
                let (host, behind) = bracketed.split_once(']').unwrap_or((bracketed, ""));
                (host, behind.split_once(':').map_or("", |(_, port)| port))
            }
            None => server.split_once(':').unwrap_or((server, "")),
        };
        let port = match port {
            "" => None,
            _ if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(port.parse().ok()?),
            _ => return None,
        };
        let (host, path) = match host {
            // Of `http:////host/path`.
            "" if scheme.starts_with("http") && !path.is_empty() => {
                let (host, path) = path
                    .trim_start_matches('/')
                    .split_once('/')
                    .unwrap_or((path.trim_start_matches('/'), ""));
                (host, Cow::Owned(format!("/{path}")))
            }
            _ => (host, Cow::Borrowed(path)),
        };
        Some(Parts { scheme, host, port: port.filter(|port| *port != 0), path, query })
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        _ if scheme.eq_ignore_ascii_case("http") => Some(80),
        _ if scheme.eq_ignore_ascii_case("https") => Some(443),
        _ => None,
    }
}

/// The host in ASCII and lower case, with numbers as an address.
fn plain_host(host: &str) -> Cow<'_, str> {
    let is_plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.');
    let is_name = host.starts_with(|first: char| first.is_ascii_lowercase()) && host.bytes().all(is_plain);
    if is_name && !host.ends_with('.') && !host.contains("..") {
        return Cow::Borrowed(host);
    }
    let bytes = unescaped_wholly(host.as_bytes());
    let text = String::from_utf8_lossy(&bytes).replace(char::REPLACEMENT_CHARACTER, "");
    let text = match text.is_ascii() {
        true => text,
        false => in_ascii(&text).unwrap_or(text),
    };
    let text = text.replace("..", ".");
    let text = text.trim_matches('.');
    Cow::Owned(match address(text) {
        Some(address) => address.to_string(),
        None => escaped(text.as_bytes()).to_ascii_lowercase(),
    })
}

/// An international name as IDNA 2003 has it, which replay tools go on to use: these four characters had no names of their own then.
fn in_ascii(host: &str) -> Option<String> {
    let host = host.replace('ß', "ss").replace('ς', "σ").replace(['\u{200c}', '\u{200d}'], "");
    Host::parse(&host).ok().map(|host| host.to_string())
}

/// The address that a host of decimal or octal numbers is.
fn address(host: &str) -> Option<Ipv4Addr> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(host) {
        let number = host
            .bytes()
            .fold(0_u32, |number, digit| number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')));
        return Some(number.into());
    }
    if host.split('.').count() > 4 || !host.split('.').all(is_number) {
        return None;
    }
    match Host::parse(host) {
        Ok(Host::Ipv4(address)) => Some(address),
        _ => None,
    }
}

fn push_host(key: &mut String, host: &str, is_of_web: bool) {
    let digits =
        host.strip_prefix("www").map(|rest| rest.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    let host = match digits.and_then(|rest| rest.strip_prefix('.')) {
        Some(rest) if is_of_web => rest,
        _ => host,
    };
    for (index, label) in host.rsplit('.').enumerate() {
        if index > 0 {
            key.push(',');
        }
        key.push_str(label);
    }
}

/// The path as it stands in the key, where nothing of it changes but a slash at its end: most of them.
fn plain_already(path: &str) -> Option<&str> {
    let mut before = b' ';
    for byte in path.bytes() {
        // Parentheses may be a session.
        let changes = matches!(byte, 0..=b' ' | 0x7f.. | b'A'..=b'Z' | b'#' | b'%' | b'(');
        if changes || before == b'/' && matches!(byte, b'/' | b'.') {
            return None;
        }
        before = byte;
    }
    match path.strip_suffix('/') {
        _ if !path.starts_with('/') => None,
        None | Some("") => Some(path),
        Some(path) => Some(path),
    }
}

fn plain_path(path: &str, has_host: bool) -> String {
    let path = unescaped_wholly(path.as_bytes());
    let path = if has_host { without_steps(&path) } else { path };
    let path = session::without_session_in_path(escaped(&path).to_ascii_lowercase());
    match path.strip_suffix('/') {
        None | Some("") => path,
        Some(path) => path.to_owned(),
    }
}

/// A path without empty parts but the last, `.` and `..`. A step up at the top stays, and is what the next one takes back.
fn without_steps(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/').skip(1) {
        match part {
            b"." => {}
            b".." if !kept.is_empty() => {
                kept.pop();
            }
            _ => kept.push(part),
        }
    }
    let mut plain = vec![b'/'];
    if let Some((last, before)) = kept.split_last() {
        for part in before.iter().filter(|part| !part.is_empty()) {
            plain.extend_from_slice(part);
            plain.push(b'/');
        }
        plain.extend_from_slice(last);
    }
    plain
}

fn plain_query(query: &str) -> String {
    let query = session::without_sessions_in_query(escaped(&unescaped_wholly(query.as_bytes())));
    let query = query.to_ascii_lowercase();
    if !query.contains('&') {
        return query;
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

/// Escapes what cannot stand in a URL.
fn escaped(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for &byte in bytes {
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

/// Undoes escapes until none is left.
fn unescaped_wholly(text: &[u8]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    while let Some(fewer) = unescaped(&bytes) {
        bytes = fewer;
    }
    bytes
}

/// The bytes with one layer of escapes undone; `None` if there is none.
fn unescaped(bytes: &[u8]) -> Option<Vec<u8>> {
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    bytes.contains(&b'%').then_some(())?;
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
            ("HTTP://User:pw@WWW.A.com.:80/a/../B#c?d", "com,a)/b"),
            ("http://http://a.com/", "com,a)/"),
            ("http:////a.com/x", "com,a)/x"),
            ("http://a.com", "com,a)/"),
            ("http://a.com?x", "com,a)/?x"),
            ("http://a.com/../../x", "com,a)/x"),
            ("http://a.com/../x", "com,a)/../x"),
            ("http://a.com/%252e%252e/x/.", "com,a)/../x"),
            ("http://b\u{fc}cher.example/\u{fc}", "example,xn--bcher-kva)/%c3%bc"),
            ("http://b%C3%BCcher.example/", "example,xn--bcher-kva)/"),
            ("http://stra\u{df}e.example/", "example,strasse)/"),
            ("http://2130706433/", "1,0,0,127)/"),
            ("http://0177.1/", "1,0,0,127)/"),
            ("http://a.com/x;jsessionid=0123456789ABCDEF?b=C", "com,a)/x;jsessionid=0123456789abcdef?b=c"),
            (
                "http://a.com/?zenid=0123456789abcdef0123456789abcdef",
                "com,a)/?zenid=0123456789abcdef0123456789abcdef",
            ),
            (
                "http://a.com/?PHPSESSID=0123456789abcdef0123456789",
                "com,a)/?phpsessid=0123456789abcdef0123456789",
            ),
            ("http://a.com/?ASPSESSIONIDabcdEFGH=abcdefghijklmnopqrstuvwx&y", "com,a)/?y"),
            ("dns:www.a.com", "dns:www.a.com"),
            ("urn:Some:ID", "urn:some:id"),
            ("http://[::ffff:1.2.3.4]:8080/", "4,3,2,::ffff:1:8080)/"),
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
            assert_eq!(archive_key(url).as_deref(), Some(key), "{url}");
        }
    }

    #[test]
    fn what_replay_tools_refuse_has_no_key() {
        assert_eq!((archive_key("http://a.com:x/"), archive_key("http://a.com:65536/")), (None, None));
    }

    proptest::proptest! {
        #[test]
        fn what_is_plain_already_is_what_becomes_of_it(path in "/[a-cA-C0-1/%(). \u{fc}~]{0,12}") {
            if let Some(plain) = plain_already(&path) {
                proptest::prop_assert_eq!(plain, plain_path(&path, true));
            }
        }
    }
}
