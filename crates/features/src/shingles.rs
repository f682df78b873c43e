//! Shingleprints: which pages have nearly the same text.
//!
//! Filled by a build with the min-wise sketches of pages ([`Content`](crate::Content)), read by whoever looks for copies ([`Shingles`]).
//! After Broder (1997) and what AltaVista made of it: the resemblance of two texts is the share of their shingles, some words in a
//! row each, that are in both. A min-wise sketch has 64 numbers of a text; each is the same for two texts with a probability equal to their
//! resemblance, and all 64 are independent.
//!
//! **64 bytes a page.** Of each number one byte is kept (b-bit min-wise hashing, Li and König 2010). Different numbers have the same byte once in
//! 256 times, so of two texts with resemblance `s` a share of `s + (1 − s)/256` of the bytes agrees; [`Shingleprint::resemblance`]
//! solves that for `s`. Its error is that of 64 throws: 0.038 at 0.9, 0.05 at 0.8, 0.063 at 0.5 (standard deviation).
//!
//! **Super-shingles.** To find such pages among millions, the first 60 bytes are cut into 12 super-shingles of 5: a super-shingle is shared if all
//! its 5 bytes are. Pages that share two are candidates, and are compared byte by byte. How many are:
//!
//! | resemblance | 0.3 | 0.4 | 0.5 | 0.6 | 0.7 | 0.75 | 0.8 | 0.85 | 0.9 | 0.95 |
//! |---|---|---|---|---|---|---|---|---|---|---|
//! | two super-shingles shared | 0.000 | 0.007 | 0.054 | 0.243 | 0.629 | 0.820 | 0.943 | 0.991 | 1.000 | 1.000 |
//! | and 0.8 estimated | 0.000 | 0.000 | 0.000 | 0.000 | 0.031 | 0.160 | 0.481 | 0.848 | 0.990 | 1.000 |
//!
//! The **design threshold** is [`DESIGN_RESEMBLANCE`] = 0.9: of the pairs that are so alike 99 % are found if pairs with an estimate of
//! [`DESIGN_ESTIMATE`] = 0.8 are taken. Twelve of five were chosen because one word in a hundred costs eight shingles of a hundred, on each side:
//! with fewer and longer super-shingles (AltaVista had 6 of 14) pages with a date or a counter within their text would be lost. Pages that have nothing in
//! common share two once in 10²² pairs.
//!
//! Costs: 64 bytes a page and a bit a URL; one print is read in some microseconds.

use std::ops::Range;
use std::path::Path;

use mattock_env::Files;

use crate::error::Result;
use crate::output::Written;
use crate::records::{Magic, RecordScan, Records};

pub(crate) const MAGIC: Magic = *b"MTKSHIN1";

/// Numbers in a sketch, and bytes in a print.
pub const SKETCH_LENGTH: usize = 64;
/// Super-shingles of a print.
pub const SUPER_SHINGLES: usize = 12;
/// Bytes of a super-shingle.
const SUPER_BYTES: usize = 5;
/// Pages with this resemblance are found almost always: the design threshold.
pub const DESIGN_RESEMBLANCE: f64 = 0.9;
/// The estimate from which on two pages are taken for near-duplicates, if nothing else is said.
pub const DESIGN_ESTIMATE: f64 = 0.8;
/// How often different numbers have the same byte.
const CHANCE: f64 = 1.0 / 256.0;

/// What is kept of a page's sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shingleprint([u8; SKETCH_LENGTH]);

impl Shingleprint {
    /// Of a min-wise sketch; `None` if it has not [`SKETCH_LENGTH`] numbers.
    pub fn of_sketch(sketch: &[u64]) -> Option<Shingleprint> {
        let sketch: &[u64; SKETCH_LENGTH] = sketch.try_into().ok()?;
        // The least of many numbers begins with zeros; multiplied, all its bits have a say in the byte that is kept.
        Some(Shingleprint(sketch.map(|least| (least.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)))
    }

    /// Of the bytes of a print.
    pub fn from_bytes(bytes: [u8; SKETCH_LENGTH]) -> Shingleprint {
        Shingleprint(bytes)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; SKETCH_LENGTH] {
        &self.0
    }

    /// In how many places two prints agree.
    #[inline]
    pub fn agreeing(&self, other: &Shingleprint) -> usize {
        self.0.iter().zip(&other.0).filter(|(one, two)| one == two).count()
    }

    /// How alike two texts are, estimated: the share of all their shingles that both have, from 0 to 1.
    pub fn resemblance(&self, other: &Shingleprint) -> f64 {
        let share = self.agreeing(other) as f64 / SKETCH_LENGTH as f64;
        ((share - CHANCE) / (1.0 - CHANCE)).max(0.0)
    }

    /// The super-shingles. Those of two prints are compared place by place.
    pub fn super_shingles(&self) -> [u64; SUPER_SHINGLES] {
        std::array::from_fn(|place| {
            let bytes = &self.0[place * SUPER_BYTES..(place + 1) * SUPER_BYTES];
            bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
        })
    }

    /// How many super-shingles two prints share.
    pub fn shared_super_shingles(&self, other: &Shingleprint) -> usize {
        self.super_shingles().iter().zip(other.super_shingles()).filter(|(one, two)| **one == *two).count()
    }
}

/// How often two pages with this resemblance share two super-shingles or more.
pub fn candidate_probability(resemblance: f64) -> f64 {
    let shared = (resemblance + (1.0 - resemblance) * CHANCE).powi(SUPER_BYTES as i32);
    let count = SUPER_SHINGLES as i32;
    1.0 - (1.0 - shared).powi(count) - f64::from(count) * shared * (1.0 - shared).powi(count - 1)
}

/// The shingleprints of a generation: of every page with text.
#[derive(Debug)]
pub struct Shingles {
    records: Records,
}

impl Shingles {
    pub(crate) fn open(files: &Files, dir: &Path, written: &Written) -> Result<Shingles> {
        Ok(Shingles { records: Records::open(files, dir, written, MAGIC, SKETCH_LENGTH)? })
    }

    /// How many pages have one.
    pub fn len(&self) -> u64 {
        self.records.len()
    }

    /// Whether no page has one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The print of a page; `None` if it has none.
    pub fn print(&self, id: u64) -> Result<Option<Shingleprint>> {
        self.records.place(id).map(|place| self.at(place)).transpose()
    }

    /// The print at a place, which must be less than [`Shingles::len`]: prints are in the order of ids.
    pub fn at(&self, place: u64) -> Result<Shingleprint> {
        let mut bytes = [0; SKETCH_LENGTH];
        self.records.read(place, &mut bytes)?;
        Ok(Shingleprint(bytes))
    }

    /// The page whose print is at a place; `None` behind the last.
    pub fn id_at(&self, place: u64) -> Option<u64> {
        self.records.id_at(place)
    }

    /// The places of the prints of a range of ids.
    pub fn places(&self, ids: Range<u64>) -> Range<u64> {
        self.records.rank(ids.start)..self.records.rank(ids.end)
    }

    /// The prints at a range of places, in order.
    pub fn scan(&self, places: Range<u64>) -> ShingleScan<'_> {
        ShingleScan { scan: self.records.scan(places) }
    }

    /// Reads all of it, and whether it is as it was written.
    pub fn verify(&self) -> Result<()> {
        self.records.verify()
    }
}

/// Prints in the order of their pages' ids.
#[derive(Debug)]
pub struct ShingleScan<'a> {
    scan: RecordScan<'a>,
}

impl Iterator for ShingleScan<'_> {
    type Item = Result<(u64, Shingleprint)>;

    fn next(&mut self) -> Option<Result<(u64, Shingleprint)>> {
        let record = self.scan.next().transpose()?;
        Some(record.map(|(id, bytes)| {
            (id, Shingleprint(bytes.try_into().expect("records have the width that they were opened with")))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::Random;

    /// Two sketches that agree in each number with this probability.
    fn sketches(random: &mut Random, resemblance: f64) -> [Shingleprint; 2] {
        let one: Vec<u64> = (0..SKETCH_LENGTH).map(|_| random.next_u64() >> 10).collect();
        let limit = (resemblance * u64::MAX as f64) as u64;
        let changed = |number: &u64| match random.next_u64() <= limit {
            true => *number,
            false => random.next_u64() >> 10,
        };
        let two: Vec<u64> = one.iter().map(changed).collect();
        [one, two].map(|sketch| Shingleprint::of_sketch(&sketch).unwrap())
    }

    /// How often such a pair shares two super-shingles and has the estimate of the design, summed up over all cases.
    fn found_probability(resemblance: f64) -> f64 {
        let agree = resemblance + (1.0 - resemblance) * CHANCE;
        // By agreeing places and shared super-shingles, of which two are enough.
        let mut cases = vec![[0.0; 3]; SKETCH_LENGTH + 1];
        cases[0][0] = 1.0;
        let widths = [SUPER_BYTES; SUPER_SHINGLES].into_iter().chain([SKETCH_LENGTH % SUPER_BYTES]);
        for (number, width) in widths.enumerate() {
            let mut next = vec![[0.0; 3]; SKETCH_LENGTH + 1];
            for (agreeing, row) in cases.iter().enumerate() {
                for (shared, probability) in
                    row.iter().enumerate().filter(|(_, probability)| **probability > 0.0)
                {
                    for more in 0..=width {
                        let ways =
                            (0..more).fold(1.0, |ways, at| ways * (width - at) as f64 / (at + 1) as f64);
                        let chance =
                            ways * agree.powi(more as i32) * (1.0 - agree).powi((width - more) as i32);
                        let whole = usize::from(more == width && number < SUPER_SHINGLES);
                        next[agreeing + more][(shared + whole).min(2)] += probability * chance;
                    }
                }
            }
            cases = next;
        }
        let enough = |agreeing: usize| {
            (agreeing as f64 / SKETCH_LENGTH as f64 - CHANCE) / (1.0 - CHANCE) >= DESIGN_ESTIMATE
        };
        cases.iter().enumerate().filter(|(agreeing, _)| enough(*agreeing)).map(|(_, row)| row[2]).sum()
    }

    /// The table in the module's documentation.
    #[test]
    fn the_curve_is_as_it_is_told() {
        let told = [
            (0.3, [0.000, 0.000]),
            (0.4, [0.007, 0.000]),
            (0.5, [0.054, 0.000]),
            (0.6, [0.243, 0.000]),
            (0.7, [0.629, 0.031]),
            (0.75, [0.820, 0.160]),
            (0.8, [0.943, 0.481]),
            (0.85, [0.991, 0.848]),
            (0.9, [1.000, 0.990]),
            (0.95, [1.000, 1.000]),
        ];
        assert!(found_probability(DESIGN_RESEMBLANCE) > 0.99);
        for (resemblance, told) in told {
            let found = [candidate_probability(resemblance), found_probability(resemblance)];
            for (found, told) in found.iter().zip(told) {
                assert!((found - told).abs() <= 0.000_51, "{resemblance}: {found}");
            }
        }
    }

    #[test]
    fn estimates_and_candidates_are_as_frequent_as_the_curve_says() {
        const PAIRS: usize = 4000;
        let mut random = Random::from_seed(3);
        for resemblance in [0.0, 0.5, 0.7, 0.8, 0.85, 0.9, 1.0] {
            let pairs: Vec<_> = (0..PAIRS).map(|_| sketches(&mut random, resemblance)).collect();
            let estimates = pairs.iter().map(|[one, two]| one.resemblance(two));
            let mean = estimates.clone().sum::<f64>() / PAIRS as f64;
            assert!((mean - resemblance).abs() < 0.005, "{resemblance}: {mean}");
            let candidates = pairs.iter().filter(|[one, two]| one.shared_super_shingles(two) >= 2);
            let share = candidates.clone().count() as f64 / PAIRS as f64;
            assert!((share - candidate_probability(resemblance)).abs() < 0.025, "{resemblance}: {share}");
            let found = candidates.filter(|[one, two]| one.resemblance(two) >= DESIGN_ESTIMATE).count();
            let share = found as f64 / PAIRS as f64;
            assert!((share - found_probability(resemblance)).abs() < 0.025, "{resemblance}: {share}");
        }
    }

    #[test]
    fn other_lengths_are_no_sketches() {
        assert_eq!(Shingleprint::of_sketch(&[]), None);
        assert_eq!(Shingleprint::of_sketch(&[1; 63]), None);
        let print = Shingleprint::of_sketch(&[1; 64]).unwrap();
        assert_eq!((print.agreeing(&print), print.shared_super_shingles(&print)), (64, 12));
        assert_eq!(Shingleprint::from_bytes(*print.as_bytes()), print);
    }
}
