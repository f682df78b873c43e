//! Building a generation: pages with their links go in, in any order; databases come out.
//!
//! Filled by whoever reads a crawl or a list ([`Builder::page`], [`Builder::link`], [`list`]); ends with [`Builder::finish`].
//!
//! 1. Every URL is known by its fingerprint at once. Its text goes to the sorter of texts, unless a cache of recent fingerprints says that
//!    it went there lately: most links repeat what was seen before. A link goes to a sorter as two fingerprints, target first.
//! 2. The texts come out in the order of their keys, each once: ids are given, the URL and host databases written, and (fingerprint, id)
//!    goes to a sorter.
//! 3. If pages came with [content](contents), terms and prints get ids and are written.
//! 4. Links and ids, both by fingerprint, are joined: first the targets, then, sorted anew, the sources.
//! 5. Links as pairs of ids are sorted, coded as outlinks, turned round, sorted, and coded as inlinks. Links between hosts and between
//!    domains are sorted beside them.
//! 6. Hosts and domains get graphs of their own.
//!
//! Costs: `memory` bounds buffers and sorters; beyond it there are one bit for each URL (whether it was crawled), the index of
//! the URL database (a byte for each), and the hosts (30 bytes for each). A link is sorted four times, 16 bytes wide and never as text. A fingerprint that two
//! URLs share (expected once in 18 billion billion pairs) sends the links of both to the first of them, and is counted.

mod coded;
mod contents;
mod fold;
mod frequencies;
mod graph;
mod joined;
mod list;

use std::path::Path;

use mattock_env::Files;
use mattock_weburl::WebUrl;

pub use contents::Content;
pub use graph::build_from_graph;
pub use list::{Input, Inputs, ListKind, build_from_list, build_from_lists};

use crate::build::contents::Contents;
use crate::build::fold::Fold;
use crate::error::{FeaturesError, Result};
use crate::features::{Direction, Grain};
use crate::generation::{Counts, Manifest, NameFiles, Origin, Site};
use crate::hosts::{HostWriter, Hosts};
use crate::key;
use crate::output::Output;
use crate::shingles::SKETCH_LENGTH;
use crate::sort::Scratch;
use crate::sort::pairs::PairSorter;
use crate::sort::texts::{SortedTexts, TextSorter};
use crate::urls::UrlWriter;

/// How to build.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// Bytes for buffers and sorting.
    pub memory: u64,
    /// What it is built from, for the manifest.
    pub origin: Origin,
}

impl Default for BuildOptions {
    fn default() -> BuildOptions {
        BuildOptions { memory: 1 << 30, origin: Origin::default() }
    }
}

/// What a build is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Pages and links come in.
    Reading,
    /// URLs get their ids.
    Urls,
    /// Terms and sketches of pages get ids.
    Contents,
    /// Links get the ids of their ends.
    Joining,
    /// Outlinks are coded.
    OutLinks,
    /// Inlinks are coded.
    InLinks,
    /// Hosts and domains are linked.
    Hosts,
}

/// How far a build has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it is at.
    pub stage: Stage,
    /// URLs, pages or links that this stage has done.
    pub done: u64,
    /// And how many it has to do, if that is known.
    pub total: Option<u64>,
}

/// Told of the progress from time to time.
pub type Report<'a> = &'a mut dyn FnMut(Progress);

/// Steps between two reports.
const REPORT_EVERY: u64 = 1 << 16;

/// Counts steps of a stage and tells of some.
pub(crate) struct Steps<'a, 'b> {
    report: &'a mut (dyn FnMut(Progress) + 'b),
    now: Progress,
}

impl<'a, 'b> Steps<'a, 'b> {
    pub(crate) fn new(
        report: &'a mut (dyn FnMut(Progress) + 'b),
        stage: Stage,
        total: Option<u64>,
    ) -> Steps<'a, 'b> {
        let now = Progress { stage, done: 0, total };
        report(now);
        Steps { report, now }
    }

    #[inline]
    pub(crate) fn step(&mut self) {
        self.now.done += 1;
        if self.now.done.is_multiple_of(REPORT_EVERY) {
            (self.report)(self.now);
        }
    }
}

/// A generation that is being filled.
pub struct Builder<'a> {
    site: Site,
    memory: u64,
    origin: Origin,
    report: Report<'a>,
    reading: Progress,
    recent: Recent,
    texts: TextSorter,
    /// (target, source), by fingerprint.
    links: PairSorter,
    /// (page that was crawled, 0), by fingerprint.
    pages: PairSorter,
    /// From the first page on that has one.
    contents: Option<Contents>,
    counts: Counts,
    key: Vec<u8>,
}

impl std::fmt::Debug for Builder<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "generation {} with {:?}", self.site.generation, self.counts)
    }
}

impl<'a> Builder<'a> {
    /// Begins the next generation in `dir`. The one that is in use stays so until [`Builder::finish`].
    pub fn begin(
        files: &Files,
        dir: &Path,
        options: &BuildOptions,
        report: Report<'a>,
    ) -> Result<Builder<'a>> {
        let site = Site::begin(files, dir)?;
        let scratch = Scratch::new(files, &site.scratch);
        let memory = options.memory;
        let reading = Progress { stage: Stage::Reading, done: 0, total: None };
        report(reading);
        Ok(Builder {
            memory,
            origin: options.origin.clone(),
            report,
            reading,
            recent: Recent::new(memory / 16),
            texts: TextSorter::new(&scratch, "texts", memory * 3 / 8),
            links: PairSorter::new(&scratch, "links", memory * 3 / 8),
            pages: PairSorter::new(&scratch, "pages", memory / 16),
            contents: None,
            counts: Counts::default(),
            key: Vec::new(),
            site,
        })
    }

    /// Takes a page that was crawled, with its links. A page that comes again adds its links.
    pub fn page<'u>(&mut self, url: &WebUrl, links: impl IntoIterator<Item = &'u WebUrl>) -> Result<()> {
        let source = self.see(url)?;
        self.pages.push((source, 0))?;
        for link in links {
            let target = self.see(link)?;
            self.push_link(source, target)?;
        }
        Ok(())
    }

    /// Takes one link. Its source counts as crawled.
    pub fn link(&mut self, source: &WebUrl, target: &WebUrl) -> Result<()> {
        let (from, to) = (self.see(source)?, self.see(target)?);
        self.pages.push((from, 0))?;
        self.push_link(from, to)
    }

    /// Takes what a page says, once for a page, before or after the page itself, which counts as crawled.
    ///
    /// A generation of which no page said anything has no content databases.
    pub fn content(&mut self, url: &WebUrl, content: &Content<'_>) -> Result<()> {
        if !content.sketch.is_empty() && content.sketch.len() != SKETCH_LENGTH {
            let what = format!("a sketch has {SKETCH_LENGTH} numbers or none, not {}", content.sketch.len());
            return Err(FeaturesError::Content { url: url.as_str().into(), what });
        }
        let fingerprint = self.see(url)?;
        self.pages.push((fingerprint, 0))?;
        let (site, memory) = (&self.site, self.memory / 8);
        let contents = self
            .contents
            .get_or_insert_with(|| Contents::new(&Scratch::new(&site.files, &site.scratch), memory));
        contents.push(fingerprint, content)
    }

    /// Counts a reference that is no URL of the Web.
    pub fn refuse(&mut self) {
        self.counts.refused += 1;
    }

    fn push_link(&mut self, source: u64, target: u64) -> Result<()> {
        self.counts.links_given += 1;
        self.step();
        self.links.push((target, source))
    }

    /// Counts something that was read.
    fn step(&mut self) {
        self.reading.done += 1;
        if self.reading.done.is_multiple_of(REPORT_EVERY) {
            (self.report)(self.reading);
        }
    }

    fn see(&mut self, url: &WebUrl) -> Result<u64> {
        let fingerprint = url.fingerprint().0;
        if self.recent.is_new(fingerprint) {
            self.key.clear();
            key::push_key(&mut self.key, url);
            self.texts.push(&self.key)?;
        }
        Ok(fingerprint)
    }

    /// Builds everything and puts it in use; what is in it.
    pub fn finish(self) -> Result<Counts> {
        let Builder {
            site, memory, origin, report, texts, links, pages, contents, mut counts, recent, ..
        } = self;
        drop(recent);
        let scratch = Scratch::new(&site.files, &site.scratch);
        let contents = contents.filter(Contents::has_any).map(Contents::finish).transpose()?;
        let (texts, links, pages) = (texts.finish()?, links.finish()?, pages.finish()?);

        let mut ids = PairSorter::new(&scratch, "ids", memory / 4);
        let (urls, hosts) = write_names(&site, &texts, &mut ids, &mut counts, report)?;
        drop(texts);
        let ids = ids.finish()?;
        counts.collisions = joined::collisions(&ids)?;

        let crawled = joined::crawled(&ids, &pages, &mut counts)?;
        drop(pages);
        let crawled_file = Output::create(&site.files, &site.dir.join("crawled"))?;
        crawled_file.put(&crawled)?;
        let crawled = crawled_file.finish()?;
        let contents = contents
            .map(|contents| contents.write(&site, &scratch, &ids, memory / 8, &mut counts, report))
            .transpose()?;
        let links = joined::link_ids(&scratch, &ids, links, memory * 3 / 8, report)?;
        drop(ids);

        let coder = coded::Coder { site: &site, scratch: &scratch, memory: memory * 3 / 8 };
        let mut fold = Fold::new(&coder, Hosts::open(&site.files, &site.dir, &hosts)?, memory / 8);
        let (out_links, in_links) =
            coder
                .both_directions(Grain::Pages, counts.urls, links, report, |from, to| fold.link(from, to))?;
        counts.links = out_links.arcs;

        let [(host_out, host_in), (domain_out, domain_in)] = fold.finish(&coder, report)?;
        let mut manifest = Manifest::new(site.generation, counts.clone(), origin, out_links, in_links);
        manifest.contents = contents;
        manifest.names = Some(NameFiles { urls, hosts, crawled, host_out, host_in, domain_out, domain_in });
        site.switch_to(&manifest)?;
        Ok(counts)
    }
}

/// Gives ids, and writes the URL and host databases.
fn write_names(
    site: &Site,
    texts: &SortedTexts,
    ids: &mut PairSorter,
    counts: &mut Counts,
    report: &mut dyn FnMut(Progress),
) -> Result<(crate::output::Written, crate::output::Written)> {
    let mut steps = Steps::new(report, Stage::Urls, None);
    let mut urls = UrlWriter::create(&site.files, &site.dir.join("urls"))?;
    let mut hosts = HostWriter::create(&site.files, &site.dir.join("hosts"))?;
    let mut stream = texts.stream()?;
    while let Some(key) = stream.next()? {
        let id = urls.push(key)?;
        hosts.push(key)?;
        let url = key::url_of(key).ok_or_else(|| {
            FeaturesError::damaged(&site.scratch, 0, format!("{} is no key of a URL", key.escape_ascii()))
        })?;
        ids.push((mattock_weburl::Fingerprint::of(&url).0, id))?;
        steps.step();
    }
    let (urls_count, urls) = urls.finish()?;
    let (hosts_count, domains, hosts) = hosts.finish()?;
    (counts.urls, counts.hosts, counts.domains) = (urls_count, hosts_count, domains);
    Ok((urls, hosts))
}

pub use coded::build_from_ids;

/// Fingerprints that came lately: a table in which a new one takes the place of the one that was there.
struct Recent {
    table: Vec<u64>,
    mask: u64,
}

impl Recent {
    fn new(memory: u64) -> Recent {
        let places = (memory / 8).max(1024).next_power_of_two() / 2;
        Recent { table: vec![0; usize::try_from(places).unwrap_or(1 << 30)], mask: places - 1 }
    }

    fn is_new(&mut self, fingerprint: u64) -> bool {
        // An empty place is 0: the URL whose fingerprint that is counts as new every time, which costs only time.
        let place = &mut self.table[(fingerprint & self.mask) as usize];
        fingerprint == 0 || std::mem::replace(place, fingerprint) != fingerprint
    }
}

/// The names of both directions of a graph.
pub(crate) fn names_of(grain: Grain) -> [&'static str; 2] {
    [Direction::Out, Direction::In].map(|direction| crate::features::link_name(grain, direction))
}
