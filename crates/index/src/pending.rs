//! Instances that wait for their part, each as few bytes as will do, and come out in the index' order.
//!
//! Filled row by row from ledgers or foreign archives, emptied into a [`PartWriter`]. Only here are rows sorted: columns are made of them
//! afterwards, a batch at a time, so that a part in the making costs some 200 bytes a row and not the width of all its columns.

use std::path::Path;

use mattock_codec::{Reader, put_counted, put_varint};
use mattock_env::{Files, Name};
use mattock_repository::{Details, Digest};
use mattock_weburl::WebUrl;

use crate::asked::key_of;
use crate::error::IndexError;
use crate::manifest::Part;
use crate::part::PartWriter;
use crate::rows::{Instance, Rows};

/// As many rows go into a part at most.
pub const PART_ROWS: usize = 500_000;

/// And so many bytes, as they are here.
const PART_BYTES: usize = 160 << 20;

/// Rows that become columns at once.
const BATCH_ROWS: usize = 8192;

/// See the module.
#[derive(Debug)]
pub(crate) struct Pending {
    crawl: String,
    bytes: Vec<u8>,
    order: Vec<Entry>,
    /// Archive files by number, the newest last: rows of one file follow each other.
    files: Vec<String>,
}

/// Where an instance lies, and the beginning of its key, by which most comparisons are decided.
#[derive(Clone, Copy, Debug)]
struct Entry {
    prefix: [u8; PREFIX_BYTES],
    at: usize,
}

/// The name of most hosts, and the beginning of a path.
const PREFIX_BYTES: usize = 24;

impl Pending {
    /// For rows whose column `crawl` says this.
    pub(crate) fn new(crawl: &str) -> Pending {
        Pending { crawl: crawl.to_owned(), bytes: Vec::new(), order: Vec::new(), files: Vec::new() }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether they are enough for a part.
    pub(crate) fn is_full(&self) -> bool {
        self.order.len() >= PART_ROWS || self.bytes.len() >= PART_BYTES
    }

    /// Takes an instance. One that the index cannot name is refused: `false` if its URL is none of the Web's.
    pub(crate) fn push(&mut self, instance: &Instance<'_>) -> Result<bool, IndexError> {
        let Ok(url) = WebUrl::parse_archived(instance.url) else { return Ok(false) };
        instance.place()?;
        let key = key_of(instance.url, &url);
        let mut prefix = [0; PREFIX_BYTES];
        let shared = key.len().min(PREFIX_BYTES);
        prefix[..shared].copy_from_slice(&key.as_bytes()[..shared]);
        if self.files.last().is_none_or(|last| last != instance.file) {
            self.files.push(instance.file.to_owned());
        }
        self.order.push(Entry { prefix, at: self.bytes.len() });
        put(&mut self.bytes, key.as_bytes(), instance, self.files.len() - 1);
        Ok(true)
    }

    /// Changes the one that was taken last; neither its URL nor its file.
    pub(crate) fn amend(&mut self, change: impl FnOnce(&mut Instance<'_>)) {
        let Some(entry) = self.order.last() else { return };
        let old = self.bytes.split_off(entry.at);
        let surt = Reader::new(&old).counted().expect("it was put there");
        let mut instance = take(&old, 0, &self.files, &self.crawl).expect("it was put there");
        change(&mut instance);
        put(&mut self.bytes, surt, &instance, self.files.len() - 1);
    }

    /// Writes a part of all that wait into `file`, and begins anew. If they are imported, they are inserted at this time, in ms since 1970.
    pub(crate) fn write_part(
        &mut self,
        files: &Files,
        directory: &Path,
        file: Name,
        imported_ms: Option<i64>,
    ) -> Result<Part, IndexError> {
        let mut writer = PartWriter::create(files, &directory.join(&file))?;
        let bytes = &self.bytes;
        self.order.sort_unstable_by(|one, two| {
            one.prefix.cmp(&two.prefix).then_with(|| key(bytes, one.at).cmp(&key(bytes, two.at)))
        });
        let (mut rows, mut newest_ms, mut languages) = (Rows::default(), None, true);
        for entry in &self.order {
            let mut instance = take(bytes, entry.at, &self.files, &self.crawl).expect("it was put there");
            instance.inserted_ms = imported_ms.or(instance.inserted_ms);
            newest_ms = newest_ms.max(instance.inserted_ms);
            languages &= tells_languages(&instance);
            let (surt, ..) = key(bytes, entry.at).expect("it was put there");
            let url = WebUrl::parse_archived(instance.url).expect("it was parsed before");
            rows.push_keyed(&instance, &url, std::str::from_utf8(surt).expect("it was a text"))?;
            if rows.len() == BATCH_ROWS {
                writer.write(&rows.finish()?)?;
            }
        }
        if !rows.is_empty() {
            writer.write(&rows.finish()?)?;
        }
        let written = writer.finish()?;
        let (rows, imported) = (self.order.len() as u64, imported_ms.is_some());
        self.bytes.clear();
        self.order.clear();
        let archives = std::mem::take(&mut self.files);
        let archives = if imported { archives } else { Vec::new() };
        Ok(Part {
            file,
            rows,
            bytes: written.bytes,
            imported,
            inserted_ms: newest_ms,
            languages,
            sum: Some(written.sum),
            archives,
            blocks: written.blocks.to_text(),
        })
    }
}

/// Whether languages were looked for in a document. Of a revisit whose original never came nothing can be known.
pub(crate) fn tells_languages(instance: &Instance<'_>) -> bool {
    instance.details.languages.is_some() || instance.details.revisit
}

fn put(out: &mut Vec<u8>, key: &[u8], instance: &Instance<'_>, file: usize) {
    put_counted(out, key);
    put_counted(out, instance.url.as_bytes());
    let optional = |number: Option<u64>| number.map_or(0, |number| number.saturating_add(1));
    for number in [
        // Times before 1970 are large numbers: they are read back as they were.
        instance.time_us as u64,
        instance.status.into(),
        file as u64,
        instance.offset,
        instance.length,
        optional(instance.depth.map(u64::from)),
        optional(instance.took_ms),
        optional(instance.inserted_ms.map(|time| u64::try_from(time).unwrap_or(0))),
        instance.digest.is_some().into(),
    ] {
        put_varint(out, number);
    }
    out.extend(instance.digest.iter().flat_map(|digest| digest.0));
    put_counted(out, instance.other_digest.as_bytes());
    instance.details.put(out);
}

fn take<'a>(bytes: &'a [u8], at: usize, files: &'a [String], crawl: &'a str) -> Option<Instance<'a>> {
    let mut reader = Reader::from_place(bytes, at);
    reader.counted()?;
    let url = std::str::from_utf8(reader.counted()?).ok()?;
    let mut numbers = [0; 9];
    for number in &mut numbers {
        *number = reader.varint()?;
    }
    let [time_us, status, file, offset, length, depth, took_ms, inserted_ms, has_digest] = numbers;
    let digest = match has_digest {
        0 => None,
        _ => Some(Digest(reader.take(20)?.try_into().ok()?)),
    };
    let other_digest = std::str::from_utf8(reader.counted()?).ok()?;
    Some(Instance {
        url,
        time_us: time_us as i64,
        status: u16::try_from(status).ok()?,
        digest,
        other_digest,
        file: files.get(usize::try_from(file).ok()?)?,
        offset,
        length,
        crawl,
        details: Details::take(&mut reader)?,
        depth: depth.checked_sub(1).and_then(|depth| u32::try_from(depth).ok()),
        took_ms: took_ms.checked_sub(1),
        inserted_ms: inserted_ms.checked_sub(1).and_then(|time| i64::try_from(time).ok()),
    })
}

/// What decides about the place of the instance at `at`: SURT key, URL, time.
fn key(bytes: &[u8], at: usize) -> Option<(&[u8], &[u8], i64)> {
    let mut reader = Reader::from_place(bytes, at);
    Some((reader.counted()?, reader.counted()?, reader.varint()? as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let mut pending = Pending::new("c");
        let details = Details { mime: "text/html", redirect: "http://b.org/", ..Details::default() };
        let instance = Instance {
            url: "http://a.org/x",
            time_us: -5,
            status: 301,
            digest: Some(Digest([7; 20])),
            other_digest: "",
            file: "warc/one",
            offset: 1 << 30,
            length: 300,
            crawl: "c",
            details,
            depth: Some(0),
            took_ms: None,
            inserted_ms: Some(1_700_000_000_123),
        };
        let other = Instance {
            digest: None,
            other_digest: "md5:00",
            file: "warc/two",
            depth: None,
            took_ms: Some(9),
            inserted_ms: None,
            ..instance.clone()
        };
        assert!(pending.push(&instance).unwrap() && pending.push(&other).unwrap());
        assert!(!pending.push(&Instance { url: "mailto:a@b.c", ..instance.clone() }).unwrap());
        let far = Instance { offset: 1 << 31, ..instance.clone() };
        assert!(matches!(pending.push(&far), Err(IndexError::TooFar { .. })));
        assert_eq!(pending.len(), 2);
        pending.amend(|last| last.depth = Some(1 << 20));
        let found =
            |place: usize| take(&pending.bytes, pending.order[place].at, &pending.files, &pending.crawl);
        assert_eq!(found(0), Some(instance));
        assert_eq!(found(1), Some(Instance { depth: Some(1 << 20), ..other }));
    }
}
