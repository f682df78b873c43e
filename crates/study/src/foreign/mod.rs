//! Features of what others have gathered: lists of links, Common Crawl's graphs of hosts and domains, and WAT files.
//!
//! Lists go to `features` as they are; WAT files are [read](wat) like a repository's documents, and of each URL the newest record counts.
//! Nothing of this is kept but the generation itself: whoever has more builds again of all.

mod text;
mod wat;

use std::path::{Path, PathBuf};

use mattock_env::Files;
use mattock_features::{
    BuildOptions, Features, Inputs, ListKind, Origin, OriginPart, build_from_graph, build_from_lists,
};
use mattock_query::Cancel;

use crate::FEATURES;
use crate::build::{Built, Generation, Progress, keep_degrees};
use crate::error::Result;
use crate::gather::Store;

pub use text::{Reading, uncompressed};

/// What features can be built from beside a repository.
#[derive(Debug)]
pub enum Foreign<'a> {
    /// Texts with links.
    List(ListKind, Texts<'a>),
    /// Texts with names by number, and with links by number.
    Graph {
        /// The names.
        vertices: Texts<'a>,
        /// The links.
        edges: Texts<'a>,
    },
    /// WAT files.
    Wat(Vec<PathBuf>),
}

/// Texts that are opened one after the other, and what they are called.
pub struct Texts<'a> {
    /// For the manifest.
    pub parts: Vec<OriginPart>,
    /// The texts.
    pub inputs: Inputs<'a>,
}

impl std::fmt::Debug for Texts<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(&self.parts).finish()
    }
}

/// Builds the features of a directory from something foreign, in so much memory. `progress` hears what is done.
pub fn build_from(
    files: &Files,
    into: &Path,
    foreign: Foreign<'_>,
    memory: u64,
    progress: &mut dyn FnMut(Progress),
    cancel: &Cancel,
) -> Result<Built> {
    let home = into.join(FEATURES);
    let mut built = Built { is_new: true, ..Built::default() };
    let mut report = |at| progress(Progress::Building(at));
    match foreign {
        Foreign::List(kind, texts) => {
            let how = match kind {
                ListKind::Urls => "a list of URLs",
                ListKind::Ids => "a list of numbers",
                ListKind::Adjacency => "lists of successors",
            };
            let options = BuildOptions { memory, origin: origin(how, texts.parts) };
            let counts = build_from_lists(files, &home, &options, kind, texts.inputs, &mut report)?;
            built.counts = Some(counts);
        }
        Foreign::Graph { vertices, edges } => {
            let parts = vertices.parts.into_iter().chain(edges.parts).collect();
            let options = BuildOptions { memory, origin: origin("a graph of names and numbers", parts) };
            let counts =
                build_from_graph(files, &home, &options, vertices.inputs, edges.inputs, &mut report)?;
            built.counts = Some(counts);
        }
        Foreign::Wat(paths) => {
            let store = Store::open(files, &home)?;
            let scratch = store.scratch();
            let segment = scratch.join("wat.segment");
            if wat::gather(files, &paths, &segment, memory / 4, &mut built, progress, cancel)? {
                let origin = origin("WAT files", parts_of(files, &paths));
                let from = Generation { home: &home, segments: &[segment], scratch: &scratch, origin };
                built.counts = from.build(files, memory, progress, cancel)?;
            }
            store.close()?;
        }
    }
    built.is_new = built.counts.is_some();
    if built.is_new {
        keep_degrees(files, &Features::open(files, &home)?, memory, progress)?;
    }
    Ok(built)
}

fn origin(how: &str, parts: Vec<OriginPart>) -> Origin {
    Origin { how: how.to_owned(), parts }
}

/// Names and lengths of files, as far as they are known.
pub fn parts_of(files: &Files, paths: &[PathBuf]) -> Vec<OriginPart> {
    let part = |path: &PathBuf| OriginPart {
        name: path.display().to_string(),
        bytes: files.entry(path).ok().flatten().map_or(0, |entry| entry.len),
    };
    paths.iter().map(part).collect()
}
