//! Where a redirect leads: reported as a link, never followed here. What cannot be followed is refused with a reason.

use std::fmt;

use mattock_weburl::{UrlError, WebUrl};

/// Bytes of a `Location` that are looked at.
const LOCATION_BYTES_MAX: usize = 8 * 1024;

/// What a redirect response says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redirect {
    /// Go there.
    To(WebUrl),
    /// Go somewhere that we do not go.
    Refused(RedirectRefusal),
}

/// Why a redirect cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RedirectRefusal {
    /// There is no `Location`.
    NoLocation,
    /// There are several that differ.
    Ambiguous,
    /// It is not text, or holds line ends and other control characters.
    NotText,
    /// It is too long.
    TooLong,
    /// It leads to `file:`, `javascript:` and the like.
    Scheme,
    /// It is no URL.
    Malformed,
}

impl RedirectRefusal {
    /// The name that is stored, counted and shown.
    pub fn name(self) -> &'static str {
        match self {
            RedirectRefusal::NoLocation => "no-location",
            RedirectRefusal::Ambiguous => "ambiguous-location",
            RedirectRefusal::NotText => "location-not-text",
            RedirectRefusal::TooLong => "location-too-long",
            RedirectRefusal::Scheme => "location-scheme",
            RedirectRefusal::Malformed => "location-malformed",
        }
    }
}

impl fmt::Display for RedirectRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// What a response of this status with these `Location` fields says; `None` if it is no redirect.
pub(crate) fn of<'a>(
    url: &WebUrl,
    status: u16,
    mut locations: impl Iterator<Item = &'a [u8]>,
) -> Option<Redirect> {
    let refused = |reason| Some(Redirect::Refused(reason));
    let location = match (status, locations.next()) {
        // "Multiple choices" may name a preferred one, or leave it to the reader of the page.
        (300, None) => return None,
        (301 | 302 | 303 | 307 | 308, None) => return refused(RedirectRefusal::NoLocation),
        (300..=303 | 307 | 308, Some(location)) => location,
        _ => return None,
    };
    if locations.any(|other| other != location) {
        return refused(RedirectRefusal::Ambiguous);
    }
    if location.len() > LOCATION_BYTES_MAX {
        return refused(RedirectRefusal::TooLong);
    }
    let Ok(text) = std::str::from_utf8(location) else { return refused(RedirectRefusal::NotText) };
    if text.chars().any(char::is_control) {
        return refused(RedirectRefusal::NotText);
    }
    if text.trim().is_empty() {
        return refused(RedirectRefusal::NoLocation);
    }
    Some(match url.join(text) {
        Ok(target) => Redirect::To(target),
        Err(UrlError::Scheme { .. }) => Redirect::Refused(RedirectRefusal::Scheme),
        Err(UrlError::TooLong { .. }) => Redirect::Refused(RedirectRefusal::TooLong),
        Err(_) => Redirect::Refused(RedirectRefusal::Malformed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redirect(status: u16, locations: &[&[u8]]) -> Option<Redirect> {
        of(&WebUrl::parse("http://a.example/x/y?z").unwrap(), status, locations.iter().copied())
    }

    fn refusal(location: &[u8]) -> RedirectRefusal {
        match redirect(302, &[location]) {
            Some(Redirect::Refused(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn targets_are_resolved() {
        for (location, target) in [
            ("http://b.example/", "http://b.example/"),
            ("//b.example", "http://b.example/"),
            ("../q", "http://a.example/q"),
            ("?w#f", "http://a.example/x/y?w"),
            ("https://a.example/x", "https://a.example/x"),
        ] {
            let expected = Some(Redirect::To(WebUrl::parse(target).unwrap()));
            assert_eq!(redirect(301, &[location.as_bytes()]), expected, "{location}");
        }
    }

    #[test]
    fn only_redirects_redirect() {
        assert_eq!(redirect(200, &[b"/"]), None);
        assert_eq!(redirect(304, &[b"/"]), None);
        assert_eq!(redirect(300, &[]), None);
        assert_eq!(redirect(308, &[]), Some(Redirect::Refused(RedirectRefusal::NoLocation)));
        assert_eq!(redirect(302, &[b"/", b"/"]), redirect(302, &[b"/"]));
    }

    #[test]
    fn nonsense_is_refused_by_name_r03_r05() {
        assert_eq!(refusal(b""), RedirectRefusal::NoLocation);
        assert_eq!(refusal(&[b'a'; 100_000]), RedirectRefusal::TooLong);
        assert_eq!(refusal(b"/a\r\n b"), RedirectRefusal::NotText);
        assert_eq!(refusal(b"/\xff"), RedirectRefusal::NotText);
        assert_eq!(refusal(b"http://"), RedirectRefusal::Malformed);
        for other in ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "ftp://x/"] {
            assert_eq!(refusal(other.as_bytes()), RedirectRefusal::Scheme, "{other}");
        }
        assert_eq!(redirect(302, &[b"/a", b"/b"]), Some(Redirect::Refused(RedirectRefusal::Ambiguous)));
    }
}
