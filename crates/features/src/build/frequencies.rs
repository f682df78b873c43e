//! In how many pages each term is: counted in memory as long as there is room, then by sorting.
//!
//! Terms follow Zipf's law: most of what comes is there already, and only counted. When the table is full, all of it goes to a sorter of
//! texts and a new one is begun; what a term has in each of them is added up when the texts come out in order.
//!
//! ```text
//! text = term, 0, number of the table (32 bits), pages with the term in it (32 bits); great bytes first
//! ```

use std::collections::HashMap;

use crate::error::Result;
use crate::sort::Scratch;
use crate::sort::texts::{SortedTexts, TextSorter, TextStream};

/// What a term costs in the table, beside its text.
const ENTRY_BYTES: usize = 48;
/// What stands behind a term.
const TAIL_BYTES: usize = 9;

pub(super) struct TermCounter {
    table: HashMap<Box<str>, u32>,
    bytes: usize,
    bytes_max: usize,
    tables: u32,
    sorter: TextSorter,
    text: Vec<u8>,
}

impl TermCounter {
    /// Half of the memory is for the table, half for sorting.
    pub(super) fn new(scratch: &Scratch, memory: u64) -> TermCounter {
        TermCounter {
            table: HashMap::new(),
            bytes: 0,
            bytes_max: usize::try_from(memory / 2).unwrap_or(usize::MAX).max(1 << 14),
            tables: 0,
            sorter: TextSorter::new(scratch, "terms", memory / 2),
            text: Vec::new(),
        }
    }

    /// One page more has this term.
    pub(super) fn count(&mut self, term: &str) -> Result<()> {
        if let Some(count) = self.table.get_mut(term) {
            *count += 1;
            return Ok(());
        }
        if self.bytes >= self.bytes_max {
            self.empty_table()?;
        }
        self.bytes += term.len() + ENTRY_BYTES;
        self.table.insert(term.into(), 1);
        Ok(())
    }

    fn empty_table(&mut self) -> Result<()> {
        // In which order they come does not matter: the sorter sorts them.
        for (term, count) in self.table.drain() {
            self.text.clear();
            self.text.extend_from_slice(term.as_bytes());
            self.text.push(0);
            self.text.extend_from_slice(&self.tables.to_be_bytes());
            self.text.extend_from_slice(&count.to_be_bytes());
            self.sorter.push(&self.text)?;
        }
        self.tables += 1;
        self.bytes = 0;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Frequencies> {
        self.empty_table()?;
        Ok(Frequencies { texts: self.sorter.finish()? })
    }
}

/// All terms.
#[derive(Debug)]
pub(super) struct Frequencies {
    texts: SortedTexts,
}

impl Frequencies {
    /// From the first on.
    pub(super) fn stream(&self) -> Result<FrequencyStream<'_>> {
        let mut stream = FrequencyStream { texts: self.texts.stream()?, next: None, term: Vec::new() };
        stream.advance()?;
        Ok(stream)
    }
}

pub(super) struct FrequencyStream<'a> {
    texts: TextStream<'a>,
    /// What was read already, of the term that comes next.
    next: Option<(Vec<u8>, u64)>,
    term: Vec<u8>,
}

impl FrequencyStream<'_> {
    fn advance(&mut self) -> Result<()> {
        let mut spare = self.next.take().map_or_else(Vec::new, |(term, _)| term);
        if let Some(text) = self.texts.next()? {
            let (term, tail) = text.split_at(text.len() - TAIL_BYTES);
            let count = tail[5..].try_into().map(u32::from_be_bytes).expect("a count has four bytes");
            spare.clear();
            spare.extend_from_slice(term);
            self.next = Some((spare, u64::from(count)));
        }
        Ok(())
    }

    /// The next term, in the order of bytes, and in how many pages it is.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], u64)>> {
        let Some((term, mut sum)) = self.next.take() else { return Ok(None) };
        self.term = term;
        self.advance()?;
        while let Some((_, count)) = self.next.as_ref().filter(|(term, _)| *term == self.term) {
            sum += count;
            self.advance()?;
        }
        Ok(Some((&self.term, sum)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::{Files, Random, SimFiles};
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::path::Path;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn terms_are_counted_however_little_memory_there_is(
            terms in proptest::collection::vec("[a-d]{1,3}|[a-h\u{1}é]{1,5}", 0..4000),
            memory in prop_oneof![Just(0_u64), Just(1 << 22)],
        ) {
            let files = Files::simulated(SimFiles::new(Random::from_seed(7)));
            files.create_dir_all(Path::new("/scratch")).unwrap();
            let mut counter = TermCounter::new(&Scratch::new(&files, Path::new("/scratch")), memory);
            let mut model: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
            for term in &terms {
                counter.count(term).unwrap();
                *model.entry(term.clone().into_bytes()).or_default() += 1;
            }
            let tables = counter.tables;
            prop_assert!(memory > 0 || model.len() < 400 || tables > 0);
            let frequencies = counter.finish().unwrap();
            for _ in 0..2 {
                let mut stream = frequencies.stream().unwrap();
                let mut found = Vec::new();
                while let Some((term, count)) = stream.next().unwrap() {
                    found.push((term.to_vec(), count));
                }
                prop_assert_eq!(found, model.clone().into_iter().collect::<Vec<_>>());
            }
        }
    }
}
