//! `Date("…")`: days and times of day, in UTC.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

/// Milliseconds since 1970 of a date such as `2000/11/01`, `2000-11-01`, `2000/11/01 13:45`, `2000-11-01T13:45:10.250Z`, in UTC.
/// `None` if it is none.
pub fn parse_date(text: &str) -> Option<i64> {
    let text = text.trim();
    let (day, time) = match text.find(['T', ' ']) {
        Some(at) => (&text[..at], Some(text[at + 1..].trim_end_matches('Z'))),
        None => (text, None),
    };
    let mut parts = day.split(['/', '-']);
    let mut number = |least: usize, most: usize| -> Option<i16> {
        let part = parts.next()?;
        let fits = (least..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        if fits { part.parse().ok() } else { None }
    };
    let (year, month, date) = (number(4, 4)?, number(1, 2)?, number(1, 2)?);
    if parts.next().is_some() {
        return None;
    }
    let day = Date::new(year, i8::try_from(month).ok()?, i8::try_from(date).ok()?).ok()?;
    let time: Time = match time {
        Some(time) => time.parse().ok()?,
        None => Time::midnight(),
    };
    let instant = DateTime::from_parts(day, time).to_zoned(TimeZone::UTC).ok()?;
    Some(instant.timestamp().as_millisecond())
}

/// The shortest text that [`parse_date`] reads as `time_ms`; `None` outside of the years 0 to 9999.
pub fn print_date(time_ms: i64) -> Option<String> {
    let instant = jiff::Timestamp::from_millisecond(time_ms).ok()?.to_zoned(TimeZone::UTC).datetime();
    if instant.year() < 0 {
        return None;
    }
    let format = match (instant.time() == Time::midnight(), instant.millisecond()) {
        (true, _) => "%Y/%m/%d",
        (false, 0) => "%Y/%m/%d %H:%M:%S",
        (false, _) => "%Y/%m/%d %H:%M:%S%.3f",
    };
    Some(instant.strftime(format).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_written() {
        let day = 973_036_800_000;
        for text in ["2000/11/01", "2000-11-1", " 2000/11/01 00:00 ", "2000-11-01T00:00:00Z"] {
            assert_eq!(parse_date(text), Some(day), "{text}");
        }
        assert_eq!(print_date(day).as_deref(), Some("2000/11/01"));
        assert_eq!(print_date(day + 1_500).as_deref(), Some("2000/11/01 00:00:01.500"));
        assert_eq!(parse_date("2000/11/01 00:00:01.500"), Some(day + 1_500));
        for text in [
            "",
            "2000",
            "2000/13/01",
            "2000/02/30",
            "1/2/2000",
            "2000/11/01/05",
            "2000/11/+1",
            "2000/11/01 25:00",
        ] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }
}
