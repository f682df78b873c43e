//! The feature databases of a generation, as their readers see them.
//!
//! Opened by everybody who asks; nothing but the manifest is read until a database is asked for. Databases are opened anew by each call:
//! keep what you get.

use std::path::{Path, PathBuf};

use mattock_codec::Reader;
use mattock_env::Files;

use crate::error::{FeaturesError, Result};
use crate::generation::{Counts, Manifest, NameFiles, Origin, directory};
use crate::hosts::Hosts;
use crate::links::{LinkFiles, Links};
use crate::output::{Written, read_chunks, read_whole};
use crate::shingles::Shingles;
use crate::terms::Terms;
use crate::urls::Urls;

/// Which way a link is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the page that has it.
    Out,
    /// From the page that it leads to.
    In,
}

/// What the nodes of a graph are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// Each URL.
    Pages,
    /// Each host, by its number in [`Hosts`]; a link between two if any of their pages has one. None to itself.
    Hosts,
    /// Each domain, likewise.
    Domains,
}

/// How much there is of one direction of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSize {
    /// Nodes.
    pub nodes: u64,
    /// Links.
    pub arcs: u64,
    /// Bits of all lists.
    pub bits: u64,
}

/// A generation of feature databases.
#[derive(Debug)]
pub struct Features {
    files: Files,
    dir: PathBuf,
    manifest: Manifest,
}

impl Features {
    /// Opens the generation that is in use in a directory.
    pub fn open(files: &Files, dir: &Path) -> Result<Features> {
        let manifest =
            Manifest::read(files, dir)?.ok_or_else(|| FeaturesError::Missing { dir: dir.to_path_buf() })?;
        Ok(Features { files: files.clone(), dir: directory(dir, manifest.generation), manifest })
    }

    /// Its number: every build makes a greater one.
    pub fn generation(&self) -> u64 {
        self.manifest.generation
    }

    /// How much is in it.
    pub fn counts(&self) -> &Counts {
        &self.manifest.counts
    }

    /// What it was built from.
    pub fn origin(&self) -> &Origin {
        &self.manifest.origin
    }

    /// Where its files are.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn names(&self) -> Result<&NameFiles> {
        self.manifest.names.as_ref().ok_or_else(|| FeaturesError::NoUrls { dir: self.dir.clone() })
    }

    /// Refuses what is to be computed from or kept with a generation that a build has replaced meanwhile.
    pub fn still_in_use(&self) -> Result<()> {
        let root = self.dir.parent().unwrap_or(Path::new("."));
        match Manifest::read(&self.files, root)? {
            Some(manifest) if manifest.generation == self.manifest.generation => Ok(()),
            _ => Err(FeaturesError::Replaced { dir: self.dir.clone() }),
        }
    }

    /// What could not be opened is no longer there if a build has ended meanwhile.
    fn opened<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| match self.still_in_use() {
            Err(replaced @ FeaturesError::Replaced { .. }) => replaced,
            _ => error,
        })
    }

    /// Whether its nodes have URLs: a graph that was built of numbers has none.
    pub fn has_urls(&self) -> bool {
        self.manifest.names.is_some()
    }

    /// The URLs.
    pub fn urls(&self) -> Result<Urls> {
        let urls = self.opened(Urls::open(&self.files, &self.dir.join(&self.names()?.urls.name)))?;
        match urls.len() == self.manifest.counts.urls {
            true => Ok(urls),
            false => Err(FeaturesError::damaged(&self.dir.join("urls"), 0, "it is of another generation")),
        }
    }

    /// The hosts and domains.
    pub fn hosts(&self) -> Result<Hosts> {
        self.opened(Hosts::open(&self.files, &self.dir, &self.names()?.hosts))
    }

    /// Which URLs were crawled: the others are only linked to.
    pub fn crawled(&self) -> Result<Crawled> {
        let Some(names) = &self.manifest.names else { return Ok(Crawled { bits: None }) };
        let bits = self.opened(read_whole(&self.files, &self.dir, &names.crawled))?;
        Ok(Crawled { bits: Some(bits) })
    }

    /// The term vectors of pages; `None` if it was built without content.
    pub fn terms(&self) -> Result<Option<Terms>> {
        let Some(contents) = &self.manifest.contents else { return Ok(None) };
        self.opened(Terms::open(&self.files, &self.dir, &contents.terms, &contents.vocabulary)).map(Some)
    }

    /// The shingleprints of pages; `None` if it was built without content.
    pub fn shingles(&self) -> Result<Option<Shingles>> {
        let Some(contents) = &self.manifest.contents else { return Ok(None) };
        self.opened(Shingles::open(&self.files, &self.dir, &contents.shingles)).map(Some)
    }

    /// Links between pages, hosts or domains.
    pub fn links(&self, grain: Grain, direction: Direction) -> Result<Links> {
        self.opened(Links::open(&self.files, &self.dir, self.link_files(grain, direction)?))
    }

    /// How many links each node has, without opening the links: a byte or two a node.
    pub fn degrees(&self, grain: Grain, direction: Direction) -> Result<Degrees> {
        let written = &self.link_files(grain, direction)?.degrees;
        self.opened(read_whole(&self.files, &self.dir, written)).map(|bytes| Degrees { bytes })
    }

    /// How much there is of them, without opening them.
    pub fn link_size(&self, grain: Grain, direction: Direction) -> Result<LinkSize> {
        let LinkFiles { nodes, arcs, bits, .. } = *self.link_files(grain, direction)?;
        Ok(LinkSize { nodes, arcs, bits })
    }

    fn link_files(&self, grain: Grain, direction: Direction) -> Result<&LinkFiles> {
        let (out_links, in_links) = match grain {
            Grain::Pages => (&self.manifest.out_links, &self.manifest.in_links),
            Grain::Hosts => (&self.names()?.host_out, &self.names()?.host_in),
            Grain::Domains => (&self.names()?.domain_out, &self.names()?.domain_in),
        };
        Ok(if direction == Direction::Out { out_links } else { in_links })
    }

    /// Reads everything that a build has written, and compares it with its checksums. Takes no memory to speak of.
    pub fn verify(&self) -> Result<()> {
        if let Some(names) = &self.manifest.names {
            self.urls()?.verify()?;
            self.verify_file(&names.hosts)?;
            self.verify_file(&names.crawled)?;
        }
        if let Some(terms) = self.terms()? {
            terms.verify()?;
        }
        if let Some(shingles) = self.shingles()? {
            shingles.verify()?;
        }
        let grains = [Grain::Pages, Grain::Hosts, Grain::Domains];
        for grain in grains.into_iter().take(if self.has_urls() { 3 } else { 1 }) {
            for direction in [Direction::Out, Direction::In] {
                let files = self.link_files(grain, direction)?;
                for written in [&files.graph, &files.offsets, &files.properties, &files.degrees] {
                    self.verify_file(written)?;
                }
            }
        }
        Ok(())
    }

    fn verify_file(&self, written: &Written) -> Result<()> {
        self.opened(read_chunks(&self.files, &self.dir, written, |_| {}))
    }

    /// Where the link files are, without extension, for WebGraph's own tools.
    pub fn links_base(&self, grain: Grain, direction: Direction) -> PathBuf {
        self.dir.join(link_name(grain, direction))
    }
}

pub(crate) fn link_name(grain: Grain, direction: Direction) -> &'static str {
    match (grain, direction) {
        (Grain::Pages, Direction::Out) => "out",
        (Grain::Pages, Direction::In) => "in",
        (Grain::Hosts, Direction::Out) => "hosts-out",
        (Grain::Hosts, Direction::In) => "hosts-in",
        (Grain::Domains, Direction::Out) => "domains-out",
        (Grain::Domains, Direction::In) => "domains-in",
    }
}

/// How many links each node has.
#[derive(Clone, Debug)]
pub struct Degrees {
    bytes: Vec<u8>,
}

impl Degrees {
    /// Those of all nodes, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        let mut reader = Reader::new(&self.bytes);
        std::iter::from_fn(move || reader.varint())
    }
}

/// One bit for each URL: whether it was crawled.
#[derive(Clone, Debug)]
pub struct Crawled {
    bits: Option<Vec<u8>>,
}

impl Crawled {
    /// Whether this id was crawled. In a graph without URLs all were.
    pub fn contains(&self, id: u64) -> bool {
        let Some(bits) = &self.bits else { return true };
        bits.get((id / 8) as usize).is_some_and(|byte| byte >> (id % 8) & 1 == 1)
    }
}
