//! What servers say, made fit for a terminal.

use std::time::Duration;

use mattock_printable::{Layout, terminal_bytes};

/// A text of a server on one line, also for programs: bytes that are no UTF-8 become replacement characters.
pub(super) fn printable(bytes: &[u8]) -> String {
    terminal_bytes(bytes, Layout::Line).into_owned()
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
