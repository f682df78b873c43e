//! The fields of a record head, read in place.

use std::ops::Range;

/// Reused storage for parsed field positions.
#[derive(Debug, Default)]
pub(crate) struct FieldRanges {
    ranges: Vec<(Range<usize>, Range<usize>)>,
}

/// A record's fields in the order they were written. Names compare without regard to case; a value that was not
/// UTF-8 reads as empty text, and [`Fields::bytes`] has it.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    head: &'a [u8],
    ranges: &'a [(Range<usize>, Range<usize>)],
}

impl FieldRanges {
    /// Reads `head`: from behind the version line to the blank line, which is not part of it. Lines that continue
    /// another are joined to it in place. Lines without a colon are passed over.
    pub(crate) fn parse(&mut self, head: &mut [u8]) {
        self.ranges.clear();
        let mut at = 0;
        while at < head.len() {
            let mut end = line_end(head, at);
            // A line end before white space means the same as a space.
            while matches!(head.get(end), Some(b' ' | b'\t')) {
                let next = line_end(head, end);
                for byte in &mut head[at..end] {
                    if matches!(byte, b'\r' | b'\n') {
                        *byte = b' ';
                    }
                }
                end = next;
            }
            if let Some(colon) = head[at..end].iter().position(|byte| *byte == b':') {
                let colon = at + colon;
                self.ranges.push((trimmed(head, at..colon), trimmed(head, colon + 1..end)));
            }
            at = end;
        }
    }

    pub(crate) fn of<'a>(&'a self, head: &'a [u8]) -> Fields<'a> {
        Fields { head, ranges: &self.ranges }
    }
}

impl<'a> Fields<'a> {
    /// The first value of a field, as it was stored.
    pub fn bytes(&self, name: &str) -> Option<&'a [u8]> {
        self.ranges
            .iter()
            .find(|(key, _)| self.head[key.clone()].eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| &self.head[value.clone()])
    }

    /// The first value of a field.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.bytes(name).map(|value| std::str::from_utf8(value).unwrap_or_default())
    }

    /// All fields.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let head = self.head;
        self.ranges.iter().map(move |(name, value)| {
            let text = |range: &Range<usize>| std::str::from_utf8(&head[range.clone()]).unwrap_or_default();
            (text(name), text(value))
        })
    }

    /// All lines as they are, each with its end.
    pub(crate) fn head(&self) -> &'a [u8] {
        self.head
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

fn line_end(head: &[u8], from: usize) -> usize {
    memchr::memchr(b'\n', &head[from..]).map_or(head.len(), |at| from + at + 1)
}

fn trimmed(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let part = &bytes[range.clone()];
    let start = range.start + (part.len() - part.trim_ascii_start().len());
    start..start + part.trim_ascii().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_servers_and_archives_write_them() {
        let mut head =
            b"WARC-Type: response\r\nContent-LENGTH :12\nNo colon\r\nWARC-Filename: a\r\n  b\r\n\tc\r\nEmpty:\r\nX: a:b\r\nBad: \xff\r\n"
                .to_vec();
        let mut ranges = FieldRanges::default();
        ranges.parse(&mut head);
        let fields = ranges.of(&head);
        assert_eq!(fields.get("warc-type"), Some("response"));
        assert_eq!(fields.get("Content-Length"), Some("12"));
        assert_eq!(fields.get("WARC-Filename"), Some("a    b  \tc"));
        assert_eq!(fields.get("Empty"), Some(""));
        assert_eq!(fields.get("x"), Some("a:b"));
        assert_eq!(fields.get("No colon"), None);
        assert_eq!((fields.get("Bad"), fields.bytes("Bad")), (Some(""), Some(&b"\xff"[..])));
        assert_eq!(fields.iter().count(), 6);
        assert_eq!(fields.len(), 6);
    }

    #[test]
    fn a_continuation_without_a_field_is_harmless() {
        let mut head = b" lonely\r\n".to_vec();
        let mut ranges = FieldRanges::default();
        ranges.parse(&mut head);
        assert!(ranges.of(&head).is_empty());
    }
}
