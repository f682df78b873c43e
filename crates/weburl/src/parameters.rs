//! Which query parameters go: session identifiers, and trackers where asked for.
//!
//! A server that puts a session in its URLs shows the same page under a new URL to every visitor; without these rules
//! a crawl of it never ends. The rules name parameters that exist for nothing else, so a wrong removal is rare.

use crate::UrlError;

/// The default patterns. Names match in any case.
///
/// - `NAME`: the parameter of that name, with any value or none;
/// - `PREFIX*`: every parameter whose name begins so;
/// - `NAME=hex32`: only where the value is 32 hexadecimal digits (any number may be given);
/// - `NAME+OTHERNAME`: both, only where both are there.
pub const SESSION_PARAMETERS: [&str; 7] =
    ["PHPSESSID", "jsessionid", "sid=hex32", "ASPSESSIONID*", "CFID+CFTOKEN", "osCsid", "zenid"];

const TRACKERS: &str = "utm_*";

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    Name(Box<str>),
    Prefix(Box<str>),
    Hexadecimal { name: Box<str>, digits: usize },
    Pair(Box<str>, Box<str>),
}

/// The parsed patterns, with a table that rejects most parameters by their first byte.
#[derive(Debug, Clone)]
pub(crate) struct Parameters {
    patterns: Vec<Pattern>,
    first_bytes: [bool; 256],
}

impl Parameters {
    pub(crate) fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Parameters, UrlError> {
        let mut parameters = Parameters { patterns: Vec::new(), first_bytes: [false; 256] };
        for text in patterns {
            let pattern = Pattern::new(text).ok_or_else(|| UrlError::Pattern { pattern: text.into() })?;
            parameters.push(pattern);
        }
        Ok(parameters)
    }

    pub(crate) fn has_trackers(&self) -> bool {
        self.patterns.contains(&Pattern::trackers())
    }

    pub(crate) fn set_trackers(&mut self, strip: bool) {
        let trackers = Pattern::trackers();
        let mut patterns = std::mem::take(&mut self.patterns);
        patterns.retain(|pattern| *pattern != trackers);
        patterns.extend(strip.then_some(trackers));
        self.first_bytes = [false; 256];
        for pattern in patterns {
            self.push(pattern);
        }
    }

    fn push(&mut self, pattern: Pattern) {
        for name in pattern.names() {
            let first = name.as_bytes()[0];
            self.first_bytes[usize::from(first.to_ascii_lowercase())] = true;
            self.first_bytes[usize::from(first.to_ascii_uppercase())] = true;
        }
        self.patterns.push(pattern);
    }

    /// Whether a parameter at the beginning of `rest` (the query from there, perhaps with a fragment) might go.
    /// Half of a pair might.
    #[inline]
    pub(crate) fn might_remove(&self, rest: &[u8]) -> bool {
        match rest.first() {
            Some(first) if self.first_bytes[usize::from(*first)] => self.might_remove_by_name(rest),
            _ => false,
        }
    }

    fn might_remove_by_name(&self, rest: &[u8]) -> bool {
        let end = rest.iter().position(|byte| matches!(byte, b'=' | b'&' | b'#')).unwrap_or(rest.len());
        let name = &rest[..end];
        self.patterns.iter().any(|pattern| match pattern {
            Pattern::Prefix(prefix) => begins_with(name, prefix),
            _ => pattern.names().any(|own| name.eq_ignore_ascii_case(own.as_bytes())),
        })
    }

    /// The query without the parameters that the patterns name; `None` where all of them stay. The escapes of the
    /// query must be canonical, or an escaped name would escape us.
    pub(crate) fn remove(&self, query: &str) -> Option<String> {
        let suspect = |parameter: &str| self.might_remove(parameter.as_bytes());
        if !query.split('&').any(suspect) {
            return None;
        }
        let goes = |parameter: &str| {
            suspect(parameter) && self.patterns.iter().any(|pattern| pattern.removes(parameter, query))
        };
        let kept: Vec<&str> = query.split('&').filter(|parameter| !goes(parameter)).collect();
        let kept = kept.join("&");
        (kept.len() < query.len()).then_some(kept)
    }
}

impl Pattern {
    fn new(text: &str) -> Option<Pattern> {
        let name = |text: &str| {
            let valid = |byte: u8| byte.is_ascii_graphic() && !b"&=#%*+".contains(&byte);
            (!text.is_empty() && text.bytes().all(valid)).then(|| Box::<str>::from(text))
        };
        if let Some(prefix) = text.strip_suffix('*') {
            Some(Pattern::Prefix(name(prefix)?))
        } else if let Some((own, digits)) = text.split_once("=hex") {
            Some(Pattern::Hexadecimal { name: name(own)?, digits: digits.parse().ok()? })
        } else if let Some((one, other)) = text.split_once('+') {
            Some(Pattern::Pair(name(one)?, name(other)?))
        } else {
            Some(Pattern::Name(name(text)?))
        }
    }

    fn trackers() -> Pattern {
        Pattern::new(TRACKERS).expect("the constant is a pattern")
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let (first, second) = match self {
            Pattern::Name(name) | Pattern::Prefix(name) | Pattern::Hexadecimal { name, .. } => (name, None),
            Pattern::Pair(one, other) => (one, Some(other)),
        };
        std::iter::once(first).chain(second).map(|name| &**name)
    }

    fn removes(&self, parameter: &str, query: &str) -> bool {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        match self {
            Pattern::Name(own) => name.eq_ignore_ascii_case(own),
            Pattern::Prefix(prefix) => begins_with(name.as_bytes(), prefix),
            Pattern::Hexadecimal { name: own, digits } => {
                name.eq_ignore_ascii_case(own)
                    && value.len() == *digits
                    && value.bytes().all(|byte| byte.is_ascii_hexdigit())
            }
            Pattern::Pair(one, other) => {
                let has = |wanted: &str| {
                    query.split('&').any(|parameter| {
                        parameter.split('=').next().is_some_and(|name| name.eq_ignore_ascii_case(wanted))
                    })
                };
                (name.eq_ignore_ascii_case(one) && has(other))
                    || (name.eq_ignore_ascii_case(other) && has(one))
            }
        }
    }
}

fn begins_with(name: &[u8], prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(query: &str) -> Option<String> {
        Parameters::new(SESSION_PARAMETERS).unwrap().remove(query)
    }

    #[test]
    fn session_parameters_go() {
        let sid = "sid=0123456789abcdefABCDEF0123456789";
        for (query, left) in [
            ("PHPSESSID=1", ""),
            ("a=1&phpsessid=x&b=2", "a=1&b=2"),
            ("PHPSESSID", ""),
            ("jsessionid=1&a", "a"),
            ("a=1&ASPSESSIONIDQQABCDEF=x", "a=1"),
            ("CFID=1&a=2&CFTOKEN=3", "a=2"),
            ("osCsid=1&zenid=2&a=3", "a=3"),
            ("a=1&PHPSESSID=2&PHPSESSID=3", "a=1"),
            ("&PHPSESSID=2&", "&"),
            (sid, ""),
        ] {
            assert_eq!(removed(query).as_deref(), Some(left), "{query}");
        }
    }

    #[test]
    fn others_stay() {
        for query in [
            "",
            "&",
            "sid=7",
            "sid=0123456789abcdefABCDEF012345678",
            "sid=0123456789abcdefABCDEF01234567890",
            "side=0123456789abcdefABCDEF0123456789",
            "CFID=1",
            "cftoken=1",
            "XPHPSESSID=1",
            "PHPSESSIDX=1",
            "utm_source=a",
            "page=1&sort=name&category=2",
        ] {
            assert_eq!(removed(query), None, "{query}");
        }
    }

    #[test]
    fn trackers_are_an_option() {
        let mut parameters = Parameters::new(["sid"]).unwrap();
        parameters.set_trackers(true);
        parameters.set_trackers(true);
        assert_eq!(parameters.remove("a=1&UTM_medium=2&sid=3").as_deref(), Some("a=1"));
        parameters.set_trackers(false);
        assert_eq!(parameters.remove("a=1&utm_medium=2&sid=3").as_deref(), Some("a=1&utm_medium=2"));
    }

    #[test]
    fn senseless_patterns_are_refused() {
        for pattern in ["", "*", "a=", "=hex3", "a=hex", "a+", "a&b", "a b", "a%41", "ü"] {
            assert_eq!(
                Parameters::new([pattern]).unwrap_err(),
                UrlError::Pattern { pattern: pattern.into() },
                "{pattern}"
            );
        }
    }
}
