//! Analyzers that users bring.

use std::path::Path;
use std::sync::Arc;

use mattock_analyze::Analyzer;

/// An analyzer out of a WebAssembly module.
#[cfg(feature = "wasm")]
pub(crate) fn load(path: &Path, module: &[u8]) -> anyhow::Result<Arc<dyn Analyzer>> {
    use anyhow::Context;
    let analyzer =
        mattock_analyze::wasm::WasmAnalyzer::load(module, &mattock_analyze::wasm::Limits::default());
    Ok(Arc::new(analyzer.with_context(|| format!("{} is no analyzer", path.display()))?))
}

/// Says what is missing.
#[cfg(not(feature = "wasm"))]
pub(crate) fn load(path: &Path, _: &[u8]) -> anyhow::Result<Arc<dyn Analyzer>> {
    let what = format!(
        "{}: this program was built without WebAssembly; build it with it: cargo build --release --features wasm",
        path.display()
    );
    Err(crate::exit::Usage(what).into())
}
