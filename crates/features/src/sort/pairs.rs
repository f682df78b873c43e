//! Pairs of numbers, sorted by both.
//!
//! In memory they are sorted by digits, least significant byte first, leaving out the bytes in which all pairs agree: of
//! ids of a few million URLs three bytes are left. On disk a run has the first number as difference to the one before, both as varints.

use mattock_codec::{Reader, put_varint};

use super::merge::{Merge, Source};
use super::run::{BLOCK_BYTES, Run, RunReader, RunWriter};
use super::{RUNS_MAX, Scratch};
use crate::error::{FeaturesError, Result};

/// Two numbers.
pub type Pair = (u64, u64);

/// Takes pairs of numbers in any order, more than fit into memory, and gives them back sorted by both.
#[derive(Debug)]
pub struct PairSorter {
    scratch: Scratch,
    name: &'static str,
    capacity: usize,
    pairs: Vec<Pair>,
    spare: Vec<Pair>,
    runs: Vec<Run>,
    number: u64,
    len: u64,
}

impl PairSorter {
    /// One that takes `memory` bytes, half of them for sorting. The names of its runs begin with `name`.
    pub fn new(scratch: &Scratch, name: &'static str, memory: u64) -> PairSorter {
        let capacity = usize::try_from(memory / 2 / size_of::<Pair>() as u64).unwrap_or(usize::MAX).max(1024);
        let (pairs, spare, runs) = (Vec::new(), Vec::new(), Vec::new());
        PairSorter { scratch: scratch.clone(), name, capacity, pairs, spare, runs, number: 0, len: 0 }
    }

    /// Takes a pair.
    pub fn push(&mut self, pair: Pair) -> Result<()> {
        if self.pairs.len() >= self.capacity {
            self.spill()?;
        }
        self.pairs.push(pair);
        self.len += 1;
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        sort_pairs(&mut self.pairs, &mut self.spare);
        let mut writer = PairRunWriter::new(self.create_run()?);
        for pair in &self.pairs {
            writer.put(*pair)?;
        }
        self.pairs.clear();
        self.runs.push(writer.finish()?);
        if self.runs.len() >= RUNS_MAX {
            let all = std::mem::take(&mut self.runs);
            let mut stream = PairStream::of_runs(&all)?;
            let mut writer = PairRunWriter::new(self.create_run()?);
            while let Some(pair) = stream.next()? {
                writer.put(pair)?;
            }
            self.runs.push(writer.finish()?);
        }
        Ok(())
    }

    fn create_run(&mut self) -> Result<RunWriter> {
        self.number += 1;
        RunWriter::create(&self.scratch, self.name, self.number)
    }

    /// Ends the filling. If there are runs, nothing stays in memory.
    pub fn finish(mut self) -> Result<SortedPairs> {
        if self.runs.is_empty() {
            sort_pairs(&mut self.pairs, &mut self.spare);
        } else if !self.pairs.is_empty() {
            self.spill()?;
        }
        let pairs = if self.runs.is_empty() { self.pairs } else { Vec::new() };
        Ok(SortedPairs { pairs, runs: self.runs, len: self.len })
    }
}

/// All pairs, sorted.
#[derive(Debug)]
pub struct SortedPairs {
    pairs: Vec<Pair>,
    runs: Vec<Run>,
    len: u64,
}

impl SortedPairs {
    /// How many there are, equal ones as often as they were pushed.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// From the first on.
    pub fn stream(&self) -> Result<PairStream<'_>> {
        match self.runs.is_empty() {
            true => Ok(PairStream { memory: self.pairs.iter(), merge: None }),
            false => PairStream::of_runs(&self.runs),
        }
    }
}

/// Pairs, one after the other.
#[derive(Debug)]
pub struct PairStream<'a> {
    memory: std::slice::Iter<'a, Pair>,
    merge: Option<Merge<PairRunReader>>,
}

impl PairStream<'_> {
    fn of_runs(runs: &[Run]) -> Result<PairStream<'static>> {
        let readers = runs.iter().map(PairRunReader::open).collect::<Result<Vec<_>>>()?;
        Ok(PairStream { memory: [].iter(), merge: Some(Merge::new(readers)) })
    }

    /// The next pair, equal ones as often as they were pushed.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "a failure ends it, which an iterator cannot say")]
    pub fn next(&mut self) -> Result<Option<Pair>> {
        let Some(merge) = &mut self.merge else { return Ok(self.memory.next().copied()) };
        let pair = merge.least().and_then(|reader| reader.head);
        if pair.is_some() {
            merge.advance()?;
        }
        Ok(pair)
    }
}

struct PairRunWriter {
    writer: RunWriter,
    block: Vec<u8>,
    before: u64,
}

impl PairRunWriter {
    fn new(writer: RunWriter) -> PairRunWriter {
        PairRunWriter { writer, block: Vec::with_capacity(BLOCK_BYTES + 20), before: 0 }
    }

    #[inline]
    fn put(&mut self, (first, second): Pair) -> Result<()> {
        put_varint(&mut self.block, first - self.before);
        put_varint(&mut self.block, second);
        self.before = first;
        if self.block.len() >= BLOCK_BYTES { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<()> {
        self.writer.put(&self.block)?;
        self.block.clear();
        self.before = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<Run> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        self.writer.finish()
    }
}

#[derive(Debug)]
struct PairRunReader {
    reader: RunReader,
    block: Vec<u8>,
    at: usize,
    head: Option<Pair>,
}

impl PairRunReader {
    fn open(run: &Run) -> Result<PairRunReader> {
        let mut reader =
            PairRunReader { reader: RunReader::open(run)?, block: Vec::new(), at: 0, head: None };
        reader.advance()?;
        Ok(reader)
    }
}

impl Source for PairRunReader {
    #[inline]
    fn before(&self, other: &PairRunReader) -> bool {
        match (self.head, other.head) {
            (Some(one), Some(two)) => one < two,
            (one, two) => one.is_some() && two.is_none(),
        }
    }

    fn is_done(&self) -> bool {
        self.head.is_none()
    }

    #[inline]
    fn advance(&mut self) -> Result<()> {
        let mut before = self.head.map_or(0, |head| head.0);
        if self.at >= self.block.len() {
            self.at = 0;
            before = 0;
            if !self.reader.next(&mut self.block)? {
                self.head = None;
                return Ok(());
            }
        }
        let mut bytes = Reader::from_place(&self.block, self.at);
        let pair = bytes.varint().zip(bytes.varint());
        let (first, second) = pair.ok_or_else(|| {
            FeaturesError::damaged(self.reader.path(), self.reader.at(), "a block ends within a pair")
        })?;
        self.at = bytes.at();
        self.head = Some((before.wrapping_add(first), second));
        Ok(())
    }
}

/// Sorts by both numbers, in time linear in the pairs and in the bytes in which they differ.
pub(crate) fn sort_pairs(pairs: &mut Vec<Pair>, spare: &mut Vec<Pair>) {
    if pairs.len() < 4096 {
        pairs.sort_unstable();
        return;
    }
    let first = pairs[0];
    let (mut one, mut two) = (0, 0);
    for pair in pairs.iter() {
        one |= pair.0 ^ first.0;
        two |= pair.1 ^ first.1;
    }
    spare.clear();
    spare.resize(pairs.len(), (0, 0));
    for shift in (0..64).step_by(8).filter(|shift| two >> shift & 0xff != 0) {
        sort_by_digit(pairs, spare, |pair| (pair.1 >> shift) as usize & 0xff);
        std::mem::swap(pairs, spare);
    }
    for shift in (0..64).step_by(8).filter(|shift| one >> shift & 0xff != 0) {
        sort_by_digit(pairs, spare, |pair| (pair.0 >> shift) as usize & 0xff);
        std::mem::swap(pairs, spare);
    }
}

#[inline]
fn sort_by_digit(from: &[Pair], to: &mut [Pair], digit: impl Fn(&Pair) -> usize) {
    let mut places = [0_usize; 256];
    for pair in from {
        places[digit(pair)] += 1;
    }
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    for pair in from {
        let place = &mut places[digit(pair)];
        to[*place] = *pair;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::{Files, Random, SimFiles};
    use proptest::prelude::*;
    use std::path::Path;

    fn scratch() -> Scratch {
        let files = Files::simulated(SimFiles::new(Random::from_seed(7)));
        files.create_dir_all(Path::new("/scratch")).unwrap();
        Scratch::new(&files, Path::new("/scratch"))
    }

    #[test]
    fn many_runs_are_merged_in_steps() {
        let scratch = scratch();
        let mut random = Random::from_seed(3);
        let mut sorter = PairSorter::new(&scratch, "many", 0);
        let mut all: Vec<Pair> =
            (0..300_000).map(|_| (random.next_u64() >> 40, random.next_u64() >> 60)).collect();
        for pair in &all {
            sorter.push(*pair).unwrap();
        }
        let sorted = sorter.finish().unwrap();
        assert!(sorted.runs.len() > 1 && sorted.runs.len() < RUNS_MAX);
        all.sort_unstable();
        for _ in 0..2 {
            let mut stream = sorted.stream().unwrap();
            for pair in &all {
                assert_eq!(stream.next().unwrap(), Some(*pair));
            }
            assert_eq!(stream.next().unwrap(), None);
        }
        drop(sorted);
        assert_eq!(scratch.files.list(&scratch.dir).unwrap(), []);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn digits_sort_like_comparisons(seed: u64, shift in 0_u32..60, count in 0_usize..9000) {
            let mut random = Random::from_seed(seed);
            let mut pairs: Vec<Pair> = (0..count).map(|_| (random.next_u64() >> shift, random.next_u64())).collect();
            let mut model = pairs.clone();
            model.sort_unstable();
            sort_pairs(&mut pairs, &mut Vec::new());
            prop_assert_eq!(pairs, model);
        }
    }
}
