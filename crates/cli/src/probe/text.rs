//! What servers say, made fit for a terminal.

use std::time::Duration;

/// Text without control characters: they are shown as escapes. Bytes that are no UTF-8 become replacement characters.
pub(super) fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().fold(String::new(), |mut text, c| {
        if is_harmless(c) {
            text.push(c);
        } else {
            text.extend(c.escape_default());
        }
        text
    })
}

/// Controls move the cursor, and the marks of writing direction rearrange what was written.
fn is_harmless(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Milliseconds to three digits: finer ones are noise.
pub(super) fn ms(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

/// A length of time as people read it.
pub(super) fn milliseconds(ms: f64) -> String {
    if ms < 10_000.0 { format!("{ms:.1} ms") } else { format!("{:.1} s", ms / 1000.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(printable("größe 日本".as_bytes()), "größe 日本");
        assert_eq!(printable(b"\x1b[2Ja\tb\xff\r\n"), "\\u{1b}[2Ja\\tb\u{fffd}\\r\\n");
        assert_eq!(printable("a\u{202e}b\u{9b}".as_bytes()), "a\\u{202e}b\\u{9b}");
    }
}
