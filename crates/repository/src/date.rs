//! Dates of records as archives have them: RFC 3339 for the most part, shorter ones as WARC 1.1 allows, and what other writers made of it.
//!
//! ```text
//! 2008-10-20T12:21:46Z          also with t, z, a blank, a fraction of the second, or an offset: +02:00, -0700
//! 2008-10-20T12:21Z             the rest is zero, from any part on
//! 2008-10-294T05:21:46-0700     ClueWeb09: the day is that of the year
//! 20081020122146                as ARC files and names of files have it
//! ```

use mattock_env::UnixTime;

const DAY_SECONDS: i64 = 86_400;

/// Reads a date; `None` if it is none.
pub(crate) fn parse(text: &str) -> Option<UnixTime> {
    let text = text.trim();
    if text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let part = |from: usize, to: usize| number(&text[from..to]);
        let days = days(part(0, 4)?, part(4, 6)?, part(6, 8)?)?;
        return time(days, part(8, 10)?, part(10, 12)?, part(12, 14)?, 0);
    }
    let (date, clock) = text.split_once(['T', 't', ' ']).unwrap_or((text, ""));
    let mut parts = date.split('-');
    let year = parts.next().filter(|year| year.len() == 4).and_then(number)?;
    let month = parts.next().map_or(Some(1), number)?;
    let days = match parts.next() {
        Some(day) if day.len() == 3 => {
            let day = number(day).filter(|day| (1..=365 + i64::from(is_leap(year))).contains(day))?;
            days(year, 1, 1)? + day - 1
        }
        Some(day) => days(year, month, number(day)?)?,
        None => days(year, month, 1)?,
    };
    if parts.next().is_some() {
        return None;
    }
    let (clock, offset_s) = zone(clock)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = clock.split(':').filter(|part| !part.is_empty());
    let mut next = || parts.next().map_or(Some(0), number);
    let (hour, minute, second) = (next()?, next()?, next()?);
    if parts.next().is_some() {
        return None;
    }
    let whole = time(days, hour, minute, second, offset_s)?;
    Some(UnixTime::from_micros(whole.as_micros() + micros(fraction)?))
}

fn number(digits: &str) -> Option<i64> {
    let plain = !digits.is_empty() && digits.len() <= 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok())?
}

fn micros(fraction: &str) -> Option<i64> {
    let known = fraction.bytes().all(|byte| byte.is_ascii_digit());
    known.then(|| format!("{:0<6.6}", fraction).parse().ok())?
}

fn time(days: i64, hour: i64, minute: i64, second: i64, offset_s: i64) -> Option<UnixTime> {
    // 60 is a leap second.
    let good = hour < 24 && minute < 60 && second <= 60;
    let seconds = days * DAY_SECONDS + hour * 3600 + minute * 60 + second - offset_s;
    good.then(|| UnixTime::from_micros(seconds * 1_000_000))
}

/// The time of day without its offset from UTC, and that in seconds.
fn zone(clock: &str) -> Option<(&str, i64)> {
    if let Some(clock) = clock.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = clock.rfind(['+', '-']) else { return Some((clock, 0)) };
    let digits = clock[at + 1..].replace(':', "");
    let (hours, minutes) = digits.split_at_checked(2)?;
    let seconds = number(hours)? * 3600 + if minutes.is_empty() { 0 } else { number(minutes)? * 60 };
    Some((&clock[..at], if clock[at..].starts_with('-') { -seconds } else { seconds }))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days from 1970 to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let lengths = [31, 28 + i64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let at = usize::try_from(month).ok()?.checked_sub(1)?;
    if !(1..=*lengths.get(at)?).contains(&day) {
        return None;
    }
    // Leap days of all years before this one.
    let leaps = |years: i64| years / 4 - years / 100 + years / 400;
    let before = year - 1;
    let years = 365 * (year - 1970) + leaps(before.max(0)) - leaps(1969);
    Some(years + lengths[..at].iter().sum::<i64>() + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_they_occur() {
        let noon = parse("2008-10-20T12:21:46Z").unwrap();
        assert_eq!(noon.as_seconds(), 1_224_505_306);
        for same in [
            "2008-10-20t12:21:46z",
            "2008-10-20 12:21:46",
            "2008-10-20T05:21:46-0700",
            "2008-10-20T14:21:46+02:00",
            "2008-10-20T14:21:46+02",
            // Day 294 of that year.
            "2008-10-294T05:21:46-0700",
            "20081020122146",
            " 2008-10-20T12:21:46.000Z ",
        ] {
            assert_eq!(parse(same), Some(noon), "{same}");
        }
        let micros = |text: &str| parse(text).map(UnixTime::as_micros);
        assert_eq!(micros("1970-01-01T00:00:00.25Z"), Some(250_000));
        assert_eq!(micros("1970-01-01T00:00:00.1234567Z"), Some(123_456));
        assert_eq!(micros("1970-01-02"), Some(DAY_SECONDS * 1_000_000));
        assert_eq!(micros("1971"), Some(365 * DAY_SECONDS * 1_000_000));
        assert_eq!(micros("1970-02"), Some(31 * DAY_SECONDS * 1_000_000));
        assert_eq!(micros("1970-01-01T01:01Z"), Some(3_660_000_000));
        assert_eq!(micros("1969-12-31T23:59:59Z"), Some(-1_000_000));
        assert_eq!(micros("2000-03-01"), Some(951_868_800_000_000));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "blue monday",
            "5088968-11-06T12:31:23Z",
            "2008-13-01",
            "2009-02-29",
            "2009-10-366",
            "2008-10-20-01",
            "2008-10-20T24:00:00Z",
            "2008-10-20T12:61",
            "2008-10-20T12:00:00.x",
            "2008-10-20T1:2:3:4",
            "2008--20",
            "20081320122146",
            "2008-10-20T12:21:46+é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_time_is_read_back() {
        for day in (-200_000..200_000).step_by(37) {
            let time =
                UnixTime::from_micros((day * DAY_SECONDS + day.rem_euclid(DAY_SECONDS)) * 1_000_000 + 5);
            assert_eq!(parse(&format!("{time:.6}")), Some(time), "{time:.6}");
        }
    }
}
