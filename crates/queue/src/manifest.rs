//! The manifest: one small file that says which other files, up to which length, are the state of a checkpoint.
//!
//! `MANIFEST-n` is written by checkpoint `n` as one atomic step, after everything it names is durable. Opening is reading
//! the newest one; files that no kept manifest names are litter. `tail-n` holds the open blocks, which are in no segment.
//!
//! ```text
//! "MTKQMAN1", varints and counted names…, checksum u32
//! ```
//!
//! Without it nothing of the state could be read, so there are two of it: `MANIFEST-n.copy` has the same bytes. So it is with tails.
//!
//! The last character of the magic is the version. Magic and checksum stay where they are in every version, so that an unknown
//! one can be told from a damaged file.

use std::path::Path;

use mattock_env::{Files, Unread, copy_name, without_copy};

use crate::error::QueueError;
use crate::segment;
use mattock_codec::{Reader, Unreadable, put_counted, put_varint, seal, unseal, whole};

const MAGIC: &[u8; 8] = b"MTKQMAN1";

/// More than anybody counts; sums of many of them are numbers still.
const NUMBER_MAX: u64 = 1 << 50;
/// More than what a queue holds in memory.
const TAIL_BYTES_MAX: u64 = 1 << 40;

/// A file of a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SegmentEntry {
    pub(crate) number: u64,
    pub(crate) bytes: u64,
    pub(crate) stored_max: u64,
}

/// A queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueEntry {
    pub(crate) name: String,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    /// The first block, and where in it the next record is.
    pub(crate) head: u64,
    pub(crate) offset: u64,
    pub(crate) record: u32,
    /// The first block that is in no segment.
    pub(crate) next: u64,
    pub(crate) read_offset: u64,
    pub(crate) segments: Vec<SegmentEntry>,
    /// Its part of the tail file.
    pub(crate) tail_bytes: u64,
    pub(crate) tail_records: u32,
    pub(crate) tail_sum: u32,
}

/// Everything a checkpoint knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) number: u64,
    pub(crate) next_segment: u64,
    pub(crate) queues: Vec<QueueEntry>,
}

pub(crate) fn name(number: u64) -> String {
    format!("MANIFEST-{number:06}")
}

/// The file of a manifest and its copy.
pub(crate) fn names(number: u64) -> [String; 2] {
    [name(number), copy_name(&name(number))]
}

/// The number in the name of a manifest or of its copy.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    without_copy(name).strip_prefix("MANIFEST-")?.parse().ok()
}

pub(crate) fn tail_name(number: u64) -> String {
    format!("tail-{number:06}")
}

/// The file of the open blocks and its copy.
pub(crate) fn tail_names(number: u64) -> [String; 2] {
    [tail_name(number), copy_name(&tail_name(number))]
}

/// Whether a file in the directory has one of our names: others are left alone.
pub(crate) fn is_ours(name: &str) -> bool {
    ["MANIFEST-", "segment-", "tail-"].iter().any(|prefix| name.starts_with(prefix))
}

impl Manifest {
    /// Length of the tail file; there is none if it would be empty.
    pub(crate) fn tail_bytes(&self) -> u64 {
        self.queues.iter().map(|queue| queue.tail_bytes).sum()
    }

    /// Names and lengths of all files that make up this state, the manifest itself left out.
    pub(crate) fn files(&self) -> Vec<(String, u64)> {
        let segments = self.queues.iter().flat_map(|queue| &queue.segments);
        let mut files: Vec<_> = segments.map(|entry| (segment::name(entry.number), entry.bytes)).collect();
        if self.tail_bytes() > 0 {
            files.push((tail_name(self.number), self.tail_bytes()));
        }
        files
    }

    /// Whether there can be such a state: whoever opens one sets memory aside by these numbers, and a checksum only says that somebody wrote them.
    fn is_possible(&self) -> bool {
        let is_number = |number: &u64| *number <= NUMBER_MAX;
        is_number(&self.next_segment)
            && self.queues.iter().all(|queue| {
                let numbers =
                    [queue.records, queue.head, queue.next, queue.bytes, queue.offset, queue.read_offset];
                numbers.iter().all(is_number)
                    && queue.tail_bytes <= TAIL_BYTES_MAX
                    && queue.segments.iter().all(|segment| {
                        is_number(&segment.number)
                            && is_number(&segment.bytes)
                            && is_number(&segment.stored_max)
                    })
            })
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        for value in [self.number, self.next_segment, self.queues.len() as u64] {
            put_varint(&mut out, value);
        }
        for queue in &self.queues {
            put_counted(&mut out, queue.name.as_bytes());
            for value in [
                queue.records,
                queue.bytes,
                queue.head,
                queue.offset,
                u64::from(queue.record),
                queue.next,
                queue.read_offset,
                queue.tail_bytes,
                u64::from(queue.tail_records),
                u64::from(queue.tail_sum),
                queue.segments.len() as u64,
            ] {
                put_varint(&mut out, value);
            }
            for segment in &queue.segments {
                for value in [segment.number, segment.bytes, segment.stored_max] {
                    put_varint(&mut out, value);
                }
            }
        }
        seal(&mut out, self.number);
        out
    }

    /// Reads the manifest with this number.
    pub(crate) fn decode(bytes: &[u8], number: u64) -> Result<Manifest, Unreadable> {
        let content = unseal(bytes, MAGIC, number)?;
        let manifest = parse(&mut Reader::new(content)).ok_or(Unreadable::Damaged)?;
        if manifest.number == number && manifest.is_possible() {
            Ok(manifest)
        } else {
            Err(Unreadable::Damaged)
        }
    }
}

/// Reads the manifest with this number from its file, or from the copy of that.
pub(crate) fn read(files: &Files, dir: &Path, number: u64) -> Result<Manifest, QueueError> {
    let path = dir.join(name(number));
    let found = files.read_either(&path, |bytes| whole(Manifest::decode(bytes, number)));
    match found {
        Ok(Ok(manifest)) => Ok(manifest),
        Ok(Err(version)) => Err(QueueError::UnknownVersion { path, version }),
        Err(unread) if unread.is_missing() => Err(QueueError::NoSuchCheckpoint { path: dir.into(), number }),
        Err(Unread::Io(error)) => Err(QueueError::io(&path, 0, error)),
        Err(Unread::Content(_)) => Err(QueueError::corrupt(&path, 0, "the manifest fails its checksum")),
    }
}

/// Whether these bytes are those of a manifest with this number, as they were written, in whatever version.
pub(crate) fn check(bytes: &[u8], number: u64) -> Result<(), Unreadable> {
    whole(Manifest::decode(bytes, number)).map(|_| ())
}

fn parse(reader: &mut Reader<'_>) -> Option<Manifest> {
    let (number, next_segment) = (reader.varint()?, reader.varint()?);
    let mut manifest = Manifest { number, next_segment, queues: Vec::new() };
    for _ in 0..reader.varint()? {
        let mut queue = QueueEntry {
            name: String::from_utf8(reader.counted()?.to_vec()).ok()?,
            records: reader.varint()?,
            bytes: reader.varint()?,
            head: reader.varint()?,
            offset: reader.varint()?,
            record: narrow(reader)?,
            next: reader.varint()?,
            read_offset: reader.varint()?,
            tail_bytes: reader.varint()?,
            tail_records: narrow(reader)?,
            tail_sum: narrow(reader)?,
            segments: Vec::new(),
        };
        for _ in 0..reader.varint()? {
            let (number, bytes, stored_max) = (reader.varint()?, reader.varint()?, reader.varint()?);
            queue.segments.push(SegmentEntry { number, bytes, stored_max });
        }
        manifest.queues.push(queue);
    }
    Some(manifest)
}

fn narrow(reader: &mut Reader<'_>) -> Option<u32> {
    u32::try_from(reader.varint()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_comes_back_or_is_damaged() {
        let segments = vec![SegmentEntry { number: 7, bytes: 1 << 26, stored_max: 4096 }];
        let queue = QueueEntry {
            name: "QF".into(),
            records: 1 << 40,
            tail_bytes: 9,
            tail_sum: u32::MAX,
            segments,
            ..QueueEntry::default()
        };
        let manifest = Manifest { number: 300, next_segment: 8, queues: vec![queue, QueueEntry::default()] };
        let bytes = manifest.encode();
        assert_eq!(Manifest::decode(&bytes, 300), Ok(manifest.clone()));
        assert_eq!(manifest.files(), [("segment-00000007".into(), 1 << 26), ("tail-000300".into(), 9)]);
        assert_eq!(Manifest::decode(&bytes, 301), Err(Unreadable::Damaged));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            assert_eq!(Manifest::decode(&damaged, 300), Err(Unreadable::Damaged));
            assert_eq!(Manifest::decode(&bytes[..at], 300), Err(Unreadable::Damaged));
        }
        assert_eq!((number_of(&name(300)), number_of("MANIFEST-000300.copy")), (Some(300), Some(300)));
        assert_eq!(number_of("MANIFEST-000300.tmp"), None);
    }

    #[test]
    fn a_later_version_is_named() {
        let mut bytes = Manifest { number: 1, ..Manifest::default() }.encode();
        bytes[7] = b'2';
        let content = bytes.len() - 4;
        let sum = mattock_codec::checksum(0, 1, &[&bytes[..content]]);
        bytes[content..].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(Manifest::decode(&bytes, 1), Err(Unreadable::Version('2')));
    }
}
