//! From raw bytes to text: encodings, and the references that XML predefines.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The encoding of a body, and the bytes of its mark. Mark, then bytes that can only be UTF-16, then the header, then the XML declaration.
/// `None` where nobody says: UTF-8, or what [`text`] makes of bytes that are not.
pub(crate) fn encoding(body: &[u8], content_type: Option<&str>) -> (Option<&'static Encoding>, usize) {
    if let Some((encoding, mark_bytes)) = Encoding::for_bom(body) {
        return (Some(encoding), mark_bytes);
    }
    let wide = match body {
        [b'<', 0, _, 0, ..] => Some(UTF_16LE),
        [0, b'<', 0, _, ..] => Some(UTF_16BE),
        _ => None,
    };
    // What is read as bytes here cannot be UTF-16, whatever it says.
    let narrow = |label: &[u8]| Encoding::for_label(label).filter(|encoding| encoding.is_ascii_compatible());
    let declared =
        wide.or_else(|| narrow(charset(content_type?)?.as_bytes())).or_else(|| narrow(declaration(body)?));
    (declared, 0)
}

fn charset(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// The label in `<?xml … encoding="…"?>`.
fn declaration(body: &[u8]) -> Option<&[u8]> {
    let rest = body.trim_ascii_start().strip_prefix(b"<?xml")?;
    let rest = &rest[..memchr::memchr(b'>', &rest[..rest.len().min(200)])?];
    let rest = &rest[memchr::memmem::find(rest, b"encoding")? + 8..];
    let rest = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let quote = *rest.first()?;
    rest[1..].split(|&b| b == quote).next()
}

/// Decodes a piece. Bytes of which nobody says what they are, and which are not UTF-8, are Western.
pub(crate) fn text<'a>(raw: &'a [u8], encoding: Option<&'static Encoding>) -> Cow<'a, str> {
    match (encoding, std::str::from_utf8(raw)) {
        (None, Ok(text)) => Cow::Borrowed(text),
        (None, Err(_)) => WINDOWS_1252.decode_without_bom_handling(raw).0,
        (Some(encoding), _) if encoding == UTF_8 => String::from_utf8_lossy(raw),
        (Some(encoding), _) => encoding.decode_without_bom_handling(raw).0,
    }
}

/// Appends `text` with its references replaced: the five names of XML and numbers. Every other ampersand stays: it is an
/// unescaped one of a URL, or an entity of a document type, and those mean nothing here.
pub(crate) fn unescape(text: &str, out: &mut String) {
    /// `&#x0010FFFF;` and some zeros.
    const REFERENCE_BYTES_MAX: usize = 16;
    let mut rest = text;
    while let Some(ampersand) = memchr::memchr(b'&', rest.as_bytes()) {
        out.push_str(&rest[..ampersand]);
        rest = &rest[ampersand + 1..];
        let window = &rest.as_bytes()[..rest.len().min(REFERENCE_BYTES_MAX)];
        let known =
            memchr::memchr(b';', window).and_then(|end| Some((character(rest.get(..end)?)?, end + 1)));
        match known {
            Some((character, length)) => {
                out.push(character);
                rest = &rest[length..];
            }
            None => out.push('&'),
        }
    }
    out.push_str(rest);
}

fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let (digits, radix) = match number.strip_prefix(['x', 'X']) {
                Some(digits) => (digits, 16),
                None => (number, 10),
            };
            if digits.starts_with('+') {
                return None;
            }
            char::from_u32(u32::from_str_radix(digits, radix).ok()?).filter(|&c| c != '\0')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_xml_predefines() {
        let of = |text: &str| {
            let mut out = String::new();
            unescape(text, &mut out);
            out
        };
        assert_eq!(of("a&amp;b&lt;&gt;&quot;&apos;&#65;&#x42;&#X43;"), "a&b<>\"'ABC");
        assert_eq!(of("?a=1&b=2&copy;&lol9;&amp"), "?a=1&b=2&copy;&lol9;&amp");
        assert_eq!(
            of("&#0;&#xD800;&#x110000;&#99999999999;&#+1;&#;&;&&amp;amp;"),
            "&#0;&#xD800;&#x110000;&#99999999999;&#+1;&#;&;&&amp;"
        );
        assert_eq!(of("&ääääääääääää;"), "&ääääääääääää;");
    }

    #[test]
    fn who_says_the_encoding() {
        let of = |body: &[u8], header| encoding(body, header);
        assert_eq!(of(b"\xef\xbb\xbf<a>", Some("text/xml; charset=iso-8859-1")), (Some(UTF_8), 3));
        assert_eq!(of(b"<\0?\0", None), (Some(UTF_16LE), 0));
        assert_eq!(of(b"\0<\0?", None), (Some(UTF_16BE), 0));
        let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?>";
        assert_eq!(of(latin, None), (Some(WINDOWS_1252), 0));
        assert_eq!(of(latin, Some("application/xml; Charset=\"utf-8\"")), (Some(UTF_8), 0));
        assert_eq!(of(b"<?xml encoding='utf-16'?>", None), (None, 0));
        assert_eq!(of(b"<a>", Some("text/xml")), (None, 0));
        assert_eq!(text(b"\xe4", None), "ä");
        assert_eq!(text("ä".as_bytes(), None), "ä");
        assert_eq!(text(b"\xe4", Some(UTF_8)), "\u{fffd}");
    }
}
