//! Publishes a repository: archives, kept columns and the index go to another place, most likely an object store, from which queries give the
//! same answers.
//!
//! ```text
//! archives (committed bytes) ─► columns, analyzers, CDXJ ─► parts ─► INDEX
//! ```
//!
//! Invariants:
//! - `INDEX` goes last: whoever reads it finds everything that it names.
//! - Of a file that grows, what is committed is sent; it is sent again once there is more. What a reader has begun with stays as it was, for
//!   files only grow at their ends, and parts never change.
//! - Interrupted anywhere, the old `INDEX` holds; repeated, it goes on: a file that is there with the same length and the same last bytes is
//!   not sent again.
//! - Parts that no list names any more are removed by the next publication, when nobody reads them.
//!
//! The list that is published knows no ledgers, for none are there: to it all parts are imported.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use mattock_env::{File, Files, OpenMode, is_url, located};

use crate::error::IndexError;
use crate::manifest::Manifest;

/// A file with the same length is the same file if as much at its end is the same.
const SEAL_BYTES: u64 = 4096;

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
}

/// Puts the repository to `target`. `manifest` is its index, `archives` are the crawl's files as rows name them with what of them is
/// committed. An error of `told` ends the matter.
pub fn publish(
    files: &Files,
    repository: &Path,
    manifest: &Manifest,
    archives: &[(String, u64)],
    target: &Path,
    told: &mut dyn FnMut(Sending<'_>) -> io::Result<()>,
) -> Result<Published, IndexError> {
    let before = match Manifest::read(files, target) {
        Err(IndexError::Damaged { .. }) => Manifest::default(),
        read => read?,
    };
    if let Some(name) = before.imported.iter().find(|name| !manifest.imported.contains(name)) {
        return Err(IndexError::Elsewhere { target: target.to_path_buf(), name: name.clone() });
    }
    let items = items(files, repository, manifest, archives, target)?;
    let there = lengths(files, &items)?;
    told(Sending::Total(items.iter().map(|item| item.bytes).sum()))
        .map_err(IndexError::io("publish to", target))?;
    let mut published = Published { rows: manifest.rows(), ..Published::default() };
    for item in &items {
        told(Sending::File(&item.target)).map_err(IndexError::io("send", &item.target))?;
        let source =
            files.open(&item.source, OpenMode::Read).map_err(IndexError::io("open", &item.source))?;
        let known = there.get(&item.target) == Some(&item.bytes);
        if known && is_same(files, &source, item).map_err(IndexError::io("compare", &item.target))? {
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
    let mut list = manifest.clone();
    list.covered.clear();
    list.parts.iter_mut().for_each(|part| part.imported = true);
    if list != before {
        list.write(files, target)?;
    }
    sweep(files, target, [&list, &before])?;
    Ok(published)
}

/// All files, in the order in which they are sent.
fn items(
    files: &Files,
    repository: &Path,
    manifest: &Manifest,
    archives: &[(String, u64)],
    target: &Path,
) -> Result<Vec<Item>, IndexError> {
    let mut items = Vec::new();
    let mut add = |name: &str, bytes: u64| {
        let (source, target) = (located(repository, name), located(target, name));
        if source != target {
            items.push(Item { source, target, bytes });
        }
    };
    for (name, bytes) in archives.iter().filter(|(_, bytes)| *bytes > 0) {
        add(name, *bytes);
    }
    // What lies at a URL is read there.
    for name in manifest.imported.iter().filter(|name| !is_url(Path::new(name))) {
        let path = located(repository, name);
        let entry = files.entry(&path).map_err(IndexError::io("look at", &path))?;
        let missing = || IndexError::io("send", &path)(io::ErrorKind::NotFound.into());
        add(name, entry.ok_or_else(missing)?.len);
    }
    let list = |below: &str| -> Result<Vec<_>, IndexError> {
        let path = repository.join(below);
        match files.list(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            listed => listed.map_err(IndexError::io("list", &path)),
        }
    };
    let columns = list("columns")?
        .into_iter()
        .filter(|entry| entry.is_dir)
        .map(|entry| format!("columns/{}/", entry.name));
    let below: Vec<(String, &str)> = [(String::new(), ".cdxj"), ("analyzers/".to_owned(), ".wasm")]
        .into_iter()
        .chain(columns.map(|below| (below, ".parquet")))
        .collect();
    for (below, suffix) in below {
        for entry in list(&below)?.iter().filter(|entry| !entry.is_dir && entry.name.ends_with(suffix)) {
            add(&format!("{below}{}", entry.name), entry.len);
        }
    }
    for part in &manifest.parts {
        add(&format!("index/{}", part.file), part.bytes);
    }
    Ok(items)
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

/// Whether what is there, of the same length, ends as it should.
fn is_same(files: &Files, source: &File, item: &Item) -> io::Result<bool> {
    let mut ends = [(); 2].map(|()| vec![0; item.bytes.min(SEAL_BYTES) as usize]);
    let at = item.bytes - ends[0].len() as u64;
    source.read_exact_at(&mut ends[0], at)?;
    files.open(&item.target, OpenMode::Read)?.read_exact_at(&mut ends[1], at)?;
    Ok(ends[0] == ends[1])
}

/// Removes parts that neither the list that is there now names nor the one before it, with which somebody may still be reading.
fn sweep(files: &Files, target: &Path, lists: [&Manifest; 2]) -> Result<(), IndexError> {
    let directory = Manifest::directory(target);
    let named = |name: &str| lists.iter().any(|list| list.parts.iter().any(|part| part.file == name));
    for entry in files.list(&directory).map_err(IndexError::io("list", &directory))? {
        if entry.name.starts_with("part-") && entry.name.ends_with(".parquet") && !named(&entry.name) {
            let path = directory.join(&entry.name);
            files.remove_file(&path).map_err(IndexError::io("remove", &path))?;
        }
    }
    Ok(())
}
