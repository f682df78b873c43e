//! Test suites of others, read where they lie.

use std::path::PathBuf;

/// A file of the suites, or `None` (and a line on stderr) where they are not installed.
pub(crate) fn read(path: &str) -> Option<String> {
    let root = match std::env::var_os("MATTOCK_CONFORMANCE") {
        Some(root) => PathBuf::from(root),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance")),
    };
    let path = root.join(path);
    #[expect(
        clippy::disallowed_methods,
        reason = "a fixture on the real disk, not a part of the simulated world"
    )]
    let text = std::fs::read_to_string(&path);
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    text.inspect_err(|error| eprintln!("skipped: {}: {error}", path.display())).ok()
}
