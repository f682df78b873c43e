//! One WARC file of all records that are wanted, each a gzip member, behind a record that describes the file.
//!
//! Records are copied as they are, once they were read: a member that unpacks, a head that can be read, a block that has the digest that its head
//! names. What fails that is left out and told with its place; an archive that is missing costs its records. Members of another compression
//! are packed anew, digests that are none are left out, records of ARC files become WARC's, and revisits [without their originals](super::originals) responses.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use indicatif::{HumanBytes, HumanCount, HumanDuration};
use mattock_env::{Env, File, OpenMode, UnixTime};
use mattock_repository::record::warc_field;
use mattock_repository::{
    DatePrecision, Digest, Record, RecordFetcher, RecordId, RecordType, RepositoryError, StoredRecord,
};

use super::originals::{Originals, digest};
use super::{COLUMNS, Export, Moved, located, record};
use crate::intact::{self, Verdict};
use crate::output;
use crate::progress::Says as _;
use crate::visiting::{BY_PLACE, place, time};

/// So many are told one by one.
const TOLD_MAX: usize = 5;

/// Records that could not be exported.
#[derive(Default)]
pub(super) struct LeftOut {
    count: u64,
    first: Vec<String>,
    /// Revisits that were written as such, though what they stand for is nowhere.
    alone: u64,
}

impl LeftOut {
    pub(super) fn is_nothing(&self) -> bool {
        self.count == 0
    }

    fn add(&mut self, why: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < TOLD_MAX {
            self.first.push(why());
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for why in &self.first {
            writeln!(out, "warning: left out: {why}")?;
        }
        let more = self.count - self.first.len() as u64;
        if more > 0 {
            writeln!(out, "warning: and {} more", HumanCount(more))?;
        }
        if self.alone > 0 {
            let count = HumanCount(self.alone);
            writeln!(out, "warning: {count} revisit(s) stand for records that are not in this repository")?;
        }
        Ok(())
    }
}

/// Writes the file; where records went, in the order of where they were.
pub(super) fn write(
    export: &Export<'_>,
    name: &str,
    out: &mut dyn Write,
) -> anyhow::Result<(Vec<Moved>, LeftOut)> {
    export.bar.says("looking for what to export");
    let originals = Originals::find(export)?;
    export.bar.set_length(originals.bytes.max(1));
    let mut records = Records {
        env: export.env,
        open: None,
        fetcher: RecordFetcher::new(&export.env.files),
        other: RecordFetcher::new(&export.env.files),
        plain: Vec::new(),
        bytes: Vec::new(),
    };
    let (mut moved, mut left_out) = (Vec::<Moved>::new(), LeftOut::default());
    records.describe(export.env, name)?;
    out.write_all(&records.bytes)?;
    let mut at = records.bytes.len() as u64;
    export.rows(COLUMNS, &BY_PLACE, &mut |batch, row| {
        let (file, offset, length) = place(batch, row);
        let (path, url) = (located(export.root, &file), output::text(&batch["url"], row).unwrap_or_default());
        let wanted =
            Wanted { path, file, offset, length, url, time: time(batch, row), digest: digest(batch, row) };
        let member = records.member(export, &originals, &wanted, &mut left_out);
        if let Some(is_revisit) = member.map_err(io::Error::other)? {
            out.write_all(&records.bytes)?;
            let new_length = records.bytes.len() as u64;
            let same = moved.last().map(|last| last.file.clone()).filter(|file| **file == *wanted.file);
            let file = same.unwrap_or_else(|| wanted.file.into());
            moved.push(Moved { file, offset, new_offset: at, new_length, is_revisit });
            at += new_length;
        }
        export.bar.inc(length);
        export.bar.says(format!(
            "{} of {} records, {} of {}, {} left",
            HumanCount(moved.len() as u64),
            HumanCount(originals.rows),
            HumanBytes(export.bar.position()),
            HumanBytes(originals.bytes),
            HumanDuration(export.bar.eta())
        ));
        Ok(())
    })?;
    out.flush()?;
    Ok((moved, left_out))
}

/// A record that is asked for.
struct Wanted {
    path: PathBuf,
    file: String,
    offset: u64,
    length: u64,
    url: String,
    time: Option<UnixTime>,
    digest: Option<String>,
}

/// Makes gzip members of records.
struct Records<'a> {
    env: &'a Env,
    open: Option<(PathBuf, File)>,
    fetcher: RecordFetcher,
    /// For the originals of revisits, which lie elsewhere.
    other: RecordFetcher,
    plain: Vec<u8>,
    /// The member.
    bytes: Vec<u8>,
}

impl Records<'_> {
    /// The record that describes the file.
    fn describe(&mut self, env: &Env, name: &str) -> anyhow::Result<()> {
        let mut fields = Vec::new();
        warc_field(&mut fields, "software", concat!("mattock ", env!("CARGO_PKG_VERSION")));
        warc_field(&mut fields, "format", "WARC File Format 1.1");
        warc_field(&mut fields, "description", "exported from a repository: responses and revisits");
        let id = RecordId::new(&mut mattock_env::Random::from_entropy());
        let block: [&[u8]; 1] = [&fields];
        let record = Record {
            file_name: Some(name),
            content_type: "application/warc-fields",
            block_digest: Some(Digest::of(&block)),
            block: &block,
            ..Record::new(RecordType::Warcinfo, id, env.clock.unix())
        };
        self.plain.clear();
        record.write_to(DatePrecision::Seconds, &mut self.plain);
        self.pack()
    }

    /// Makes the member of a record, and says whether that is a revisit. `None` if it was left out.
    fn member(
        &mut self,
        export: &Export<'_>,
        originals: &Originals,
        wanted: &Wanted,
        left_out: &mut LeftOut,
    ) -> anyhow::Result<Option<bool>> {
        let Wanted { path, offset, length, url, time, .. } = wanted;
        let record = match self.fetcher.document(path, *offset, *length, url, *time) {
            Ok(record) => record,
            Err(error) => {
                lost(error)?.tell(left_out);
                return Ok(None);
            }
        };
        if intact::block(&record) == Verdict::Wrong {
            left_out.add(|| damaged(path, *offset));
            return Ok(None);
        }
        let is_revisit = record.kind() == Some(RecordType::Revisit);
        if is_revisit && !comes_along(&record, wanted, originals) {
            match wanted.digest.as_deref().and_then(|digest| originals.place(digest)) {
                Some((file, offset, length, url)) => {
                    let path = located(export.root, file);
                    let original = match self.other.document(&path, *offset, *length, url, None) {
                        Ok(original) => original,
                        Err(error) => {
                            lost(error)?.tell(left_out);
                            return Ok(None);
                        }
                    };
                    if intact::block(&original) == Verdict::Wrong
                        || intact::payload(&original, wanted.digest.as_deref()) == Verdict::Wrong
                    {
                        left_out.add(|| damaged(&path, *offset));
                        return Ok(None);
                    }
                    if let Some(response) = original.response() {
                        let truncated = original.fields.get("WARC-Truncated");
                        record::of_revisit(&record, &response, truncated, &mut self.plain);
                        self.pack()?;
                        return Ok(Some(false));
                    }
                }
                None => left_out.alone += 1,
            }
        }
        let is_alone = record.length == Some(*length);
        if record.version == "ARC" {
            record::of_arc(&record, &wanted.file, &mut self.plain);
            self.pack()?;
        } else if record::has_odd_digests(&record) {
            record::without_odd_digests(&record, &mut self.plain);
            self.pack()?;
        } else if !is_alone || !self.copy(wanted)? {
            let record = self.fetcher.fetch(path, *offset, *length)?;
            self.plain = output::record_bytes(&record);
            self.pack()?;
        }
        Ok(Some(is_revisit))
    }

    /// Takes the member as it is, if it is one of gzip.
    fn copy(&mut self, wanted: &Wanted) -> anyhow::Result<bool> {
        let path = &wanted.path;
        if self.open.as_ref().is_none_or(|(open, _)| open != path) {
            let opened = self.env.files.open(path, OpenMode::Read);
            let opened = opened.with_context(|| format!("cannot open {}", path.display()))?;
            self.open = Some((path.clone(), opened));
        }
        let (_, source) = self.open.as_ref().expect("it was just opened");
        self.bytes.resize(usize::try_from(wanted.length)?, 0);
        source
            .read_exact_at(&mut self.bytes, wanted.offset)
            .with_context(|| format!("cannot read {}", path.display()))?;
        Ok(self.bytes.starts_with(b"\x1f\x8b"))
    }

    /// Packs the plain record.
    fn pack(&mut self) -> anyhow::Result<()> {
        let mut compressor =
            libdeflater::Compressor::new(libdeflater::CompressionLvl::new(1).expect("there is a level 1"));
        self.bytes.resize(compressor.gzip_compress_bound(self.plain.len()), 0);
        let length = compressor.gzip_compress(&self.plain, &mut self.bytes)?;
        self.bytes.truncate(length);
        Ok(())
    }
}

fn damaged(path: &Path, offset: u64) -> String {
    format!("{} is damaged at the record at byte {offset}: its block has another digest", path.display())
}

/// Whether what a revisit stands for is exported too.
fn comes_along(revisit: &StoredRecord<'_>, wanted: &Wanted, originals: &Originals) -> bool {
    let Some(digest) = &wanted.digest else { return true };
    let url = revisit.fields.get("WARC-Refers-To-Target-URI");
    let date = revisit.fields.get("WARC-Refers-To-Date").and_then(crate::times::parse);
    originals.has(digest, url.unwrap_or_default(), url.and(date).map(|date| date.div_euclid(1000)))
}

/// A record that is lost.
struct Lost(RepositoryError);

impl Lost {
    fn tell(self, left_out: &mut LeftOut) {
        left_out.add(|| self.0.to_string());
    }
}

/// What is gone costs itself; what may go well the next time ends the export.
fn lost(error: RepositoryError) -> anyhow::Result<Lost> {
    match error {
        RepositoryError::Io { .. } if !error.is_loss() => Err(error.into()),
        error => Ok(Lost(error)),
    }
}
