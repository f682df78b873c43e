//! Hosts and domains counted from the ledgers: one pass over what became of every URL, in bounded memory.
//!
//! Made when somebody looks at the list of hosts or at one of them, as of the last checkpoint; nothing is kept up while nobody looks.

use std::collections::{BTreeMap, VecDeque};

use mattock_crawl::SavedCrawl;
use mattock_env::UnixTime;
use mattock_repository::{RepositoryError, Row};
use mattock_weburl::{WebUrl, domain_of};
use serde::Serialize;

/// Hosts that are counted one by one; the rest is counted together.
const NAMES_MAX: usize = 1 << 16;
/// URLs that are shown of a host.
const URLS_MAX: usize = 200;
/// Parts that its time is cut into.
const PARTS: usize = 48;

/// What is known of a host or a domain.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Tally {
    /// Pages (status 200).
    pub(crate) pages: u64,
    /// Failures and statuses of 400 and more.
    pub(crate) errors: u64,
    /// Everything else: redirects and the like.
    pub(crate) other: u64,
    /// Bytes in the archive.
    pub(crate) bytes: u64,
    /// The last visit, in seconds since 1970.
    pub(crate) last_unix: f64,
}

impl Tally {
    fn add(&mut self, row: &Row<'_>) {
        match row.outcome.parse::<u16>() {
            Ok(200) => self.pages += 1,
            Ok(0..400) => self.other += 1,
            _ => self.errors += 1,
        }
        self.bytes += row.place.as_ref().map_or(0, |place| place.length);
        self.last_unix = self.last_unix.max(seconds(row.time));
    }
}

fn seconds(time: UnixTime) -> f64 {
    time.as_micros() as f64 / 1e6
}

/// Everybody.
#[derive(Clone, Debug, Default)]
pub(crate) struct Census {
    /// The checkpoint that it is of.
    pub(crate) checkpoint: u64,
    pub(crate) hosts: BTreeMap<String, Tally>,
    pub(crate) domains: BTreeMap<String, Tally>,
    /// Rows of hosts for which there was no room.
    pub(crate) uncounted: u64,
}

/// The part of a URL that names its host, as the crawl's words have it: scheme, name, and the port if it is not the usual one.
fn host_of(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?']).map_or(url.len(), |at| start + at);
    &url[..end]
}

/// The domain of a host.
pub(crate) fn domain_of_host(host: &str) -> &str {
    let name = host.split_once("://").map_or(host, |(_, rest)| rest);
    if name.starts_with('[') {
        return name;
    }
    domain_of(name.split_once(':').map_or(name, |(name, _)| name))
}

impl Census {
    pub(crate) fn take(saved: &SavedCrawl) -> Result<Census, RepositoryError> {
        let mut census = Census { checkpoint: saved.number(), ..Census::default() };
        saved.rows(|row| {
            let host = host_of(row.url);
            let counted =
                count(&mut census.hosts, host, row) & count(&mut census.domains, domain_of_host(host), row);
            census.uncounted += u64::from(!counted);
        })?;
        Ok(census)
    }
}

fn count(names: &mut BTreeMap<String, Tally>, name: &str, row: &Row<'_>) -> bool {
    if let Some(tally) = names.get_mut(name) {
        tally.add(row);
        return true;
    }
    let room = names.len() < NAMES_MAX;
    if room {
        names.entry(name.to_owned()).or_default().add(row);
    }
    room
}

/// One URL of a host.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Visited {
    pub(crate) url: String,
    pub(crate) outcome: String,
    pub(crate) unix: f64,
    pub(crate) took_ms: u64,
    pub(crate) stored: bool,
}

/// One host or domain in full.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Portrait {
    #[serde(flatten)]
    pub(crate) tally: Tally,
    /// What became of its URLs.
    pub(crate) outcomes: BTreeMap<String, u64>,
    /// The last of them, newest first.
    pub(crate) urls: VecDeque<Visited>,
    /// Pages and errors over time.
    pub(crate) over_time: Vec<Part>,
    /// Hosts with rows, of a domain.
    pub(crate) hosts: BTreeMap<String, Tally>,
    /// Where its last stored response is: file, offset, and its URL.
    #[serde(skip)]
    pub(crate) last_place: Option<(String, u64, String)>,
}

/// A part of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Part {
    /// When it begins.
    pub(crate) unix: f64,
    pub(crate) pages: u64,
    pub(crate) errors: u64,
}

/// Whose portrait.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sitter<'a> {
    Host(&'a str),
    Domain(&'a str),
}

impl Sitter<'_> {
    fn is(&self, url: &str) -> bool {
        match self {
            Sitter::Host(host) => host_of(url) == *host,
            Sitter::Domain(domain) => domain_of_host(host_of(url)) == *domain,
        }
    }
}

impl Portrait {
    pub(crate) fn paint(saved: &SavedCrawl, sitter: Sitter<'_>) -> Result<Portrait, RepositoryError> {
        let mut portrait = Portrait::default();
        let mut timeline = Timeline::default();
        saved.rows(|row| {
            if !sitter.is(row.url) {
                return;
            }
            portrait.tally.add(row);
            *portrait.outcomes.entry(row.outcome.to_owned()).or_default() += 1;
            if let Sitter::Domain(_) = sitter {
                count(&mut portrait.hosts, host_of(row.url), row);
            }
            if portrait.urls.len() == URLS_MAX {
                portrait.urls.pop_back();
            }
            portrait.urls.push_front(Visited {
                url: row.url.to_owned(),
                outcome: row.outcome.to_owned(),
                unix: seconds(row.time),
                took_ms: row.took_ms,
                stored: row.place.is_some(),
            });
            if let Some(place) = &row.place {
                portrait.last_place = Some((place.file.to_string(), place.offset, row.url.to_owned()));
            }
            timeline.add(row);
        })?;
        portrait.over_time = timeline.parts();
        Ok(portrait)
    }
}

/// Counts over a time whose length nobody knows beforehand: parts that double when there are too many.
#[derive(Debug)]
struct Timeline {
    begin: Option<i64>,
    /// Seconds per part.
    width: i64,
    parts: Vec<(u64, u64)>,
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline { begin: None, width: 1, parts: Vec::new() }
    }
}

impl Timeline {
    fn add(&mut self, row: &Row<'_>) {
        let second = row.time.as_micros().div_euclid(1_000_000);
        let begin = *self.begin.get_or_insert(second);
        // Rows are nearly in order; one from before the first is of the first part.
        let mut part = ((second - begin).max(0) / self.width) as usize;
        while part >= PARTS {
            self.width *= 2;
            self.parts = self
                .parts
                .chunks(2)
                .map(|pair| pair.iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1)))
                .collect();
            part = ((second - begin).max(0) / self.width) as usize;
        }
        self.parts.resize(self.parts.len().max(part + 1), (0, 0));
        match row.outcome.parse::<u16>() {
            Ok(200) => self.parts[part].0 += 1,
            Ok(0..400) => {}
            _ => self.parts[part].1 += 1,
        }
    }

    fn parts(&self) -> Vec<Part> {
        let begin = self.begin.unwrap_or_default();
        let at = |index: usize| (begin + index as i64 * self.width) as f64;
        let parts = self.parts.iter().enumerate();
        parts.map(|(index, &(pages, errors))| Part { unix: at(index), pages, errors }).collect()
    }
}

/// The host that somebody means: `http://a.com`, `a.com:8080`, or a URL of it.
pub(crate) fn meant(text: &str) -> Option<WebUrl> {
    WebUrl::parse(text).or_else(|_| WebUrl::parse(&format!("http://{text}/"))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row<'a>(url: &'a str, outcome: &'a str, second: i64) -> Row<'a> {
        Row {
            url,
            time: UnixTime::from_micros(second * 1_000_000),
            outcome,
            depth: 0,
            took_ms: 1,
            digest: None,
            place: None,
            truncated: false,
            details: None,
        }
    }

    #[test]
    fn hosts_are_the_beginning_of_urls() {
        assert_eq!(host_of("http://a.com/b?c"), "http://a.com");
        assert_eq!(host_of("https://a.com:8443/"), "https://a.com:8443");
        assert_eq!(domain_of_host("https://www.a.co.uk:8443"), "a.co.uk");
        assert_eq!(domain_of_host("http://[::1]:80"), "[::1]:80");
        assert_eq!(meant("a.com").unwrap().host(), "http://a.com");
        assert_eq!(meant("https://a.com/x").unwrap().host(), "https://a.com");
        assert!(meant("not a host").is_none());
    }

    #[test]
    fn a_timeline_of_any_length_has_few_parts_and_loses_nothing() {
        let mut timeline = Timeline::default();
        for second in 0..100_000 {
            timeline.add(&row("http://a.com/", if second % 10 == 0 { "404" } else { "200" }, 1_000 + second));
        }
        let parts = timeline.parts();
        assert!(parts.len() <= PARTS && parts.len() > PARTS / 4, "{}", parts.len());
        assert_eq!(parts.iter().map(|part| part.pages).sum::<u64>(), 90_000);
        assert_eq!(parts.iter().map(|part| part.errors).sum::<u64>(), 10_000);
        assert_eq!(parts[0].unix, 1_000.0);
    }
}
