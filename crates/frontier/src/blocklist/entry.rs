//! One entry of the blocklist: a line of its file, or the argument of a call.

use mattock_weburl::{Fingerprint, WebUrl};

use super::ranges::{self, Range};
use crate::scope::{RuleError, wildcard};

/// What is blocked, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// The fingerprint of a host's name, or of scheme, name and port.
    Host(u64),
    /// The fingerprint of a name: it and all names below.
    Domain(u64),
    Range(Range),
    /// A regular expression on the URL.
    Url(Box<str>),
}

impl Entry {
    /// Reads an entry; `None` for an empty line or a comment.
    pub(super) fn parse(line: &str) -> Result<Option<Entry>, RuleError> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        // A word alone has nothing behind it, which no kind of entry takes.
        let (word, rest) = line.split_once(|byte: char| byte.is_ascii_whitespace()).unwrap_or((line, ""));
        let rest = uncommented(rest);
        match word {
            "host" if rest.contains("://") => Ok(Entry::Host(url(rest)?.host_fingerprint().0)),
            "host" => Ok(Entry::Host(name(rest)?)),
            "domain" => Ok(Entry::Domain(name(rest)?)),
            "address" => ranges::parse(rest).map(Entry::Range),
            "url" if rest.is_empty() => Err(RuleError::Pattern { reason: "it is empty".to_owned() }),
            "url" => Ok(Entry::Url(match rest.strip_prefix("regex:") {
                Some(expression) => expression.into(),
                None => wildcard(rest).into(),
            })),
            // A bare name, as lists of bad domains have them.
            _ => name(uncommented(line)).map(Entry::Domain),
        }
        .map(Some)
    }
}

/// Without a comment at the end. In URLs and expressions a number sign has another meaning, unless a blank is before it.
fn uncommented(text: &str) -> &str {
    text.split_once(" #").or_else(|| text.split_once("\t#")).map_or(text, |(before, _)| before).trim()
}

fn url(text: &str) -> Result<WebUrl, RuleError> {
    WebUrl::parse(text).map_err(|_| RuleError::Name { text: text.to_owned() })
}

/// The fingerprint of a canonical name.
fn name(text: &str) -> Result<u64, RuleError> {
    let bad = || RuleError::Name { text: text.to_owned() };
    if text.is_empty() || text.contains(['/', '?', '#', '@', '*', ' ', '\t', '\\']) {
        return Err(bad());
    }
    let url = url(&format!("http://{text}/"))?;
    let plain = url.authority() == url.host_name() && url.path() == "/";
    if plain { Ok(Fingerprint::of(url.host_name()).0) } else { Err(bad()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let of = |text: &str| Fingerprint::of(text).0;
        for (line, entry) in [
            ("", None),
            ("  # host a.com", None),
            ("host WWW.Example.com", Some(Entry::Host(of("www.example.com")))),
            ("host https://a.com:8443/", Some(Entry::Host(of("https://a.com:8443")))),
            ("domain\texample.com  # a farm", Some(Entry::Domain(of("example.com")))),
            ("bücher.example", Some(Entry::Domain(of("xn--bcher-kva.example")))),
            ("example.com\t# a farm", Some(Entry::Domain(of("example.com")))),
            ("address 10.1.2.3", Some(Entry::Range(ranges::parse("10.1.2.3").unwrap()))),
            ("url regex:a{3}#b", Some(Entry::Url("a{3}#b".into()))),
            ("url *?print=*", Some(Entry::Url(wildcard("*?print=*").into()))),
        ] {
            assert_eq!(Entry::parse(line), Ok(entry), "{line}");
        }
        for line in [
            "host",
            "url",
            "address",
            "host a b",
            "host a.com:81",
            "domain a.com/x",
            "a.com b.com",
            "address x",
            "*.a.com",
        ] {
            assert!(Entry::parse(line).is_err(), "{line}");
        }
    }
}
