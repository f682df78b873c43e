//! Where repositories and archives are: directories of this machine, or URLs of object stores.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::{PathBufValueParser, TypedValueParser};
use mattock_env::{Env, is_url};
use mattock_objects::{Counts, Objects, check_url};

/// The machine, and what can be reached from it by URL. Nothing is asked of the network before a URL is used.
pub(crate) struct Places {
    pub(crate) env: Env,
    objects: Arc<Objects>,
}

impl Places {
    pub(crate) fn new() -> Places {
        let objects = Arc::new(Objects::new());
        let mut env = Env::real();
        env.files = env.files.with_remote(objects.clone());
        Places { env, objects }
    }

    /// What was asked of stores so far.
    pub(crate) fn counts(&self) -> Counts {
        self.objects.counts()
    }
}

/// An argument that is a path or a URL.
pub(crate) fn place() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.to_str() {
        Some(url) if is_url(&path) => check_url(url).map(PathBuf::from).map_err(|error| error.to_string()),
        _ => Ok(path),
    })
}

/// The same place, wherever somebody stands. A URL is one already.
pub(crate) fn absolute(path: &Path) -> io::Result<PathBuf> {
    if is_url(path) { Ok(path.to_path_buf()) } else { std::path::absolute(path) }
}
