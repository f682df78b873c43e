//! `INDEX`: which parts count, and how far in the ledgers they reach. Replaced as a whole, so that what a reader sees is consistent.
//!
//! One line `MATTOCK-INDEX version crc32`, then JSON, which the checksum is of. Version 2 has the keys of replay tools in `url_surtkey`;
//! version 3 has `url_key` and `via_key` in place of a column `via` that was always null; version 4 has `insertion_time`. A list of version 3 is
//! read, and its parts go on to count: what their rows lack follows from what they have. Keys that a program does not know it leaves out, and
//! does without those that an earlier one left out.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use mattock_codec::BlockSums;
use mattock_env::{Files, Name, OpenMode, is_url};
use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::error::IndexError;
use crate::snapshot::seal;

const MAGIC: &str = "MATTOCK-INDEX";
const VERSION: u32 = 4;
const PART_PREFIX: &str = "part-";
const PART_SUFFIX: &str = ".parquet";
/// The first one whose parts can be read.
const VERSION_MIN: u32 = 3;

/// The parts of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Files in the index' directory, the oldest first.
    pub parts: Vec<Part>,
    /// How far the ledgers of the crawl are in them.
    pub covered: Vec<Covered>,
    /// Foreign archive files that are in them.
    pub imported: Vec<String>,
    /// What each of them was like when it was imported, so that it is seen when one grows; earlier versions did not note it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extents: BTreeMap<String, Extent>,
    /// Foreign archive files whose rows were lost, all or some of them, and that could not be read again so far.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// Grows with every part that was ever begun.
    pub next: u64,
    /// What publications know this repository by; empty until there is one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// In a publication: the `id` of the repository that was published; empty elsewhere.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub origin: String,
}

/// A Parquet file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its name in the index' directory: never a path.
    pub file: Name,
    /// Its rows.
    pub rows: u64,
    /// Its length.
    pub bytes: u64,
    /// Whether its rows are of foreign archive files: no ledger knows them.
    #[serde(default)]
    pub imported: bool,
    /// When the last of its rows was inserted, in ms since 1970; none if its rows do not say, which are those of version 3.
    #[serde(default)]
    pub inserted_ms: Option<i64>,
    /// Whether languages were looked for in all of its documents.
    #[serde(default)]
    pub languages: bool,
    /// CRC-32 of all of it; parts of earlier versions have none.
    #[serde(default)]
    pub sum: Option<u32>,
    /// Foreign archive files that its rows are of, so that these are known when it is damaged; none if earlier versions wrote it, or it is of a crawl.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub archives: Vec<String>,
    /// The checksums of its blocks, which whoever reads a piece of it compares; none if earlier versions wrote it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub blocks: String,
}

impl Part {
    /// The checksums of its blocks, if they are known.
    pub fn block_sums(&self) -> Option<BlockSums> {
        BlockSums::parse(&self.blocks, self.bytes)
    }
}

/// What a foreign archive file was like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Its length.
    pub bytes: u64,
    /// Checksum of its last bytes: a file of that length with other ones was replaced.
    pub seal: u32,
}

impl Extent {
    /// That of a file now.
    pub(crate) fn of(files: &Files, path: &Path) -> Result<Extent, IndexError> {
        let measure = || -> io::Result<Extent> {
            let bytes = files.open(path, OpenMode::Read)?.len()?;
            Ok(Extent { bytes, seal: seal(files, path, bytes)? })
        };
        measure().map_err(IndexError::io("read", path))
    }

    /// Whether a file that is like `now` is this one, be it that it has grown.
    pub(crate) fn is_begin_of(self, now: Extent, files: &Files, path: &Path) -> Result<bool, IndexError> {
        match self.bytes < now.bytes {
            true => Ok(seal(files, path, self.bytes).map_err(IndexError::io("read", path))? == self.seal),
            false => Ok(self == now),
        }
    }
}

/// How far a ledger is indexed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// The ledger, by its path in the crawl's directory.
    pub ledger: String,
    /// Up to here.
    pub bytes: u64,
    /// Checksum of its last bytes there: a ledger that was cut back and grew again is another one.
    pub seal: u32,
}

impl Manifest {
    /// The directory of an index.
    pub fn directory(repository: &Path) -> PathBuf {
        repository.join("index")
    }

    fn path(repository: &Path) -> PathBuf {
        Manifest::directory(repository).join("INDEX")
    }

    /// Whether a repository has a list.
    pub(crate) fn is_there(files: &Files, repository: &Path) -> Result<bool, IndexError> {
        let path = Manifest::path(repository);
        Ok(files.entry(&path).map_err(IndexError::io("look at", &path))?.is_some())
    }

    /// Reads that of a repository; an empty one if there is none yet.
    pub fn read(files: &Files, repository: &Path) -> Result<Manifest, IndexError> {
        let path = Manifest::path(repository);
        if !Manifest::is_there(files, repository)? {
            return Ok(Manifest::default());
        }
        let bytes = files.read(&path).map_err(IndexError::io("read", &path))?;
        decode(&bytes, &path)
    }

    /// Archives that a repository names and that lie elsewhere: by absolute paths, or by URLs. None if its list cannot be read.
    pub fn outside(files: &Files, repository: &Path) -> Vec<String> {
        let path = Manifest::path(repository);
        let is_elsewhere =
            |bytes: &[u8]| [&b"\"/"[..], b"://"].iter().any(|sign| memmem::find(bytes, sign).is_some());
        // Most repositories have none, and a list can be long.
        let Some(bytes) = files.read(&path).ok().filter(|bytes| is_elsewhere(bytes)) else {
            return Vec::new();
        };
        let manifest = decode(&bytes, &path).unwrap_or_default();
        let named = manifest.parts.iter().flat_map(|part| &part.archives);
        let names: BTreeSet<&String> = manifest.imported.iter().chain(&manifest.lost).chain(named).collect();
        names.into_iter().filter(|name| is_outside(name)).cloned().collect()
    }

    /// What can be read of a damaged list, which need not be true.
    pub(crate) fn hints(files: &Files, repository: &Path) -> Manifest {
        let bytes = files.read(&Manifest::path(repository)).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let json = text.split_once('\n').map_or("", |(_, json)| json);
        let mut hints: Manifest = serde_json::from_str(json).unwrap_or_default();
        hints.parts.retain(|part| is_part(&part.file));
        hints
    }

    /// Whether a repository has parts and no list of them: it was lost, and what to do about it is not for who only asks.
    pub fn is_lost(files: &Files, repository: &Path) -> Result<bool, IndexError> {
        let directory = Manifest::directory(repository);
        if is_url(repository)
            || Manifest::is_there(files, repository)?
            || files.entry(&directory).map_err(IndexError::io("look at", &directory))?.is_none()
        {
            return Ok(false);
        }
        let entries = files.list(&directory).map_err(IndexError::io("list", &directory))?;
        Ok(entries.iter().any(|entry| is_part(&entry.name)))
    }

    /// Puts this one in its place.
    pub(crate) fn write(&self, files: &Files, repository: &Path) -> Result<(), IndexError> {
        let json = serde_json::to_string_pretty(self).expect("plain data has a JSON form");
        let text = format!("{MAGIC} {VERSION} {:08x}\n{json}\n", crc32fast::hash(json.as_bytes()));
        let path = Manifest::path(repository);
        files.write_atomic(&path, text.as_bytes()).map_err(IndexError::io("write", &path))
    }

    /// The name of the next part.
    pub(crate) fn next_name(&mut self) -> Name {
        self.next += 1;
        Name::new(format!("{PART_PREFIX}{:06}{PART_SUFFIX}", self.next))
            .expect("it has neither steps nor NUL")
    }

    /// Leaves the parts out that were made of ledgers, and gives them back.
    pub(crate) fn forget_ledgers(&mut self) -> Vec<Part> {
        self.covered.clear();
        let (kept, left) = std::mem::take(&mut self.parts).into_iter().partition(|part| part.imported);
        self.parts = kept;
        left
    }

    /// What its publications know it by. A publication that is published once more is still of where it came from.
    pub(crate) fn identity(&self) -> Option<&str> {
        [self.id.as_str(), self.origin.as_str()].into_iter().find(|name| !name.is_empty())
    }

    /// When the newest of their rows was inserted, as far as they say, in ms since 1970.
    pub(crate) fn newest_ms(&self) -> Option<i64> {
        self.parts.iter().filter_map(|part| part.inserted_ms).max()
    }

    /// Whether nothing is known of any document.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.lost.is_empty()
    }

    /// All rows of all parts.
    pub fn rows(&self) -> u64 {
        self.parts.iter().map(|part| part.rows).sum()
    }
}

fn decode(bytes: &[u8], path: &Path) -> Result<Manifest, IndexError> {
    let damaged = |why: &str| IndexError::Damaged { path: path.to_path_buf(), why: why.to_owned() };
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is not text"))?;
    let (head, json) = text.split_once('\n').ok_or_else(|| damaged("it is cut off"))?;
    let mut words = head.split(' ');
    if words.next() != Some(MAGIC) {
        return Err(damaged("it begins otherwise"));
    }
    let version =
        words.next().and_then(|word| word.parse().ok()).ok_or_else(|| damaged("it has no version"))?;
    if !(VERSION_MIN..=VERSION).contains(&version) {
        return Err(IndexError::Version { path: path.to_path_buf(), version, known: VERSION });
    }
    let json = json.strip_suffix('\n').unwrap_or(json);
    if words.next() != Some(&format!("{:08x}", crc32fast::hash(json.as_bytes()))) {
        return Err(damaged("its checksum is wrong"));
    }
    let manifest: Manifest = serde_json::from_str(json).map_err(|error| damaged(&error.to_string()))?;
    // Whoever can write a list can make its checksum right: what stands in it must not lead to other files than parts.
    match manifest.parts.iter().find(|part| !is_part(&part.file)) {
        Some(part) => Err(damaged(&format!("{:?} is no name of a part", part.file.as_str()))),
        None => Ok(manifest),
    }
}

/// Whether the name of an archive leads out of the repository.
pub(crate) fn is_outside(name: &str) -> bool {
    name.starts_with('/') || is_url(Path::new(name))
}

/// Whether this is what a part is called, here or in a publication.
pub(crate) fn is_part(name: &str) -> bool {
    name.starts_with(PART_PREFIX) && name.ends_with(PART_SUFFIX)
}
