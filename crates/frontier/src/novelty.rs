//! How much news a host still has: what its last pages were, as a factor for its domain's budget.
//!
//! Filled with every page that was fetched, by whoever knows its digest and its text; asked when the domain's budget is computed.
//! A page is news unless its digest was seen before, anywhere in the crawl, or its [`simhash`] differs in at most
//! [`DISTANCE_MAX`] bits from one of the last [`SKETCHES`] different pages of the same host. Calendars, session
//! copies, soft 404s and mirrors yield no news, whatever their URLs look like; their hosts sink, and rise when they have news again.
//!
//! The key is the caller's: a host's fingerprint, or the domain's, which also sees through a farm with a page per host.
//!
//! With the share of news s among the last [`PAGES`] pages, the factor is 1 for s ≥ 1/2, and (2s)² below, down to
//! [`FACTOR_MIN`]: a site that repeats itself a little is an ordinary site. Of a host with fewer than [`PAGES_MIN`] pages, the missing
//! ones count as news.
//!
//! Bounds: 176 bytes for each of `hosts_max` hosts; the one whose last page is longest ago is forgotten, and starts anew with
//! factor 1. A page costs one lookup and sixteen comparisons. Deterministic; [`Novelty::encode`] is all of its state.

pub use mattock_extract::{SIMHASH_BYTES_MAX as TEXT_BYTES_MAX, simhash};

use crate::traps::table::{Table, Value};

/// The pages that are remembered of a host.
pub const PAGES: u32 = 64;
/// A host is judged by at least so many pages.
pub const PAGES_MIN: u32 = 16;
/// The different pages of a host that a new one is compared with.
pub const SKETCHES: usize = 16;
/// Sketches of near duplicates differ in no more bits.
pub const DISTANCE_MAX: u32 = 3;
/// The least factor: a host that only had copies is still looked at now and then.
pub const FACTOR_MIN: f64 = 1.0 / 64.0;

const VERSION: u8 = 1;

/// What a page turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Unlike everything that was remembered.
    News,
    /// Nearly like one of the host's last pages.
    NearDuplicate,
    /// Byte by byte a page that the crawl has.
    Copy,
}

/// The last pages of a host.
#[derive(Debug, Default, PartialEq, Eq)]
struct Recent {
    /// A bit per page, the last one lowest: set if it was no news.
    stale: u64,
    /// Pages seen, up to [`PAGES`].
    count: u8,
    sketch_count: u8,
    /// The last one first.
    sketches: [u64; SKETCHES],
}

impl Recent {
    fn add(&mut self, digest_is_new: bool, sketch: Option<u64>) -> Kind {
        let near = sketch.is_some_and(|sketch| self.remember(sketch));
        let kind = match (digest_is_new, near) {
            (false, _) => Kind::Copy,
            (true, true) => Kind::NearDuplicate,
            (true, false) => Kind::News,
        };
        self.stale = self.stale << 1 | u64::from(kind != Kind::News);
        self.count = (self.count + 1).min(PAGES as u8);
        kind
    }

    /// Moves the sketch that is near to the front, or puts the new one there; whether one was near. A near one is not
    /// replaced: a page that changes a little each time would lead away from where it began.
    fn remember(&mut self, sketch: u64) -> bool {
        let count = usize::from(self.sketch_count);
        let near =
            self.sketches[..count].iter().position(|known| (known ^ sketch).count_ones() <= DISTANCE_MAX);
        match near {
            Some(at) => self.sketches[..=at].rotate_right(1),
            None => {
                let count = (count + 1).min(SKETCHES);
                self.sketches[..count].rotate_right(1);
                self.sketches[0] = sketch;
                self.sketch_count = count as u8;
            }
        }
        near.is_some()
    }

    fn factor(&self) -> f64 {
        let pages = u32::from(self.count).max(PAGES_MIN);
        let news = pages - self.stale.count_ones();
        let doubled = 2.0 * f64::from(news) / f64::from(pages);
        (doubled * doubled).clamp(FACTOR_MIN, 1.0)
    }
}

impl Value for Recent {
    const BYTES: usize = 8 + 2 + 8 * SKETCHES;

    /// All hosts are worth the same: the table forgets the one that was silent longest.
    fn credit(&self) -> u8 {
        0
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.stale.to_le_bytes());
        bytes.extend_from_slice(&[self.count, self.sketch_count]);
        self.sketches.iter().for_each(|sketch| bytes.extend_from_slice(&sketch.to_le_bytes()));
    }

    fn decode(bytes: &[u8]) -> Recent {
        let mut numbers = bytes[10..].as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let count = bytes[8].min(PAGES as u8);
        // No more stale pages than pages, whatever the bytes say.
        let kept = if count == 0 { 0 } else { u64::MAX >> (PAGES - u32::from(count)) };
        Recent {
            stale: u64::from_le_bytes(*bytes.first_chunk().expect("the table gives all bytes")) & kept,
            count,
            sketch_count: bytes[9].min(SKETCHES as u8),
            sketches: std::array::from_fn(|_| numbers.next().unwrap_or_default()),
        }
    }
}

/// Remembers the last pages of the hosts that were active last.
#[derive(Debug)]
pub struct Novelty {
    hosts: Table<Recent>,
}

impl Novelty {
    /// For so many hosts, rounded up.
    pub fn new(hosts_max: usize) -> Novelty {
        Novelty { hosts: Table::new(hosts_max, VERSION) }
    }

    /// The most memory that it takes.
    pub fn bytes_max(&self) -> usize {
        self.hosts.bytes_max()
    }

    /// A page was fetched. `sketch` is the [`simhash`] of its text, or `None` if it has none: images are told apart by their
    /// digests only.
    pub fn page(&mut self, key: u64, digest_is_new: bool, sketch: Option<u64>) -> Kind {
        self.hosts.update(key, |recent| recent.add(digest_is_new, sketch))
    }

    /// Whether the last [`PAGES_MIN`] pages were all news: then not every page need be looked at.
    pub fn is_steady(&self, key: u64) -> bool {
        self.hosts.get(key).is_some_and(|recent| {
            u32::from(recent.count) >= PAGES_MIN && recent.stale << (u64::BITS - PAGES_MIN) == 0
        })
    }

    /// By what the budget is to be multiplied: above 0, at most 1, and 1 for hosts that nothing is known of.
    pub fn factor(&self, key: u64) -> f64 {
        self.hosts.get(key).map_or(1.0, Recent::factor)
    }

    /// The keys in what [`Novelty::encode`] wrote; `None` if the bytes are of another version or damaged.
    pub(crate) fn keys(bytes: &[u8]) -> Option<Vec<u64>> {
        Table::<Recent>::keys(VERSION, bytes)
    }

    /// Remembers what others have remembered of these keys; `None` if the bytes are of another version or damaged.
    pub(crate) fn adopt(&mut self, bytes: &[u8], wanted: impl FnMut(u64) -> bool) -> Option<()> {
        self.hosts.adopt(bytes, wanted)
    }

    /// Appends all of it, for a checkpoint.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        self.hosts.encode(bytes);
    }

    /// What [`Novelty::encode`] wrote; `None` if the bytes are of another version or damaged.
    pub fn decode(hosts_max: usize, bytes: &[u8]) -> Option<Novelty> {
        Some(Novelty { hosts: Table::new(hosts_max, VERSION).decode(bytes)? })
    }
}

#[cfg(test)]
mod tests;
