//! Numbers as people read them: `1,234,567`, `12.3 MB`, `1 h 02 min`.
//!
//! Every function is total: what is not a finite number becomes [`NONE`]. Units are decimal (1 MB is 1,000,000
//! bytes), as on network links and disks.

/// Stands where there is no value.
pub const NONE: &str = "–";

const SUFFIXES: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

/// A whole number with thousands separators: `1,234,567`.
pub fn integer(value: u64) -> String {
    grouped(&value.to_string())
}

/// A number to about three significant digits, whole from 100 up: `0.0457`, `12.3`, `1,235`.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let size = value.abs();
    if size >= 1e15 || (size > 0.0 && size < 1e-4) {
        return scientific(value);
    }
    signed(value, &grouped(&significant(size)))
}

/// A number with an SI suffix to three significant digits: `950`, `1.23k`, `45.6M`.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if !size.is_finite() || size < 1000.0 {
        return number(value);
    }
    let (digits, suffix) = scaled(size);
    match suffix {
        Some(suffix) => signed(value, &format!("{digits}{suffix}")),
        None => scientific(value),
    }
}

/// An amount of data: `812 B`, `12.3 MB`.
pub fn bytes(value: f64) -> String {
    let size = value.abs();
    if !size.is_finite() {
        return NONE.to_owned();
    }
    let (digits, suffix) = scaled(size);
    match suffix {
        Some(suffix) => signed(value, &format!("{digits} {suffix}B")),
        None => format!("{} B", scientific(value)),
    }
}

/// A span of time by its two largest units: `850 ms`, `12.3 s`, `4 min 05 s`, `1 h 02 min`, `3 d 04 h`.
pub fn duration(seconds: f64) -> String {
    let size = seconds.abs();
    if !size.is_finite() {
        return NONE.to_owned();
    }
    let text = if size == 0.0 {
        "0 s".to_owned()
    } else if size < 0.9995e-3 {
        format!("{} µs", number(size * 1e6))
    } else if size < 0.9995 {
        format!("{} ms", significant(size * 1e3))
    } else if size < 59.95 {
        format!("{} s", significant(size))
    } else if size < 3599.5 {
        two_units(size.round(), 60.0, "min", 1.0, "s")
    } else if size < 86_370.0 {
        two_units((size / 60.0).round() * 60.0, 3600.0, "h", 60.0, "min")
    } else if size < 86_400.0 * 1000.0 {
        two_units((size / 3600.0).round() * 3600.0, 86_400.0, "d", 3600.0, "h")
    } else {
        format!("{} d", number(size / 86_400.0))
    };
    signed(seconds, &text)
}

/// How much `part` is of `whole`: `34.1 %`; [`NONE`] of nothing.
pub fn percent(part: f64, whole: f64) -> String {
    let share = part / whole * 100.0;
    if !share.is_finite() {
        return NONE.to_owned();
    }
    if share > 0.0 && share < 0.1 {
        return "< 0.1 %".to_owned();
    }
    if share < 100.0 && share > 99.95 {
        return "> 99.9 %".to_owned();
    }
    // One decimal throughout, so that shares line up; nothing and everything are exact.
    if share == 0.0 || share == 100.0 { format!("{share:.0} %") } else { format!("{share:.1} %") }
}

/// "1 page", "2,000 pages".
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", integer(count), if count == 1 { one } else { many })
}

/// `value` with as many decimals as multiples of `step` need: what an axis says. Where its `largest` value is 10,000
/// or more, SI suffixes are used throughout.
pub(crate) fn tick(value: f64, step: f64, largest: f64) -> String {
    let size = value.abs();
    if size < step * 1e-6 {
        return "0".to_owned();
    }
    if !(1e-4..1e21).contains(&size) {
        return scientific(value);
    }
    let power = if largest < 10_000.0 { 0 } else { thousands(size) };
    let scale = 1000f64.powi(power as i32);
    let decimals = (-(step / scale).log10() - 1e-9).ceil().clamp(0.0, 9.0) as usize;
    let digits = trimmed(format!("{:.*}", decimals, size / scale));
    signed(value, &format!("{}{}", grouped(&digits), SUFFIXES[power]))
}

/// The power of 1000 that leaves 1 to 999 before the decimal point.
fn thousands(size: f64) -> usize {
    if size < 1000.0 {
        return 0;
    }
    ((size.log10() / 3.0 + 1e-9).floor() as usize).min(SUFFIXES.len() - 1)
}

/// Three digits and a suffix; no suffix where the SI's, as far as people know them, end.
fn scaled(size: f64) -> (String, Option<&'static str>) {
    let mut rest = size;
    for suffix in SUFFIXES {
        // 999.7 rounds to 1000, which the next suffix writes better.
        if rest < 999.5 {
            return (significant(rest), Some(suffix));
        }
        rest /= 1000.0;
    }
    (String::new(), None)
}

fn two_units(size: f64, large: f64, large_name: &str, small: f64, small_name: &str) -> String {
    let whole = (size / large).floor();
    let rest = ((size - whole * large) / small).floor();
    format!("{whole:.0} {large_name} {rest:02.0} {small_name}")
}

/// Three significant digits, all of those before the decimal point, no trailing zeros after it.
fn significant(size: f64) -> String {
    if size == 0.0 {
        return "0".to_owned();
    }
    let decimals = (2.0 - size.log10().floor()).clamp(0.0, 9.0) as usize;
    trimmed(format!("{size:.decimals$}"))
}

fn scientific(value: f64) -> String {
    let text = format!("{value:.2e}");
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{}e{exponent}", trimmed(digits.to_owned())),
        None => text,
    }
}

fn trimmed(text: String) -> String {
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn signed(value: f64, text: &str) -> String {
    if value < 0.0 { format!("−{text}") } else { text.to_owned() }
}

/// Thousands separators in the whole part of a string of digits.
fn grouped(digits: &str) -> String {
    let (whole, rest) = digits.find('.').map_or((digits, ""), |point| digits.split_at(point));
    let mut out = String::with_capacity(digits.len() + whole.len() / 3);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_separators() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (value, text) in cases {
            assert_eq!(integer(value), text);
        }
        assert_eq!(integer(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn numbers_keep_three_digits() {
        let cases = [
            (0.0, "0"),
            (0.04567, "0.0457"),
            (12.34, "12.3"),
            (99.96, "100"),
            (1234.5, "1,234"),
            (-1500.0, "−1,500"),
            (2e20, "2e20"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(f64::NAN), NONE);
    }

    #[test]
    fn suffixes_change_where_rounding_does() {
        let cases = [
            (950.0, "950"),
            (1000.0, "1k"),
            (1234.0, "1.23k"),
            (999_700.0, "1M"),
            (4.56e10, "45.6G"),
            (1e40, "1e40"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn data_in_decimal_units() {
        let cases = [
            (0.0, "0 B"),
            (812.0, "812 B"),
            (20_000.0, "20 kB"),
            (12_345_678.0, "12.3 MB"),
            (999.9e6, "1 GB"),
        ];
        for (value, text) in cases {
            assert_eq!(bytes(value), text);
        }
    }

    #[test]
    fn time_by_its_two_largest_units() {
        let cases = [
            (0.0, "0 s"),
            (0.000_012, "12 µs"),
            (0.85, "850 ms"),
            (12.34, "12.3 s"),
            (59.97, "1 min 00 s"),
            (245.0, "4 min 05 s"),
            (3720.0, "1 h 02 min"),
            (86_399.0, "1 d 00 h"),
            (3.0 * 86_400.0 + 4.0 * 3600.0, "3 d 04 h"),
        ];
        for (value, text) in cases {
            assert_eq!(duration(value), text, "{value}");
        }
        assert_eq!(duration(f64::INFINITY), NONE);
    }

    #[test]
    fn shares() {
        assert_eq!(percent(341.0, 1000.0), "34.1 %");
        assert_eq!(percent(750.0, 1000.0), "75.0 %");
        assert_eq!(percent(0.0, 1e6), "0 %");
        assert_eq!(percent(1.0, 1e6), "< 0.1 %");
        assert_eq!(percent(999_999.0, 1e6), "> 99.9 %");
        assert_eq!(percent(1.0, 0.0), NONE);
    }

    #[test]
    fn ticks_keep_the_digits_their_step_needs() {
        assert_eq!(tick(0.25, 0.05, 1.0), "0.25");
        assert_eq!(tick(2000.0, 500.0, 3000.0), "2,000");
        assert_eq!(tick(1_500_000.0, 500_000.0, 2e6), "1.5M");
        assert_eq!(tick(5000.0, 5000.0, 20_000.0), "5k");
        assert_eq!(tick(1_000_200.0, 200.0, 1_001_000.0), "1.0002M");
        assert_eq!(tick(1e-17, 0.1, 1.0), "0");
    }

    #[test]
    fn a_count_agrees_with_its_noun() {
        assert_eq!(counted(1, "page", "pages"), "1 page");
        assert_eq!(counted(2000, "page", "pages"), "2,000 pages");
    }
}
