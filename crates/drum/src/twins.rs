//! The files of a checkpoint that are kept twice: its manifest and the tails.

use std::io;
use std::path::Path;

use mattock_env::{Files, PAGE_BYTES, VisitTwin};

use crate::generation::check_tail;
use crate::manifest::{self, GenerationEntry};

/// Visits the files of a checkpoint of the repository in `dir` that are kept twice, as far as they are known.
pub fn each_twin(files: &Files, dir: &Path, number: u64, visit: &mut VisitTwin<'_>) -> io::Result<()> {
    if number == 0 {
        return Ok(());
    }
    visit(&dir.join(manifest::name(number)), &|bytes| manifest::check(bytes, number).is_ok())?;
    let Ok(manifest) = manifest::read(files, dir, number) else { return Ok(()) };
    for entry in &manifest.generations {
        visit(&dir.join(manifest::tail_name(entry.number, number)), &|bytes| is_whole_tail(bytes, entry))?;
    }
    Ok(())
}

/// Whether a tail is as it was written, down to the zeros at its end.
pub(crate) fn is_whole_tail(bytes: &[u8], entry: &GenerationEntry) -> bool {
    let pages = entry.tail_bytes.max(1).next_multiple_of(PAGE_BYTES as u64);
    check_tail(bytes, entry).is_ok()
        && bytes.len() as u64 >= pages
        && bytes[entry.tail_bytes as usize..].iter().all(|byte| *byte == 0)
}
