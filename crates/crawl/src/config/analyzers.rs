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

impl AnalyzerOptions {
    /// Steps for one document, if nobody says anything: a fraction of a second.
    pub const FUEL: u64 = 100_000_000;
    /// Steps that no configuration can ask more than: half a minute or so of one core for each document.
    pub const FUEL_MAX: u64 = 10_000_000_000;
    /// Memory, if nobody says anything.
    pub const MEMORY_BYTES: u64 = 64 << 20;
    /// Memory that no configuration can ask more than; each thread that computes has as much.
    pub const MEMORY_BYTES_MAX: u64 = 1 << 30;

    /// Whether modules may take more than they may if nobody says anything.
    pub fn exceed_defaults(&self) -> bool {
        self.fuel > AnalyzerOptions::FUEL || self.memory_bytes > AnalyzerOptions::MEMORY_BYTES
    }

    /// Takes back what goes beyond the defaults.
    pub(crate) fn lower_to_defaults(&mut self) {
        self.fuel = self.fuel.min(AnalyzerOptions::FUEL);
        self.memory_bytes = self.memory_bytes.min(AnalyzerOptions::MEMORY_BYTES);
    }
}

impl Default for AnalyzerOptions {
    fn default() -> AnalyzerOptions {
        let (fuel, memory_bytes) = (AnalyzerOptions::FUEL, AnalyzerOptions::MEMORY_BYTES);
        AnalyzerOptions { modules: Vec::new(), fuel, memory_bytes }
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
    let fuel = raw.fuel.unwrap_or(AnalyzerOptions::FUEL);
    if fuel == 0 {
        return Err(wrong("analyzers.fuel")("it must be at least 1".into()));
    }
    if fuel > AnalyzerOptions::FUEL_MAX {
        let message = format!("it must be at most {}", AnalyzerOptions::FUEL_MAX);
        return Err(wrong("analyzers.fuel")(message));
    }
    let memory_bytes = size("analyzers.memory_max", &raw.memory_max, AnalyzerOptions::MEMORY_BYTES)?;
    if memory_bytes > AnalyzerOptions::MEMORY_BYTES_MAX {
        return Err(wrong("analyzers.memory_max")("it must be at most 1GiB".into()));
    }
    Ok(AnalyzerOptions { modules, fuel, memory_bytes })
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
        assert!(!chosen.exceed_defaults() && !AnalyzerOptions::default().exceed_defaults());
        for more in ["fuel = 100000001", "memory_max = '65MiB'", "fuel = 10000000000\nmemory_max = '1GiB'"] {
            assert!(checked(more).unwrap().analyzers.exceed_defaults(), "{more}");
        }
        for (text, says) in [
            ("modules = ['words.so']", "ours.toml: analyzers.modules: \"words.so\" is no WebAssembly module"),
            ("modules = ['a/x.wasm', 'b/X.wasm']", "two columns"),
            ("fuel = 0", "analyzers.fuel: it must be at least 1"),
            ("fuel = 10000000001", "analyzers.fuel: it must be at most 10000000000"),
            ("memory_max = '1025MiB'", "analyzers.memory_max: it must be at most 1GiB"),
            ("memory_max = 'much'", "analyzers.memory_max"),
            ("module = []", "did you mean `analyzers.modules`?"),
        ] {
            let error = checked(text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
