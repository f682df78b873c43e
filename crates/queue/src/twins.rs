//! The files of a checkpoint that are kept twice: its manifest and the tail.

use std::io;
use std::path::Path;

use mattock_env::{Files, VisitTwin};

use crate::manifest;
use crate::queues::parts_of_tail;

/// Visits the files of a checkpoint of the queues in `dir` that are kept twice, as far as they are known.
pub fn each_twin(files: &Files, dir: &Path, number: u64, visit: &mut VisitTwin<'_>) -> io::Result<()> {
    if number == 0 {
        return Ok(());
    }
    visit(&dir.join(manifest::name(number)), &|bytes| manifest::check(bytes, number).is_ok())?;
    let Ok(manifest) = manifest::read(files, dir, number) else { return Ok(()) };
    if manifest.tail_bytes() > 0 {
        let tail = dir.join(manifest::tail_name(number));
        visit(&tail, &|bytes| parts_of_tail(bytes, &manifest).is_ok())?;
    }
    Ok(())
}
