//! Why a text is not a URL that can be crawled. On a page this is data (the reference is counted and dropped);
//! for a seed it is shown to a person, so each message ends in what to do about it.

use crate::Canonicalizer;

/// How much of the offending text a message repeats.
const EXCERPT_CHARS_MAX: usize = 100;

/// Why a text was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// An absolute URL, of a scheme that is not crawled.
    #[error("cannot crawl `{scheme}:` URLs; give one that begins with http:// or https://")]
    Scheme {
        /// The scheme, without the colon.
        scheme: Box<str>,
    },
    /// No scheme, but it would be a URL with one.
    #[error("`{text}` has no scheme; write {suggestion}")]
    NoScheme {
        /// The text that was given, shortened.
        text: Box<str>,
        /// The same with `http://` before it, canonical.
        suggestion: Box<str>,
    },
    /// The host is empty, or neither a name nor an address.
    #[error("`{text}` has no valid host ({reason}); check the part between // and the next /")]
    Host {
        /// The text that was given, shortened.
        text: Box<str>,
        /// What is wrong with the host.
        reason: &'static str,
    },
    /// The canonical form is longer than the rules allow.
    #[error("the URL has {length} bytes; at most {length_max} are allowed: shorten it or raise the limit")]
    TooLong {
        /// Bytes of the text.
        length: usize,
        /// The limit that it breaks.
        length_max: usize,
    },
    /// Not a URL for another reason.
    #[error("`{text}` is not a URL ({reason}); write it as http://host/path")]
    Malformed {
        /// The text that was given, shortened.
        text: Box<str>,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A session parameter pattern that makes no sense.
    #[error(
        "`{pattern}` is not a session parameter pattern; write NAME, PREFIX*, NAME=hexDIGITS or NAME+OTHERNAME"
    )]
    Pattern {
        /// The pattern that was given.
        pattern: Box<str>,
    },
}

impl UrlError {
    /// Translates the `url` crate's error about `text`.
    pub(crate) fn from_parser(error: url::ParseError, text: &str) -> UrlError {
        use url::ParseError;
        let reason = match error {
            ParseError::EmptyHost => "it is empty",
            ParseError::IdnaError => "it has a character or a label that no host name may have",
            ParseError::InvalidIpv4Address => "it ends in a number but is not an IPv4 address",
            ParseError::InvalidIpv6Address => "it is not an IPv6 address",
            ParseError::InvalidDomainCharacter => "it has a character that no host may have",
            ParseError::InvalidPort => return Self::malformed(text, "its port is not a number up to 65535"),
            ParseError::RelativeUrlWithoutBase => return Self::malformed(text, "it has no scheme"),
            ParseError::RelativeUrlWithCannotBeABaseBase => {
                return Self::malformed(text, "the base it is relative to has no path");
            }
            _ => return Self::malformed(text, "its syntax is wrong"),
        };
        UrlError::Host { text: excerpt(text), reason }
    }

    pub(crate) fn malformed(text: &str, reason: &'static str) -> UrlError {
        UrlError::Malformed { text: excerpt(text), reason }
    }

    /// The error for a text without a scheme: with a suggestion if `http://` before it makes it a URL.
    pub(crate) fn without_scheme(text: &str, rules: &Canonicalizer) -> UrlError {
        let trimmed = text.trim_matches(|c: char| c <= ' ').trim_start_matches('/');
        match rules.parse(&format!("http://{trimmed}")) {
            Ok(url) => UrlError::NoScheme { text: excerpt(text), suggestion: url.as_str().into() },
            Err(_) => Self::malformed(text, "it has no scheme"),
        }
    }
}

/// The beginning of `text`, fit for a message.
pub(crate) fn excerpt(text: &str) -> Box<str> {
    match text.char_indices().nth(EXCERPT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
