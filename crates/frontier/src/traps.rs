//! Links that lead into places without end: refused, or put behind all others.
//!
//! Asked for every link that the scope wants, before `seen`. Two kinds of judgement, in this order:
//!
//! - by the URL alone: its length, the depth of its path, segments that come again and again, the number of parameters,
//!   and, as mere signals, leftover sessions and dates of other centuries;
//! - by what else was seen of its path: parameters that are combined without end (see `explosion`).
//!
//! What no honest site has is [`Verdict::Refused`]. What some have is [`Verdict::Demoted`]: it is fetched after everything else of its
//! domain. Traps that look honest by their URLs, calendars and soft 404s and farms, are known by their pages, which is
//! the business of [`novelty`](crate::novelty).
//!
//! Bounds: [`Limits::paths_max`] paths with queries are remembered, 256 bytes each; those with the fewest queries are forgotten
//! first. Costs: one pass over the URL, and for two parameters or more a hash each and one lookup. Loses nothing in a
//! restart if [`Traps::encode`] is part of the checkpoint; without it, it learns again.

mod explosion;
mod path;
mod query;
mod sketch;
pub(crate) mod table;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::RangeInclusive;

use mattock_weburl::WebUrl;

use crate::Refusal;
use explosion::Queries;
use table::Table;

const VERSION: u8 = 1;

/// The limits on links. One field is one limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a URL.
    pub url_bytes_max: usize,
    /// Segments of a path, at most 64.
    pub path_segments_max: usize,
    /// How often a segment may be in a path; numbers may be twice as often.
    pub segment_count_max: usize,
    /// How often a segment, or a sequence of them, may come in a row; numbers may twice as often.
    pub sequence_count_max: usize,
    /// Parameters of a query.
    pub parameters_max: usize,
    /// The years that pages are of. A date outside is a signal.
    pub years: RangeInclusive<u16>,
    /// From so many queries on one path on, they are demoted…
    pub combinations_demoted: u32,
    /// …if they are more than so many times the values of any one parameter.
    pub factor_demoted: u32,
    /// From so many queries on one path on, they are refused…
    pub combinations_refused: u32,
    /// …if they are more than so many times the values of any one parameter.
    pub factor_refused: u32,
    /// Paths whose queries are remembered.
    pub paths_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            url_bytes_max: 2_000,
            path_segments_max: 20,
            segment_count_max: 3,
            sequence_count_max: 2,
            parameters_max: 32,
            years: 1800..=2100,
            combinations_demoted: 400,
            factor_demoted: 8,
            combinations_refused: 5_000,
            factor_refused: 32,
            paths_max: 4_096,
        }
    }
}

impl Limits {
    /// The defaults in this year: dates more than five years ahead are a signal.
    pub fn for_year(year: u16) -> Limits {
        Limits { years: 1800..=year.saturating_add(5), ..Limits::default() }
    }
}

/// What a link showed, without being refused for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// A date that no honest page is of.
    FarDate,
    /// A longer sequence of segments that comes twice.
    PathRepeats,
    /// One of many combinations of parameters.
    QueryExplosion,
    /// A parameter that looks like a session.
    SessionId,
}

impl Signal {
    /// The name that is counted and shown.
    pub fn name(self) -> &'static str {
        match self {
            Signal::FarDate => "far-date",
            Signal::PathRepeats => "path-repeats",
            Signal::QueryExplosion => "query-explosion",
            Signal::SessionId => "session-id",
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// What to do with a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is wrong with it.
    Passed,
    /// It is wanted after everything else.
    Demoted(Signal),
    /// It is not wanted.
    Refused(Refusal),
}

/// Judges links by their URLs.
#[derive(Debug)]
pub struct Traps {
    limits: Limits,
    queries: Table<Queries>,
}

impl Traps {
    /// Knows nothing of any host yet.
    pub fn new(limits: Limits) -> Traps {
        let queries = Table::new(limits.paths_max, VERSION);
        Traps { limits, queries }
    }

    /// The most memory that it takes.
    pub fn bytes_max(&self) -> usize {
        self.queries.bytes_max()
    }

    /// Judges a URL, and remembers its query.
    pub fn judge(&mut self, url: &WebUrl) -> Verdict {
        if url.as_str().len() > self.limits.url_bytes_max {
            return Verdict::Refused(Refusal::UrlTooLong);
        }
        let by_path = path::judge(url.path(), &self.limits);
        let Some(query) = url.query().filter(|_| !matches!(by_path, Verdict::Refused(_))) else {
            return by_path;
        };
        let by_query = query::judge(query, &self.limits);
        // With one parameter there is nothing to combine.
        let combined = query.contains('&') && !matches!(by_query, Verdict::Refused(_));
        let by_others = if combined {
            self.queries.update(explosion::key(url, query), |queries| queries.judge(query, &self.limits))
        } else {
            Verdict::Passed
        };
        let verdicts = [by_query, by_others, by_path];
        let refused = verdicts.into_iter().find(|verdict| matches!(verdict, Verdict::Refused(_)));
        refused
            .or(verdicts.into_iter().find(|verdict| *verdict != Verdict::Passed))
            .unwrap_or(Verdict::Passed)
    }

    /// Learns what others have [learnt](Traps::encode) as well; `None` if the bytes are of another version or damaged.
    pub(crate) fn adopt(&mut self, bytes: &[u8]) -> Option<()> {
        self.queries.adopt(bytes, |_| true)
    }

    /// Appends what was learnt, for a checkpoint.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        self.queries.encode(bytes);
    }

    /// What [`Traps::encode`] wrote, under these limits; `None` if the bytes are of another version or damaged.
    pub fn decode(limits: Limits, bytes: &[u8]) -> Option<Traps> {
        let queries = Table::new(limits.paths_max, VERSION).decode(bytes)?;
        Some(Traps { limits, queries })
    }
}
