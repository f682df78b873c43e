//! The files of a checkpoint that are kept twice: its manifest and the tail. Which of them are damaged, and mending them.

use std::io;
use std::path::{Path, PathBuf};

use mattock_codec::Unreadable;
use mattock_env::Files;

use crate::manifest;
use crate::queues::parts_of_tail;

/// Files of a checkpoint of the queues in `dir` that are damaged while their copies are whole, or the other way round. Nothing is
/// lost, and [`mend_twins`] writes them anew.
pub fn damaged_twins(files: &Files, dir: &Path, number: u64) -> Vec<PathBuf> {
    let mut damaged = Vec::new();
    let outcome = each_twin(files, dir, number, |path, check| {
        damaged.extend(files.damaged_twin(path, check));
        Ok(())
    });
    debug_assert!(outcome.is_ok(), "looking does not fail");
    damaged
}

/// Writes these files anew; which they were. Not beside somebody who works on the queues.
pub fn mend_twins(files: &Files, dir: &Path, number: u64) -> io::Result<Vec<PathBuf>> {
    let mut mended = Vec::new();
    each_twin(files, dir, number, |path, check| {
        mended.extend(files.mend_twin(path, check)?);
        Ok(())
    })?;
    Ok(mended)
}

type Check<'a> = &'a dyn Fn(&[u8]) -> Result<(), Unreadable>;

/// Visits the files of a checkpoint that are kept twice, as far as they are known.
fn each_twin(
    files: &Files,
    dir: &Path,
    number: u64,
    mut visit: impl FnMut(&Path, Check<'_>) -> io::Result<()>,
) -> io::Result<()> {
    if number == 0 {
        return Ok(());
    }
    visit(&dir.join(manifest::name(number)), &|bytes| manifest::check(bytes, number))?;
    let Ok(manifest) = manifest::read(files, dir, number) else { return Ok(()) };
    if manifest.tail_bytes() > 0 {
        visit(&dir.join(manifest::tail_name(number)), &|bytes| {
            parts_of_tail(bytes, &manifest).map(|_| ()).map_err(|_| Unreadable::Damaged)
        })?;
    }
    Ok(())
}
