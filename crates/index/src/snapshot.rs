//! What is committed at one moment: parts, and the rows that the ledgers have beyond them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::TimestampMillisecondType;
use mattock_env::{File, Files, OpenMode, UnixTime, located};
use mattock_repository::{LedgerReader, Row};

use crate::error::IndexError;
use crate::manifest::{Covered, Manifest};
use crate::pending::{Pending, tells_languages};
use crate::rows::{Instance, Rows};
use crate::schema::INSERTION_TIME;

/// So many rows stay out of parts unless somebody asks for all of them: as many are read from ledgers in a fraction of a second.
pub const TAIL_ROWS: usize = 50_000;

/// More than so many are not held in memory: whoever asks while no part can be made is told to make some first.
pub const TAIL_ROWS_MAX: usize = 400_000;

/// A ledger of a crawl as its last checkpoint knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerSource {
    /// What names it for ever: its path in the crawl's directory.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What of it is committed.
    pub bytes: u64,
}

/// What the rows of a crawl say beside what its ledgers know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexOptions {
    /// The name in the column `crawl`.
    pub crawl: String,
    /// The directory of the archive's files, relative to the repository's.
    pub archive: String,
}

/// What [`update`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    /// Rows that went into parts.
    pub rows: u64,
    /// Parts that were made.
    pub parts: usize,
    /// Rows that stayed out of them.
    pub tail: u64,
    /// Blocks of ledgers that cannot be read.
    pub damaged: u64,
    /// Whether the old parts did not fit the ledgers any more, and all were made anew.
    pub rebuilt: bool,
}

/// What a repository holds.
#[derive(Debug)]
pub struct Snapshot {
    repository: PathBuf,
    manifest: Manifest,
    parts: Vec<PathBuf>,
    tail: Vec<RecordBatch>,
    /// Whether languages were looked for in all documents of the tail.
    tail_languages: bool,
    damaged: u64,
}

impl Snapshot {
    /// Looks at a repository whose crawl has these ledgers; without any it is one of imported files, or of a crawl whose state is gone.
    pub fn open(
        files: &Files,
        repository: &Path,
        ledgers: &[LedgerSource],
        options: &IndexOptions,
    ) -> Result<Snapshot, IndexError> {
        let mut manifest = read_list(files, repository)?;
        if !fits(files, &manifest, ledgers) {
            manifest.forget_ledgers();
        }
        let mut reader = TailReader::new(files, &manifest, ledgers, options);
        let (mut rows, mut tail, mut tail_languages) = (Rows::default(), Vec::new(), true);
        let mut take = |rows: &mut Rows, instance: &Instance<'_>| {
            tail_languages &= tells_languages(instance);
            rows.push(instance)
        };
        let mut count = 0;
        while reader.fill(|instance| take(&mut rows, instance))? {
            if rows.len() >= 8192 {
                count += rows.len();
                if count > TAIL_ROWS_MAX {
                    return Err(IndexError::Unindexed { path: repository.to_path_buf() });
                }
                tail.push(rows.finish()?);
            }
        }
        if !rows.is_empty() {
            tail.push(rows.finish()?);
        }
        let directory = Manifest::directory(repository);
        let parts: Vec<PathBuf> = manifest.parts.iter().map(|part| directory.join(&part.file)).collect();
        if let Some(wrong) = crate::verify::lost_parts(files, repository, &manifest)?.into_iter().next() {
            return Err(wrong);
        }
        let (repository, damaged) = (repository.to_path_buf(), reader.damaged);
        Ok(Snapshot { repository, manifest, parts, tail, tail_languages, damaged })
    }

    /// Parquet files, each in the index' order.
    pub fn parts(&self) -> &[PathBuf] {
        &self.parts
    }

    /// The parts that have checksums of their blocks: the file, its length, the checksums as text.
    pub fn part_sums(&self) -> impl Iterator<Item = (&Path, u64, &str)> {
        let parts = self.parts.iter().zip(&self.manifest.parts);
        parts
            .filter(|(_, part)| !part.blocks.is_empty())
            .map(|(path, part)| (path.as_path(), part.bytes, part.blocks.as_str()))
    }

    /// What is committed and in no part.
    pub fn tail(&self) -> &[RecordBatch] {
        &self.tail
    }

    /// All rows.
    pub fn rows(&self) -> u64 {
        self.manifest.rows() + self.tail.iter().map(|batch| batch.num_rows() as u64).sum::<u64>()
    }

    /// Whether parts are among them whose rows do not say when they were inserted.
    pub fn has_undated(&self) -> bool {
        self.manifest.parts.iter().any(|part| part.inserted_ms.is_none())
    }

    /// Whether languages were looked for in all documents, so that a row without any has none.
    pub fn has_languages(&self) -> bool {
        self.tail_languages && self.manifest.parts.iter().all(|part| part.languages)
    }

    /// When the last row that a ledger has was inserted, in ms since 1970, as far as rows say.
    pub fn ledgers_ms(&self) -> Option<i64> {
        let parts = self.manifest.parts.iter().filter(|part| !part.imported);
        let tail = self.tail.iter().filter_map(|batch| {
            let times =
                batch.column_by_name(INSERTION_TIME)?.as_primitive_opt::<TimestampMillisecondType>()?;
            times.iter().flatten().max()
        });
        parts.filter_map(|part| part.inserted_ms).chain(tail).max()
    }

    /// Blocks of ledgers that could not be read: the rows in them are missing.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Imported archives of which rows are missing, until they are imported again.
    pub fn lost(&self) -> &[String] {
        &self.manifest.lost
    }

    /// Where the file is that a row names.
    pub fn archive(&self, warc_filename: &str) -> PathBuf {
        located(&self.repository, warc_filename)
    }

    /// The repository's directory.
    pub fn directory(&self) -> &Path {
        &self.repository
    }
}

/// Brings the parts up to what the ledgers hold. Fewer than `at_least` rows stay where they are, so that no part is small.
///
/// `progress` hears of rows that were read. Interrupted at any point, the index is as it was before.
pub fn update(
    files: &Files,
    repository: &Path,
    ledgers: &[LedgerSource],
    options: &IndexOptions,
    at_least: usize,
    progress: impl FnMut(u64),
) -> Result<Updated, IndexError> {
    bring_up(files, repository, ledgers, options, Parts::Further(at_least), progress)
}

/// Makes all parts of the ledgers anew. The old ones count until the new ones are all there, so whoever asks meanwhile finds everything.
pub fn rebuild(
    files: &Files,
    repository: &Path,
    ledgers: &[LedgerSource],
    options: &IndexOptions,
    progress: impl FnMut(u64),
) -> Result<Updated, IndexError> {
    bring_up(files, repository, ledgers, options, Parts::All, progress)
}

/// Which parts are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// Of rows that are in none, if there are so many of them.
    Further(usize),
    All,
}

fn bring_up(
    files: &Files,
    repository: &Path,
    ledgers: &[LedgerSource],
    options: &IndexOptions,
    wanted: Parts,
    mut progress: impl FnMut(u64),
) -> Result<Updated, IndexError> {
    let directory = Manifest::directory(repository);
    files.create_dir_all(&directory).map_err(IndexError::io("create", &directory))?;
    let _lock = lock(files, &directory)?;
    let mut manifest = listed(files, repository)?;
    remove_strays(files, &directory, &manifest)?;
    let mut updated = Updated::default();
    let mut replaced = Vec::new();
    if wanted == Parts::All && ledgers.is_empty() && !manifest.covered.is_empty() {
        return Err(IndexError::NoLedgers { path: repository.to_path_buf() });
    }
    if !fits(files, &manifest, ledgers) || wanted == Parts::All {
        updated.rebuilt = wanted != Parts::All;
        replaced = manifest.forget_ledgers();
    }
    let at_least = match wanted {
        Parts::Further(rows) => rows.max(1),
        Parts::All => 1,
    };
    let before = manifest.clone();
    let mut reader = TailReader::new(files, &before, ledgers, options);
    let mut pending = Pending::new(&options.crawl);
    loop {
        let before = pending.len();
        let more = reader.fill(|instance| pending.push(instance))?;
        progress((pending.len() - before) as u64);
        if pending.is_full() || !more && pending.len() >= at_least {
            updated.rows += pending.len() as u64;
            updated.parts += 1;
            let name = manifest.next_name();
            manifest.parts.push(pending.write_part(files, &directory, name, None)?);
            manifest.covered = reader.covered(files)?;
            if wanted != Parts::All {
                manifest.write(files, repository)?;
            }
        }
        if !more {
            break;
        }
    }
    if wanted == Parts::All || updated.rebuilt && updated.parts == 0 {
        manifest.write(files, repository)?;
    }
    for part in replaced {
        let path = directory.join(&part.file);
        // It may be for want of it that all were made anew.
        if files.entry(&path).map_err(IndexError::io("look at", &path))?.is_some() {
            files.remove_file(&path).map_err(IndexError::io("remove", &path))?;
        }
    }
    updated.tail = pending.len() as u64;
    updated.damaged = reader.damaged;
    Ok(updated)
}

const LOCK: &str = "lock";

/// For who changes the list of parts, unless somebody else does.
pub(crate) fn lock(files: &Files, directory: &Path) -> Result<File, IndexError> {
    let path = directory.join(LOCK);
    let file = files.open(&path, OpenMode::CreateOrKeep).map_err(IndexError::io("open", &path))?;
    match file.try_lock().map_err(IndexError::io("lock", &path))? {
        true => Ok(file),
        false => Err(IndexError::Locked { path }),
    }
}

/// The same, when they are done.
pub(crate) fn wait_for_lock(files: &Files, directory: &Path) -> Result<File, IndexError> {
    let path = directory.join(LOCK);
    let file = files.open(&path, OpenMode::CreateOrKeep).map_err(IndexError::io("open", &path))?;
    file.lock().map_err(IndexError::io("lock", &path))?;
    Ok(file)
}

/// The list of a repository, if it is not lost.
fn read_list(files: &Files, repository: &Path) -> Result<Manifest, IndexError> {
    match Manifest::is_lost(files, repository)? {
        true => Err(IndexError::Lost { path: Manifest::directory(repository).join("INDEX") }),
        false => Manifest::read(files, repository),
    }
}

/// The list of a repository that is about to be changed. There is one from the first part on, so that a lost one is told from none.
pub(crate) fn listed(files: &Files, repository: &Path) -> Result<Manifest, IndexError> {
    let manifest = read_list(files, repository)?;
    if !Manifest::is_there(files, repository)? {
        manifest.write(files, repository)?;
    }
    Ok(manifest)
}

/// Removes parts that `INDEX` does not name: who was killed before it could has left them, and readers of `*.parquet` would take them for
/// rows. Only for who has the lock. Those of a publication stay: who has read the list before may still read them.
pub(crate) fn remove_strays(files: &Files, directory: &Path, manifest: &Manifest) -> Result<(), IndexError> {
    if !manifest.origin.is_empty() {
        return Ok(());
    }
    let kept: BTreeSet<&str> = manifest.parts.iter().map(|part| part.file.as_str()).collect();
    let is_stray = |name: &str| name.starts_with("part-") && !kept.contains(name);
    let entries = files.list(directory).map_err(IndexError::io("list", directory))?;
    for entry in entries.iter().filter(|entry| is_stray(&entry.name)) {
        let path = directory.join(&entry.name);
        files.remove_file(&path).map_err(IndexError::io("remove", &path))?;
    }
    Ok(())
}

/// Whether the parts are of these ledgers: none was cut back behind them. Where there are no ledgers at all, the crawl's state was removed, or
/// archive and index were put elsewhere without it: then the parts are all that is known of the archive, and stay.
fn fits(files: &Files, manifest: &Manifest, ledgers: &[LedgerSource]) -> bool {
    ledgers.is_empty()
        || manifest.covered.iter().all(|covered| {
            ledgers.iter().find(|ledger| ledger.name == covered.ledger).is_some_and(|ledger| {
                ledger.bytes >= covered.bytes
                    && seal(files, &ledger.path, covered.bytes).is_ok_and(|seal| seal == covered.seal)
            })
        })
}

/// The checksum of the last bytes before `end`.
pub(crate) fn seal(files: &Files, path: &Path, end: u64) -> std::io::Result<u32> {
    let mut bytes = vec![0; end.min(4096) as usize];
    let start = end - bytes.len() as u64;
    files.open(path, OpenMode::Read)?.read_exact_at(&mut bytes, start)?;
    Ok(crc32fast::hash(&bytes))
}

/// Reads what the ledgers have beyond the parts, block by block.
struct TailReader<'a> {
    files: &'a Files,
    sources: Vec<(&'a LedgerSource, u64)>,
    at: usize,
    reader: Option<LedgerReader>,
    options: &'a IndexOptions,
    damaged: u64,
}

impl<'a> TailReader<'a> {
    fn new(
        files: &'a Files,
        manifest: &Manifest,
        ledgers: &'a [LedgerSource],
        options: &'a IndexOptions,
    ) -> TailReader<'a> {
        let from = |ledger: &LedgerSource| {
            manifest
                .covered
                .iter()
                .find(|covered| covered.ledger == ledger.name)
                .map_or(0, |covered| covered.bytes)
        };
        let sources = ledgers.iter().map(|ledger| (ledger, from(ledger))).collect();
        TailReader { files, sources, at: 0, reader: None, options, damaged: 0 }
    }

    /// Hands the instances of the next block to `take`; whether there may be more.
    fn fill(
        &mut self,
        mut take: impl FnMut(&Instance<'_>) -> Result<bool, IndexError>,
    ) -> Result<bool, IndexError> {
        let Some((source, from)) = self.sources.get_mut(self.at) else { return Ok(false) };
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => none.insert(LedgerReader::open_at(self.files, &source.path, *from, source.bytes)?),
        };
        let mut pushed = Ok(());
        let options = self.options;
        let read = reader.next_inserted(|row, inserted| {
            if pushed.is_ok() {
                pushed = hand(row, inserted, options, &mut take);
            }
        });
        pushed?;
        *from = reader.position();
        match read {
            Ok(true) => {}
            Ok(false) => {
                self.at += 1;
                self.reader = None;
            }
            Err(error) if error.is_loss() => self.damaged += 1,
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    /// How far it has come.
    fn covered(&self, files: &Files) -> Result<Vec<Covered>, IndexError> {
        let begun = self.sources.iter().filter(|(_, bytes)| *bytes > 0);
        begun
            .map(|(source, bytes)| {
                let seal = seal(files, &source.path, *bytes).map_err(IndexError::io("read", &source.path))?;
                Ok(Covered { ledger: source.name.clone(), bytes: *bytes, seal })
            })
            .collect()
    }
}

/// Hands on a row of a ledger that has a document.
fn hand(
    row: &Row<'_>,
    inserted: UnixTime,
    options: &IndexOptions,
    take: &mut impl FnMut(&Instance<'_>) -> Result<bool, IndexError>,
) -> Result<(), IndexError> {
    let (Some(place), Ok(status)) = (&row.place, row.outcome.parse()) else { return Ok(()) };
    let file = match options.archive.is_empty() {
        true => place.file.to_string(),
        false => format!("{}/{}", options.archive, place.file),
    };
    take(&Instance {
        url: row.url,
        time_us: row.time.as_micros(),
        status,
        digest: row.digest,
        other_digest: "",
        file: &file,
        offset: place.offset,
        length: place.length,
        crawl: &options.crawl,
        details: row.details.unwrap_or_default(),
        depth: Some(row.depth),
        took_ms: Some(row.took_ms),
        inserted_ms: Some(inserted.as_micros().div_euclid(1000)),
    })?;
    Ok(())
}
