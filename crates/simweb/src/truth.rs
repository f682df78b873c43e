//! The truth about a world: what a crawler can find, found by exploring places instead of fetching pages.
//!
//! The explorer uses the same links, kinds and robots.txt kinds that answers are made from, so it cannot disagree with
//! them, and it touches no HTML and no network. RAM grows with the URLs found; a limit says when to give up.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

use serde::Serialize;

use crate::failures::Fate;
use crate::mix::{Tag, mix};
use crate::pages::PageKind;
use crate::place::{Place, Resource, Site};
use crate::world::World;

/// How many hosts [`World::size`] counts one by one before it samples.
const COUNTED_DOMAINS_MAX: u64 = 300_000;

/// Why there is no truth to tell.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TruthError {
    /// More URLs than allowed.
    #[error("the world has more than {limit} URLs: raise the limit, or choose a smaller preset")]
    TooLarge {
        /// The limit that was given.
        limit: usize,
    },
    /// Traps or farms without end.
    #[error(
        "the world is endless (unlimited farms, calendars or session traps): set farm_pages and calendar_months, and \
         session_trap_hosts to 0, or choose the preset tiny or small"
    )]
    Endless,
}

/// What a crawler that follows every link finds, starting from the seeds.
///
/// It takes redirects as links, reads the sitemaps that robots.txt files name, follows neither rel=nofollow links nor links on pages that ask for it, and embeds no
/// images. An obedient one keeps to robots.txt as well, and leaves alone the hosts whose robots.txt it cannot get.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Truth {
    /// Answers with 200 that a crawler finds that ignores robots.txt.
    pub reachable: u64,
    /// Answers with 200 (of any type, robots.txt not counted) that an obedient crawler fetches.
    pub allowed: u64,
    /// Hosts with an allowed page.
    pub hosts: u64,
    /// Domains with an allowed page.
    pub domains: u64,
    /// URLs that an obedient crawler finds and must not fetch.
    pub forbidden: u64,
    /// URLs that it finds and gets no answer for, because of the host or only of the page.
    pub unreachable: u64,
    /// Links that it follows, repetitions included.
    pub links: u64,
    /// Allowed pages with the same bytes as another one: the copies, not the originals.
    pub duplicates: u64,
    /// Answers to an obedient crawler by status.
    pub statuses: BTreeMap<u16, u64>,
    /// The canonical URLs of the allowed pages.
    #[serde(skip)]
    pub pages: BTreeSet<String>,
    /// The canonical URLs that it fetches and that answer with something else than 200.
    #[serde(skip)]
    pub failures: BTreeSet<String>,
    /// For each domain with an allowed page, how many others link to it; by name.
    #[serde(skip)]
    pub in_degrees: Vec<DomainInDegree>,
}

impl fmt::Display for Truth {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "reachable pages   {:>10}  (a crawler that ignores robots.txt)", self.reachable)?;
        writeln!(out, "allowed pages     {:>10}  (one that obeys it)", self.allowed)?;
        writeln!(out, "  on hosts        {:>10}", self.hosts)?;
        writeln!(out, "  in domains      {:>10}", self.domains)?;
        writeln!(out, "  copies of others{:>10}", self.duplicates)?;
        writeln!(out, "forbidden URLs    {:>10}", self.forbidden)?;
        writeln!(out, "without an answer {:>10}", self.unreachable)?;
        write!(out, "links followed    {:>10}", self.links)?;
        for (status, count) in &self.statuses {
            write!(out, "\nstatus {status}        {count:>10}")?;
        }
        Ok(())
    }
}

/// How many other domains have a link to a domain on their allowed pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DomainInDegree {
    /// The pay-level domain.
    pub domain: String,
    /// Number of distinct other domains.
    pub in_degree: u64,
}

/// How large a world is by construction: all pages of all honest hosts, whatever they answer; traps and farms apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Honest domains.
    pub domains: u64,
    /// Honest hosts.
    pub hosts: u64,
    /// Their pages.
    pub pages: u64,
    /// Whether hosts and pages are extrapolated from a sample.
    pub sampled: bool,
    /// Whether there are traps or farms without end.
    pub endless: bool,
}

/// A fixed hasher: the same everywhere, and quick on a handful of numbers.
#[derive(Default)]
struct PlaceHasher(u64);

impl Hasher for PlaceHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = crate::mix::mix_bytes(self.0, bytes);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix(self.0, Tag::Text, number, 0);
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }
}

type PlaceSet<T> = HashSet<T, BuildHasherDefault<PlaceHasher>>;

impl World {
    /// The status of a place, and what a follower takes from it: links, or the target of a redirect. The status is 0
    /// if there is no answer.
    pub(crate) fn follow(&self, place: Place, out: &mut Vec<Place>) -> u16 {
        let (domain, index) = match place.site {
            Site::Alias { domain } => {
                out.push(Place { site: Site::Host { domain, index: 0 }, resource: place.resource });
                return 301;
            }
            Site::Farm { domain, label } => {
                if let Resource::Page(page) = place.resource {
                    let mut links = Vec::new();
                    self.farm_links(domain, label, page, &mut links);
                    out.extend(links.iter().map(|link| link.to.on(place.site)));
                }
                return 200;
            }
            Site::Host { domain, index } => self.content_host(domain, index),
        };
        let host = self.host(domain, index);
        let kind = self.kind(&host, place.resource);
        match kind {
            PageKind::Reset => 0,
            PageKind::Status(status) => status,
            PageKind::Redirect(status, target) => {
                out.push(target.on(place.site));
                status
            }
            PageKind::Html { nofollow: false, .. } => {
                let mut links = Vec::with_capacity(128);
                self.links_of(&host, place.resource, kind, &mut links);
                out.extend(links.iter().filter(|link| !link.nofollow).map(|link| link.to.on(place.site)));
                200
            }
            PageKind::Html { .. } | PageKind::Plain | PageKind::Pdf => 200,
        }
    }

    /// Explores the world.
    pub fn truth(&self, limit: usize) -> Result<Truth, TruthError> {
        if self.params.endless() {
            return Err(TruthError::Endless);
        }
        let everything = self.explore(limit, false, |_| true)?;
        let mut truth = self.explore(limit, true, |_| true)?;
        truth.reachable = everything.allowed;
        Ok(truth)
    }

    /// What an obedient crawler finds on honest domains outside calendars and copies without end: this ends in every world.
    pub fn honest(&self, limit: usize) -> Result<Truth, TruthError> {
        self.explore(limit, true, |place| {
            let trap = match place.resource {
                Resource::Copy { .. } => true,
                Resource::Calendar(_) => self.params.calendar_months == 0,
                _ => false,
            };
            !trap && !matches!(place.site, Site::Farm { .. })
        })
    }

    fn explore(
        &self,
        limit: usize,
        obedient: bool,
        wanted: impl Fn(&Place) -> bool,
    ) -> Result<Truth, TruthError> {
        let mut truth = Truth::default();
        let mut seen = PlaceSet::default();
        let mut queue = VecDeque::new();
        let mut hosts = BTreeSet::new();
        let mut contents = PlaceSet::default();
        let mut domains = BTreeSet::new();
        let mut edges = PlaceSet::<(u64, u64)>::default();
        for domain in 0..u64::from(self.params.seeds) {
            if domain == 0 || !self.is_leaf_domain(domain) {
                let seed = Place::home(domain, 0);
                seen.insert(seed);
                queue.push_back(seed);
            }
        }
        let mut targets = Vec::new();
        let mut path = Vec::new();
        let mut visited = PlaceSet::default();
        while let Some(place) = queue.pop_front() {
            if self.fate(place.site) != Fate::Healthy {
                truth.unreachable += 1;
                continue;
            }
            // Whoever wants anything of a host reads its robots.txt, and what that leads to.
            if visited.insert(place.site) {
                targets.clear();
                self.listed(place.site, &mut targets);
                for target in targets.drain(..).filter(|target| seen.insert(*target)) {
                    queue.push_back(target);
                }
            }
            path.clear();
            self.write_place_path(place, false, &mut path);
            let path = std::str::from_utf8(&path).expect("paths are ASCII");
            if obedient && self.site_forbids(place.site, path) {
                truth.forbidden += 1;
                continue;
            }
            targets.clear();
            let status = self.follow(place, &mut targets);
            if status == 0 {
                truth.unreachable += 1;
                continue;
            }
            *truth.statuses.entry(status).or_default() += 1;
            let source = place.site.domain();
            if status == 200 {
                truth.allowed += 1;
                hosts.insert(place.site);
                domains.insert(source);
                truth.duplicates += u64::from(!contents.insert(self.content_of(place)));
            }
            if obedient {
                let list = if status == 200 { &mut truth.pages } else { &mut truth.failures };
                list.insert(self.url(place));
            }
            truth.links += targets.len() as u64;
            for &target in &targets {
                if target.site.domain() != source {
                    edges.insert((target.site.domain(), source));
                }
                if wanted(&target) && seen.insert(target) {
                    queue.push_back(target);
                }
            }
            if seen.len() > limit {
                return Err(TruthError::TooLarge { limit });
            }
        }
        truth.hosts = hosts.len() as u64;
        truth.domains = domains.len() as u64;
        truth.in_degrees = self.in_degrees(&domains, &edges);
        Ok(truth)
    }

    /// The place whose bytes a place shows.
    fn content_of(&self, place: Place) -> Place {
        match place.site {
            Site::Host { domain, index } => {
                let (domain, index) = self.content_host(domain, index);
                Place { site: Site::Host { domain, index }, ..place }
            }
            _ => place,
        }
    }

    fn in_degrees(&self, domains: &BTreeSet<u64>, edges: &PlaceSet<(u64, u64)>) -> Vec<DomainInDegree> {
        let mut counts: BTreeMap<u64, u64> = domains.iter().map(|&domain| (domain, 0)).collect();
        for (target, _) in edges {
            if let Some(count) = counts.get_mut(target) {
                *count += 1;
            }
        }
        let mut list: Vec<DomainInDegree> = counts
            .into_iter()
            .map(|(domain, in_degree)| {
                let mut name = Vec::new();
                self.names.write_domain(domain, &mut name);
                let domain = String::from_utf8(name).expect("names are ASCII");
                DomainInDegree { domain, in_degree }
            })
            .collect();
        list.sort_by(|a, b| a.domain.cmp(&b.domain));
        list
    }

    /// How large the world is; counted one by one, or for very large worlds extrapolated from a sample.
    pub fn size(&self) -> Size {
        let domains = self.params.domains;
        let step = domains.div_ceil(COUNTED_DOMAINS_MAX).max(1);
        let (mut sampled, mut hosts, mut pages) = (0u64, 0u64, 0u64);
        // A hashed offset within each stride: a fixed one would beat against the sequence that sizes are drawn from.
        let mut start = 0;
        while start < domains {
            let width = step.min(domains - start);
            let domain = start + mix(self.seed, Tag::HostCount, start, 7) % width;
            let count = self.host_count(domain);
            hosts += u64::from(count);
            for index in 0..count {
                let (owner, owned) = self.content_host(domain, index);
                pages += self.page_count(owner, owned);
            }
            sampled += 1;
            start += step;
        }
        let scale = |sum: u64| (u128::from(sum) * u128::from(domains) / u128::from(sampled.max(1))) as u64;
        Size {
            domains,
            hosts: scale(hosts),
            pages: scale(pages),
            sampled: step > 1,
            endless: self.params.endless(),
        }
    }
}
