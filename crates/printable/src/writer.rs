//! A stream on its way to a terminal.

use std::io::{self, Write};

use crate::terminal::{Escaper, Escapes, Layout};

/// Takes bytes as they come and writes what a terminal may be shown of them: characters are escaped as by
/// [`terminal`](crate::terminal()), wherever the pieces of the stream are cut.
#[derive(Debug)]
pub struct TerminalWriter<W: Write> {
    out: W,
    escaper: Escaper,
    /// The beginning of a character whose rest has not come.
    begun: Vec<u8>,
    text: String,
}

impl<W: Write> TerminalWriter<W> {
    /// Shows text.
    pub fn new(out: W, layout: Layout) -> TerminalWriter<W> {
        TerminalWriter {
            out,
            escaper: Escaper::new(layout, Escapes::Rust),
            begun: Vec::new(),
            text: String::new(),
        }
    }

    /// Shows JSON, an object a line, as [`json_on_terminal`](crate::json_on_terminal) does: it still says the same.
    pub fn json(out: W) -> TerminalWriter<W> {
        let escaper = Escaper::new(Layout::Lines, Escapes::Json);
        TerminalWriter { out, escaper, begun: Vec::new(), text: String::new() }
    }

    /// Writes what has waited for more: a character that was cut, or a CR.
    pub fn finish(&mut self) -> io::Result<()> {
        self.text.clear();
        if !std::mem::take(&mut self.begun).is_empty() {
            self.escaper.push("\u{fffd}", &mut self.text);
        }
        self.escaper.end(&mut self.text);
        self.out.write_all(self.text.as_bytes())?;
        self.out.flush()
    }

    fn take(&mut self, mut bytes: &[u8]) {
        loop {
            let error = match std::str::from_utf8(bytes) {
                Ok(text) => return self.escaper.push(text, &mut self.text),
                Err(error) => error,
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            self.escaper.push(std::str::from_utf8(valid).unwrap_or_default(), &mut self.text);
            let Some(wrong) = error.error_len() else {
                self.begun = rest.to_vec();
                return;
            };
            self.escaper.push("\u{fffd}", &mut self.text);
            bytes = &rest[wrong..];
        }
    }
}

impl<W: Write> Write for TerminalWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.clear();
        if self.begun.is_empty() {
            self.take(bytes);
        } else {
            let mut whole = std::mem::take(&mut self.begun);
            whole.extend_from_slice(bytes);
            self.take(&whole);
        }
        self.out.write_all(self.text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(mut writer: TerminalWriter<Vec<u8>>, pieces: &[&[u8]]) -> String {
        pieces.iter().for_each(|piece| writer.write_all(piece).unwrap());
        writer.finish().unwrap();
        String::from_utf8(writer.out).unwrap()
    }

    #[test]
    fn characters_may_be_cut() {
        let text = TerminalWriter::new(Vec::new(), Layout::Lines);
        assert_eq!(
            written(text, &[b"a\xc2", b"\x9bb\r", b"\nc\xe2\x80", b"\xae\xff\xe2\x82"]),
            "a\\u{9b}b\nc\\u{202e}\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn json_stays_json() {
        let line = "{\"a\":\"\u{9b}\u{e0041}\u{202e}ä\"}\r\n";
        assert_eq!(
            written(TerminalWriter::json(Vec::new()), &[line.as_bytes()]),
            "{\"a\":\"\\u009b\\udb40\\udc41\\u202eä\"}\n"
        );
    }
}
