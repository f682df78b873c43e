//! The vocabulary: terms by number and numbers by term, with the pages that each is in. See the [module](super) for the form of the file.

use std::cmp::Ordering;
use std::path::Path;

use mattock_codec::{Reader, put_counted, put_varint};
use mattock_env::Files;

use crate::error::{FeaturesError, Result};
use crate::output::{Output, Written, read_whole};
use crate::sort::texts::shared_len;

const MAGIC: [u8; 8] = *b"MTKVOCA1";
/// Every so manieth term is whole, so that a search can begin there.
const BLOCK_TERMS: u32 = 16;
/// Terms that 24 bits can number.
pub(crate) const TERMS_MAX: u64 = 1 << 24;
/// Magic, pages, terms.
const HEAD_BYTES: usize = 8 + 8 + 4;

pub(crate) struct VocabularyWriter {
    output: Output,
    before: Vec<u8>,
    entry: Vec<u8>,
    terms: u32,
    count: u32,
}

impl VocabularyWriter {
    /// For `terms` terms of `pages` pages.
    pub(crate) fn create(files: &Files, path: &Path, pages: u64, terms: u32) -> Result<VocabularyWriter> {
        let output = Output::create(files, path)?;
        output.put(&MAGIC)?;
        output.put(&pages.to_le_bytes())?;
        output.put(&terms.to_le_bytes())?;
        Ok(VocabularyWriter { output, before: Vec::new(), entry: Vec::new(), terms, count: 0 })
    }

    /// Appends a term, which must be greater than all before; its number.
    pub(crate) fn push(&mut self, term: &[u8], documents: u64) -> Result<u32> {
        debug_assert!(self.count == 0 || term > self.before.as_slice(), "terms come in order");
        let is_whole = self.count.is_multiple_of(BLOCK_TERMS);
        let shared = if is_whole { 0 } else { shared_len(&self.before, term) };
        self.entry.clear();
        put_varint(&mut self.entry, shared as u64);
        put_counted(&mut self.entry, &term[shared..]);
        put_varint(&mut self.entry, documents);
        self.output.put(&self.entry)?;
        self.before.truncate(shared);
        self.before.extend_from_slice(&term[shared..]);
        self.count += 1;
        Ok(self.count - 1)
    }

    pub(crate) fn finish(self) -> Result<Written> {
        debug_assert!(self.count == self.terms, "as many terms came as were announced");
        self.output.finish()
    }
}

/// The terms of a generation, in the order of their bytes.
#[derive(Debug)]
pub struct Vocabulary {
    bytes: Vec<u8>,
    pages: u64,
    count: u32,
    /// Where each block begins.
    blocks: Vec<u32>,
}

impl Vocabulary {
    pub(crate) fn open(files: &Files, dir: &Path, written: &Written) -> Result<Vocabulary> {
        let bytes = read_whole(files, dir, written)?;
        let path = dir.join(&written.name);
        match bytes.first_chunk::<8>() {
            Some(magic) if *magic == MAGIC => {}
            Some(magic) if magic[..7] == MAGIC[..7] => {
                return Err(FeaturesError::Version { path, version: char::from(magic[7]).into() });
            }
            _ => return Err(FeaturesError::damaged(&path, 0, "it is no vocabulary")),
        }
        Vocabulary::decode(bytes).ok_or_else(|| FeaturesError::damaged(&path, 8, "the terms make no sense"))
    }

    /// Walks over all terms, so that none that makes no sense is met later.
    fn decode(bytes: Vec<u8>) -> Option<Vocabulary> {
        let mut head = Reader::from_place(&bytes, MAGIC.len());
        let (pages, count) = (head.u64()?, head.u32()?);
        let mut blocks = Vec::with_capacity(count.div_ceil(BLOCK_TERMS) as usize);
        let mut entries = Entries::new(&bytes, HEAD_BYTES);
        for number in 0..count {
            if number.is_multiple_of(BLOCK_TERMS) {
                blocks.push(u32::try_from(entries.reader.at()).ok()?);
            }
            entries.advance()?;
            std::str::from_utf8(&entries.term).ok()?;
        }
        entries.reader.is_empty().then_some(())?;
        Some(Vocabulary { pages, count, blocks, bytes })
    }

    /// How many terms there are.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Pages that have terms: what the pages with one term are compared with.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// A term and the number of pages that have it; `None` if there is no such number.
    pub fn term(&self, number: u32) -> Option<(String, u64)> {
        if number >= self.count {
            return None;
        }
        let mut entries = self.block((number / BLOCK_TERMS) as usize);
        let mut documents = 0;
        for _ in 0..=number % BLOCK_TERMS {
            documents = entries.advance()?;
        }
        Some((String::from_utf8(entries.term).ok()?, documents))
    }

    /// The number of a term; `None` if it is not there.
    pub fn find(&self, term: &str) -> Option<u32> {
        let first_of = |block: usize| {
            let mut entries = self.block(block);
            entries.advance().map(|_| entries.term)
        };
        let (mut low, mut high) = (0, self.blocks.len());
        while low < high {
            let middle = low.midpoint(high);
            match first_of(middle)?.as_slice() <= term.as_bytes() {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let block = low.checked_sub(1)?;
        let mut entries = self.block(block);
        let first = block as u32 * BLOCK_TERMS;
        for number in first..(first + BLOCK_TERMS).min(self.count) {
            entries.advance()?;
            match entries.term.as_slice().cmp(term.as_bytes()) {
                Ordering::Less => {}
                Ordering::Equal => return Some(number),
                Ordering::Greater => return None,
            }
        }
        None
    }

    fn block(&self, block: usize) -> Entries<'_> {
        Entries::new(&self.bytes, self.blocks[block] as usize)
    }
}

/// Terms one after the other.
struct Entries<'a> {
    reader: Reader<'a>,
    term: Vec<u8>,
}

impl<'a> Entries<'a> {
    fn new(bytes: &'a [u8], at: usize) -> Entries<'a> {
        Entries { reader: Reader::from_place(bytes, at), term: Vec::new() }
    }

    /// On to the next term; the pages that have it.
    fn advance(&mut self) -> Option<u64> {
        let shared = usize::try_from(self.reader.varint()?).ok()?;
        let rest = self.reader.counted()?;
        if shared > self.term.len() {
            return None;
        }
        self.term.truncate(shared);
        self.term.extend_from_slice(rest);
        self.reader.varint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::{Random, SimFiles};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn terms_and_numbers_lead_to_each_other(
            model in proptest::collection::btree_map("[a-cé]{1,6}", 2_u64..90_000, 0..200),
            absent in "[a-dé]{0,6}",
        ) {
            let files = Files::simulated(SimFiles::new(Random::from_seed(7)));
            files.create_dir_all(Path::new("/dir")).unwrap();
            let path = Path::new("/dir/vocabulary");
            let mut writer = VocabularyWriter::create(&files, path, 77, model.len() as u32).unwrap();
            for (term, documents) in &model {
                writer.push(term.as_bytes(), *documents).unwrap();
            }
            let written = writer.finish().unwrap();
            let vocabulary = Vocabulary::open(&files, Path::new("/dir"), &written).unwrap();
            prop_assert_eq!((vocabulary.len() as usize, vocabulary.pages()), (model.len(), 77));
            for (number, (term, documents)) in (0..).zip(&model) {
                prop_assert_eq!(vocabulary.term(number), Some((term.clone(), *documents)));
                prop_assert_eq!(vocabulary.find(term), Some(number));
            }
            prop_assert_eq!(vocabulary.term(vocabulary.len()), None);
            prop_assert_eq!(vocabulary.find(&absent).is_some(), model.contains_key(&absent));
        }
    }

    #[test]
    fn other_versions_are_told() {
        let files = Files::simulated(SimFiles::new(Random::from_seed(7)));
        files.create_dir_all(Path::new("/dir")).unwrap();
        let output = Output::create(&files, Path::new("/dir/vocabulary")).unwrap();
        output.put(b"MTKVOCA2 and more").unwrap();
        let written = output.finish().unwrap();
        let error = Vocabulary::open(&files, Path::new("/dir"), &written).unwrap_err().to_string();
        assert!(error.contains("has version \"2\", which this program does not know"), "{error}");
    }
}
