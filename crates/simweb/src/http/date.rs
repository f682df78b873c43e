//! Dates as HTTP writes them: `Sat, 09 Jun 2007 00:00:00 GMT`, always 29 bytes.
//!
//! The two older forms that RFC 9110 lets a sender of the last century use are not read.

/// Bytes of a date.
pub(crate) const DATE_BYTES: usize = 29;

const DAYS: [&[u8; 3]; 7] = [b"Thu", b"Fri", b"Sat", b"Sun", b"Mon", b"Tue", b"Wed"];
const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
/// The first second that has no four-digit year.
const END_S: u64 = 253_402_300_800;

/// Appends the date of `unix_s` (years up to 9999; later ones stay at its last second).
pub(crate) fn push_date(out: &mut Vec<u8>, unix_s: u64) {
    let unix_s = unix_s.min(END_S - 1);
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    let (year, month, day) = civil(days);
    out.extend_from_slice(DAYS[(days % 7) as usize]);
    out.extend_from_slice(b", ");
    push_two(out, day);
    out.push(b' ');
    out.extend_from_slice(MONTHS[month as usize - 1]);
    out.push(b' ');
    push_two(out, year / 100);
    push_two(out, year % 100);
    out.push(b' ');
    push_two(out, second / 3600);
    out.push(b':');
    push_two(out, second / 60 % 60);
    out.push(b':');
    push_two(out, second % 60);
    out.extend_from_slice(b" GMT");
}

fn push_two(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&[b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
}

/// Year, month and day from days since 1970. Years are counted from March, so that the day that comes and goes is
/// the last of a year; an era is 400 years.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// Reads a date from 1970 on; `None` for anything that is not one.
pub(crate) fn read_date(text: &[u8]) -> Option<u64> {
    let text: &[u8; DATE_BYTES] = text.try_into().ok()?;
    let number = |range: std::ops::Range<usize>| -> Option<u64> {
        text[range]
            .iter()
            .try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0')))
    };
    let month = MONTHS.iter().position(|name| name[..] == text[8..11])? as u64 + 1;
    let (day, year) = (number(5..7)?, number(12..16)?);
    let (hour, minute, second) = (number(17..19)?, number(20..22)?, number(23..25)?);
    let wrong = year < 1970 || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60;
    if wrong || !text.ends_with(b" GMT") {
        return None;
    }
    // The inverse of `civil`.
    let year_from_march = year - u64::from(month <= 2);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let (era, year_of_era) = (year_from_march / 400, year_from_march % 400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(unix_s: u64) -> String {
        let mut out = Vec::new();
        push_date(&mut out, unix_s);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn known_dates() {
        assert_eq!(text(0), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(text(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(text(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
        assert_eq!(text(4_107_542_399), "Sun, 28 Feb 2100 23:59:59 GMT");
        assert_eq!(text(4_107_542_400), "Mon, 01 Mar 2100 00:00:00 GMT");
        assert_eq!(text(u64::MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1969 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Nov 1994 08:4x:37 GMT",
        ] {
            assert_eq!(read_date(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_written_date_reads_as_itself(unix_s in 0..END_S) {
            prop_assert_eq!(read_date(text(unix_s).as_bytes()), Some(unix_s));
        }
    }
}
