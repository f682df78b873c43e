//! Where the workspace is, and how its cargo is called.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

/// The workspace that this chore runner belongs to.
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Finds the root from what `cargo run` says of this package, so that any current directory will do.
    pub(crate) fn find() -> Result<Self> {
        let package = std::env::var_os("CARGO_MANIFEST_DIR").context("start this as `cargo xtask`")?;
        let root = Path::new(&package).ancestors().nth(2).context("this package is not at crates/xtask")?;
        Ok(Self { root: root.to_path_buf() })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A command that starts in the root, without the variables that `cargo run` set for this process: they describe
    /// this package, and a cargo further down would take them for a changed environment and compile again.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command
    }

    pub(crate) fn cargo<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = self.command(cargo);
        command.args(arguments);
        if process::on_terminal() && std::env::var_os("CARGO_TERM_COLOR").is_none() {
            command.env("CARGO_TERM_COLOR", "always");
        }
        command
    }

    /// Everything cargo knows of the packages and their dependencies.
    pub(crate) fn metadata(&self) -> Result<Value> {
        let command = self.cargo(["metadata", "--format-version", "1", "--locked"]);
        let text = process::output(command)?;
        serde_json::from_str(&text).context("cargo metadata did not print JSON")
    }

    /// Where cargo puts what it builds. Asks cargo, for it may be set in several places.
    pub(crate) fn target_directory(&self) -> Result<PathBuf> {
        let command = self.cargo(["metadata", "--format-version", "1", "--locked", "--no-deps"]);
        let metadata: Value = serde_json::from_str(&process::output(command)?)?;
        let path =
            metadata["target_directory"].as_str().context("cargo metadata names no target_directory")?;
        Ok(PathBuf::from(path))
    }
}
