//! Values that only their addressee may see: passwords of proxies, header fields with credentials, tokens.
//!
//! Configurations hold a [`Source`], which says where the value is; whoever uses the value has a [`Secret`]. Neither has a `Display`, and
//! `Debug` shows a placeholder, so that no message, log or record gets them by accident: each place that writes one out calls
//! [`Secret::expose`]. Where a secret was left out of something that people or programs read, [`LEFT_OUT`] stands instead.
//!
//! ```
//! use mattock_secret::Secret;
//! let token = Secret::new("correct horse");
//! assert!(token.is("correct horse"));
//! assert_eq!(format!("{token:?}"), "Secret(…)");
//! ```
//!
//! Not promised: memory is overwritten when the last copy of a secret goes, but what others have made of it (a request that was sent, TLS's
//! buffers) is theirs.

mod source;

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

pub use source::{Source, SourceError};

/// Stands where a secret was left out.
pub const LEFT_OUT: &str = "(left out)";

/// A URL as somebody has typed it, without the name and the password that may be in it.
pub fn without_login(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("//") else { return url.to_owned() };
    // Not everybody who reads URLs agrees on where a host begins: the last `@` before a path in any of their ways.
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}//{LEFT_OUT}{}", &rest[at..]),
        None => url.to_owned(),
    }
}

/// A value that is not shown. Copies share the one text, which is overwritten when the last of them goes.
#[derive(Clone)]
pub struct Secret(Arc<Zeroizing<String>>);

impl Secret {
    /// Takes a text, which is nowhere else if it was handed over.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(Arc::new(Zeroizing::new(text.into())))
    }

    /// The text, for who sends it to its addressee or writes it into a private file.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not tell how far they agree.
    pub fn is(&self, given: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), given.as_bytes());
        let mut differs = u8::from(ours.len() != theirs.len());
        for (index, byte) in ours.iter().enumerate() {
            let other = theirs.get(index).copied().unwrap_or(!byte);
            differs = std::hint::black_box(differs | (byte ^ other));
        }
        differs == 0
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Secret) -> bool {
        self.is(other.expose())
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_shown_without_their_logins() {
        for (url, shown) in [
            ("http://me:pass@a.example/x@y", "http://(left out)@a.example/x@y"),
            ("HTTP://me:p@ss@a.example:80?q", "HTTP://(left out)@a.example:80?q"),
            ("//me@a.example", "//(left out)@a.example"),
            ("http://a.example/@x", "http://a.example/@x"),
            ("a.example/x", "a.example/x"),
        ] {
            assert_eq!(without_login(url), shown);
        }
    }

    #[test]
    fn a_secret_is_compared_and_not_shown() {
        let secret = Secret::new("0123456789abcdef");
        assert!(secret.is("0123456789abcdef") && secret == secret.clone());
        for wrong in ["", "0123456789abcde", "0123456789abcdeg", "0123456789abcdef0"] {
            assert!(!secret.is(wrong) && secret != Secret::new(wrong), "{wrong}");
        }
        assert_eq!(format!("{secret:?} {:#?}", Some(&secret)), "Secret(…) Some(\n    Secret(…),\n)");
    }
}
