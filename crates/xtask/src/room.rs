//! Room on the disk. A crawl waits where the disk is nearly full, and so would its tests: better to say so before an hour has passed.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::process;
use crate::workspace::Workspace;

/// What a build from cold and the tests need, with something to spare. What is built already counts.
const ROOM_GIB: u64 = 10;

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let target = workspace.target_directory()?;
    std::fs::create_dir_all(&target).with_context(|| format!("cannot create {}", target.display()))?;
    let (free_gib, built_gib) = (free_bytes(&target)? >> 30, bytes_below(&target) >> 30);
    eprintln!("{free_gib} GiB are free on the disk of {}, which holds {built_gib} GiB", target.display());
    ensure!(enough(free_gib, built_gib), "a build with its tests needs about {ROOM_GIB} GiB");
    Ok(())
}

/// However much is built, tests want some of it free.
fn enough(free_gib: u64, built_gib: u64) -> bool {
    free_gib >= 2 && free_gib + built_gib >= ROOM_GIB
}

fn free_bytes(path: &Path) -> Result<u64> {
    let mut command = Command::new("df");
    command.args(["--output=avail", "--block-size=1"]).arg(path);
    let said = process::output(command)?;
    let free = said.lines().nth(1).and_then(|line| line.trim().parse().ok());
    free.with_context(|| format!("df does not say how much is free: {said}"))
}

fn bytes_below(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else { return 0 };
    let bytes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_below(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_counts_but_does_not_do_alone() {
        assert!(enough(80, 0) && enough(6, 5));
        assert!(!enough(9, 0) && !enough(1, 100));
    }

    #[test]
    fn a_directory_is_measured() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(bytes_below(&root.join("src")) > 1000);
        assert!(free_bytes(root).unwrap() > 0);
    }
}
