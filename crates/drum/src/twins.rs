//! The files of a checkpoint that are kept twice: its manifest and the tails. Which of them are damaged, and mending them.

use std::io;
use std::path::{Path, PathBuf};

use mattock_codec::Unreadable;
use mattock_env::{Files, PAGE_BYTES};

use crate::generation::check_tail;
use crate::manifest::{self, GenerationEntry};

/// Files of a checkpoint of the repository in `dir` that are damaged while their copies are whole, or the other way round. Nothing is
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

/// Writes these files anew; which they were. Not beside somebody who works on the repository.
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
    for entry in &manifest.generations {
        visit(&dir.join(manifest::tail_name(entry.number, number)), &|bytes| is_whole_tail(bytes, entry))?;
    }
    Ok(())
}

/// Whether a tail is as it was written, down to the zeros at its end.
pub(crate) fn is_whole_tail(bytes: &[u8], entry: &GenerationEntry) -> Result<(), Unreadable> {
    check_tail(bytes, entry).map_err(|_| Unreadable::Damaged)?;
    let pages = entry.tail_bytes.max(1).next_multiple_of(PAGE_BYTES as u64);
    let is_padded =
        bytes.len() as u64 >= pages && bytes[entry.tail_bytes as usize..].iter().all(|byte| *byte == 0);
    if is_padded { Ok(()) } else { Err(Unreadable::Damaged) }
}
