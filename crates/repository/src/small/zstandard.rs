//! Small records as Zstandard frames (RFC 8878): one block, literals in one stream with a code of its own, sequences with the
//! distributions that the format has for those who tell none.

use xxhash_rust::xxh64::xxh64;

use super::bits::Bits;
use super::code::lengths;
use super::fse::{self, States};
use super::{Matches, SMALL_BYTES, Sequence, letter_counts};

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// One segment, and a checksum behind it.
const DESCRIPTION: u8 = 0b0010_0100;
/// As long as codes of literals may be.
const CODE_BITS_MAX: u8 = 11;
/// Letters that have a code: up to `~`.
const LETTERS: usize = 127;

/// More of them are counted in two bytes; such records are rare.
const SEQUENCES_MAX: usize = 127;

/// Shares of the symbols in the distributions that need not be told (3.1.1.3.2.2).
const LITERAL_LENGTHS: [i8; 36] = [
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1,
    -1, -1,
];
const MATCH_LENGTHS: [i8; 53] = [
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
];
const OFFSETS: [i8; 29] =
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1];

/// The code, and how it is told.
pub(super) struct Zstandard {
    /// Bits and their number; none: the letter has no code.
    letters: [(u16, u8); 256],
    /// The description of the code: weights, packed as `fse` packs them, behind their length.
    told: Vec<u8>,
    literal_lengths: States,
    match_lengths: States,
    offsets: States,
}

impl Zstandard {
    /// The code for records such as these.
    pub(super) fn new(samples: &[Vec<u8>]) -> Zstandard {
        let mut counts = [0; LETTERS];
        letter_counts(samples, &mut counts);
        let lengths = lengths(&counts, CODE_BITS_MAX);
        let longest = lengths.iter().copied().max().unwrap_or_default();
        // The last weight follows from the others.
        let weights: Vec<u8> = lengths[..LETTERS - 1]
            .iter()
            .map(|length| if *length == 0 { 0 } else { longest + 1 - length })
            .collect();
        let weights = fse::told(&weights);
        let mut told = vec![weights.len() as u8];
        told.extend(weights);
        Zstandard {
            letters: words(&lengths, longest),
            told,
            literal_lengths: States::new(&LITERAL_LENGTHS),
            match_lengths: States::new(&MATCH_LENGTHS),
            offsets: States::new(&OFFSETS),
        }
    }

    /// The record as a frame, if the code has all its letters.
    pub(super) fn write(&self, record: &[u8], matches: &Matches, out: &mut Bits) -> bool {
        if matches.sequences.len() > SEQUENCES_MAX {
            return false;
        }
        out.clear();
        out.put(&MAGIC);
        match record.len() {
            len @ ..256 => out.put(&[DESCRIPTION, len as u8]),
            len => {
                out.put(&[DESCRIPTION | 1 << 6]);
                out.put(&(len as u16 - 256).to_le_bytes());
            }
        }
        let block = out.bytes().len();
        out.put(&[0; 3]);
        if !self.put_literals(&matches.literals, out) {
            return false;
        }
        self.put_sequences(&matches.sequences, out);
        let size = out.bytes().len() - block - 3;
        // The last block, compressed.
        out.bytes_mut()[block..block + 3].copy_from_slice(&(size << 3 | 0b101).to_le_bytes()[..3]);
        out.put(&(xxh64(record, 0) as u32).to_le_bytes());
        true
    }

    /// The section of literals, if all of them have codes and it is not longer than a small record.
    fn put_literals(&self, literals: &[u8], out: &mut Bits) -> bool {
        let begin = out.bytes().len();
        out.put(&[0; 3]);
        out.put(&self.told);
        let mut known = true;
        // Read from its end, a stream is written from its last letter to its first.
        let mut pieces = literals.rchunks_exact(4);
        for piece in &mut pieces {
            let (mut bits, mut count) = (0, 0);
            for byte in piece.iter().rev() {
                let (word, length) = self.letters[usize::from(*byte)];
                known &= length > 0;
                bits |= u64::from(word) << count;
                count += u32::from(length);
            }
            out.add(bits, count);
        }
        for byte in pieces.remainder().iter().rev() {
            let (word, length) = self.letters[usize::from(*byte)];
            known &= length > 0;
            out.add(word.into(), length.into());
        }
        out.close();
        let size = out.bytes().len() - begin - 3;
        // With a code, in one stream: kind, how long it becomes, how long it is.
        let header = (2 | literals.len() << 4 | size << 14) as u32;
        out.bytes_mut()[begin..begin + 3].copy_from_slice(&header.to_le_bytes()[..3]);
        known && size < SMALL_BYTES
    }

    fn put_sequences(&self, sequences: &[Sequence], out: &mut Bits) {
        out.put(&[sequences.len() as u8]);
        let Some((last, others)) = sequences.split_last() else { return };
        out.put(&[0]);
        let last = Codes::of(*last);
        let mut literal_length = self.literal_lengths.begin(last.literal_length);
        let mut match_length = self.match_lengths.begin(last.match_length);
        let mut offset = self.offsets.begin(last.offset);
        out.add(last.extra, last.extra_bits);
        for sequence in others.iter().rev() {
            let codes = Codes::of(*sequence);
            self.offsets.encode(&mut offset, codes.offset, out);
            self.match_lengths.encode(&mut match_length, codes.match_length, out);
            self.literal_lengths.encode(&mut literal_length, codes.literal_length, out);
            out.add(codes.extra, codes.extra_bits);
        }
        self.match_lengths.end(match_length, out);
        self.offsets.end(offset, out);
        self.literal_lengths.end(literal_length, out);
        out.close();
    }
}

/// The three symbols of a sequence, and the further bits of all of them, in the order in which they are written.
struct Codes {
    literal_length: usize,
    match_length: usize,
    offset: usize,
    extra: u64,
    extra_bits: u32,
}

impl Codes {
    fn of(sequence: Sequence) -> Codes {
        let (literal_length, literal_extra, literal_bits) = literal_code(sequence.literals.into());
        let (match_length, match_extra, match_bits) = match_code(u32::from(sequence.length) - 3);
        // The first three mean an offset that was used before.
        let offset = u32::from(sequence.distance) + 3;
        let log = offset.ilog2();
        let far = u64::from(offset - (1 << log));
        Codes {
            literal_length,
            match_length,
            offset: log as usize,
            extra: u64::from(literal_extra)
                | u64::from(match_extra) << literal_bits
                | far << (literal_bits + match_bits),
            extra_bits: literal_bits + match_bits + log,
        }
    }
}

/// Symbol, further bits and how many, of a number of literals below a kibibyte.
fn literal_code(length: u32) -> (usize, u32, u32) {
    match length {
        ..16 => (length as usize, 0, 0),
        16..24 => (16 + (length as usize - 16) / 2, length & 1, 1),
        24..32 => (20 + (length as usize - 24) / 4, length & 3, 2),
        32..48 => (22 + (length as usize - 32) / 8, length & 7, 3),
        48..64 => (24, length - 48, 4),
        _ => {
            let log = length.ilog2();
            (19 + log as usize, length - (1 << log), log)
        }
    }
}

/// The same of a match's length without the least of 3.
fn match_code(length: u32) -> (usize, u32, u32) {
    match length {
        ..32 => (length as usize, 0, 0),
        32..40 => (32 + (length as usize - 32) / 2, length & 1, 1),
        40..48 => (36 + (length as usize - 40) / 4, length & 3, 2),
        48..64 => (38 + (length as usize - 48) / 8, length & 7, 3),
        64..96 => (40 + (length as usize - 64) / 16, length & 15, 4),
        96..128 => (42, length - 96, 5),
        _ => {
            let log = length.ilog2();
            (36 + log as usize, length - (1 << log), log)
        }
    }
}

/// Codes of these lengths: the longest come first, from zero on (4.2.1.3).
fn words(lengths: &[u8], longest: u8) -> [(u16, u8); 256] {
    let mut words = [(0, 0); 256];
    let mut next = 0;
    for count in (1..=longest).rev() {
        for (symbol, _) in lengths.iter().enumerate().filter(|(_, length)| **length == count) {
            words[symbol] = (next, count);
            next += 1;
        }
        next >>= 1;
    }
    words
}
