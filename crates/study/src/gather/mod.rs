//! Gathering: what a build needs of every document, read once and kept.
//!
//! For each part of the repository's index there is one [segment](mattock_features::segment) with its pages. A part never changes, so its
//! segment never does; what a build after more crawling reads are the parts that have none yet.
//!
//! ```text
//! features/gathered/LOCK                   held while something is gathered and built
//! features/gathered/NAME-SEAL.segment      the pages of a part: its name, and a checksum of its end
//! features/gathered/NAME-SEAL.IofN.piece   a piece of a large part, until all pieces are there
//! features/gathered/scratch/               what a build sorts; emptied by the next one
//! features/gathered/REBUILDING             there while everything is gathered anew: what is there has been since it was begun
//! ```
//!
//! Invariants: a file has its name only when it is whole and on the disk. A segment that was gathered by another recipe, which is the list of
//! the analyzers with their versions, does not count, and is gathered again; one of a part that is no more is removed. Interrupted anywhere,
//! the next build goes on with the first piece that is missing.
//!
//! Costs: each document is read once, as a query reads it, in a piece of at most [`PIECE_ROWS`]: that much is lost by an interruption.

mod part;
mod rows;

use std::path::{Path, PathBuf};

use mattock_env::{File, Files, OpenMode};
use mattock_features::segment::read_summary;
use mattock_features::{FeaturesError, Origin, OriginPart};
use mattock_index::Manifest;
use mattock_query::{Cancel, Failures};

use crate::build::BuildFeatures;
use crate::error::{Result, StudyError};
use part::Gatherer;
pub(crate) use part::PIECE_ROWS;

const SEGMENT: &str = "segment";
const PIECE: &str = "piece";
const REBUILDING: &str = "REBUILDING";

/// The last bytes of a part, of which the seal is made: a Parquet file's own account of what is in it.
const SEAL_BYTES: u64 = 4096;

/// A part of the index, and the segment that belongs to it.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// What segment and pieces are called.
    name: String,
    /// The part.
    path: PathBuf,
    rows: u64,
    bytes: u64,
    pub(crate) segment: PathBuf,
}

/// How far gathering has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gathering {
    /// The part that is being read, from 1.
    pub part: usize,
    /// How many have to be.
    pub parts: usize,
    /// The piece of it that is being read, from 1.
    pub piece: usize,
    /// How many it has.
    pub pieces: usize,
    /// Documents of that piece that were read.
    pub documents: u64,
    /// And how many there are, once that is known.
    pub documents_total: Option<u64>,
    /// What those that were read take in the archives.
    pub bytes: u64,
    /// And what all of them take.
    pub bytes_total: Option<u64>,
}

/// What was gathered.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// Parts that were read.
    pub(crate) parts: u64,
    /// Documents that were read for that.
    pub(crate) documents: u64,
    /// What analyzers and archives did wrong.
    pub(crate) failures: Vec<Failures>,
    /// It was stopped.
    pub(crate) interrupted: bool,
}

/// The directory of segments.
pub(crate) struct Store {
    files: Files,
    dir: PathBuf,
    /// Held, not read.
    _lock: File,
}

impl Store {
    /// Opens that of a directory of features, and keeps others out.
    pub(crate) fn open(files: &Files, features: &Path) -> Result<Store> {
        let dir = features.join("gathered");
        files.create_dir_all(&dir).map_err(StudyError::io(&dir))?;
        let path = dir.join("LOCK");
        let lock = files.open(&path, OpenMode::CreateOrKeep).map_err(StudyError::io(&path))?;
        if !lock.try_lock().map_err(StudyError::io(&path))? {
            return Err(StudyError::Locked { dir: features.to_path_buf() });
        }
        let store = Store { files: files.clone(), dir, _lock: lock };
        store.clear_scratch()?;
        let scratch = store.scratch();
        files.create_dir_all(&scratch).map_err(StudyError::io(&scratch))?;
        for above in [&store.dir, features] {
            files.sync_dir(above).map_err(StudyError::io(above))?;
        }
        Ok(store)
    }

    /// Begins or goes on with gathering everything anew, if that is asked for or was not ended; whether it is so.
    pub(crate) fn begin(&self, rebuild: bool) -> Result<bool> {
        let mark = self.dir.join(REBUILDING);
        let goes_on = self.files.entry(&mark).map_err(StudyError::io(&mark))?.is_some();
        if rebuild && !goes_on {
            self.keep_only(&[])?;
            self.files.write_atomic(&mark, b"").map_err(StudyError::io(&mark))?;
        }
        Ok(rebuild || goes_on)
    }

    /// Everything was gathered anew, or what was is not to be gone on with.
    pub(crate) fn rebuilt(&self) -> Result<()> {
        self.remove(&self.dir.join(REBUILDING))
    }

    /// Where what is sorted goes.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.dir.join("scratch")
    }

    fn clear_scratch(&self) -> Result<()> {
        let scratch = self.scratch();
        match self.files.entry(&scratch).map_err(StudyError::io(&scratch))? {
            Some(_) => self.files.remove_dir_all(&scratch).map_err(StudyError::io(&scratch)),
            None => Ok(()),
        }
    }

    /// Removes scratch at the end of a build.
    pub(crate) fn close(self) -> Result<()> {
        self.clear_scratch()
    }

    /// The parts of a repository's index, and the segments that they should have.
    pub(crate) fn wanted(&self, repository: &Path) -> Result<Vec<Wanted>> {
        let manifest = Manifest::read(&self.files, repository)?;
        let index = Manifest::directory(repository);
        let parts = manifest.parts.iter().map(|part| {
            let path = index.join(&part.file);
            let seal = seal(&self.files, &path).map_err(StudyError::io(&path))?;
            let name = format!("{}-{seal:08x}", part.file.trim_end_matches(".parquet"));
            let segment = self.dir.join(format!("{name}.{SEGMENT}"));
            Ok(Wanted { name, path, rows: part.rows, bytes: part.bytes, segment })
        });
        parts.collect()
    }

    /// Removes segments and pieces that belong to none of these parts, which is all if there are none, and pieces of whole segments.
    pub(crate) fn keep_only(&self, wanted: &[Wanted]) -> Result<()> {
        let entries = self.files.list(&self.dir).map_err(StudyError::io(&self.dir))?;
        let whole = |name: &str| entries.iter().any(|entry| entry.name == format!("{name}.{SEGMENT}"));
        for entry in &entries {
            let words: Vec<&str> = entry.name.split('.').collect();
            let (is_piece, is_segment) = (words.contains(&PIECE), words.contains(&SEGMENT));
            let is_wanted = wanted.iter().any(|wanted| wanted.name == words[0]);
            if (is_piece || is_segment) && (!is_wanted || is_piece && whole(words[0])) {
                let path = self.dir.join(&entry.name);
                self.files.remove_file(&path).map_err(StudyError::io(&path))?;
            }
        }
        Ok(())
    }

    /// Whether a segment or piece is there, gathered by this recipe. One that is damaged is an error.
    fn has(&self, path: &Path, recipe: &str) -> Result<bool> {
        if self.files.entry(path).map_err(StudyError::io(path))?.is_none() {
            return Ok(false);
        }
        match read_summary(&self.files, path) {
            Ok(summary) => Ok(summary.recipe == recipe),
            Err(FeaturesError::Version { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn remove(&self, path: &Path) -> Result<()> {
        match self.files.remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StudyError::io(path)(error)),
            _ => Ok(()),
        }
    }

    /// Reads the parts that have no segment yet.
    pub(crate) fn gather(
        &self,
        wanted: &[Wanted],
        options: &BuildFeatures<'_>,
        progress: &mut dyn FnMut(Gathering),
        cancel: &Cancel,
    ) -> Result<Gathered> {
        let recipe = recipe(options);
        let mut missing = Vec::new();
        for part in wanted {
            if !self.has(&part.segment, &recipe)? {
                // One of another recipe would take its pieces for what is left of it.
                self.remove(&part.segment)?;
                missing.push(part);
            }
        }
        let mut gathered = Gathered::default();
        let parts = missing.len();
        for (number, part) in (1..).zip(missing) {
            let others = wanted.iter().filter(|other| other.name != part.name);
            let others = others.map(|other| other.path.clone()).collect();
            let mut told = |at: Gathering| progress(Gathering { part: number, parts, ..at });
            let gatherer = Gatherer { store: self, part, options, recipe: &recipe, cancel };
            if !gatherer.run(others, &mut gathered, &mut told)? {
                gathered.interrupted = true;
                break;
            }
            gathered.parts += 1;
        }
        Ok(gathered)
    }
}

/// How documents are read, as a text: another one gives other segments.
pub(crate) fn recipe(options: &BuildFeatures<'_>) -> String {
    let version = |name: &&str| {
        let analyzer = mattock_analyze::built_in(name);
        format!("{name} {}", analyzer.map_or_else(String::new, |analyzer| analyzer.version()))
    };
    let columns: Vec<String> = rows::COMPUTED.iter().map(version).collect();
    format!("documents: {}; pieces of {} rows", columns.join(", "), options.piece_rows)
}

/// What a generation of these parts was built from.
pub(crate) fn origin(wanted: &[Wanted], options: &BuildFeatures<'_>) -> Origin {
    let part = |wanted: &Wanted| OriginPart { name: wanted.name.clone(), bytes: wanted.bytes };
    Origin { how: recipe(options), parts: wanted.iter().map(part).collect() }
}

/// The checksum of a file's end.
fn seal(files: &Files, path: &Path) -> std::io::Result<u32> {
    let file = files.open(path, OpenMode::Read)?;
    let length = file.len()?;
    let mut bytes = vec![0; length.min(SEAL_BYTES) as usize];
    let at = length - bytes.len() as u64;
    file.read_exact_at(&mut bytes, at)?;
    Ok(mattock_codec::checksum(0, length, &[&bytes]))
}
