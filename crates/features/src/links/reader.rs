//! Reads one direction of the links: one list, or all in order.

use std::ops::Range;
use std::path::Path;

use dsi_bitstream::codes::GammaRead;
use dsi_bitstream::impls::{BufBitReader, MemWordReader};
use dsi_bitstream::traits::BE;
use lender::Lender;
use mattock_env::Files;
use sux::dict::EliasFanoBuilder;
use webgraph::prelude::{
    BvGraph, CompFlags, ConstCodesDecoderFactory, File as FromFile, LoadMode, MemoryFactory,
    RandomAccessDecoderFactory, RandomAccessGraph, RandomAccessLabeling, SequentialLabeling, ef_from_builder,
};

use super::writer::{LinkFiles, refused};
use crate::error::{FeaturesError, Result};
use crate::output::{Written, read_chunks, read_whole};

type Factory = ConstCodesDecoderFactory<BE, MemoryFactory<BE, Box<[u32]>>, <FromFile as LoadMode>::Offsets>;
type Decoder<'a> = <Factory as RandomAccessDecoderFactory>::Decoder<'a>;

/// The targets of one node, in order.
pub type Successors<'a> = webgraph::graphs::bvgraph::random_access::Succ<Decoder<'a>>;

/// Links of one direction, in memory.
pub struct Links {
    graph: BvGraph<Factory>,
    nodes: u64,
    arcs: u64,
    bits: u64,
}

impl std::fmt::Debug for Links {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} links of {} nodes", self.arcs, self.nodes)
    }
}

impl Links {
    /// Opens what a build has written.
    pub(crate) fn open(files: &Files, dir: &Path, written: &LinkFiles) -> Result<Links> {
        let path = dir.join(&written.graph.name);
        let properties = read_whole(files, dir, &written.properties)?;
        let [graph, offsets] = [&written.graph, &written.offsets].map(|written: &Written| {
            let mut words = Words::with_capacity(written.bytes);
            read_chunks(files, dir, written, |chunk| words.extend(chunk)).map(|()| words)
        });
        Links::decode(&path, &properties, graph?, offsets?)
    }

    /// Opens a graph that any of WebGraph's tools wrote, by its path without extension. Its codes must be the usual ones.
    pub fn open_foreign(files: &Files, base: &Path) -> Result<Links> {
        let read = |extension: &str| {
            let path = base.with_extension(extension);
            files.read(&path).map_err(FeaturesError::io(&path))
        };
        let words = |extension: &str| {
            let bytes = read(extension)?;
            let mut words = Words::with_capacity(bytes.len() as u64);
            words.extend(&bytes);
            Ok(words)
        };
        Links::decode(&base.with_extension("graph"), &read("properties")?, words("graph")?, words("offsets")?)
    }

    fn decode(path: &Path, properties: &[u8], graph: Words, offsets: Words) -> Result<Links> {
        let properties = Properties::parse(path, properties)?;
        let nodes = usize::try_from(properties.nodes).map_err(|error| refused(path, error))?;
        // Gaps of up to 64 bits follow; a list that ended too soon would be read from what is behind it.
        let bits_max = graph.bytes * 8;
        let words = offsets.finish();
        let mut reader = BufBitReader::<BE, _>::new(MemWordReader::new(words.as_ref()));
        let mut places = EliasFanoBuilder::new(nodes + 1, bits_max);
        let mut place = 0_u64;
        for _ in 0..=nodes {
            let gap = reader
                .read_gamma()
                .ok()
                .and_then(|gap| place.checked_add(gap))
                .filter(|end| *end <= bits_max);
            place = gap.ok_or_else(|| {
                FeaturesError::damaged(
                    path,
                    place / 8,
                    "the places of the lists lie beyond the end of the file",
                )
            })?;
            places.push(place);
        }
        let places = ef_from_builder(places).map_err(|error| refused(path, error))?;
        let memory = MemoryFactory::from_data(graph.finish());
        let factory =
            Factory::new(memory, places.into(), properties.flags).map_err(|error| refused(path, error))?;
        let (window, interval) = (properties.flags.compression_window, properties.flags.min_interval_length);
        let graph = BvGraph::new(factory, nodes, properties.arcs, window, interval);
        Ok(Links { graph, nodes: properties.nodes, arcs: properties.arcs, bits: place })
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// How many links there are.
    pub fn arcs(&self) -> u64 {
        self.arcs
    }

    /// Bits of all lists.
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Bits that a link takes, on average.
    pub fn bits_per_link(&self) -> f64 {
        self.bits as f64 / self.arcs.max(1) as f64
    }

    /// The targets of a node, which must exist.
    pub fn successors(&self, node: u64) -> Successors<'_> {
        self.graph.successors(self.checked(node))
    }

    /// How many targets a node has, which must exist.
    pub fn degree(&self, node: u64) -> u64 {
        self.graph.outdegree(self.checked(node)) as u64
    }

    fn checked(&self, node: u64) -> usize {
        assert!(node < self.nodes, "node {node} of {}", self.nodes);
        node as usize
    }

    /// The lists of a range of nodes, in order: several times as fast as one by one.
    pub fn scan(&self, nodes: Range<u64>) -> Scan<'_> {
        let end = nodes.end.min(self.nodes);
        let lists = self.graph.iter_from(nodes.start.min(end) as usize);
        Scan { lists, next: nodes.start, end, list: Vec::new() }
    }

    /// Writes `base.ef` beside the three files of a graph on the machine's own disk, for WebGraph's Rust tools.
    pub fn write_elias_fano(base: &Path, nodes: u64) -> Result<()> {
        let [graph, offsets, places] =
            ["graph", "offsets", "ef"].map(|extension| base.with_extension(extension));
        let nodes = usize::try_from(nodes).map_err(|error| refused(base, error))?;
        webgraph::prelude::store_ef_with_data(nodes, graph, offsets, places, &mut Option::<Silent>::None)
            .map_err(|error| refused(base, error))
    }
}

/// What nobody is told.
type Silent = dsi_progress_logger::ProgressLogger;

/// Lists of successive nodes.
pub struct Scan<'a> {
    lists: <BvGraph<Factory> as SequentialLabeling>::Lender<'a>,
    next: u64,
    end: u64,
    list: Vec<usize>,
}

impl std::fmt::Debug for Scan<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "nodes {} to {}", self.next, self.end)
    }
}

impl Scan<'_> {
    /// The next node and its targets.
    #[expect(clippy::should_implement_trait, reason = "what it gives is lent until the next call")]
    pub fn next(&mut self) -> Option<(u64, &[usize])> {
        if self.next >= self.end {
            return None;
        }
        let (node, targets) = self.lists.next()?;
        self.list.clear();
        self.list.extend(targets);
        self.next += 1;
        Some((node as u64, &self.list))
    }
}

struct Properties {
    nodes: u64,
    arcs: u64,
    flags: CompFlags,
}

impl Properties {
    fn parse(path: &Path, text: &[u8]) -> Result<Properties> {
        let map: std::collections::HashMap<String, String> = String::from_utf8_lossy(text)
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once('='))
            .map(|(key, value)| (key.trim().to_string(), value.trim().to_string()))
            .collect();
        if let Some(version) = map.get("version").filter(|version| *version != "0") {
            let path = path.with_extension("properties");
            return Err(FeaturesError::Version { path, version: version.clone() });
        }
        let number = |key: &str| {
            map.get(key).and_then(|value| value.parse::<u64>().ok()).ok_or_else(|| {
                FeaturesError::damaged(
                    &path.with_extension("properties"),
                    0,
                    format!("it does not say how many {key}"),
                )
            })
        };
        let flags = CompFlags::from_properties::<BE>(&map).map_err(|error| refused(path, error))?;
        Ok(Properties { nodes: number("nodes")?, arcs: number("arcs")?, flags })
    }
}

/// Bytes as words for the bit reader, with room behind them: it looks ahead.
struct Words {
    words: Vec<u32>,
    /// Bytes of a word that is not whole yet.
    rest: Vec<u8>,
    bytes: u64,
}

impl Words {
    fn with_capacity(bytes: u64) -> Words {
        let words = Vec::with_capacity(usize::try_from(bytes / 4).unwrap_or(0) + 3);
        Words { words, rest: Vec::new(), bytes: 0 }
    }

    fn extend(&mut self, mut bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if !self.rest.is_empty() {
            let (first, others) = bytes.split_at(bytes.len().min(4 - self.rest.len()));
            self.rest.extend_from_slice(first);
            bytes = others;
            if let Ok(word) = self.rest[..].try_into() {
                self.words.push(u32::from_ne_bytes(word));
                self.rest.clear();
            }
        }
        let (whole, rest) = bytes.as_chunks::<4>();
        self.words.extend(whole.iter().map(|word| u32::from_ne_bytes(*word)));
        self.rest.extend_from_slice(rest);
    }

    fn finish(mut self) -> Box<[u32]> {
        self.rest.resize(4, 0);
        self.words.extend(self.rest[..].try_into().map(u32::from_ne_bytes));
        self.words.push(0);
        self.words.into_boxed_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_do_not_depend_on_how_bytes_come() {
        let bytes: Vec<u8> = (1..=23).collect();
        let mut expected: Vec<u32> =
            bytes.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word)).collect();
        expected.extend([u32::from_ne_bytes([21, 22, 23, 0]), 0]);
        for size in 1..=23 {
            let mut words = Words::with_capacity(0);
            bytes.chunks(size).for_each(|chunk| words.extend(chunk));
            assert_eq!((words.bytes, &*words.finish()), (23, &expected[..]), "in pieces of {size}");
        }
    }
}
