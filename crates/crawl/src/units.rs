//! Durations and sizes as people write them: `500ms`, `2s`, `10m`, `1h`; `64KiB`, `10MB`, `1GiB`.

use std::time::Duration;

/// Reads a duration. A bare number is not one: seconds or milliseconds would be a guess.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(format!("{text:?} is not a duration; write it like 500ms, 2s, 10m, 1h or 1d")),
    };
    match number.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 && number * seconds < 1e9 => {
            Ok(Duration::from_secs_f64(number * seconds))
        }
        _ => Err(format!("{text:?} is not a duration; write it like 500ms, 2s, 10m, 1h or 1d")),
    }
}

/// Writes a duration so that [`parse_duration`] reads it.
pub fn format_duration(duration: Duration) -> String {
    let millis = duration.as_millis();
    match millis {
        0 => "0s".into(),
        _ if millis.is_multiple_of(3_600_000) => format!("{}h", millis / 3_600_000),
        _ if millis.is_multiple_of(60_000) => format!("{}m", millis / 60_000),
        _ if millis.is_multiple_of(1000) => format!("{}s", millis / 1000),
        _ => format!("{millis}ms"),
    }
}

/// Reads a size in bytes. Decimal (KB, MB, GB, TB) and binary (KiB, MiB, GiB, TiB) units; a bare number is bytes.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a size; write it like 500KB, 64MiB or 1GB");
    let (number, unit) = split(text);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "t" | "tb" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return Err(wrong()),
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(wrong);
    }
    match number.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 && number * (factor as f64) < 1e18 => {
            Ok((number * factor as f64) as u64)
        }
        _ => Err(wrong()),
    }
}

/// Writes a size so that [`parse_size`] reads it.
pub fn format_size(bytes: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let fits = units.into_iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    fits.map_or_else(|| format!("{bytes}B"), |(unit, name): (u64, _)| format!("{}{name}", bytes / unit))
}

/// Number and unit.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    (text[..end].trim(), text[end..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_back_as_written() {
        for ms in [0, 1, 999, 1000, 1500, 60_000, 90_000, 3_600_000, 86_400_000] {
            let duration = Duration::from_millis(ms);
            assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
        }
        assert_eq!(parse_duration("0.25 s"), Ok(Duration::from_millis(250)));
        for bad in ["", "5", "s", "-1s", "1x", "NaNs", "infs", "1e300h", "1 s 2"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_are_read_back_as_written() {
        for bytes in [0, 1, 1000, 1024, 1536, 10 << 20, 3 << 30, 1 << 40, u64::MAX] {
            assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
        }
        assert_eq!(format_size(256 << 20), "256MiB");
    }

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        for (text, bytes) in [
            ("10", 10),
            ("1KB", 1000),
            ("1KiB", 1024),
            ("1.5 MB", 1_500_000),
            ("2GiB", 2 << 30),
            ("3g", 3_000_000_000),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "MB", "-1", "1XB", "99999999999TB", "1 2"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
