//! `[analyzers]`: columns of one's own. A crawl has no use for them; what asks it later finds them here.

use std::path::{Path, PathBuf};

use super::checked::{size, wrong};
use super::{ConfigError, RawAnalyzers};

/// Which analyzers are loaded when somebody names their columns, and what they may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalyzerOptions {
    /// WebAssembly modules, each with the name of its column.
    pub modules: Vec<PathBuf>,
    /// Steps for one document.
    pub fuel: u64,
    /// Memory.
    pub memory_bytes: u64,
}

const FUEL: u64 = 1_000_000_000;
const MEMORY_BYTES: u64 = 64 << 20;

impl Default for AnalyzerOptions {
    fn default() -> AnalyzerOptions {
        AnalyzerOptions { modules: Vec::new(), fuel: FUEL, memory_bytes: MEMORY_BYTES }
    }
}

pub(super) fn analyzers(raw: &RawAnalyzers) -> Result<AnalyzerOptions, ConfigError> {
    let modules: Vec<PathBuf> = raw.modules.iter().flatten().map(PathBuf::from).collect();
    if let Some(path) = modules.iter().find(|path| path.extension().is_none_or(|end| end != "wasm")) {
        let message = format!("{:?} is no WebAssembly module; name files that end in .wasm", path.display());
        return Err(wrong("analyzers.modules")(message));
    }
    let name = |path: &Path| path.file_stem().map(std::ffi::OsStr::to_ascii_lowercase);
    for (at, path) in modules.iter().enumerate() {
        if modules[..at].iter().any(|other| name(other) == name(path)) {
            let message = format!("there are two columns of the name of {:?}; rename a file", path.display());
            return Err(wrong("analyzers.modules")(message));
        }
    }
    if raw.fuel == Some(0) {
        return Err(wrong("analyzers.fuel")("it must be at least 1".into()));
    }
    let memory_bytes = size("analyzers.memory_max", &raw.memory_max, MEMORY_BYTES)?;
    Ok(AnalyzerOptions { modules, fuel: raw.fuel.unwrap_or(FUEL), memory_bytes })
}

#[cfg(test)]
mod tests {
    use super::super::RawConfig;
    use super::*;

    #[test]
    fn modules_are_files_with_names_of_their_own() {
        let checked = |text: &str| {
            RawConfig::parse(&format!("[analyzers]\n{text}"), "ours.toml").and_then(|raw| raw.check())
        };
        assert_eq!(checked("").unwrap().analyzers, AnalyzerOptions::default());
        let chosen =
            checked("modules = ['a/words.wasm', 'b.wasm']\nfuel = 7\nmemory_max = '1MiB'").unwrap().analyzers;
        assert_eq!(chosen.modules, ["a/words.wasm", "b.wasm"].map(PathBuf::from));
        assert_eq!((chosen.fuel, chosen.memory_bytes), (7, 1 << 20));
        for (text, says) in [
            ("modules = ['words.so']", "ours.toml: analyzers.modules: \"words.so\" is no WebAssembly module"),
            ("modules = ['a/x.wasm', 'b/X.wasm']", "two columns"),
            ("fuel = 0", "analyzers.fuel: it must be at least 1"),
            ("memory_max = 'much'", "analyzers.memory_max"),
            ("module = []", "did you mean `analyzers.modules`?"),
        ] {
            let error = checked(text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
