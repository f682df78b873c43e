//! What is left of a stream some of whose chunks are lost: its whole records, as one stream again.
//!
//! Filled with the chunks that are there, in order, by [`Buckets::salvage`](crate::buckets::Buckets::salvage), which counts, and by
//! [`Buckets::load`](crate::buckets::Buckets::load), which takes what comes out. Records that a lost chunk has a part of are left out, and
//! reading goes on with the first one that begins behind it. Its number is written as the difference from the last one that was read, so
//! that what comes out can be read as what was written.
//!
//! Costs: every byte is copied twice; memory for the record that is torn apart, and for what nobody took yet.

use mattock_codec::{Reader, put_varint};

use crate::chunk::Mark;
use crate::merge::CHECK;

/// The most bytes that tell how long a record is: two numbers and a key.
const MEASURED_BYTES: usize = 28;

/// How records of a stream are told apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    pub(crate) key_bytes: usize,
    pub(crate) has_values: bool,
}

impl Measure {
    /// The first number of the record that begins here, and the bytes of the record, of which some may be missing.
    fn record(self, bytes: &[u8]) -> Option<(u64, usize)> {
        let mut reader = Reader::new(bytes);
        let head = reader.varint()?;
        reader.take(self.key_bytes)?;
        let has_value = self.has_values && (head & 3) as u32 != CHECK;
        let value_bytes = if has_value { reader.varint()? } else { 0 };
        Some((head, reader.at().saturating_add(value_bytes as usize)))
    }
}

/// Joins what is left of a stream.
#[derive(Debug)]
pub(crate) struct Joiner {
    measure: Measure,
    /// Whole records that nobody took yet.
    out: Vec<u8>,
    /// The beginning of a record whose rest is in the next chunk.
    torn: Vec<u8>,
    /// Which chunk is next.
    sequence: u32,
    /// Whether it is not known where the next record begins: its chunk will tell.
    is_adrift: bool,
    /// The number of the last record, and of the last one that was read.
    number: u32,
    read_number: u32,
    /// Records up to here, with those that are lost.
    records: u32,
    /// Records that were read.
    read: u32,
}

impl Joiner {
    pub(crate) fn new(measure: Measure) -> Joiner {
        Joiner {
            measure,
            out: Vec::new(),
            torn: Vec::new(),
            sequence: 0,
            is_adrift: false,
            number: 0,
            read_number: 0,
            records: 0,
            read: 0,
        }
    }

    /// Which chunk is next.
    pub(crate) fn sequence(&self) -> u32 {
        self.sequence
    }

    /// The mark that the next chunk must have if none is lost before it and this is its payload; `None` if one is lost that is not made
    /// up for yet.
    pub(crate) fn expected(&self, payload: &[u8]) -> Option<Mark> {
        if self.is_adrift {
            return None;
        }
        let (sequence, number, records) = (self.sequence, self.number, self.records);
        if self.torn.is_empty() {
            return Some(Mark { sequence, first: 0, number, records });
        }
        let start = [&self.torn, &payload[..payload.len().min(MEASURED_BYTES)]].concat();
        let (head, bytes) = self.measure.record(&start)?;
        Some(Mark {
            sequence,
            first: (bytes - self.torn.len()).min(payload.len()) as u32,
            number: number.wrapping_add((head >> 2) as u32),
            records: records + 1,
        })
    }

    /// The next chunk that is there.
    pub(crate) fn push(&mut self, mark: Mark, payload: &[u8]) {
        let mut payload = payload;
        if self.is_adrift || mark.sequence != self.sequence {
            self.torn.clear();
            payload = payload.get(mark.first as usize..).unwrap_or_default();
            self.is_adrift = payload.is_empty();
            (self.number, self.records) = (mark.number, mark.records);
        }
        self.sequence = mark.sequence.wrapping_add(1);
        self.torn.extend_from_slice(payload);
        let mut at = 0;
        while let Some((head, bytes)) = self.measure.record(&self.torn[at..])
            && let Some(record) = self.torn[at..].get(..bytes)
        {
            self.number = self.number.wrapping_add((head >> 2) as u32);
            put_varint(&mut self.out, u64::from(self.number.wrapping_sub(self.read_number)) << 2 | head & 3);
            self.out.extend_from_slice(&record[mattock_codec::varint_len(head)..]);
            self.read_number = self.number;
            self.records += 1;
            self.read += 1;
            at += bytes;
        }
        self.torn.drain(..at);
    }

    /// Moves what was joined so far behind what is there.
    pub(crate) fn take(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.out);
    }

    /// Forgets what was joined so far, but for how it goes on.
    pub(crate) fn skip(&mut self) {
        self.out.clear();
    }

    /// How many records were lost, once everything was pushed that is there. The mark is that of the end of the stream, whose records
    /// are all whole.
    pub(crate) fn lost(&self, end: Mark, tail: &[u8]) -> u64 {
        let all = if tail.is_empty() || self.is_adrift { end.records } else { self.records };
        u64::from(all.saturating_sub(self.read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(head: u64, key: u8, value: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, head);
        bytes.extend([key, key]);
        mattock_codec::put_counted(&mut bytes, value);
        bytes
    }

    /// Records of 6, 29 and 5 bytes in chunks of 10.
    fn join(chunks: &[usize]) -> (Vec<u8>, u64) {
        let mark = |sequence, first, number, records| Mark { sequence, first, number, records };
        let marks = [mark(0, 0, 0, 0), mark(1, 10, 305, 2), mark(2, 10, 305, 2), mark(3, 5, 305, 2)];
        let records =
            [record(5 << 2 | 1, 1, b"ab"), record(300 << 2 | 2, 2, &[7; 24]), record(9 << 2 | 1, 3, b"c")];
        let stream = records.concat();
        let parts: Vec<&[u8]> = stream.chunks(10).collect();
        let mut joiner = Joiner::new(Measure { key_bytes: 2, has_values: true });
        for chunk in chunks {
            if let Some(mark) = joiner.expected(parts[*chunk])
                && joiner.sequence() as usize == *chunk
            {
                assert_eq!(mark, marks[*chunk]);
            }
            joiner.push(marks[*chunk], parts[*chunk]);
        }
        let mut out = Vec::new();
        joiner.take(&mut out);
        let tail = if chunks.contains(&3) { parts[3] } else { &[] };
        (out, joiner.lost(marks[3], tail))
    }

    #[test]
    fn records_that_are_not_torn_apart_are_read() {
        let (first, second) = (record(5 << 2 | 1, 1, b"ab"), record(300 << 2 | 2, 2, &[7; 24]));
        assert_eq!(join(&[0, 1, 2, 3]), ([first.clone(), second, record(9 << 2 | 1, 3, b"c")].concat(), 0));
        for left in [&[0, 2, 3][..], &[0, 1, 3], &[0, 3]] {
            let expected = [first.clone(), record(309 << 2 | 1, 3, b"c")].concat();
            assert_eq!(join(left), (expected, 1), "{left:?}");
        }
        for left in [&[1, 2, 3][..], &[2, 3], &[3]] {
            assert_eq!(join(left), (record(314 << 2 | 1, 3, b"c"), 2), "{left:?}");
        }
        assert_eq!(join(&[0, 1]), (first, 1), "without the end two are known to have been there");
    }
}
