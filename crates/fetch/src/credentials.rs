//! Request fields that not everybody may see: each names the sites that it is for.
//!
//! A credential is sent to those sites and nowhere else, whatever links and redirects say: a redirect is a request of its own, judged by its
//! own URL. Over TLS it is sent only if the certificate is verified, whatever is otherwise made of bad ones; in the clear only where the
//! operator wrote `http://`. What is recorded of a request has the field's name, and [`LEFT_OUT`](mattock_secret::LEFT_OUT) for its value.

use std::fmt;
use std::str::FromStr;

use mattock_secret::Secret;
use mattock_weburl::{Scheme, WebUrl};

use crate::options::{FieldError, check_name, has_control};
use crate::{NamePattern, NamePatternError};

/// A request field for some sites only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    pub(crate) name: String,
    pub(crate) value: Secret,
    sites: Vec<Site>,
}

impl Credential {
    /// A field, if it can be sent.
    pub fn new(name: &str, value: &Secret, sites: Vec<Site>) -> Result<Credential, FieldError> {
        check_name(name)?;
        match has_control(value.expose()) {
            true => Err(FieldError::Value(name.to_owned())),
            false => Ok(Credential { name: name.to_owned(), value: value.clone(), sites }),
        }
    }

    /// The field's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The sites it is for that it reaches without TLS.
    pub fn in_the_clear(&self) -> impl Iterator<Item = &Site> {
        self.sites.iter().filter(|site| site.scheme == Scheme::Http)
    }

    /// Whether it is for this URL.
    pub(crate) fn is_for(&self, url: &WebUrl) -> bool {
        self.sites.iter().any(|site| site.has(url))
    }
}

/// Scheme, host and port, as operators write them: `www.example.com` is the one over TLS at its usual port, `.example.com` all hosts below too,
/// `http://www.example.com:8080` one in the clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    scheme: Scheme,
    names: NamePattern,
    port: u16,
}

impl Site {
    /// The site of a URL.
    pub fn of(url: &WebUrl) -> Result<Site, NamePatternError> {
        Ok(Site { scheme: url.scheme(), names: url.host_name().parse()?, port: url.port() })
    }

    fn has(&self, url: &WebUrl) -> bool {
        url.scheme() == self.scheme && url.port() == self.port && self.names.matches(url.host_name())
    }
}

impl FromStr for Site {
    type Err = NamePatternError;

    fn from_str(text: &str) -> Result<Site, NamePatternError> {
        let (scheme, usual, rest) = match text.split_once("://") {
            Some(("http", rest)) => (Scheme::Http, 80, rest),
            Some(("https", rest)) => (Scheme::Https, 443, rest),
            _ => (Scheme::Https, 443, text),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let port = rest.rsplit_once(':').and_then(|(name, port)| Some((name, port.parse::<u16>().ok()?)));
        let (name, port) = match port {
            Some(pair) if !rest.ends_with(']') => pair,
            _ => (rest, usual),
        };
        // The text as it was written says best what is wrong.
        let names = name.parse().map_err(|_| NamePatternError::of(text))?;
        Ok(Site { scheme, names, port })
    }
}

impl fmt::Display for Site {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, usual) = match self.scheme {
            Scheme::Http => ("http", 80),
            Scheme::Https => ("https", 443),
        };
        write!(out, "{scheme}://{}", self.names)?;
        if self.port == usual { Ok(()) } else { write!(out, ":{}", self.port) }
    }
}

/// Words of which one, alone between hyphens, makes a field's name that of a credential.
const WORDS: [&str; 13] = [
    "authentication",
    "authorization",
    "bearer",
    "credential",
    "credentials",
    "jwt",
    "login",
    "passwd",
    "pwd",
    "session",
    "sessionid",
    "sid",
    "signature",
];
/// Ends of such words.
const ENDS: [&str; 6] = ["auth", "cookie", "key", "password", "secret", "token"];

/// Whether fields of this name hold what not everybody may see, by what the Web calls such fields: `Authorization`, `Cookie`, `X-Api-Key`.
pub fn is_credential_name(name: &str) -> bool {
    name.split(['-', '_']).any(|word| {
        let word = word.to_ascii_lowercase();
        WORDS.contains(&word.as_str()) || ENDS.iter().any(|end| word.ends_with(end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_for_its_sites_alone() {
        let has = |site: &str, url: &str| site.parse::<Site>().unwrap().has(&WebUrl::parse(url).unwrap());
        assert!(has("a.example", "https://a.example/x") && has("https://a.example/", "https://a.example/"));
        for elsewhere in
            ["http://a.example/", "https://a.example:8443/", "https://b.a.example/", "https://xa.example/"]
        {
            assert!(!has("a.example", elsewhere), "{elsewhere}");
        }
        assert!(
            has("a.example:8443", "https://a.example:8443/") && !has("a.example:8443", "https://a.example/")
        );
        assert!(
            has("http://a.example", "http://a.example/") && !has("http://a.example", "https://a.example/")
        );
        assert!(has(".a.example", "https://b.a.example/") && has(".a.example", "https://a.example/"));
        assert!(has("http://127.0.0.1:8080", "http://127.0.0.1:8080/"));
        assert!(has("[::1]:8443", "https://[::1]:8443/") && has("[::1]", "https://[::1]/"));
        for bad in ["", "ftp://a.example", "a.example/path", "*", "a b", "user:pass@a.example"] {
            assert!(bad.parse::<Site>().is_err(), "{bad}");
        }
        for text in ["https://a.example", "http://.a.example:8080"] {
            assert_eq!(text.parse::<Site>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn names_of_credentials_are_known() {
        for name in [
            "Authorization",
            "COOKIE",
            "X-Api-Key",
            "apikey",
            "X-Auth-Token",
            "Private-Token",
            "X-AuthToken",
            "X-Amz-Security-Token",
            "Ocp-Apim-Subscription-Key",
            "X-Access_Token",
            "X-Session-Id",
            "X-Csrf-Token",
            "X-Auth",
            "X-Signature",
        ] {
            assert!(is_credential_name(name), "{name}");
        }
        for name in [
            "Accept",
            "Accept-Language",
            "Referer",
            "DNT",
            "Cache-Control",
            "Author",
            "X-Requested-With",
            "X-Forwarded-For",
            "Sec-Fetch-Site",
            "Prefer",
        ] {
            assert!(!is_credential_name(name), "{name}");
        }
    }
}
