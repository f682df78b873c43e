//! Analyzers that are loaded: those that flags name, those in a repository's directory `analyzers`, and those of a configuration.
//!
//! A file has the name of its column. Files that flags name are loaded in any case; the others when somebody names their
//! column, so that a damaged one is in nobody's way.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use mattock_analyze::Analyzer;
use mattock_crawl::{CrawlError, GrantedAnalyzers, SavedCrawl};
use mattock_env::{Env, Files, is_url};
use mattock_wasm::{Limits, Module};

use crate::args::analyzer::LoadedArgs;
use crate::exit::Usage;
use crate::settings::read_config;

/// Where a repository has its analyzers.
const DIRECTORY: &str = "analyzers";

/// Where analyzers are found, and what they may take.
pub(crate) struct Analyzers {
    files: Files,
    limits: Limits,
    /// Whether the crawl's own limits are higher, and nobody stands for them.
    lowered: bool,
    /// Those that flags name.
    named: Vec<PathBuf>,
    /// Those that are there to be named by their columns, the repository's own before those of a configuration.
    known: Vec<PathBuf>,
}

impl Analyzers {
    /// What flags and configuration say, for the repository `dir`, if there is one.
    pub(crate) fn find(env: &Env, args: &LoadedArgs, dir: Option<&Path>) -> anyhow::Result<Analyzers> {
        let mut granted = match &args.config {
            // The user has named it: all of it is the user's word.
            Some(path) => GrantedAnalyzers::named(read_config(path)?.check_saved()?.analyzers),
            None => dir.map(|dir| of_crawl(env, dir)).transpose()?.unwrap_or_default(),
        };
        granted.elsewhere.extend(args.analyzers.iter().cloned());
        let files = env.files.with_outside(granted.elsewhere);
        let configured = granted.options;
        let mut known = dir.map(|dir| of_repository(&env.files, dir)).transpose()?.unwrap_or_default();
        for path in configured.modules {
            if !known.iter().any(|other| name_of(other) == name_of(&path)) {
                known.push(path);
            }
        }
        let memory_bytes = args.analyzer_memory.unwrap_or(configured.memory_bytes);
        let limits = Limits {
            fuel: args.analyzer_fuel.unwrap_or(configured.fuel),
            memory_bytes_max: usize::try_from(memory_bytes).context("so much memory there is not")?,
            ..Limits::default()
        };
        Ok(Analyzers { files, limits, lowered: granted.lowered, named: args.analyzers.clone(), known })
    }

    /// Those that flags name, and of the others those whose names are words of `text`.
    pub(crate) fn load(&self, text: &str) -> anyhow::Result<Vec<Arc<dyn Analyzer>>> {
        let mut loaded: Vec<Arc<dyn Analyzer>> = Vec::new();
        for path in &self.named {
            let analyzer = self.load_file(path)?;
            if loaded.iter().any(|other| other.name() == analyzer.name()) {
                let message = format!("there are two analyzers `{}`: rename a file", analyzer.name());
                return Err(Usage(message).into());
            }
            loaded.push(analyzer);
        }
        for path in &self.known {
            let name = name_of(path);
            // What a flag names is newer than what is kept.
            if is_word_of(name, text) && !loaded.iter().any(|other| other.name() == name) {
                if self.lowered {
                    say!(
                        "note: analyzers run with the default limits, not with the higher ones of this directory's configuration: --trust takes those"
                    );
                }
                loaded.push(self.load_file(path)?);
            }
        }
        Ok(loaded)
    }

    /// Files that flags name.
    pub(crate) fn named(&self) -> &[PathBuf] {
        &self.named
    }

    /// Files that would be found by name.
    pub(crate) fn known(&self) -> &[PathBuf] {
        &self.known
    }

    /// The analyzer in a file.
    pub(crate) fn load_file(&self, path: &Path) -> anyhow::Result<Arc<dyn Analyzer>> {
        let name = name_of(path);
        let bytes = self.files.read(path).with_context(|| path.display().to_string())?;
        let module = Module::load(name, &bytes, self.limits)
            .map_err(|error| Usage(format!("{}: {error}", path.display())))?;
        if mattock_query::is_taken(&mattock_index::schema(), name) {
            let message = format!("{}: there is a column `{name}` already: rename the file", path.display());
            return Err(Usage(message).into());
        }
        Ok(Arc::new(module))
    }
}

/// What the configuration of a crawl says; nothing where there is no crawl.
fn of_crawl(env: &Env, dir: &Path) -> anyhow::Result<GrantedAnalyzers> {
    if is_url(dir) {
        return Ok(GrantedAnalyzers::default());
    }
    match SavedCrawl::open(env, dir) {
        Ok(saved) => Ok(saved.analyzers()?),
        Err(CrawlError::NoCrawl { .. } | CrawlError::NotACrawl { .. }) => Ok(GrantedAnalyzers::default()),
        Err(error) => Err(error.into()),
    }
}

/// The files of a repository's own analyzers, by name.
fn of_repository(files: &Files, dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let directory = dir.join(DIRECTORY);
    let listed = match files.list(&directory) {
        // A server that lists nothing has none that could be found.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::Unsupported
            ) =>
        {
            return Ok(Vec::new());
        }
        listed => listed.with_context(|| directory.display().to_string())?,
    };
    let listed = listed.into_iter().filter(|entry| !entry.is_dir && entry.name.ends_with(".wasm"));
    let mut paths: Vec<PathBuf> = listed.map(|entry| directory.join(entry.name)).collect();
    paths.sort();
    Ok(paths)
}

/// The column that a file is for.
fn name_of(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

/// Whether a text, a query most likely, has this word.
fn is_word_of(name: &str, text: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.split(|letter| !is_part(letter)).any(|word| word.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let query = "select name, Word_Count where h1=\"x\"&&!spam";
        for word in ["name", "word_count", "h1", "spam"] {
            assert!(is_word_of(word, query), "{word}");
        }
        for word in ["word", "count", "h", "pam"] {
            assert!(!is_word_of(word, query), "{word}");
        }
        assert_eq!(name_of(Path::new("a/b/word_count.wasm")), "word_count");
    }
}
