//! Analyzers that are loaded: those that flags name, and those in a repository's directory `analyzers`.
//!
//! A file has the name of its column. Files that flags name are loaded in any case; those of the repository when somebody names their
//! column, so that a damaged one is in nobody's way.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use mattock_analyze::Analyzer;
use mattock_env::Files;
use mattock_wasm::{Limits, Module};

use crate::args::analyzer::LoadedArgs;
use crate::exit::Usage;

/// Where a repository has its analyzers.
const DIRECTORY: &str = "analyzers";

/// The analyzers that flags name, and those of the repository `dir` whose names are words of `text`.
pub(crate) fn load(
    files: &Files,
    args: &LoadedArgs,
    dir: &Path,
    text: &str,
) -> anyhow::Result<Vec<Arc<dyn Analyzer>>> {
    let mut loaded: Vec<Arc<dyn Analyzer>> = Vec::new();
    for path in &args.analyzers {
        let analyzer = load_file(files, args, path)?;
        if loaded.iter().any(|other| other.name() == analyzer.name()) {
            return Err(Usage(format!("there are two analyzers `{}`: rename a file", analyzer.name())).into());
        }
        loaded.push(analyzer);
    }
    for path in of_repository(files, dir)? {
        let name = name_of(&path);
        // What a flag names is newer than what is kept.
        if is_word_of(name, text) && !loaded.iter().any(|other| other.name() == name) {
            loaded.push(load_file(files, args, &path)?);
        }
    }
    Ok(loaded)
}

/// The files of a repository's own analyzers, by name.
pub(crate) fn of_repository(files: &Files, dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let directory = dir.join(DIRECTORY);
    if files.entry(&directory)?.is_none_or(|entry| !entry.is_dir) {
        return Ok(Vec::new());
    }
    let listed = files.list(&directory).with_context(|| directory.display().to_string())?;
    let listed = listed.into_iter().filter(|entry| !entry.is_dir && entry.name.ends_with(".wasm"));
    let mut paths: Vec<PathBuf> = listed.map(|entry| directory.join(entry.name)).collect();
    paths.sort();
    Ok(paths)
}

/// The analyzer in a file.
pub(crate) fn load_file(files: &Files, args: &LoadedArgs, path: &Path) -> anyhow::Result<Arc<dyn Analyzer>> {
    let name = name_of(path);
    let bytes = files.read(path).with_context(|| path.display().to_string())?;
    let limits = Limits {
        fuel: args.analyzer_fuel,
        memory_bytes_max: usize::try_from(args.analyzer_memory).context("so much memory there is not")?,
        ..Limits::default()
    };
    let module =
        Module::load(name, &bytes, limits).map_err(|error| Usage(format!("{}: {error}", path.display())))?;
    if mattock_query::is_taken(&mattock_index::schema(), name) {
        let message = format!("{}: there is a column `{name}` already: rename the file", path.display());
        return Err(Usage(message).into());
    }
    Ok(Arc::new(module))
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
