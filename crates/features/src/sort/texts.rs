//! Texts, sorted by their bytes, each once.
//!
//! In memory they lie one after the other in one buffer and are sorted by the first eight bytes, then by all. On disk a run has each text as
//! the length that it shares with the one before, and the rest.

use mattock_codec::{Reader, put_counted, put_varint};

use super::merge::{Merge, Source};
use super::run::{BLOCK_BYTES, Run, RunReader, RunWriter};
use super::{RUNS_MAX, Scratch};
use crate::error::{FeaturesError, Result};

/// Takes texts in any order.
#[derive(Debug)]
pub(crate) struct TextSorter {
    scratch: Scratch,
    name: &'static str,
    bytes_max: usize,
    bytes: Vec<u8>,
    /// The first bytes as a number, where it begins, its length.
    texts: Vec<(u64, u32, u32)>,
    runs: Vec<Run>,
    number: u64,
}

impl TextSorter {
    /// One that takes `memory` bytes.
    pub(crate) fn new(scratch: &Scratch, name: &'static str, memory: u64) -> TextSorter {
        // Places are 32 bits wide; a vector that grows has been half as large before.
        let bytes_max = usize::try_from(memory.min(u64::from(u32::MAX) / 2)).unwrap_or(usize::MAX).max(4096);
        let (bytes, texts, runs) = (Vec::new(), Vec::new(), Vec::new());
        TextSorter { scratch: scratch.clone(), name, bytes_max, bytes, texts, runs, number: 0 }
    }

    pub(crate) fn push(&mut self, text: &[u8]) -> Result<()> {
        let used = self.bytes.len() + text.len() + (self.texts.len() + 1) * size_of::<(u64, u32, u32)>();
        if used > self.bytes_max && !self.texts.is_empty() {
            self.spill()?;
        }
        let at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text);
        self.texts.push((first_bytes(text), at, text.len() as u32));
        Ok(())
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.texts.sort_unstable_by(|one, two| {
            one.0.cmp(&two.0).then_with(|| text_of(bytes, one).cmp(text_of(bytes, two)))
        });
        self.texts.dedup_by(|one, two| one.0 == two.0 && text_of(bytes, one) == text_of(bytes, two));
    }

    fn spill(&mut self) -> Result<()> {
        self.sort();
        let mut writer = TextRunWriter::new(self.create_run()?);
        for text in &self.texts {
            writer.put(text_of(&self.bytes, text))?;
        }
        self.runs.push(writer.finish()?);
        self.texts.clear();
        self.bytes.clear();
        if self.runs.len() >= RUNS_MAX {
            let all = std::mem::take(&mut self.runs);
            let mut stream = TextStream::of_runs(&all)?;
            let mut writer = TextRunWriter::new(self.create_run()?);
            while let Some(text) = stream.next()? {
                writer.put(text)?;
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
    pub(crate) fn finish(mut self) -> Result<SortedTexts> {
        if self.runs.is_empty() {
            self.sort();
        } else {
            self.spill()?;
            (self.bytes, self.texts) = (Vec::new(), Vec::new());
        }
        Ok(SortedTexts { bytes: self.bytes, texts: self.texts, runs: self.runs })
    }
}

fn first_bytes(text: &[u8]) -> u64 {
    let mut first = [0; 8];
    let len = text.len().min(8);
    first[..len].copy_from_slice(&text[..len]);
    u64::from_be_bytes(first)
}

fn text_of<'a>(bytes: &'a [u8], text: &(u64, u32, u32)) -> &'a [u8] {
    &bytes[text.1 as usize..][..text.2 as usize]
}

/// All texts, sorted, each once.
#[derive(Debug)]
pub(crate) struct SortedTexts {
    bytes: Vec<u8>,
    texts: Vec<(u64, u32, u32)>,
    runs: Vec<Run>,
}

impl SortedTexts {
    /// From the first on.
    pub(crate) fn stream(&self) -> Result<TextStream<'_>> {
        match self.runs.is_empty() {
            true => Ok(TextStream { sorted: Some(self), next: 0, merge: None, last: None }),
            false => TextStream::of_runs(&self.runs),
        }
    }
}

#[derive(Debug)]
pub(crate) struct TextStream<'a> {
    sorted: Option<&'a SortedTexts>,
    next: usize,
    merge: Option<Merge<TextRunReader>>,
    last: Option<Vec<u8>>,
}

impl TextStream<'_> {
    fn of_runs(runs: &[Run]) -> Result<TextStream<'static>> {
        let readers = runs.iter().map(TextRunReader::open).collect::<Result<Vec<_>>>()?;
        Ok(TextStream { sorted: None, next: 0, merge: Some(Merge::new(readers)), last: None })
    }

    /// The next text.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>> {
        if let Some(sorted) = self.sorted {
            self.next += 1;
            return Ok(sorted.texts.get(self.next - 1).map(|text| text_of(&sorted.bytes, text)));
        }
        let Some(merge) = &mut self.merge else { return Ok(None) };
        while let Some(reader) = merge.least() {
            let is_new = self.last.as_ref() != Some(&reader.text);
            if is_new {
                let last = self.last.get_or_insert_default();
                last.clear();
                last.extend_from_slice(&reader.text);
            }
            merge.advance()?;
            if is_new {
                return Ok(self.last.as_deref());
            }
        }
        Ok(None)
    }
}

struct TextRunWriter {
    writer: RunWriter,
    block: Vec<u8>,
    before: Vec<u8>,
}

impl TextRunWriter {
    fn new(writer: RunWriter) -> TextRunWriter {
        TextRunWriter { writer, block: Vec::with_capacity(BLOCK_BYTES), before: Vec::new() }
    }

    fn put(&mut self, text: &[u8]) -> Result<()> {
        let shared = shared_len(&self.before, text);
        put_varint(&mut self.block, shared as u64);
        put_counted(&mut self.block, &text[shared..]);
        self.before.truncate(shared);
        self.before.extend_from_slice(&text[shared..]);
        if self.block.len() >= BLOCK_BYTES { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<()> {
        self.writer.put(&self.block)?;
        self.block.clear();
        self.before.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<Run> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        self.writer.finish()
    }
}

/// Bytes that two texts have in common at their beginning.
pub(crate) fn shared_len(one: &[u8], two: &[u8]) -> usize {
    one.iter().zip(two).take_while(|(one, two)| one == two).count()
}

#[derive(Debug)]
struct TextRunReader {
    reader: RunReader,
    block: Vec<u8>,
    at: usize,
    text: Vec<u8>,
    done: bool,
}

impl TextRunReader {
    fn open(run: &Run) -> Result<TextRunReader> {
        let (block, text) = (Vec::new(), Vec::new());
        let mut reader = TextRunReader { reader: RunReader::open(run)?, block, at: 0, text, done: false };
        reader.advance()?;
        Ok(reader)
    }
}

impl Source for TextRunReader {
    fn before(&self, other: &TextRunReader) -> bool {
        match (self.done, other.done) {
            (false, false) => self.text < other.text,
            (done, other_done) => !done && other_done,
        }
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn advance(&mut self) -> Result<()> {
        if self.at >= self.block.len() {
            self.at = 0;
            self.text.clear();
            if !self.reader.next(&mut self.block)? {
                self.done = true;
                return Ok(());
            }
        }
        let mut bytes = Reader::from_place(&self.block, self.at);
        let entry =
            bytes.varint().zip(bytes.counted()).filter(|(shared, _)| *shared <= self.text.len() as u64);
        let (shared, rest) = entry.ok_or_else(|| {
            FeaturesError::damaged(self.reader.path(), self.reader.at(), "a block ends within a text")
        })?;
        self.text.truncate(shared as usize);
        self.text.extend_from_slice(rest);
        self.at = bytes.at();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::{Files, Random, SimFiles};
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn texts_come_out_once_and_sorted(
            texts in proptest::collection::vec("[ab]{0,12}|[a-c/]{0,40}", 0..1500),
            memory in 0_u64..60_000,
        ) {
            let files = Files::simulated(SimFiles::new(Random::from_seed(7)));
            files.create_dir_all(Path::new("/scratch")).unwrap();
            let mut sorter = TextSorter::new(&Scratch::new(&files, Path::new("/scratch")), "texts", memory);
            for text in &texts {
                sorter.push(text.as_bytes()).unwrap();
            }
            let sorted = sorter.finish().unwrap();
            let mut stream = sorted.stream().unwrap();
            let mut found = Vec::new();
            while let Some(text) = stream.next().unwrap() {
                found.push(String::from_utf8(text.to_vec()).unwrap());
            }
            let model: Vec<String> = texts.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
            prop_assert_eq!(found, model);
        }
    }
}
