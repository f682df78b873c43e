//! `url_extract_host(url)` and its like, and `url_decode(text)`, as Athena has them.
//!
//! Parts are those of RFC 3986, without what separates them. Path, query and fragment have their `%` escapes undone, as in Athena; the columns
//! `url_path` and `url_query` have them as the URL does. A part that a URL does not have is empty, and a host, port or parameter null; so is every
//! part of what is no URL. Bytes that are no UTF-8 become U+FFFD, and a `%` without two digits stays.

use std::borrow::Cow;
use std::sync::Arc;

use datafusion::arrow::array::{Array as _, Int64Array, StringViewBuilder, cast::AsArray as _};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// One for each part, and the one that decodes.
pub(super) fn all() -> impl Iterator<Item = ScalarUDF> {
    PARTS.iter().map(|(part, name, arguments)| {
        let signature = Signature::any(*arguments, Volatility::Immutable);
        ScalarUDF::new_from_impl(OfUrl { part: *part, name, signature })
    })
}

/// What a function gives of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    Protocol,
    Host,
    Port,
    Path,
    Query,
    Fragment,
    Parameter,
    Decoded,
}

/// The functions with the number of their arguments.
const PARTS: [(Part, &str, usize); 8] = [
    (Part::Protocol, "url_extract_protocol", 1),
    (Part::Host, "url_extract_host", 1),
    (Part::Port, "url_extract_port", 1),
    (Part::Path, "url_extract_path", 1),
    (Part::Query, "url_extract_query", 1),
    (Part::Fragment, "url_extract_fragment", 1),
    (Part::Parameter, "url_extract_parameter", 2),
    (Part::Decoded, "url_decode", 1),
];

#[derive(Debug, PartialEq, Eq, Hash)]
struct OfUrl {
    part: Part,
    name: &'static str,
    signature: Signature,
}

impl ScalarUDFImpl for OfUrl {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(if self.part == Part::Port { DataType::Int64 } else { DataType::Utf8View })
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let texts = |at: usize| match arguments.args.get(at) {
            Some(value) => Ok(cast(&value.to_array(rows)?, &DataType::Utf8View)?),
            None => exec_err!("`{}` takes more arguments", self.name),
        };
        let urls = texts(0)?;
        let urls = urls.as_string_view();
        if self.part == Part::Port {
            let ports: Int64Array = urls.iter().map(|url| split(url?)?.port).collect();
            return Ok(ColumnarValue::Array(Arc::new(ports)));
        }
        let names = if self.part == Part::Parameter { Some(texts(1)?) } else { None };
        let names = names.as_ref().map(|names| names.as_string_view());
        let mut found = StringViewBuilder::with_capacity(urls.len());
        for (row, url) in urls.iter().enumerate() {
            let name = names.and_then(|names| names.is_valid(row).then(|| names.value(row)));
            found.append_option(url.and_then(|url| part(url, self.part, name)));
        }
        Ok(ColumnarValue::Array(Arc::new(found.finish())))
    }
}

/// The parts of a URL as they stand in it.
struct Split<'a> {
    protocol: &'a str,
    host: Option<&'a str>,
    port: Option<i64>,
    path: &'a str,
    query: &'a str,
    fragment: &'a str,
}

fn part<'a>(url: &'a str, part: Part, name: Option<&str>) -> Option<Cow<'a, str>> {
    if part == Part::Decoded {
        return Some(decoded(url, true));
    }
    let split = split(url)?;
    Some(match part {
        Part::Protocol => split.protocol.into(),
        Part::Host => split.host?.into(),
        Part::Path => decoded(split.path, false),
        Part::Query => decoded(split.query, false),
        Part::Fragment => decoded(split.fragment, false),
        Part::Parameter => {
            let name = name?;
            let pairs = split.query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
            let (_, value) = pairs.into_iter().find(|(key, _)| decoded(key, true) == name)?;
            decoded(value, true)
        }
        Part::Port | Part::Decoded => return None,
    })
}

/// Cuts a URL; nothing if it has blanks or controls in it, or its scheme is none.
fn split(url: &str) -> Option<Split<'_>> {
    if url.contains(|letter: char| letter.is_whitespace() || letter.is_ascii_control()) {
        return None;
    }
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let end = rest.find(['/', ':']).unwrap_or(rest.len());
    let (protocol, rest) = match rest[end..].strip_prefix(':') {
        Some(behind) if is_scheme(&rest[..end]) => (&rest[..end], behind),
        Some(_) => return None,
        None => ("", rest),
    };
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
    // An address in brackets has colons of its own.
    let (host, port) = match server.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()),
        _ => (server, None),
    };
    Some(Split { protocol, host: Some(host).filter(|host| !host.is_empty()), port, path, query, fragment })
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
}

/// Undoes `%` escapes, and if they are of a form, `+` for a blank.
fn decoded(text: &str, form: bool) -> Cow<'_, str> {
    if !(text.contains('%') || form && text.contains('+')) {
        return text.into();
    }
    let digit = |at: usize| text.as_bytes().get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        let escaped = digit(at + 1).zip(digit(at + 2)).filter(|_| *byte == b'%');
        match escaped {
            Some((high, low)) => {
                bytes.push((high * 16 + low) as u8);
                at += 3;
            }
            None => {
                bytes.push(if form && *byte == b'+' { b' ' } else { *byte });
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_cut_where_its_parts_end() {
        let url = "https://me:secret@[::1]:8080/a%20b/c+d?q=x%26y&empty&q=2#top%21";
        let of = |part: Part| super::part(url, part, Some("q"));
        assert_eq!(of(Part::Protocol).as_deref(), Some("https"));
        assert_eq!(of(Part::Host).as_deref(), Some("[::1]"));
        assert_eq!(of(Part::Path).as_deref(), Some("/a b/c+d"));
        assert_eq!(of(Part::Query).as_deref(), Some("q=x&y&empty&q=2"));
        assert_eq!(of(Part::Fragment).as_deref(), Some("top!"));
        assert_eq!(of(Part::Parameter).as_deref(), Some("x&y"));
        assert_eq!(super::part(url, Part::Parameter, Some("empty")).as_deref(), Some(""));
        assert_eq!(super::part(url, Part::Parameter, Some("none")), None);
        assert_eq!(split(url).and_then(|split| split.port), Some(8080));
        assert_eq!(split("http://a.example").and_then(|split| split.port), None);
    }

    #[test]
    fn what_is_not_there_is_empty_and_what_is_no_url_has_no_parts() {
        for part in [Part::Path, Part::Query, Part::Fragment] {
            assert_eq!(super::part("http://a.example", part, None).as_deref(), Some(""), "{part:?}");
            assert_eq!(super::part("http://a example/", part, None), None, "{part:?}");
            assert_eq!(super::part("1:2", part, None), None, "{part:?}");
        }
        assert_eq!(super::part("/only/a/path", Part::Host, None), None);
        assert_eq!(super::part("/only/a:b/path", Part::Path, None).as_deref(), Some("/only/a:b/path"));
    }

    #[test]
    fn escapes_that_are_none_stay() {
        for (text, expected) in [
            ("caf%C3%A9+au", "café au"),
            ("%", "%"),
            ("100%2", "100%2"),
            ("%zz", "%zz"),
            ("%ff", "\u{fffd}"),
            ("é%41", "éA"),
        ] {
            assert_eq!(decoded(text, true), expected);
        }
    }
}
