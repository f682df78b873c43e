//! The character encoding of a body: byte order mark, then the HTTP header, then the page's own word, then its bytes.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

use crate::attributes::walk;
use crate::names::{Attribute, Values, ends_tag_name, is_space};

/// As many bytes as the standard looks at for a `<meta charset>`.
const PRESCAN_BYTES: usize = 1024;

/// What was found out about a body's encoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Charset {
    pub(crate) encoding: &'static Encoding,
    /// Bytes of the byte order mark in front.
    pub(crate) mark_bytes: usize,
    /// Nobody said it: a `<meta charset>` further down may correct it.
    pub(crate) guessed: bool,
}

/// Decides for one body. `detect` is asked if nobody names an encoding and the bytes are not UTF-8.
pub(crate) fn charset(
    body: &[u8],
    content_type: Option<&str>,
    detect: Option<fn(&[u8]) -> &'static Encoding>,
) -> Charset {
    if let Some((encoding, mark_bytes)) = Encoding::for_bom(body) {
        return Charset { encoding, mark_bytes, guessed: false };
    }
    let head = &body[..body.len().min(PRESCAN_BYTES)];
    let named = content_type.and_then(|value| after_charset(value.as_bytes())).and_then(Encoding::for_label);
    if let Some(encoding) = named.or_else(|| prescan(head)).or_else(|| xml_declaration(head)) {
        return Charset { encoding, mark_bytes: 0, guessed: false };
    }
    match std::str::from_utf8(body) {
        // Plain ASCII fits nearly every encoding.
        Ok(text) => Charset { encoding: UTF_8, mark_bytes: 0, guessed: text.is_ascii() },
        // A body cut at a size limit may end inside a character.
        Err(error) if error.error_len().is_none() => {
            Charset { encoding: UTF_8, mark_bytes: 0, guessed: false }
        }
        Err(_) => {
            let encoding = detect.map_or(WINDOWS_1252, |detect| detect(body));
            Charset { encoding, mark_bytes: 0, guessed: true }
        }
    }
}

/// The standard's "extracting a character encoding from a meta element": the label behind `charset=`.
pub(crate) fn after_charset(value: &[u8]) -> Option<&[u8]> {
    const WORD: &[u8] = b"charset";
    let mut pos = 0;
    loop {
        pos += value.get(pos..)?.windows(WORD.len()).position(|window| window.eq_ignore_ascii_case(WORD))?
            + WORD.len();
        let after = &value[pos..];
        let Some(after) = skip_spaces(after).strip_prefix(b"=") else { continue };
        let after = skip_spaces(after);
        return match after.first()? {
            quote @ (b'"' | b'\'') => {
                after[1..].split(|b| b == quote).next().filter(|label| label.len() + 1 < after.len())
            }
            _ => after.split(|&b| is_space(b) || b == b';').next(),
        };
    }
}

fn skip_spaces(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.iter().position(|&b| !is_space(b)).unwrap_or(bytes.len())..]
}

/// The encoding that a `<meta>` means: what claims to be UTF-16 in readable bytes is not.
pub(crate) fn for_meta(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label)?;
    Some(if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    })
}

/// The encoding that one `<meta>` declares: `charset=…`, or `content=…` beside `http-equiv=content-type`.
pub(crate) fn of_meta(values: &Values<'_>) -> Option<&'static Encoding> {
    if let Some(label) = values.get(Attribute::Charset) {
        return for_meta(label);
    }
    if !values.get(Attribute::HttpEquiv)?.eq_ignore_ascii_case(b"content-type") {
        return None;
    }
    for_meta(after_charset(values.get(Attribute::Content)?)?)
}

/// The standard's prescan of the first bytes.
fn prescan(head: &[u8]) -> Option<&'static Encoding> {
    let mut pos = 0;
    loop {
        pos += memchr::memchr(b'<', &head[pos..])?;
        let rest = &head[pos..];
        if rest.starts_with(b"<!--") {
            pos += 2 + memchr::memmem::find(&rest[2..], b"-->")? + 3;
        } else if rest.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"<meta"))
            && is_space(*rest.get(5)?) | (rest[5] == b'/')
        {
            let mut values = Values::default();
            let end = walk(head, pos + 5, |name, value| values.add(name, value))?;
            if let Some(encoding) = of_meta(&values) {
                return Some(encoding);
            }
            pos = end.after;
        } else if matches!(rest, [b'<', letter, ..] | [b'<', b'/', letter, ..] if letter.is_ascii_alphabetic())
        {
            let name = rest.iter().position(|&b| ends_tag_name(b) && b != b'/' || b == b'>')?;
            pos = walk(head, pos + name, |_, _| {})?.after;
        } else if matches!(rest.get(1), Some(b'!' | b'/' | b'?')) {
            pos += memchr::memchr(b'>', rest)? + 1;
        } else {
            pos += 1;
        }
    }
}

/// `<?xml … encoding="…"?>` at the very start.
fn xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    let rest = head.strip_prefix(b"<?xml")?;
    let rest = &rest[..memchr::memchr(b'>', rest)?];
    let at = memchr::memmem::find(rest, b"encoding")?;
    let rest = skip_spaces(skip_spaces(&rest[at + 8..]).strip_prefix(b"=")?);
    let quote = *rest.first().filter(|&&b| b == b'"' || b == b'\'')?;
    for_meta(&rest[1..1 + memchr::memchr(quote, &rest[1..])?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{BIG5, GB18030, ISO_8859_2, SHIFT_JIS, WINDOWS_1251};

    fn of(body: &[u8], content_type: Option<&str>) -> &'static Encoding {
        charset(body, content_type, None).encoding
    }

    #[test]
    fn mark_then_header_then_meta_then_bytes() {
        let meta = b"<meta charset=big5>";
        assert_eq!(of(&[b"\xef\xbb\xbf", &meta[..]].concat(), Some("text/html; charset=gb18030")), UTF_8);
        assert_eq!(of(b"\xff\xfe<\0", None), UTF_16LE);
        assert_eq!(of(meta, Some("text/html; charset=\"gb18030\"")), GB18030);
        assert_eq!(of(meta, Some("text/html; charset=nonsense")), BIG5);
        assert_eq!(of(meta, Some("text/html")), BIG5);
        assert_eq!(of("ä".as_bytes(), None), UTF_8);
        assert_eq!(of(b"\xe4 ", None), WINDOWS_1252);
        assert_eq!(of(b"abc\xe4", None), UTF_8, "cut inside a character");
        assert_eq!(charset(b"\xe4 ", None, Some(|_| WINDOWS_1251)).encoding, WINDOWS_1251);
    }

    #[test]
    fn what_a_page_says() {
        for (page, encoding) in [
            ("<META http-equiv='Content-Type' content='text/html; charset = \"shift_jis\"'>", SHIFT_JIS),
            ("<meta content='text/html; charset=shift_jis' http-equiv=content-type>", SHIFT_JIS),
            ("<meta content='text/html; charset=shift_jis'>", UTF_8),
            ("<!-- <meta charset=big5> --><meta charset=iso-8859-2>", ISO_8859_2),
            ("<!--><meta charset=big5>", BIG5),
            ("<p title='<meta charset=big5>'>", UTF_8),
            ("</p title='<meta charset=big5>'><meta/charset=big5>", BIG5),
            ("<meta charset=utf-16le>", UTF_8),
            ("<meta charset=x-user-defined>", WINDOWS_1252),
            ("<metacharset=big5>", UTF_8),
            ("<?xml version='1.0' encoding='big5'?>", BIG5),
        ] {
            assert_eq!(of(page.as_bytes(), None), encoding, "{page}");
        }
        let late = format!("{}<meta charset=big5>", " ".repeat(PRESCAN_BYTES));
        assert_eq!(of(late.as_bytes(), None), UTF_8);
    }

    #[test]
    fn labels_in_headers() {
        let label = |value: &'static str| {
            after_charset(value.as_bytes()).map(|label| std::str::from_utf8(label).unwrap())
        };
        assert_eq!(label("text/html;charset=utf-8;x=y"), Some("utf-8"));
        assert_eq!(label("charset charset = 'a b'"), Some("a b"));
        assert_eq!(label("charset=\"open"), None);
        assert_eq!(label("charset="), None);
        assert_eq!(label("text/html"), None);
    }
}
