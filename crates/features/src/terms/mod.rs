//! The term vector database: what pages are about, in 128 bytes each.
//!
//! Filled by a build with the terms of pages and how often each occurs ([`Content`](crate::Content)), read by whoever asks what a page is about, or
//! which pages are about the same ([`Terms`]). After *The Term Vector Database* (Stata, Bharat and Maghoul, 2000): an index leads from terms to
//! pages, this leads from pages to terms.
//!
//! **The vocabulary** has the terms that tell pages apart: those of two pages at least, and of no more than nine in ten. A term of one page
//! joins it with no other, and most of these are misspellings, names and codes; a term of nearly all pages is in the language, not in what is said. The
//! Term Vector Database took the middle of the frequencies for the same reasons. Terms are numbered in the order of their bytes, with 24 bits; if
//! there are more than that, or than fit into the share of the memory that a build has for them, the least number of pages rises until they fit.
//!
//! **A vector** has the 32 terms of a page that weigh most. The weight is tf·idf, over pages that have terms:
//!
//! ```text
//! weight = (1 + ln count in the page) · ln (pages / pages with the term)
//! ```
//!
//! Two pages are as much alike as the cosine of their vectors. A weight is kept in 8 bits, as its share of the page's greatest weight, at least 1: the cosine
//! does not depend on a vector's length, and comes out right to about two thousandths ([`TermVector::cosine`]).
//!
//! ```text
//! terms       records of 128 bytes: up to 32 times term (24 bits) and weight (8 bits), by term, then zeros
//! vocabulary  "MTKVOCA1", pages, terms, then for each term: shared length, rest, pages with it; every 16th is whole
//! ```
//!
//! Costs: 128 bytes a page and a bit a URL; the vocabulary is read whole into memory, about 8 bytes a term.

mod vector;
mod vocabulary;

use std::ops::Range;
use std::path::Path;

use mattock_env::Files;

use crate::error::Result;
use crate::output::Written;
use crate::records::{Magic, RecordScan, Records};

pub use vector::{TermVector, VECTOR_TERMS};
pub(crate) use vector::{VECTOR_BYTES, Weighed};
pub use vocabulary::Vocabulary;
pub(crate) use vocabulary::{TERMS_MAX, VocabularyWriter};

pub(crate) const MAGIC: Magic = *b"MTKTERM1";

/// The term vectors of a generation, with their vocabulary.
#[derive(Debug)]
pub struct Terms {
    vocabulary: Vocabulary,
    records: Records,
}

impl Terms {
    pub(crate) fn open(files: &Files, dir: &Path, vectors: &Written, vocabulary: &Written) -> Result<Terms> {
        let vocabulary = Vocabulary::open(files, dir, vocabulary)?;
        Ok(Terms { vocabulary, records: Records::open(files, dir, vectors, MAGIC, VECTOR_BYTES)? })
    }

    /// The terms that vectors are made of.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// How many pages have a vector.
    pub fn len(&self) -> u64 {
        self.records.len()
    }

    /// Whether no page has one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The vector of a page; `None` if it has none. One without terms is that of a page with none in the vocabulary.
    pub fn vector(&self, id: u64) -> Result<Option<TermVector>> {
        let Some(place) = self.records.place(id) else { return Ok(None) };
        let mut bytes = [0; VECTOR_BYTES];
        self.records.read(place, &mut bytes)?;
        Ok(Some(TermVector::decode(&bytes)))
    }

    /// The places of the vectors of a range of ids.
    pub fn places(&self, ids: Range<u64>) -> Range<u64> {
        self.records.rank(ids.start)..self.records.rank(ids.end)
    }

    /// The vectors at a range of places, in the order of ids; the places go from 0 to [`Terms::len`].
    pub fn scan(&self, places: Range<u64>) -> TermScan<'_> {
        TermScan { scan: self.records.scan(places) }
    }

    /// Reads all vectors, and whether they are as they were written.
    pub fn verify(&self) -> Result<()> {
        self.records.verify()
    }
}

/// Vectors in the order of their pages' ids.
#[derive(Debug)]
pub struct TermScan<'a> {
    scan: RecordScan<'a>,
}

impl Iterator for TermScan<'_> {
    type Item = Result<(u64, TermVector)>;

    fn next(&mut self) -> Option<Result<(u64, TermVector)>> {
        let record = self.scan.next().transpose()?;
        Some(record.map(|(id, bytes)| {
            let bytes = bytes.try_into().expect("records have the width that they were opened with");
            (id, TermVector::decode(bytes))
        }))
    }
}
