//! [`Sums`]: what is known of files, so that pieces of them can be compared when they are read.
//!
//! Filled when a session or a kept column is opened, asked by whoever reads. Texts of sums are only taken apart when something is read of their file.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use bytes::Bytes;
use mattock_codec::BlockSums;
use mattock_env::{File, is_url};

use crate::source::PartSums;

/// See the module. Clones know the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    files: Arc<RwLock<HashMap<PathBuf, Arc<Known>>>>,
}

/// What is known of a file.
#[derive(Debug)]
struct Known {
    bytes: u64,
    text: String,
    sums: OnceLock<Option<Arc<Compared>>>,
}

/// The checksums of a file.
#[derive(Debug)]
pub(crate) struct Compared {
    bytes: u64,
    sums: BlockSums,
}

impl Sums {
    /// Takes what is known of files of this machine.
    pub(crate) fn add(&self, parts: impl IntoIterator<Item = PartSums>) -> io::Result<()> {
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        for PartSums { path, bytes, sums } in parts {
            if !is_url(&path) {
                let known = Known { bytes, text: sums, sums: OnceLock::new() };
                files.insert(std::path::absolute(path)?, Arc::new(known));
            }
        }
        Ok(())
    }

    /// The checksums of a file, by its absolute path.
    pub(crate) fn of(&self, path: &Path) -> Option<Arc<Compared>> {
        let known = self.files.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned()?;
        let parsed = || {
            let sums = BlockSums::parse(&known.text, known.bytes)?;
            Some(Arc::new(Compared { bytes: known.bytes, sums }))
        };
        known.sums.get_or_init(parsed).clone()
    }
}

impl Compared {
    /// The file's length.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads these ranges, and compares all blocks that they are in. Blocks that several of them share are read once.
    pub(crate) fn read(&self, file: &File, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        let around = |range: &Range<u64>| {
            self.sums.around(range).ok_or_else(|| damaged("it names bytes behind its end"))
        };
        let mut blocks = ranges.iter().map(around).collect::<io::Result<Vec<_>>>()?;
        blocks.sort_by_key(|range| range.start);
        let mut together: Vec<Range<u64>> = Vec::new();
        for range in blocks {
            match together.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => together.push(range),
            }
        }
        let read: Vec<Bytes> = file.read_ranges(&together)?.into_iter().map(Bytes::from).collect();
        for (range, bytes) in together.iter().zip(&read) {
            self.sums
                .check(range.start, bytes)
                .map_err(|at| damaged(&format!("its checksum is wrong at byte {at}")))?;
        }
        let piece = |range: &Range<u64>| {
            let at = together.partition_point(|blocks| blocks.start <= range.start) - 1;
            let start = (range.start - together[at].start) as usize;
            read[at].slice(start..start + (range.end - range.start) as usize)
        };
        Ok(ranges.iter().map(piece).collect())
    }
}

/// Tells of a file that is not as it was written.
pub(crate) fn damaged(what: &str) -> io::Error {
    let advice = "`mattock check` tells what else is, and what can be done about it";
    io::Error::new(io::ErrorKind::InvalidData, format!("it is damaged: {what}; {advice}"))
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "one range is asked for as several are")]
mod tests {
    use mattock_codec::{BLOCK_BYTES, BlockSummer};
    use mattock_env::{Files, OpenMode, Random, SimFiles};

    use super::*;

    #[test]
    fn pieces_are_compared() {
        let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
        let path = Path::new("/d/x");
        files.create_dir_all(Path::new("/d")).unwrap();
        let mut bytes: Vec<u8> = (0..BLOCK_BYTES * 5 + 77).map(|at| (at % 253) as u8).collect();
        let mut summer = BlockSummer::default();
        summer.update(&bytes);
        let sums = Sums::default();
        let known =
            PartSums { path: path.into(), bytes: bytes.len() as u64, sums: summer.finish().to_text() };
        sums.add([known]).unwrap();
        let read = |ranges: &[Range<u64>]| {
            let file = files.open(path, OpenMode::Read).unwrap();
            sums.of(path).unwrap().read(&file, ranges)
        };
        let end = bytes.len() as u64;
        let ranges = [BLOCK_BYTES * 4 - 3..BLOCK_BYTES * 4 + 3, 0..1, 7..9, end - 8..end, 2..2, end..end];
        files.write_atomic(path, &bytes).unwrap();
        let found = read(&ranges).unwrap();
        for (range, found) in ranges.iter().zip(&found) {
            assert_eq!(found[..], bytes[range.start as usize..range.end as usize], "{range:?}");
        }
        let beyond = read(&[end - 1..end + 1]).unwrap_err().to_string();
        assert!(beyond.contains("behind its end"), "{beyond}");
        bytes[BLOCK_BYTES as usize * 2] ^= 4;
        files.write_atomic(path, &bytes).unwrap();
        assert!(read(&ranges).is_ok(), "it is in none of them");
        let error = read(&[BLOCK_BYTES * 3 - 1..BLOCK_BYTES * 3]).unwrap_err().to_string();
        assert!(error.contains(&format!("wrong at byte {}", BLOCK_BYTES * 2)), "{error}");
        assert!(sums.of(Path::new("/d/y")).is_none());
    }
}
