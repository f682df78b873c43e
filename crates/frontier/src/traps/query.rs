//! What a query shows by itself: too many parameters, and what looks like somebody's session. No state.
//!
//! The canonical form has lost the session parameters that exist for nothing else. What is left over may be one by its name and
//! its value: then the URL is looked at later than others, and not lost, for the guess may be wrong.

use super::path::dated;
use super::{Limits, Signal, Verdict};
use crate::Refusal;

/// A session's value has at least so many characters.
const SESSION_LENGTH_MIN: usize = 12;

pub(super) fn judge(query: &str, limits: &Limits) -> Verdict {
    let mut signal = None;
    for (number, parameter) in query.split('&').enumerate() {
        if number >= limits.parameters_max {
            return Verdict::Refused(Refusal::TooManyParameters);
        }
        let (name, value) = parameter.split_once('=').unwrap_or(("", parameter));
        if is_session(name, value) {
            signal = Some(Signal::SessionId);
        } else if dated(value).is_some_and(|year| !limits.years.contains(&year)) {
            signal = signal.or(Some(Signal::FarDate));
        }
    }
    signal.map_or(Verdict::Passed, Verdict::Demoted)
}

/// Named like a session, with a value that nobody would write: long, of letters and digits, both.
fn is_session(name: &str, value: &str) -> bool {
    value.len() >= SESSION_LENGTH_MIN
        && (name.eq_ignore_ascii_case("sid")
            || name.eq_ignore_ascii_case("s_id")
            || name.as_bytes().windows(4).any(|part| part.eq_ignore_ascii_case(b"sess")))
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_and_crowds_of_parameters_are_seen() {
        let limits = Limits::for_year(2026);
        let session = Verdict::Demoted(Signal::SessionId);
        for (query, verdict) in [
            ("a=1&b=2", Verdict::Passed),
            ("sid=7", Verdict::Passed),
            ("sid=0a1b2c3d4e5f6071", session),
            ("a=1&MySessionKey=0a1b2c3d4e5f", session),
            ("session=opening-keynote", Verdict::Passed),
            ("q=0a1b2c3d4e5f6071", Verdict::Passed),
            ("inside=0a1b2c3d4e5f6071", Verdict::Passed),
            ("date=2020-01-01", Verdict::Passed),
            ("date=2199-01-01", Verdict::Demoted(Signal::FarDate)),
            ("day=2199-01&sid=0a1b2c3d4e5f6071", session),
        ] {
            assert_eq!(judge(query, &limits), verdict, "{query}");
        }
        assert_eq!(judge(&["a=1"; 32].join("&"), &limits), Verdict::Passed);
        let crowd = ["a=1"; 33].join("&");
        assert_eq!(judge(&crowd, &limits), Verdict::Refused(Refusal::TooManyParameters));
    }
}
