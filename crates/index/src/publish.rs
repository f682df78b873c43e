//! Publishes a repository: archives, kept columns and the index go to another place, most likely an object store, from which queries give the
//! same answers.
//!
//! ```text
//! archives (committed bytes) ─► columns, analyzers, CDXJ ─► parts ─► INDEX
//! ```
//!
//! Invariants:
//! - `INDEX` goes last: whoever reads it finds everything that it names.
//! - It says of which repository it is ([`identify`]): what another one has published is not replaced unasked, and a repository is no place
//!   to publish to, least of all its own.
//! - Nothing that the `INDEX` in place names gets another content. The name of a part says what is in it, and an archive is only replaced by one
//!   that begins with its bytes: of a file that grows, what is committed is sent, and again once there is more.
//! - Interrupted anywhere, the old `INDEX` holds; repeated, it goes on: a file that is there with the same length and the same last bytes is
//!   not sent again.
//! - Parts that no list names any more are removed by the next publication, when nobody reads them.
//!
//! The list that is published knows no ledgers, for none are there: to it all parts are imported.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use mattock_env::{File, Files, Name, OpenMode, Random, is_url, located};
use mattock_repository::WarcReader;

use crate::error::IndexError;
use crate::manifest::{Manifest, Part, is_outside, is_part};
use crate::snapshot::{lock, seal, wait_for_lock};
use crate::verify::{lost, lost_parts, verified};

/// A file with the same length is the same file if as much at its end is the same.
const SEAL_BYTES: u64 = 4096;
/// The directory of kept columns.
const COLUMNS: &str = "columns";
/// `part-000001`
const PART_NAME_BYTES: usize = 11;

/// What is told while files are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending<'a> {
    /// So many bytes will be looked at.
    Total(u64),
    /// This file is next.
    File(&'a Path),
    /// So much of it has arrived.
    Sent(u64),
    /// So much was there already.
    There(u64),
}

/// What is to be published, and in whose place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// It takes the place of what another repository has published.
    pub replace: bool,
    /// Archives go along that were imported and lie outside of the repository's directory.
    pub with_imported: bool,
}

/// What was published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// Files that were sent.
    pub files_sent: u64,
    /// And their bytes.
    pub bytes_sent: u64,
    /// Files that were there already.
    pub files_there: u64,
    /// And their bytes.
    pub bytes_there: u64,
    /// Rows of the index.
    pub rows: u64,
}

/// One file.
struct Item {
    source: PathBuf,
    target: PathBuf,
    bytes: u64,
    /// Rows name places in it.
    is_archive: bool,
}

/// Gives a repository a name by which its publications know it again, if it has none yet; `manifest`, which was read from it, has it then.
pub fn identify(
    files: &Files,
    repository: &Path,
    manifest: &mut Manifest,
    random: &mut Random,
) -> Result<(), IndexError> {
    if manifest.identity().is_some() {
        return Ok(());
    }
    let _lock = lock(files, &Manifest::directory(repository))?;
    let mut newest = Manifest::read(files, repository)?;
    if newest.identity().is_none() {
        newest.id = format!("{:016x}{:016x}", random.next_u64(), random.next_u64());
        newest.write(files, repository)?;
    }
    (manifest.id, manifest.origin) = (newest.id, newest.origin);
    Ok(())
}

/// Puts the repository to `target`. `manifest` is its index, [identified](identify), `archives` are the crawl's files as rows name them with
/// what of them is committed. What is told of the way goes to `told`, whose error ends the matter.
pub fn publish(
    files: &Files,
    repository: &Path,
    manifest: &Manifest,
    archives: &[(String, u64)],
    target: &Path,
    wanted: Wanted,
    told: &mut dyn FnMut(Sending<'_>) -> io::Result<()>,
) -> Result<Published, IndexError> {
    // In a directory, whoever asks there meanwhile must not clear away parts that are in no list yet.
    let _lock = match is_url(target) {
        true => None,
        false => {
            let directory = Manifest::directory(target);
            files.create_dir_all(&directory).map_err(IndexError::io("create", &directory))?;
            Some(wait_for_lock(files, &directory)?)
        }
    };
    let before = match Manifest::read(files, target) {
        Err(IndexError::Damaged { .. }) => Manifest::default(),
        read => read?,
    };
    if let Some(lost) = lost_parts(files, repository, manifest)?.pop() {
        return Err(lost);
    }
    let mut list = manifest.clone();
    list.covered.clear();
    list.origin = manifest.identity().unwrap_or_default().to_owned();
    list.id.clear();
    for part in &mut list.parts {
        part.file = file_name(files, repository, part)?;
        part.imported = true;
    }
    permitted(&before, &list, target, wanted)?;
    let items = items(files, repository, manifest, &list, archives, target, wanted)?;
    let there = lengths(files, &items)?;
    // Whoever reads there trusts them: before anything is sent.
    for part in &manifest.parts {
        let path = located(repository, &format!("index/{}", part.file));
        let is_new = |item: &Item| item.source == path && there.get(&item.target) != Some(&item.bytes);
        if items.iter().any(is_new) {
            verified(files, &path, part).map_err(|what| lost(manifest, path, what))?;
        }
    }
    told(Sending::Total(items.iter().map(|item| item.bytes).sum()))
        .map_err(IndexError::io("publish to", target))?;
    remove_columns(files, target, &items)?;
    let mut published = Published { rows: manifest.rows(), ..Published::default() };
    for item in &items {
        told(Sending::File(&item.target)).map_err(IndexError::io("send", &item.target))?;
        let source =
            files.open(&item.source, OpenMode::Read).map_err(IndexError::io("open", &item.source))?;
        if is_there(files, &source, item, there.get(&item.target).copied())? {
            told(Sending::There(item.bytes)).map_err(IndexError::io("send", &item.target))?;
            published.files_there += 1;
            published.bytes_there += item.bytes;
            continue;
        }
        if let Some(parent) = item.target.parent() {
            files.create_dir_all(parent).map_err(IndexError::io("create", parent))?;
        }
        files
            .put(&source, item.bytes, &item.target, &mut |bytes| told(Sending::Sent(bytes)))
            .map_err(IndexError::io("send", &item.target))?;
        published.files_sent += 1;
        published.bytes_sent += item.bytes;
    }
    if list != before {
        list.write(files, target)?;
    }
    sweep(files, target, [&list, &before])?;
    Ok(published)
}

/// Whether `list` may take the place of what is there.
fn permitted(before: &Manifest, list: &Manifest, target: &Path, wanted: Wanted) -> Result<(), IndexError> {
    let target_path = || target.to_path_buf();
    if !before.id.is_empty() || !before.covered.is_empty() {
        return Err(IndexError::NoPublication { target: target_path() });
    }
    let of_another = || IndexError::OfAnother { target: target_path(), rows: before.rows() };
    if !wanted.replace {
        if !before.origin.is_empty() && before.origin != list.origin {
            return Err(of_another());
        }
        if let Some(name) = before.imported.iter().find(|name| !list.imported.contains(name)) {
            return Err(IndexError::Elsewhere { target: target_path(), name: name.clone() });
        }
        // A list that names no origin was written before lists did, or by an import at its place.
        let is_known =
            |old: &Part| list.parts.iter().any(|part| (part.rows, part.bytes) == (old.rows, old.bytes));
        if before.origin.is_empty() && !before.parts.iter().all(is_known) {
            return Err(of_another());
        }
    }
    // Readers of a directory would look for it where it is now.
    let outside = list.imported.iter().find(|name| !is_url(Path::new(name)) && name.starts_with('/'));
    match outside.filter(|_| wanted.with_imported && !is_url(target)) {
        Some(name) => Err(IndexError::Outside { target: target_path(), name: name.clone() }),
        None => Ok(()),
    }
}

/// What a part is called where it is published: another content has another name.
fn file_name(files: &Files, repository: &Path, part: &Part) -> Result<Name, IndexError> {
    let path = Manifest::directory(repository).join(&part.file);
    let seal = seal(files, &path, part.bytes).map_err(IndexError::io("read", &path))?;
    let name = part.file.trim_end_matches(".parquet");
    // That of a publication which is published once more says it already.
    let number = name.get(..PART_NAME_BYTES).unwrap_or(name);
    Ok(Name::new(format!("{number}-{seal:08x}.parquet")).expect("the name of a part has no steps"))
}

/// All files, in the order in which they are sent.
fn items(
    files: &Files,
    repository: &Path,
    manifest: &Manifest,
    list: &Manifest,
    archives: &[(String, u64)],
    target: &Path,
    wanted: Wanted,
) -> Result<Vec<Item>, IndexError> {
    let mut items = Vec::new();
    let mut add = |name: &str, new_name: &str, bytes: u64, is_archive: bool| {
        let (source, target) = (located(repository, name), located(target, new_name));
        items.push(Item { source, target, bytes, is_archive });
    };
    for (name, bytes) in archives.iter().filter(|(_, bytes)| *bytes > 0) {
        add(name, name, *bytes, true);
    }
    // What lies at a URL is read there.
    let is_sent = |name: &&String| !is_url(Path::new(name)) && (wanted.with_imported || !is_outside(name));
    for name in manifest.imported.iter().filter(is_sent) {
        let path = located(repository, name);
        let entry = files.entry(&path).map_err(IndexError::io("look at", &path))?;
        let missing = || IndexError::io("send", &path)(io::ErrorKind::NotFound.into());
        let bytes = entry.ok_or_else(missing)?.len;
        if !begins_as_archive(files, &path, bytes)? {
            return Err(IndexError::NoArchive { path });
        }
        add(name, name, bytes, true);
    }
    let listed = |below: &str| -> Result<Vec<_>, IndexError> {
        let path = repository.join(below);
        match files.list(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            entries => entries.map_err(IndexError::io("list", &path)),
        }
    };
    let columns = listed(COLUMNS)?
        .into_iter()
        .filter(|entry| entry.is_dir)
        .map(|entry| format!("{COLUMNS}/{}/", entry.name));
    let below: Vec<(String, &str)> = [(String::new(), ".cdxj"), ("analyzers/".to_owned(), ".wasm")]
        .into_iter()
        .chain(columns.map(|below| (below, ".parquet")))
        .collect();
    for (below, suffix) in below {
        for entry in listed(&below)?.iter().filter(|entry| !entry.is_dir && entry.name.ends_with(suffix)) {
            let name = format!("{below}{}", entry.name);
            add(&name, &name, entry.len, false);
        }
    }
    for (part, new) in manifest.parts.iter().zip(&list.parts) {
        add(&format!("index/{}", part.file), &format!("index/{}", new.file), part.bytes, false);
    }
    Ok(items)
}

/// Whether a file begins as archives do. A list can name any file, one with the user's secrets too, and what is published is there for all.
fn begins_as_archive(files: &Files, path: &Path, bytes: u64) -> Result<bool, IndexError> {
    const GZIP: &[u8] = b"\x1f\x8b";
    const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
    /// The dictionary of a compressed archive stands in a frame of its own. Its first byte has four bits that are free.
    const ZSTD_DICTIONARY: &[u8] = b"\x2a\x4d\x18";
    const PLAIN: &[u8] = b"WARC/";
    const ARC: &[u8] = b"filedesc:";
    /// Many files are ZIP files: of a WACZ there must be a record.
    const ZIP: &[u8] = b"PK\x03\x04";
    let mut head = vec![0; bytes.min(ARC.len() as u64) as usize];
    let read = files.open(path, OpenMode::Read).and_then(|file| file.read_exact_at(&mut head, 0));
    read.map_err(IndexError::io("read", path))?;
    let is_dictionary =
        head.split_first().is_some_and(|(first, rest)| first >> 4 == 5 && rest.starts_with(ZSTD_DICTIONARY));
    if head.starts_with(ZIP) {
        let first =
            WarcReader::open(files, path).and_then(|mut archive| Ok(archive.next_record()?.is_some()));
        return Ok(first.unwrap_or(false));
    }
    let begins = [GZIP, ZSTD, PLAIN, ARC];
    Ok(head.is_empty() || is_dictionary || begins.iter().any(|begin| head.starts_with(begin)))
}

/// What is there already of the directories that files go to: a listing for each.
fn lengths(files: &Files, items: &[Item]) -> Result<BTreeMap<PathBuf, u64>, IndexError> {
    let directories: BTreeSet<&Path> = items.iter().filter_map(|item| item.target.parent()).collect();
    let mut there = BTreeMap::new();
    for directory in directories {
        let listed = match files.list(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            listed => listed.map_err(IndexError::io("list", directory))?,
        };
        there.extend(
            listed
                .into_iter()
                .filter(|entry| !entry.is_dir)
                .map(|entry| (directory.join(entry.name), entry.len)),
        );
    }
    Ok(there)
}

/// Whether a file need not be sent: what is there, of this length, is it. An archive must begin with what is there, or the other way round, if the
/// crawl went back to an earlier checkpoint: readers of the old `INDEX` read on.
fn is_there(files: &Files, source: &File, item: &Item, length: Option<u64>) -> Result<bool, IndexError> {
    let Some(length) = length.filter(|length| *length == item.bytes || item.is_archive) else {
        return Ok(false);
    };
    let compared = length.min(item.bytes);
    match is_same(files, source, item, compared).map_err(IndexError::io("compare", &item.target))? {
        true => Ok(length >= item.bytes),
        false if item.is_archive => {
            Err(IndexError::OtherFile { target: item.target.clone(), path: item.source.clone() })
        }
        false => Ok(false),
    }
}

/// Whether what is there has the same last bytes before `end`.
fn is_same(files: &Files, source: &File, item: &Item, end: u64) -> io::Result<bool> {
    let mut ends = [(); 2].map(|()| vec![0; end.min(SEAL_BYTES) as usize]);
    let at = end - ends[0].len() as u64;
    source.read_exact_at(&mut ends[0], at)?;
    files.open(&item.target, OpenMode::Read)?.read_exact_at(&mut ends[1], at)?;
    Ok(ends[0] == ends[1])
}

/// Removes kept values that the repository does not have (any more), before others come beside them: none may be there twice. Who reads meanwhile
/// computes them.
fn remove_columns(files: &Files, target: &Path, items: &[Item]) -> Result<(), IndexError> {
    let sent: BTreeSet<&Path> = items.iter().map(|item| item.target.as_path()).collect();
    let listed = |path: &Path| match files.list(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries.map_err(IndexError::io("list", path)),
    };
    let columns = target.join(COLUMNS);
    for column in listed(&columns)?.into_iter().filter(|entry| entry.is_dir) {
        let directory = columns.join(column.name);
        for entry in listed(&directory)?.into_iter().filter(|entry| entry.name.ends_with(".parquet")) {
            let path = directory.join(entry.name);
            if !sent.contains(path.as_path()) {
                files.remove_file(&path).map_err(IndexError::io("remove", &path))?;
            }
        }
    }
    Ok(())
}

/// Removes parts that neither the list that is there now names nor the one before it, with which somebody may still be reading.
fn sweep(files: &Files, target: &Path, lists: [&Manifest; 2]) -> Result<(), IndexError> {
    let directory = Manifest::directory(target);
    let named = |name: &str| lists.iter().any(|list| list.parts.iter().any(|part| part.file == *name));
    for entry in files.list(&directory).map_err(IndexError::io("list", &directory))? {
        if is_part(&entry.name) && !named(&entry.name) {
            let path = directory.join(&entry.name);
            files.remove_file(&path).map_err(IndexError::io("remove", &path))?;
        }
    }
    Ok(())
}
