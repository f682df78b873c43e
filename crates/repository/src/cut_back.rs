//! After a crash: the archive as a checkpoint knows it.
//!
//! What was written behind the checkpoint belongs to pages that will be fetched again. A file that has grown since is cut back
//! to the length that the checkpoint names, the end of a record unless the disk has lost one; a file that is younger goes. Nothing is
//! touched that the crawl has not written itself, and nothing that the checkpoint holds.
//!
//! An earlier attempt may have been killed between a cut and its sync. What it cut looks right then, and would be long again after
//! a power failure: so the directory and the youngest file of each writer, the only one that can have grown, are synced
//! in any case.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mattock_env::{Files, OpenMode};

use crate::directory::parse_name;
use crate::error::RepositoryError;

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutBack {
    /// Bytes that were cut off or removed.
    pub bytes: u64,
    /// Files that were cut back.
    pub cut: Vec<String>,
    /// Files that were removed.
    pub removed: Vec<String>,
    /// Files that the checkpoint names and that are not there: somebody has moved them.
    pub missing: Vec<String>,
}

/// Takes the archive in `directory` back to the files and lengths in `kept`. Files that are not in it go if their names are of
/// the form that a writer with one of these prefixes gives.
pub fn cut_back(
    files: &Files,
    directory: &Path,
    kept: &BTreeMap<String, u64>,
    prefixes: &[String],
) -> Result<CutBack, RepositoryError> {
    let mut done = CutBack::default();
    let failed = |action, path: &Path| {
        let path = path.to_path_buf();
        move |source| RepositoryError::Io { action, path, offset: 0, source }
    };
    if files.entry(directory).map_err(failed("look at", directory))?.is_none() {
        done.missing = kept.keys().cloned().collect();
        return Ok(done);
    }
    let present = files.list(directory).map_err(failed("list", directory))?;
    // First look at all, then change anything.
    for entry in &present {
        if let Some(&expected) = kept.get(&entry.name)
            && entry.len < expected
        {
            let path = directory.join(&entry.name);
            // A link or a pipe has no length: it is told as what it is.
            files.entry(&path).map_err(failed("look at", &path))?;
            return Err(RepositoryError::Short { path, bytes: entry.len, expected });
        }
    }
    let youngest = youngest(kept);
    for entry in &present {
        let path = directory.join(&entry.name);
        match kept.get(&entry.name) {
            Some(&expected) if entry.len > expected || youngest.contains(&*entry.name) => {
                let file = files.open(&path, OpenMode::Write).map_err(failed("open", &path))?;
                if entry.len > expected {
                    file.set_len(expected).map_err(failed("cut back", &path))?;
                    done.bytes += entry.len - expected;
                    done.cut.push(entry.name.clone());
                }
                file.sync().map_err(failed("sync", &path))?;
            }
            Some(_) => {}
            None if prefixes.iter().any(|prefix| parse_name(&entry.name, prefix).is_some()) => {
                files.remove_file(&path).map_err(failed("remove", &path))?;
                done.bytes += entry.len;
                done.removed.push(entry.name.clone());
            }
            None => {}
        }
    }
    files.sync_dir(directory).map_err(failed("sync", directory))?;
    let is_there = |name: &&String| !present.iter().any(|entry| entry.name == **name);
    done.missing = kept.keys().filter(is_there).cloned().collect();
    Ok(done)
}

/// The last file of each writer: names differ in what stands before time and serial.
fn youngest(kept: &BTreeMap<String, u64>) -> BTreeSet<&str> {
    let writer = |name: &'_ str| name.rsplitn(3, '-').nth(2).map(str::to_string);
    let by_writer: BTreeMap<_, &str> = kept.keys().map(|name| (writer(name), &**name)).collect();
    by_writer.into_values().collect()
}

#[cfg(test)]
mod tests {
    use mattock_env::{Random, SimFiles};

    use super::*;

    #[test]
    fn what_an_earlier_attempt_cut_and_removed_stays_away() {
        let directory = Path::new("/warc");
        let (old, grown) = ("a-p0-20260102030405-00000.warc.gz", "a-p0-20260102030406-00001.warc.gz");
        let (other, younger) = ("a-p1-20260102030405-00000.warc.gz", "a-p1-20260102030409-00001.warc.gz");
        let kept = BTreeMap::from([old, grown, other].map(|name| (name.to_string(), 4000)));
        for seed in 0..20 {
            let disk = SimFiles::new(Random::from_seed(seed));
            let files = Files::simulated(disk.clone());
            files.create_dir_all(directory).unwrap();
            files.sync_dir(Path::new("/")).unwrap();
            for (name, bytes) in [(old, 4000), (grown, 9000), (other, 4000), (younger, 100)] {
                files.write_atomic(&directory.join(name), &vec![1; bytes]).unwrap();
            }
            files.open(&directory.join(grown), OpenMode::Write).unwrap().set_len(4000).unwrap();
            files.remove_file(&directory.join(younger)).unwrap();
            disk.kill();
            let done = cut_back(&files, directory, &kept, &["a-p0".into(), "a-p1".into()]).unwrap();
            assert_eq!(done, CutBack::default());
            disk.crash();
            let lens: Vec<_> = files.list(directory).unwrap().into_iter().map(|entry| entry.len).collect();
            assert_eq!(lens, [4000; 3], "seed {seed}");
        }
    }
}
