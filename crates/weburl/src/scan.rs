//! The fast path: one pass over the bytes that proves a text canonical, so that the `url` crate is not needed.
//!
//! [`absolute`] and [`relative`] answer `None` for everything that they are not sure of; where they answer, the
//! answer is that of the slow path (a property test over nasty texts says so). What they do not take: upper case,
//! non-ASCII, punycode and addresses in the host, default ports, dot segments other than leading ones of a
//! reference, escapes that are not canonical, characters that must be escaped, parameters that might have to go.
//! A fragment is cut off: whatever is in it, it goes.

use crate::{
    Canonicalizer, Scheme, WebUrl, domain_of, percent,
    weburl::{Offsets, offset},
};

const HOST: u8 = 1;
const PATH: u8 = 2;
const QUERY: u8 = 4;

/// For each byte, in which parts it stands for itself and needs no second look.
static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let both = percent::is_unreserved(byte)
            || matches!(byte, b'!' | b'$' | b'(' | b')' | b'*' | b'+' | b',' | b'=' | b':' | b'@' | b'|')
            || matches!(byte, b'[' | b']');
        if byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_') {
            class[byte as usize] |= HOST;
        }
        if both || matches!(byte, b'&' | b'\'') {
            class[byte as usize] |= PATH;
        }
        if both || matches!(byte, b'/' | b'?' | b';' | b'{' | b'}' | b'^') {
            class[byte as usize] |= QUERY;
        }
        byte += 1;
    }
    class
};

#[inline]
fn is(byte: u8, class: u8) -> bool {
    CLASS[usize::from(byte)] & class != 0
}

/// The canonical URL of an absolute text, if the scan can tell.
pub(crate) fn absolute(text: &str, rules: &Canonicalizer) -> Option<WebUrl> {
    let bytes = text.as_bytes();
    let scheme = if bytes.starts_with(b"https://") {
        Scheme::Https
    } else if bytes.starts_with(b"http://") {
        Scheme::Http
    } else {
        return None;
    };
    let host_start = scheme.as_str().len() + 3;
    let host_end = host(bytes, host_start)?;
    let (path_start, port) = port(bytes, host_end, scheme)?;
    let (end, query_start) = match bytes.get(path_start) {
        None | Some(b'#') => (path_start, 0),
        Some(b'/') => path(bytes, path_start, rules)?,
        Some(_) => return None,
    };
    if end >= rules.length_max {
        return None;
    }
    let offsets = Offsets {
        host_end: offset(host_end),
        path_start: offset(path_start),
        query_start: offset(query_start),
        domain_start: offset(host_end - domain_of(&text[host_start..host_end]).len()),
        port,
    };
    let text = if end == path_start { concat(&text[..end], "/") } else { text[..end].into() };
    Some(WebUrl::from_parts(text, offsets))
}

/// The canonical URL of a reference that is relative to `base`, if the scan can tell. The reference has no white
/// space around it, and no scheme.
pub(crate) fn relative(base: &WebUrl, reference: &str, rules: &Canonicalizer) -> Option<WebUrl> {
    let bytes = reference.as_bytes();
    let base_path_end = base.path_end();
    let (prefix_end, skip) = match bytes {
        [] | [b'#', ..] => return Some(base.clone()),
        [b'/', b'/', ..] => {
            let scheme = base.scheme().as_str();
            return absolute(&concat(&base.as_str()[..scheme.len() + 1], reference), rules);
        }
        [b'/', ..] => (base.path_start(), 0),
        [b'?', ..] => (base_path_end, 0),
        [b'.', ..] => climb(base, bytes),
        _ => (directory_end(base, base_path_end), 0),
    };
    let rest = &reference[skip..];
    let (end, query_start) = match rest.as_bytes() {
        // After the climb only.
        [] | [b'#', ..] => (0, 0),
        [b'.', ..] => return None,
        [b'?', ..] => query(rest.as_bytes(), 0, rules)?,
        [b'/', ..] if prefix_end != base.path_start() => return None,
        rest => path(rest, 0, rules)?,
    };
    if prefix_end + end > rules.length_max {
        return None;
    }
    let has_query = rest.as_bytes().get(query_start) == Some(&b'?');
    let query_start = if has_query && end > 0 { prefix_end + query_start } else { 0 };
    let offsets = Offsets { query_start: offset(query_start), ..base.offsets() };
    Some(WebUrl::from_parts(concat(&base.as_str()[..prefix_end], &rest[..end]), offsets))
}

/// Follows `./` and `../` at the beginning of a reference: where the base ends then, and how much of the reference
/// is used up.
fn climb(base: &WebUrl, reference: &[u8]) -> (usize, usize) {
    let mut prefix_end = directory_end(base, base.path_end());
    let mut skip = 0;
    loop {
        match &reference[skip..] {
            [b'.', b'/', ..] => skip += 2,
            [b'.', b'.', b'/', ..] => {
                skip += 3;
                if prefix_end > base.path_start() + 1 {
                    prefix_end = directory_end(base, prefix_end - 1);
                }
            }
            _ => return (prefix_end, skip),
        }
    }
}

/// One past the last slash before `end`, which lies in the path.
fn directory_end(base: &WebUrl, end: usize) -> usize {
    let path = &base.as_str().as_bytes()[base.path_start()..end];
    let slash = path.iter().rposition(|byte| *byte == b'/');
    base.path_start() + slash.expect("every path begins with a slash") + 1
}

fn concat(one: &str, other: &str) -> Box<str> {
    let mut text = String::with_capacity(one.len() + other.len());
    text.push_str(one);
    text.push_str(other);
    text.into()
}

/// The end of a host name that is canonical for certain.
fn host(bytes: &[u8], start: usize) -> Option<usize> {
    let mut label_start = start;
    let mut at = start;
    loop {
        match bytes.get(at) {
            Some(byte) if is(*byte, HOST) => at += 1,
            next => {
                let label = &bytes[label_start..at];
                if label.is_empty() || label.starts_with(b"xn--") {
                    return None;
                }
                if next == Some(&b'.') {
                    at += 1;
                    label_start = at;
                } else {
                    // Else it might be a number, and the host an address.
                    return label[0].is_ascii_lowercase().then_some(at);
                }
            }
        }
    }
}

/// The end of the port if there is one, and the port.
fn port(bytes: &[u8], host_end: usize, scheme: Scheme) -> Option<(usize, u16)> {
    if bytes.get(host_end) != Some(&b':') {
        return Some((host_end, scheme.default_port()));
    }
    let mut port = 0_u32;
    let mut at = host_end + 1;
    while let Some(digit @ b'0'..=b'9') = bytes.get(at) {
        port = port * 10 + u32::from(digit - b'0');
        if port == 0 || port > u32::from(u16::MAX) {
            return None;
        }
        at += 1;
    }
    let port = u16::try_from(port).ok()?;
    (port != 0 && port != scheme.default_port()).then_some((at, port))
}

/// Where a path and what follows it end, without the fragment, and where the query starts (0 if there is none).
fn path(bytes: &[u8], start: usize, rules: &Canonicalizer) -> Option<(usize, usize)> {
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        if is(byte, PATH) {
            at += 1;
            continue;
        }
        match byte {
            b'/' if bytes.get(at + 1) != Some(&b'.') => at += 1,
            b'%' => at = escape(bytes, at)?,
            // Perhaps a session in the path.
            b';' if !matches!(bytes.get(at + 1), Some(b'j' | b'J')) => at += 1,
            b'?' => return query(bytes, at, rules),
            b'#' => break,
            _ => return None,
        }
    }
    Some((at, 0))
}

/// The same from the `?` on.
fn query(bytes: &[u8], question_mark: usize, rules: &Canonicalizer) -> Option<(usize, usize)> {
    let mut at = question_mark + 1;
    if rules.parameters.might_remove(&bytes[at..]) {
        return None;
    }
    while let Some(&byte) = bytes.get(at) {
        if is(byte, QUERY) {
            at += 1;
            continue;
        }
        match byte {
            b'&' => {
                at += 1;
                if rules.parameters.might_remove(&bytes[at..]) {
                    return None;
                }
            }
            b'%' => at = escape(bytes, at)?,
            b'#' => break,
            _ => return None,
        }
    }
    (at > question_mark + 1).then_some((at, question_mark))
}

/// The end of a canonical escape.
fn escape(bytes: &[u8], at: usize) -> Option<usize> {
    let canonical = bytes[at + 1..].iter().take(2).all(|digit| !digit.is_ascii_lowercase());
    let value = percent::escape(&bytes[at..])?;
    (canonical && !percent::is_unreserved(value)).then_some(at + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_absolute_urls_are_taken() {
        let rules = Canonicalizer::default();
        for (text, canonical) in [
            ("http://example.com/", "http://example.com/"),
            ("http://example.com", "http://example.com/"),
            ("http://example.com#top", "http://example.com/"),
            (
                "https://www.example.co.uk:8443/a/b-c_d~e.html",
                "https://www.example.co.uk:8443/a/b-c_d~e.html",
            ),
            ("https://a.b/x?page=2&sort=name&q=%C3%BC#\u{fc} <>", "https://a.b/x?page=2&sort=name&q=%C3%BC"),
            ("https://a.b/x;v=1/y(2),'3'", "https://a.b/x;v=1/y(2),'3'"),
        ] {
            assert_eq!(absolute(text, &rules).expect(text).as_str(), canonical);
        }
    }

    #[test]
    fn doubtful_absolute_urls_are_left_to_the_slow_path() {
        let rules = Canonicalizer::default();
        #[rustfmt::skip]
        let doubtful = [
            "HTTP://a.b/", "http:/a.b/", "http://a.B/", "http://a.b./", "http://a..b/", "http://1.2.3.4/",
            "http://a.0x1/", "http://xn--a.b/", "http://u@a.b/", "http://a.b:80/", "http://a.b:/",
            "http://a.b:08/", "http://a.b:65536/", "http://a.b?c", "http://a.b/?", "http://a.b/./",
            "http://a.b/%41", "http://a.b/%c3", "http://a.b/%", "http://a.b/%2", "http://a.b/\u{fc}",
            "http://a.b/ ", "http://a.b/\\", "http://a.b/^", "http://a.b/;jsessionid=1",
            "http://a.b/?sid=1", "http://a.b/?c&PHPSESSID=1", "http://a.b/?'", "http://[::1]/",
            "http:///a", "http://", " http://a.b/",
        ];
        for text in doubtful {
            assert_eq!(absolute(text, &rules), None, "{text}");
        }
    }

    #[test]
    fn common_references_are_taken() {
        let rules = Canonicalizer::default();
        let base = WebUrl::parse("https://a.b:81/c/d/e.html?f").unwrap();
        for (reference, canonical) in [
            ("", "https://a.b:81/c/d/e.html?f"),
            ("#x", "https://a.b:81/c/d/e.html?f"),
            ("?g=h", "https://a.b:81/c/d/e.html?g=h"),
            ("/", "https://a.b:81/"),
            ("/x/y?z#t", "https://a.b:81/x/y?z"),
            ("x.html", "https://a.b:81/c/d/x.html"),
            ("x/y/?z", "https://a.b:81/c/d/x/y/?z"),
            ("./", "https://a.b:81/c/d/"),
            ("./x", "https://a.b:81/c/d/x"),
            ("../x?y", "https://a.b:81/c/x?y"),
            ("../../../../x", "https://a.b:81/x"),
            ("../?y", "https://a.b:81/c/?y"),
            ("../#y", "https://a.b:81/c/"),
            ("//h.i/j", "https://h.i/j"),
        ] {
            let found = relative(&base, reference, &rules).expect(reference);
            assert_eq!(found.as_str(), canonical);
            assert_eq!(found, WebUrl::parse(canonical).unwrap());
            assert_eq!(found.offsets(), WebUrl::parse(canonical).unwrap().offsets(), "{reference}");
        }
    }
}
