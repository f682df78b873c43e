//! What pages are about: the most telling terms of a set of them, and pages about the same.
//!
//! Asked by `mattock terms`; filled from the term vectors of a generation ([`Terms`]). Every page counts the same: vectors are brought to length 1, and the
//! weight of a term in a set of pages is its mean over them ([`TermSum`]). That weighs against the whole already, because a vector's weights fall with the
//! number of pages that have a term. For a set that was chosen by something else than its topic, as that of a query, more can be asked: how much heavier a term is
//! there than in all pages ([`TermSum::against`]).
//!
//! Costs: a set takes one look at each of its vectors, everything and [`similar`] one scan, 128 bytes a page. A sum has [`TERM_BYTES`] for each term of
//! the vocabulary, however many pages are added; [`sums_within`] says whether that fits.

use std::cmp::Ordering;
use std::ops::Range;

use mattock_features::{Result, TermVector, Terms};
use serde::Serialize;

use crate::held::GraphError;
use crate::parallel::fill;

/// Vectors that a thread takes at once.
const PIECE: u64 = 1 << 14;

/// A term and what it weighs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Telling {
    /// By its number in the vocabulary.
    pub term: u32,
    /// From 0 to 1: its mean weight in vectors of length 1. Of a set against the whole also below 0.
    pub weight: f64,
    /// Pages of the set in whose vectors it is.
    pub pages: u64,
}

/// Bytes that a sum has for each term of the vocabulary.
const TERM_BYTES: u64 = 12;

/// Whether so many sums over a vocabulary of this size fit into so many bytes.
pub fn sums_within(sums: u64, terms: u64, memory: u64) -> std::result::Result<(), GraphError> {
    let needed = sums * terms * TERM_BYTES;
    if needed > memory { Err(GraphError::Terms { terms, needed, memory }) } else { Ok(()) }
}

/// The vectors of a set of pages, added up.
#[derive(Clone, Debug)]
pub struct TermSum {
    /// By the number of a term: its weights, and how many pages have it.
    weights: Vec<f64>,
    counts: Vec<u32>,
    pages: u64,
}

impl TermSum {
    /// Of no page, for terms of this vocabulary.
    pub fn new(terms: &Terms) -> TermSum {
        let count = terms.vocabulary().len() as usize;
        TermSum { weights: vec![0.0; count], counts: vec![0; count], pages: 0 }
    }

    /// Of all pages whose vectors are at these [places](Terms::places).
    pub fn of_places(terms: &Terms, places: Range<u64>) -> Result<TermSum> {
        let mut sum = TermSum::new(terms);
        for page in terms.scan(places) {
            sum.add(&page?.1);
        }
        Ok(sum)
    }

    /// Of some pages. Those without a vector count as nothing.
    pub fn of_pages(terms: &Terms, pages: impl IntoIterator<Item = u64>) -> Result<TermSum> {
        let mut sum = TermSum::new(terms);
        for page in pages {
            if let Some(vector) = terms.vector(page)? {
                sum.add(&vector);
            }
        }
        Ok(sum)
    }

    /// Adds a page.
    pub fn add(&mut self, vector: &TermVector) {
        self.pages += 1;
        for (term, weight) in vector.unit() {
            self.weights[term as usize] += weight;
            self.counts[term as usize] = self.counts[term as usize].saturating_add(1);
        }
    }

    /// How many pages were added.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// The terms with the greatest mean weight.
    pub fn best(&self, count: usize) -> Vec<Telling> {
        self.sorted(count, |_| 0.0)
    }

    /// The terms whose mean weight is greatest above that in another set, as in all pages.
    pub fn against(&self, whole: &TermSum, count: usize) -> Vec<Telling> {
        self.sorted(count, |term| whole.weights[term] / whole.pages.max(1) as f64)
    }

    fn sorted(&self, count: usize, usual: impl Fn(usize) -> f64) -> Vec<Telling> {
        let pages = self.pages.max(1) as f64;
        let mut best = Best::new(count, |one: &Telling, two: &Telling| {
            two.weight.total_cmp(&one.weight).then(one.term.cmp(&two.term))
        });
        for (term, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let weight = self.weights[term] / pages - usual(term);
            best.push(Telling { term: term as u32, weight, pages: u64::from(*count) });
        }
        best.finish()
    }
}

/// A page and how much it is like another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Similar {
    /// The page.
    pub page: u64,
    /// The cosine of both vectors.
    pub cosine: f64,
}

/// The pages whose vectors are most like this one, most alike first. Those that have no term in common are left out, and so is `except`.
pub fn similar(
    terms: &Terms,
    vector: &TermVector,
    except: Option<u64>,
    count: usize,
    threads: usize,
) -> Result<Vec<Similar>> {
    let mut pieces: Vec<u64> = (0..terms.len()).step_by(PIECE as usize).collect();
    let best = fill(threads, &mut pieces, 1, |_, piece| {
        let start = piece[0];
        let mut best = Best::new(count, nearer);
        for page in terms.scan(start..start + PIECE) {
            let (page, other) = page?;
            let cosine = vector.cosine(&other);
            if cosine > 0.0 && Some(page) != except {
                best.push(Similar { page, cosine });
            }
        }
        Ok(best.finish())
    });
    let mut all = Best::new(count, nearer);
    for piece in best {
        piece?.into_iter().for_each(|page| all.push(page));
    }
    Ok(all.finish())
}

/// The greater cosine first.
fn nearer(one: &Similar, two: &Similar) -> Ordering {
    two.cosine.total_cmp(&one.cosine).then(one.page.cmp(&two.page))
}

/// The best of what comes: sorted and cut whenever there are twice as many as wanted.
struct Best<T> {
    count: usize,
    order: fn(&T, &T) -> Ordering,
    found: Vec<T>,
}

impl<T> Best<T> {
    fn new(count: usize, order: fn(&T, &T) -> Ordering) -> Best<T> {
        Best { count, order, found: Vec::new() }
    }

    fn push(&mut self, one: T) {
        self.found.push(one);
        if self.found.len() >= self.count.saturating_mul(2).saturating_add(64) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.found.sort_unstable_by(self.order);
        self.found.truncate(self.count);
    }

    fn finish(mut self) -> Vec<T> {
        self.cut();
        self.found
    }
}
