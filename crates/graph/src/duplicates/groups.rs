//! Pages that have a number in common, in as much memory as there is.
//!
//! A number and a page are one word of 64 bits, 32 each; all words are sorted, and equal numbers stand side by side. If the words of all pages do not fit
//! into the memory, the prints are read several times, each time for those numbers that begin with certain bits. Numbers have 64 bits: the upper ones say in which
//! turn a number is looked at, the lower ones are kept, so that two different numbers of a turn are taken for the same once in four billion pairs. Who visits a
//! group compares its pages anyway.

use std::ops::ControlFlow;

use mattock_features::{Result, ShingleScan, Shingleprint, Shingles};

/// What pages are grouped by: a hash.
pub(super) type Key = u64;

/// However little memory there is, so many words are sorted at once.
const WORDS_MIN: u64 = 1 << 12;

/// Pages or groups after which progress is told.
const TOLD_EVERY: usize = 1 << 14;

/// Mixes all bits with each other (the last step of MurmurHash3).
pub(super) fn mixed(mut number: u64) -> u64 {
    number ^= number >> 33;
    number = number.wrapping_mul(0xff51_afd7_ed55_8ccd);
    number ^= number >> 33;
    number = number.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    number ^ number >> 33
}

/// In how many turns so many words are sorted, each with those that fit.
pub(super) fn turns(words: u64, memory: u64) -> u64 {
    let words_max = (memory / size_of::<u64>() as u64).max(WORDS_MIN);
    words.div_ceil(words_max).max(1)
}

/// The prints, in memory if they fit.
pub(super) struct Prints<'a> {
    shingles: &'a Shingles,
    loaded: Option<Vec<Shingleprint>>,
}

impl Prints<'_> {
    pub(super) fn new(shingles: &Shingles, memory: u64) -> Result<Prints<'_>> {
        let fits = shingles.len().saturating_mul(size_of::<Shingleprint>() as u64) <= memory;
        let load = || shingles.scan(0..shingles.len()).map(|print| print.map(|(_, print)| print)).collect();
        Ok(Prints { shingles, loaded: fits.then(load).transpose()? })
    }

    pub(super) fn at(&self, place: u32) -> Result<Shingleprint> {
        match &self.loaded {
            Some(prints) => Ok(prints[place as usize]),
            None => self.shingles.at(u64::from(place)),
        }
    }

    fn len(&self) -> u64 {
        self.shingles.len()
    }

    fn iter(&self) -> PrintIter<'_> {
        match &self.loaded {
            Some(prints) => PrintIter::Loaded(prints.iter()),
            None => PrintIter::File(self.shingles.scan(0..self.shingles.len())),
        }
    }
}

/// Prints in order.
enum PrintIter<'a> {
    Loaded(std::slice::Iter<'a, Shingleprint>),
    File(ShingleScan<'a>),
}

impl Iterator for PrintIter<'_> {
    type Item = Result<Shingleprint>;

    fn next(&mut self) -> Option<Result<Shingleprint>> {
        match self {
            PrintIter::Loaded(prints) => prints.next().map(|print| Ok(*print)),
            PrintIter::File(scan) => Some(scan.next()?.map(|(_, print)| print)),
        }
    }
}

/// What is grouped.
#[derive(Clone, Copy)]
pub(super) struct Grouping<'a> {
    pub(super) prints: &'a Prints<'a>,
    /// Bytes for words.
    pub(super) memory: u64,
    /// Pages that are left out.
    pub(super) left_out: Option<&'a [bool]>,
    /// How many numbers a page has.
    pub(super) keys_per_page: u64,
}

impl Grouping<'_> {
    /// Lets `keys` make the numbers of each page and `visit` look at every group of two pages or more, in order. `progress` is told from 0
    /// to 1, and can end it.
    pub(super) fn run(
        &self,
        keys: impl Fn(&Shingleprint, &mut Vec<Key>),
        mut visit: impl FnMut(&[u32]) -> Result<()>,
        mut progress: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let is_left_out = |page: usize| self.left_out.is_some_and(|left_out| left_out[page]);
        let pages = match self.left_out {
            Some(left_out) => left_out.iter().filter(|is_left_out| !**is_left_out).count() as u64,
            None => self.prints.len(),
        };
        let words_all = pages * self.keys_per_page;
        let turns = turns(words_all, self.memory);
        let mut words: Vec<u64> = Vec::with_capacity((words_all / turns + words_all / turns / 16) as usize);
        let (mut made, mut group) = (Vec::new(), Vec::new());
        for turn in 0..turns {
            let mut told = |share: f64| progress((turn as f64 + share) / turns as f64);
            words.clear();
            for (page, print) in self.prints.iter().enumerate().filter(|(page, _)| !is_left_out(*page)) {
                made.clear();
                keys(&print?, &mut made);
                let of_turn = made.iter().filter(|key| ((**key >> 32) * turns) >> 32 == turn);
                words.extend(of_turn.map(|key| key << 32 | page as u64));
                if page % TOLD_EVERY == 0 && told(0.5 * page as f64 / self.prints.len() as f64).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            words.sort_unstable();
            let groups = words.chunk_by(|one, two| one >> 32 == two >> 32).filter(|equal| equal.len() > 1);
            for (number, equal) in groups.enumerate() {
                group.clear();
                group.extend(equal.iter().map(|word| *word as u32));
                group.dedup();
                visit(&group)?;
                if number % TOLD_EVERY == 0 && told(0.5).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            if told(1.0).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
