//! What pages say: from terms and sketches in any order to the content databases.
//!
//! Filled by [`Builder::content`](super::Builder::content); emptied when ids are known.
//!
//! 1. A page's content goes to a sorter under the page's fingerprint: its print, and its terms with their counts. Meanwhile
//!    the pages of each term are [counted](super::frequencies).
//! 2. The terms come out in order, each with its pages. Those of the middle become the vocabulary; a map from their hashes to numbers and pages stays in
//!    memory.
//! 3. Contents and ids, both by fingerprint, are joined. The best terms of each page are chosen, and what is left of the page, 200 bytes, goes to a
//!    sorter under the id.
//! 4. By id, vectors and prints are written.
//!
//! Costs: a content is about 2 KB and is sorted once; the sorters' shares of the memory are given, the map takes [`MAPPED_BYTES`] a term. A term that is
//! in no vocabulary but has the hash of one that is (once in a million million terms) counts as that one.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use mattock_codec::{Reader, put_counted, put_varint};
use mattock_weburl::Fingerprint;

use super::frequencies::{Frequencies, TermCounter};
use super::joined::Ids;
use super::{Progress, Stage, Steps};
use crate::error::Result;
use crate::generation::{ContentFiles, Counts, Site};
use crate::output::Written;
use crate::records::RecordWriter;
use crate::shingles::{self, SKETCH_LENGTH, Shingleprint};
use crate::sort::Scratch;
use crate::sort::pairs::SortedPairs;
use crate::sort::texts::{SortedTexts, TextSorter, shared_len};
use crate::terms::{self, TERMS_MAX, TermVector, VECTOR_BYTES, VocabularyWriter, Weighed};

/// What a page says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Content<'a> {
    /// Its terms, and how often each occurs. The 256 most frequent are taken; texts that are empty, longer than 64 bytes
    /// or have a zero byte are none.
    pub terms: &'a [(&'a str, u32)],
    /// Its min-wise sketch: 64 numbers, or nothing.
    pub sketch: &'a [u64],
}

/// Terms of a page that are looked at.
const PAGE_TERMS_MAX: usize = 256;
/// Longer ones are no terms.
const TERM_BYTES_MAX: usize = 64;
/// A term of a greater share of the pages tells nothing.
const DOCUMENTS_SHARE_MAX: f64 = 0.9;
/// Terms are in so many pages at least.
const DOCUMENTS_MIN: u64 = 2;
/// What the map has of a term, at most.
const MAPPED_BYTES: u64 = 40;
/// However little memory there is, the vocabulary may have so many terms.
const TERMS_ALWAYS: u64 = 1 << 16;

/// Contents that are being taken.
pub(super) struct Contents {
    sorter: TextSorter,
    counter: TermCounter,
    /// Pages that have terms.
    pages: u64,
    has_any: bool,
    record: Vec<u8>,
}

impl Contents {
    pub(super) fn new(scratch: &Scratch, memory: u64) -> Contents {
        Contents {
            sorter: TextSorter::new(scratch, "contents", memory / 2),
            counter: TermCounter::new(scratch, memory / 2),
            pages: 0,
            has_any: false,
            record: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, fingerprint: u64, content: &Content<'_>) -> Result<()> {
        let terms = terms_of(content.terms);
        let print = Shingleprint::of_sketch(content.sketch);
        if terms.is_empty() && print.is_none() {
            return Ok(());
        }
        self.has_any = true;
        self.pages += u64::from(!terms.is_empty());
        self.record.clear();
        self.record.extend_from_slice(&fingerprint.to_be_bytes());
        put_print(&mut self.record, print.as_ref());
        let mut before = "";
        for (term, count) in terms {
            let shared = shared_len(before.as_bytes(), term.as_bytes());
            put_varint(&mut self.record, shared as u64);
            put_counted(&mut self.record, &term.as_bytes()[shared..]);
            put_varint(&mut self.record, u64::from(count));
            self.counter.count(term)?;
            before = term;
        }
        self.sorter.push(&self.record)
    }

    /// Whether any page said anything.
    pub(super) fn has_any(&self) -> bool {
        self.has_any
    }

    pub(super) fn finish(self) -> Result<SortedContents> {
        let (contents, frequencies) = (self.sorter.finish()?, self.counter.finish()?);
        Ok(SortedContents { contents, frequencies, pages: self.pages })
    }
}

/// The terms that count, sorted, each once.
fn terms_of<'a>(given: &[(&'a str, u32)]) -> Vec<(&'a str, u32)> {
    let is_term = |text: &str| (1..=TERM_BYTES_MAX).contains(&text.len()) && !text.as_bytes().contains(&0);
    let mut terms: Vec<_> =
        given.iter().copied().filter(|(text, count)| *count > 0 && is_term(text)).collect();
    terms.sort_unstable();
    terms.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = kept.1.saturating_add(next.1);
        }
        same
    });
    if terms.len() > PAGE_TERMS_MAX {
        terms.sort_unstable_by(|one, two| two.1.cmp(&one.1).then_with(|| one.0.cmp(two.0)));
        terms.truncate(PAGE_TERMS_MAX);
        terms.sort_unstable();
    }
    terms
}

fn put_print(record: &mut Vec<u8>, print: Option<&Shingleprint>) {
    record.push(u8::from(print.is_some()));
    if let Some(print) = print {
        record.extend_from_slice(print.as_bytes());
    }
}

/// What [`put_print`] has put.
fn take_print<'a>(reader: &mut Reader<'a>) -> Option<Option<&'a [u8]>> {
    match reader.take(1)? {
        [0] => Some(None),
        _ => reader.take(SKETCH_LENGTH).map(Some),
    }
}

/// Contents by fingerprint, and the pages of each term.
pub(super) struct SortedContents {
    contents: SortedTexts,
    frequencies: Frequencies,
    pages: u64,
}

impl SortedContents {
    /// Writes the content databases. `memory` is for the map of terms, and as much again for sorting.
    pub(super) fn write(
        self,
        site: &Site,
        scratch: &Scratch,
        ids: &SortedPairs,
        memory: u64,
        counts: &mut Counts,
        report: &mut dyn FnMut(Progress),
    ) -> Result<ContentFiles> {
        let mut steps = Steps::new(report, Stage::Contents, Some(self.pages));
        let (known, vocabulary) = write_vocabulary(site, &self.frequencies, self.pages, memory)?;
        counts.terms = known.numbers.len() as u64;
        drop(self.frequencies);
        let mut by_id = TextSorter::new(scratch, "pages-by-id", memory);
        let (mut stream, mut ids, mut last) = (self.contents.stream()?, Ids::new(ids)?, None);
        let (mut record, mut weighed) = (Vec::new(), Vec::new());
        while let Some(content) = stream.next()? {
            let mut reader = Reader::new(content);
            let fingerprint = reader.take(8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes);
            let fingerprint = fingerprint.expect("contents begin with a fingerprint");
            // Of contents that came twice for a page the first is as good as the other.
            if last.replace(fingerprint) == Some(fingerprint) {
                continue;
            }
            let print = take_print(&mut reader).expect("contents are read as they were written");
            weighed.clear();
            let has_terms = !reader.is_empty();
            known.weigh(&mut reader, &mut weighed);
            record.clear();
            record.extend_from_slice(&ids.id(fingerprint)?.to_be_bytes());
            record.push(u8::from(print.is_some()));
            record.extend_from_slice(print.unwrap_or_default());
            if has_terms {
                record.extend_from_slice(&TermVector::choose(&mut weighed).encode());
            }
            by_id.push(&record)?;
            steps.step();
        }
        drop(known);
        drop(stream);
        drop(self.contents);
        let (vectors, prints) = write_records(site, &by_id.finish()?, counts)?;
        Ok(ContentFiles { vocabulary, terms: vectors, shingles: prints })
    }
}

fn write_records(site: &Site, by_id: &SortedTexts, counts: &mut Counts) -> Result<(Written, Written)> {
    let create = |name: &str, magic, width| {
        RecordWriter::create(&site.files, &site.dir.join(name), magic, width, counts.urls)
    };
    let mut vectors = create("terms", terms::MAGIC, VECTOR_BYTES)?;
    let mut prints = create("shingles", shingles::MAGIC, SKETCH_LENGTH)?;
    let (mut stream, mut texts, mut last) = (by_id.stream()?, 0, None);
    while let Some(record) = stream.next()? {
        let mut reader = Reader::new(record);
        let id = reader.take(8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes);
        let id = id.expect("records begin with an id");
        // Two URLs with one fingerprint have one id: the content of the other is lost, as its links are.
        if last.replace(id) == Some(id) {
            continue;
        }
        if let Some(print) = take_print(&mut reader).expect("records are read as they were written") {
            prints.push(id, print)?;
        }
        if let Some(vector) = reader.take(VECTOR_BYTES) {
            vectors.push(id, vector)?;
        }
        texts += 1;
    }
    counts.texts = texts;
    Ok((vectors.finish()?.1, prints.finish()?.1))
}

/// The vocabulary in memory: by the hash of a term its number, and the pages that have it.
struct Known {
    numbers: HashMap<u64, (u32, u32), BuildHasherDefault<AsItIs>>,
    pages: u64,
}

impl Known {
    /// Weighs the terms of a content.
    fn weigh(&self, reader: &mut Reader<'_>, weighed: &mut Vec<Weighed>) {
        let mut term = Vec::new();
        while !reader.is_empty() {
            let entry = reader.varint().zip(reader.counted()).zip(reader.varint());
            let ((shared, rest), count) = entry.expect("contents are read as they were written");
            term.truncate(shared as usize);
            term.extend_from_slice(rest);
            if let Some((number, documents)) = self.numbers.get(&hash(&term)) {
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                weighed.push(Weighed::new(*number, count, u64::from(*documents), self.pages));
            }
        }
    }
}

fn hash(term: &[u8]) -> u64 {
    Fingerprint::of(std::str::from_utf8(term).expect("terms are texts, and are kept whole")).0
}

/// Writes the terms of the middle, and takes them into memory.
fn write_vocabulary(
    site: &Site,
    frequencies: &Frequencies,
    pages: u64,
    memory: u64,
) -> Result<(Known, Written)> {
    let documents_max = (pages as f64 * DOCUMENTS_SHARE_MAX) as u64;
    let terms_max = (memory / MAPPED_BYTES).clamp(TERMS_ALWAYS, TERMS_MAX);
    let mut histogram: BTreeMap<u64, u64> = BTreeMap::new();
    let mut stream = frequencies.stream()?;
    while let Some((_, documents)) = stream.next()? {
        if (DOCUMENTS_MIN..=documents_max).contains(&documents) {
            *histogram.entry(documents).or_default() += 1;
        }
    }
    let (mut documents_min, mut count) = (u64::MAX, 0);
    for (documents, terms) in histogram.into_iter().rev() {
        if count + terms > terms_max {
            break;
        }
        (documents_min, count) = (documents, count + terms);
    }
    let path = site.dir.join("vocabulary");
    let mut writer = VocabularyWriter::create(&site.files, &path, pages, count as u32)?;
    let mut numbers = HashMap::with_capacity_and_hasher(count as usize, BuildHasherDefault::default());
    let mut stream = frequencies.stream()?;
    while let Some((term, documents)) = stream.next()? {
        if (documents_min..=documents_max).contains(&documents) {
            let number = writer.push(term, documents)?;
            numbers.insert(hash(term), (number, u32::try_from(documents).unwrap_or(u32::MAX)));
        }
    }
    Ok((Known { numbers, pages }, writer.finish()?))
}

/// The keys are hashes already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("the keys are numbers")
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_sorted_and_what_is_none_is_left_out() {
        let long = "x".repeat(65);
        let given = [("b", 2), ("a", 1), ("", 9), ("b", 3), ("z\0", 1), (long.as_str(), 1), ("c", 0)];
        assert_eq!(terms_of(&given), [("a", 1), ("b", 5)]);
        let many: Vec<String> = (0..300).map(|number| format!("t{number:03}")).collect();
        let given: Vec<(&str, u32)> = (1..).zip(&many).map(|(count, term)| (term.as_str(), count)).collect();
        assert_eq!(terms_of(&given), given[44..], "the 256 most frequent");
    }
}
