//! Feature databases: how small they are, how fast they are built, and how fast algorithms run on them next to WebGraph's own.
//!
//! - **Size**: cnr-2000, a real graph in the order of its URLs, in our files and in those of WebGraph's compressor, and once more after
//!   [reordering](mattock_graph::label_order) (`cnr`); a real site's URLs (`site`).
//! - **Algorithms**: components and ranks of cnr-2000, ours and those of `webgraph-algo` in turns, medians of several rounds (`theirs`, `speed`).
//!   Both begin with the compressed graph in memory, ours with making lists of it; and once more both have lists from the start.
//! - **Building**: a graph several times as large as the memory, of pages that are made up as they are handed in (`made`, `build`); making them
//!   is not counted. What it takes to find its components says what six billion links would take.

mod build;
mod cnr;
mod made;
mod report;
mod site;
mod speed;
mod theirs;

use std::path::{Path, PathBuf};

use mattock_env::Env;
use mattock_features::FeaturesError;

pub use report::FeaturesBenchReport;

/// What is measured with.
#[derive(Clone, Debug)]
pub struct FeaturesBenchOptions {
    /// Links of the graph that is built.
    pub links: u64,
    /// Memory for building it.
    pub memory: u64,
    /// Where cnr-2000 and hollins-webgraph are.
    pub data: PathBuf,
}

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum FeaturesBenchError {
    /// A data set is missing.
    #[error(
        "{path} is not there: {what}. Put it there, or say with --data or MATTOCK_DATA which directory has cnr-2000/webgraph-java and hollins-webgraph"
    )]
    Data {
        /// The file that was looked for.
        path: PathBuf,
        /// Which data set it belongs to.
        what: &'static str,
    },
    /// A data set is not what it should be.
    #[error("{path}, line {line}: {what}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// A file.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The disk is too small.
    #[error(
        "{path} has {free} bytes free, and building {links} links takes up to {needed}: choose another place with --dir, or fewer --links"
    )]
    Room {
        /// Where it would be built.
        path: PathBuf,
        /// Bytes that are free.
        free: u64,
        /// Bytes that are needed.
        needed: u64,
        /// Links.
        links: u64,
    },
    /// Our databases.
    #[error(transparent)]
    Features(#[from] FeaturesError),
    /// WebGraph's tools.
    #[error("WebGraph: {0}")]
    WebGraph(String),
    /// Both came to different results, so that their times cannot be compared.
    #[error("ours and WebGraph's results differ: {0}")]
    Differs(String),
}

type Result<T> = std::result::Result<T, FeaturesBenchError>;

/// Measures in `dir`, which is removed afterwards.
pub fn run(
    env: &Env,
    dir: &Path,
    options: &FeaturesBenchOptions,
    mut talk: impl FnMut(&str),
) -> Result<FeaturesBenchReport> {
    let result = measure(env, dir, options, &mut talk);
    let _ = env.files.remove_dir_all(dir);
    result
}

fn measure(
    env: &Env,
    dir: &Path,
    options: &FeaturesBenchOptions,
    talk: &mut impl FnMut(&str),
) -> Result<FeaturesBenchReport> {
    // First what may be missing, then what takes long.
    let cnr_base = found(env, &options.data, "cnr-2000/webgraph-java/cnr-2000.graph", "the graph cnr-2000")?;
    let site = found(env, &options.data, "hollins-webgraph/hollins.dat", "the crawl of a university's site")?;
    build::check_room(env, dir, options)?;
    talk("cnr-2000: sizes, in the order of URLs and in another");
    let (cnr, graphs) = cnr::measure(env, &dir.join("cnr"), &cnr_base)?;
    talk("the URLs of a site");
    let bytes_per_url = site::bytes_per_url(env, &dir.join("site"), &site)?;
    talk("cnr-2000: components and ranks, ours and WebGraph's in turns");
    let speed = speed::measure(env, &graphs)?;
    talk(&format!("building {} links with {} MiB", options.links, options.memory >> 20));
    let built = build::measure(env, &dir.join("built"), options, talk)?;
    Ok(FeaturesBenchReport::new(options, &cnr, bytes_per_url, &speed, &built))
}

fn found(env: &Env, data: &Path, name: &str, what: &'static str) -> Result<PathBuf> {
    let path = data.join(name);
    match env.files.entry(&path) {
        Ok(Some(_)) => Ok(path),
        _ => Err(FeaturesBenchError::Data { path, what }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_data_set_is_named_with_its_place() {
        let options = FeaturesBenchOptions { links: 1000, memory: 1 << 20, data: "/nowhere".into() };
        let error = run(&Env::real(), Path::new("unused"), &options, |_| {}).unwrap_err().to_string();
        assert!(error.starts_with("/nowhere/cnr-2000/webgraph-java/cnr-2000.graph is not there"), "{error}");
        assert!(error.contains("--data or MATTOCK_DATA"), "{error}");
    }
}
