//! Copies of foreign archives below the repository, made so that the index can name every record in them.
//!
//! A file is copied as it is, if that will do. One that is larger than the index can name places in becomes several, and records that share
//! a gzip member or Zstandard frame get members of their own: then `NAME.warc` becomes `NAME-00001.warc.gz` and so on. Whether
//! records share members is seen in the first of them; what is wrong with a record is told, and it is left out.
//!
//! The files of such a copy get their names from the last to the first once all are written: where the first is, all are.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use libdeflater::{CompressionLvl, Compressor};
use mattock_env::{Env, File, OpenMode, is_url};
use mattock_index::{Foreign, Left, Manifest, PLACES_MAX, Untaken};
use mattock_query::Cancel;
use mattock_repository::record::warc_field;
use mattock_repository::{
    DatePrecision, Record, RecordId, RecordType, RepositoryError, StoredRecord, WarcReader,
};

use crate::exit::Usage;

/// A file of a copy that is taken apart is closed before it is larger.
const FILE_BYTES_MAX: u64 = 1_000_000_000;

/// So many records show how a file is packed.
const LOOKED_AT: usize = 100;

/// Where copies are, relative to the repository: not among the files of a crawl, which may have the same names, and are cut back when it goes on.
const DIRECTORY: &str = "imported";

/// Where they were once.
const OLD_DIRECTORY: &str = "warc";

/// What a copy is made of.
#[derive(Debug, Default)]
pub(super) struct Copied {
    pub(super) files: Vec<Foreign>,
    /// What could not be copied.
    pub(super) untaken: Vec<Untaken>,
    /// How much of it was not kept to be told.
    pub(super) untold: u64,
}

/// So much is kept.
const UNTAKEN_MAX: usize = super::TOLD_MAX;

/// A copy below the repository. What is there already under that name, with that length, is that copy.
pub(super) fn copied(env: &Env, root: &Path, path: &Path, cancel: &Cancel) -> anyhow::Result<Copied> {
    let directory = root.join(DIRECTORY);
    env.files.create_dir_all(&directory)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let source = env.files.open(path, OpenMode::Read)?;
    let length = source.len()?;
    if length > PLACES_MAX || shares_members(env, path) {
        if is_url(root) {
            let message = "has to be taken apart for the index: import it with --copy into a directory, and publish that";
            return Err(Usage(format!("{} {message}", path.display())).into());
        }
        let mut magic = [0; 2];
        let gzip = source.read_exact_at(&mut magic, 0).is_ok() && magic == [0x1f, 0x8b];
        let apart = Apart { env, directory: &directory, path, name: &name, length, source, gzip, cancel };
        return apart.copied(FILE_BYTES_MAX);
    }
    let old = root.join(OLD_DIRECTORY).join(&name);
    let old_name = format!("{OLD_DIRECTORY}/{name}");
    let is_old = |manifest: Manifest| manifest.imported.contains(&old_name);
    if env.files.entry(&old)?.is_some_and(|entry| entry.len == length)
        && Manifest::read(&env.files, root).is_ok_and(is_old)
    {
        let foreign = Foreign { path: old, name: old_name };
        return Ok(Copied { files: vec![foreign], ..Copied::default() });
    }
    let target = directory.join(&name);
    let foreign = Foreign { path: target.clone(), name: format!("{DIRECTORY}/{name}") };
    match env.files.entry(&target)? {
        Some(entry) if entry.len != length => return Err(another(&target)),
        Some(_) => {}
        None => {
            let put = env.files.put(&source, length, &target, &mut |_| go_on(cancel));
            put.with_context(|| format!("cannot write {}", target.display()))?;
        }
    }
    Ok(Copied { files: vec![foreign], ..Copied::default() })
}

/// An error once somebody has stopped this.
fn go_on(cancel: &Cancel) -> io::Result<()> {
    if cancel.is_cancelled() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
}

fn another(target: &Path) -> anyhow::Error {
    Usage(format!(
        "{} is there already, and is another file: rename one of them, or import it without --copy",
        target.display()
    ))
    .into()
}

/// Whether records have no places of their own. What cannot be read here is told when it is imported.
fn shares_members(env: &Env, path: &Path) -> bool {
    let Ok(mut reader) = WarcReader::open(&env.files, path) else { return false };
    (0..LOOKED_AT).any(|_| matches!(reader.next_record(), Ok(Some(record)) if record.length.is_none()))
}

/// A file that is copied record by record.
struct Apart<'a> {
    env: &'a Env,
    directory: &'a Path,
    path: &'a Path,
    name: &'a str,
    length: u64,
    source: File,
    /// Whether its members can be taken as they are.
    gzip: bool,
    cancel: &'a Cancel,
}

impl Apart<'_> {
    fn copied(&self, file_bytes_max: u64) -> anyhow::Result<Copied> {
        let first = self.directory.join(self.part(1));
        if self.env.files.entry(&first)?.is_some() {
            return self.known(&first);
        }
        let mut parts = Parts { apart: self, count: 0, open: None, packed: Vec::new(), kept: false };
        let mut copied = Copied::default();
        let mut reader = WarcReader::open(&self.env.files, self.path)?.go_on_behind_damage();
        let mut member = Vec::new();
        loop {
            go_on(self.cancel)?;
            match reader.next_record() {
                Ok(Some(record)) => {
                    self.member(&record, &mut member)?;
                    parts.add(&member, file_bytes_max)?;
                }
                Ok(None) => break,
                Err(error @ RepositoryError::Io { .. }) => return Err(error.into()),
                // As many as an import would tell of.
                Err(_) if copied.untaken.len() == UNTAKEN_MAX => copied.untold += 1,
                Err(error) => copied.untaken.push(Untaken {
                    kind: Left::of(&error),
                    file: self.path.display().to_string(),
                    offset: error.offset().unwrap_or_default(),
                    why: error.to_string(),
                }),
            }
        }
        parts.close()?;
        parts.kept = true;
        for number in (1..=parts.count).rev() {
            let target = self.directory.join(self.part(number));
            self.env.files.rename(&unfinished(&target), &target)?;
            copied.files.insert(0, self.foreign(number));
        }
        self.env.files.sync_dir(self.directory)?;
        Ok(copied)
    }

    /// The copy that is there, if it is one of this file.
    fn known(&self, first: &Path) -> anyhow::Result<Copied> {
        let mut reader = WarcReader::open(&self.env.files, first)?;
        let record = reader.next_record()?;
        // Whatever program made it.
        let of_this = format!("\ndescription: {}\r\n", self.description());
        let is_of_this = |record: &StoredRecord<'_>| String::from_utf8_lossy(record.block).contains(&of_this);
        if !record.as_ref().is_some_and(is_of_this) {
            return Err(another(first));
        }
        let mut copied = Copied::default();
        for number in 1.. {
            if self.env.files.entry(&self.directory.join(self.part(number)))?.is_none() {
                break;
            }
            copied.files.push(self.foreign(number));
        }
        Ok(copied)
    }

    /// The record in a gzip member of its own: as it is, or made.
    fn member(&self, record: &StoredRecord<'_>, out: &mut Vec<u8>) -> anyhow::Result<()> {
        // Members of ARC files do not go with records of WARC files.
        if let Some(length) = record.length.filter(|_| self.gzip && record.version != "ARC") {
            out.resize(usize::try_from(length)?, 0);
            let read = self.source.read_exact_at(out, record.offset);
            return read.with_context(|| format!("cannot read {}", self.path.display()));
        }
        let mut plain = Vec::with_capacity(record.block.len() + 1024);
        record.write_to(&mut plain);
        pack(&plain, out)
    }

    fn part(&self, number: u32) -> String {
        let stem = self.name.trim_end_matches(".gz").trim_end_matches(".zst").trim_end_matches(".wacz");
        let stem = stem.trim_end_matches(".warc").trim_end_matches(".arc");
        format!("{stem}-{number:05}.warc.gz")
    }

    fn foreign(&self, number: u32) -> Foreign {
        let name = self.part(number);
        Foreign { path: self.directory.join(&name), name: format!("{DIRECTORY}/{name}") }
    }

    /// What the first record of each file says.
    fn first_block(&self) -> Vec<u8> {
        let mut block = Vec::new();
        warc_field(&mut block, "software", concat!("mattock/", env!("CARGO_PKG_VERSION")));
        warc_field(&mut block, "format", "WARC File Format 1.1");
        warc_field(&mut block, "description", &self.description());
        block
    }

    fn description(&self) -> String {
        format!("copy of {}, {} bytes", self.name, self.length)
    }
}

/// The files of a copy, one after the other.
struct Parts<'a> {
    apart: &'a Apart<'a>,
    count: u32,
    open: Option<(File, u64)>,
    packed: Vec<u8>,
    /// All is there, and its files may get their names; otherwise they go.
    kept: bool,
}

impl Drop for Parts<'_> {
    fn drop(&mut self) {
        for number in (1..=self.count).filter(|_| !self.kept) {
            // There is another error to tell of.
            let path = unfinished(&self.apart.directory.join(self.apart.part(number)));
            let _ = self.apart.env.files.remove_file(&path);
        }
    }
}

impl Parts<'_> {
    fn add(&mut self, member: &[u8], file_bytes_max: u64) -> anyhow::Result<()> {
        if self.open.as_ref().is_some_and(|(_, at)| at + member.len() as u64 > file_bytes_max) {
            self.close()?;
        }
        let (file, at) = match &mut self.open {
            Some(open) => open,
            None => {
                self.count += 1;
                let begun = begin(self.apart, self.count, &mut self.packed)?;
                self.open.insert(begun)
            }
        };
        file.write_all_at(member, *at)?;
        *at += member.len() as u64;
        Ok(())
    }

    fn close(&mut self) -> anyhow::Result<()> {
        if let Some((file, _)) = self.open.take() {
            file.sync()?;
        }
        Ok(())
    }
}

/// A file that says what it is, and where to go on in it.
fn begin(apart: &Apart<'_>, number: u32, packed: &mut Vec<u8>) -> anyhow::Result<(File, u64)> {
    let name = apart.part(number);
    let path = unfinished(&apart.directory.join(&name));
    let file = apart.env.files.open(&path, OpenMode::CreateOrTruncate)?;
    let id = RecordId::new(&mut apart.env.random.fork(&name));
    let block = apart.first_block();
    let mut plain = Vec::new();
    let record = Record {
        file_name: Some(&name),
        content_type: "application/warc-fields",
        block: &[&block],
        ..Record::new(RecordType::Warcinfo, id, apart.env.clock.unix())
    };
    record.write_to(DatePrecision::Seconds, &mut plain);
    pack(&plain, packed)?;
    file.write_all_at(packed, 0)?;
    Ok((file, packed.len() as u64))
}

fn unfinished(path: &Path) -> PathBuf {
    path.with_added_extension("unfinished")
}

fn pack(plain: &[u8], out: &mut Vec<u8>) -> anyhow::Result<()> {
    let mut compressor = Compressor::new(CompressionLvl::new(1).expect("there is a level 1"));
    out.resize(compressor.gzip_compress_bound(plain.len()), 0);
    let length = compressor.gzip_compress(plain, out)?;
    out.truncate(length);
    Ok(())
}

#[cfg(test)]
mod tests {
    use mattock_env::sim::Simulation;

    use super::*;

    #[test]
    fn a_copy_has_as_many_files_as_it_needs() {
        Simulation::new(1).run(|env| async move {
            let (directory, path) = (Path::new("/warc"), Path::new("/large.arc.gz"));
            env.files.create_dir_all(directory).unwrap();
            let (mut archive, mut member) = (Vec::new(), Vec::new());
            for number in 0..20 {
                let block = format!("HTTP/1.1 200 OK\r\n\r\npage {number}");
                let line =
                    format!("http://a.org/{number} 192.0.2.1 20260102030405 text/html {}", block.len());
                pack(format!("{line}\n{block}\n").as_bytes(), &mut member).unwrap();
                archive.extend_from_slice(&member);
            }
            env.files.write_atomic(path, &archive).unwrap();
            let copy = || {
                let source = env.files.open(path, OpenMode::Read).unwrap();
                let length = source.len().unwrap();
                Apart {
                    env: &env,
                    directory,
                    path,
                    name: "large.arc.gz",
                    length,
                    source,
                    gzip: true,
                    cancel: &Cancel::new(),
                }
                .copied(1500)
            };
            let copied = copy().unwrap();
            assert!(copied.files.len() > 2 && copied.untaken.is_empty(), "{copied:?}");
            let mut urls = Vec::new();
            for file in &copied.files {
                assert!(env.files.entry(&file.path).unwrap().unwrap().len <= 1500, "{file:?}");
                let mut reader = WarcReader::open(&env.files, &file.path).unwrap();
                while let Some(record) = reader.next_record().unwrap() {
                    assert_eq!((record.version, record.length.is_some()), ("1.1", true));
                    assert!(record.fields.get("WARC-Record-ID").is_some());
                    urls.extend(record.target_uri().map(str::to_owned));
                }
            }
            assert_eq!(urls, (0..20).map(|number| format!("http://a.org/{number}")).collect::<Vec<_>>());
            assert_eq!(copy().unwrap().files, copied.files);
        });
    }
}
