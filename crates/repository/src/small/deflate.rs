//! Small records as gzip members (RFC 1952): one block of deflate (RFC 1951) with a code of its own.

use libdeflater::Crc;

use super::bits::Bits;
use super::code::lengths;
use super::{MOST, Matches, OFTEN, letter_counts};
use crate::compression::GZIP_HEADER;

const END: usize = 256;
const LENGTHS: usize = 257;
const LITERALS: usize = 286;
/// Of distances below a kibibyte.
const DISTANCES: usize = 20;
/// Lengths of codes are themselves told in a code, whose lengths are told in this order.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const CODE_BITS_MAX: u8 = 15;

/// A symbol's code, its bits turned around as deflate wants them, behind it its length.
#[derive(Clone, Copy, Default)]
struct Word {
    bits: u16,
    count: u8,
}

/// The code, and how it is told.
pub(super) struct Deflate {
    literals: [Word; LITERALS],
    /// With the bits that say which length of the symbol's it is.
    lengths: Vec<(u32, u8)>,
    distances: [Word; DISTANCES],
    /// The block's beginning: bits, and how many.
    told: Vec<(u64, u32)>,
}

impl Deflate {
    /// The code for records such as these.
    pub(super) fn new(samples: &[Vec<u8>]) -> Deflate {
        let mut counts = [0; LITERALS];
        let mut far = [1; DISTANCES];
        letter_counts(samples, &mut counts);
        counts[LENGTHS..].fill(1);
        counts[END] = samples.len() as u32 * OFTEN;
        let mut matches = Matches::new();
        for sample in samples {
            matches.find(sample);
            for sequence in &matches.sequences {
                counts[length_symbol(sequence.length.into()).0] += OFTEN;
                far[distance_symbol(sequence.distance.into()).0] += OFTEN;
            }
        }
        let (near, far) = (lengths(&counts, CODE_BITS_MAX), lengths(&far, CODE_BITS_MAX));
        let literals = words::<LITERALS>(&near);
        let with_extra = |length| {
            let (symbol, extra, extra_bits) = length_symbol(length);
            let word = literals[symbol];
            (u32::from(word.bits) | extra << word.count, word.count + extra_bits)
        };
        Deflate {
            lengths: (0..=MOST).map(|length| with_extra(length.max(3))).collect(),
            distances: words(&far),
            told: told(&near, &far),
            literals,
        }
    }

    /// The record as a gzip member, if the code has all its letters.
    pub(super) fn write(&self, record: &[u8], matches: &Matches, out: &mut Bits) -> bool {
        out.clear();
        out.put(&GZIP_HEADER);
        for (bits, count) in &self.told {
            out.add(*bits, *count);
        }
        let mut rest = matches.literals.as_slice();
        let mut known = true;
        for sequence in &matches.sequences {
            let (literals, behind) = rest.split_at(sequence.literals.into());
            known &= self.put(literals, out);
            rest = behind;
            let (bits, count) = self.lengths[usize::from(sequence.length)];
            let (symbol, extra, extra_bits) = distance_symbol(sequence.distance.into());
            let word = self.distances[symbol];
            let far = u64::from(word.bits) | u64::from(extra) << word.count;
            out.add(u64::from(bits) | far << count, u32::from(count + word.count + extra_bits));
        }
        known &= self.put(rest, out);
        let end = self.literals[END];
        out.add(end.bits.into(), end.count.into());
        out.align();
        let mut checksum = Crc::new();
        checksum.update(record);
        out.put(&checksum.sum().to_le_bytes());
        out.put(&(record.len() as u32).to_le_bytes());
        known
    }

    fn put(&self, literals: &[u8], out: &mut Bits) -> bool {
        let mut known = true;
        let mut pieces = literals.chunks_exact(3);
        for piece in &mut pieces {
            let [a, b, c] = [0, 1, 2].map(|index| self.literals[usize::from(piece[index])]);
            known &= a.count > 0 && b.count > 0 && c.count > 0;
            let bits =
                u64::from(a.bits) | u64::from(b.bits) << a.count | u64::from(c.bits) << (a.count + b.count);
            out.add(bits, u32::from(a.count + b.count + c.count));
        }
        for byte in pieces.remainder() {
            let word = self.literals[usize::from(*byte)];
            known &= word.count > 0;
            out.add(word.bits.into(), word.count.into());
        }
        known
    }
}

/// Symbol, further bits and how many, of a length from 3 to 258.
fn length_symbol(length: usize) -> (usize, u32, u8) {
    if length == MOST {
        return (285, 0, 0);
    }
    let beyond = length as u32 - 3;
    if beyond < 8 {
        return (LENGTHS + beyond as usize, 0, 0);
    }
    let log = beyond.ilog2();
    let symbol = LENGTHS as u32 + 4 * (log - 1) + (beyond >> (log - 2) & 3);
    (symbol as usize, beyond & ((1 << (log - 2)) - 1), (log - 2) as u8)
}

/// The same of a distance.
fn distance_symbol(distance: usize) -> (usize, u32, u8) {
    let beyond = distance as u32 - 1;
    if beyond < 4 {
        return (beyond as usize, 0, 0);
    }
    let log = beyond.ilog2();
    let symbol = 2 * log + (beyond >> (log - 1) & 1);
    (symbol as usize, beyond & ((1 << (log - 1)) - 1), (log - 1) as u8)
}

/// Codes of these lengths, as the RFC numbers them (3.2.2).
fn words<const N: usize>(lengths: &[u8]) -> [Word; N] {
    let mut words = [Word::default(); N];
    let mut next = 0_u16;
    for count in 1..=CODE_BITS_MAX {
        next <<= 1;
        for (word, _) in words.iter_mut().zip(lengths).filter(|(_, length)| **length == count) {
            *word = Word { bits: next.reverse_bits() >> (16 - count), count };
            next += 1;
        }
    }
    words
}

/// How the code is told at the beginning of a block (3.2.7): the last and only one, with a code of its own.
fn told(near: &[u8], far: &[u8]) -> Vec<(u64, u32)> {
    let mut symbols: Vec<(usize, u64, u32)> = Vec::new();
    let all: Vec<u8> = near.iter().chain(far).copied().collect();
    for run in all.chunk_by(|a, b| a == b) {
        let (length, mut left) = (run[0], run.len());
        if length > 0 {
            symbols.push((length.into(), 0, 0));
            left -= 1;
        }
        while left > 0 {
            let (taken, symbol) = match (length, left) {
                (_, ..3) => (1, (length.into(), 0, 0)),
                (0, ..11) => (left, (17, left as u64 - 3, 3)),
                (0, _) => (left.min(138), (18, left.min(138) as u64 - 11, 7)),
                (_, _) => (left.min(6), (16, left.min(6) as u64 - 3, 2)),
            };
            symbols.push(symbol);
            left -= taken;
        }
    }
    let mut counts = [0; ORDER.len()];
    symbols.iter().for_each(|(symbol, ..)| counts[*symbol] += 1);
    let of_lengths = lengths(&counts, 7);
    let used = ORDER.iter().rposition(|symbol| of_lengths[*symbol] > 0).map_or(4, |last| last.max(3) + 1);
    let mut told =
        vec![(0b101, 3), (near.len() as u64 - 257, 5), (far.len() as u64 - 1, 5), (used as u64 - 4, 4)];
    told.extend(ORDER[..used].iter().map(|symbol| (of_lengths[*symbol].into(), 3)));
    let words = words::<{ ORDER.len() }>(&of_lengths);
    for (symbol, extra, extra_bits) in symbols {
        let word = words[symbol];
        told.push((u64::from(word.bits) | extra << word.count, u32::from(word.count) + extra_bits));
    }
    // In as few pieces as can be.
    let mut packed: Vec<(u64, u32)> = Vec::new();
    for (bits, count) in told {
        match packed.last_mut() {
            Some((before, so_far)) if *so_far + count <= 56 => {
                *before |= bits << *so_far;
                *so_far += count;
            }
            _ => packed.push((bits, count)),
        }
    }
    packed
}
