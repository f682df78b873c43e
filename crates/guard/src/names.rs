//! Names of hosts as operators write them in lists: one name, or a domain with all that is below it.

use std::str::FromStr;

/// `www.example.com`, or `.example.com` for example.com and every name below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    /// In lower case, without dots at its ends.
    name: String,
    below: bool,
}

/// Text that is no such pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no name of a host; write it like www.example.com, or .example.com for all hosts below it")]
pub struct NamePatternError(String);

impl NamePatternError {
    /// The error about a text of which the name is only a part.
    pub fn of(text: impl Into<String>) -> NamePatternError {
        NamePatternError(text.into())
    }
}

impl NamePattern {
    /// Whether a name is meant.
    pub fn matches(&self, name: &str) -> bool {
        let name = name.strip_suffix('.').unwrap_or(name);
        let Some(at) = name.len().checked_sub(self.name.len()) else { return false };
        let (before, end) = name.as_bytes().split_at(at);
        end.eq_ignore_ascii_case(self.name.as_bytes())
            && (before.is_empty() || self.below && before.ends_with(b"."))
    }
}

impl FromStr for NamePattern {
    type Err = NamePatternError;

    fn from_str(text: &str) -> Result<NamePattern, NamePatternError> {
        let name = text.strip_prefix('.').unwrap_or(text);
        let name = name.strip_suffix('.').unwrap_or(name);
        // Brackets and colons are those of IPv6 addresses.
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let is_address = name.starts_with('[')
            && name.ends_with(']')
            && name[1..name.len() - 1].parse::<std::net::Ipv6Addr>().is_ok();
        let is_name = !name.is_empty() && name.bytes().all(fits) && !name.split('.').any(str::is_empty);
        match is_name || is_address && !text.starts_with('.') {
            true => Ok(NamePattern { name: name.to_ascii_lowercase(), below: text.starts_with('.') }),
            false => Err(NamePatternError(text.to_owned())),
        }
    }
}

impl std::fmt::Display for NamePattern {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}{}", if self.below { "." } else { "" }, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_in_front_means_all_that_is_below() {
        let matches = |pattern: &str, name: &str| pattern.parse::<NamePattern>().unwrap().matches(name);
        assert!(matches("www.Example.com", "WWW.example.com") && matches("a.com", "a.com."));
        assert!(!matches("example.com", "www.example.com") && !matches("example.com", "badexample.com"));
        assert!(matches(".example.com", "example.com") && matches(".example.com", "a.b.example.com"));
        assert!(
            !matches(".example.com", "badexample.com") && !matches(".example.com", "example.com.evil.org")
        );
        assert!(matches("192.0.2.1", "192.0.2.1") && matches("[2001:db8::1]", "[2001:db8::1]"));
        for bad in ["", ".", "a..b", "http://a.com", "a.com/", "a b", "*.example.com", "a:80", ".[::1]"] {
            assert!(bad.parse::<NamePattern>().is_err(), "{bad}");
        }
    }
}
