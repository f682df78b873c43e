//! Times as users read and write them.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// `2026-01-31T12:00:00Z`, of milliseconds since 1970.
pub(crate) fn text(milliseconds: i64) -> String {
    let time = Timestamp::from_millisecond(milliseconds).unwrap_or_default();
    if milliseconds % 1000 == 0 {
        time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    } else {
        time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
    }
}

/// Milliseconds since 1970 of a date, a time, or the 14 digits of archives. What has no zone is of UTC; a date means its end.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    let of = |time: DateTime| Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond());
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_millisecond());
    }
    if text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return of(DateTime::strptime("%Y%m%d%H%M%S", text).ok()?);
    }
    if text.len() == 10 {
        let date: Date = text.parse().ok()?;
        return Some(of(date.tomorrow().ok()?.at(0, 0, 0, 0))? - 1);
    }
    of(text.parse::<DateTime>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_the_forms_that_people_have() {
        let noon = parse("2026-01-31T12:00:00Z").unwrap();
        assert_eq!(parse("2026-01-31T12:00:00"), Some(noon));
        assert_eq!(parse("2026-01-31 12:00:00"), Some(noon));
        assert_eq!(parse("20260131120000"), Some(noon));
        assert_eq!(parse("2026-01-31T13:00:00+01:00"), Some(noon));
        assert_eq!(text(noon), "2026-01-31T12:00:00Z");
        assert_eq!(text(parse("2026-01-31").unwrap()), "2026-01-31T23:59:59.999Z");
        for wrong in ["", "yesterday", "2026-13-01", "2026-1-1", "20261301120000"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
