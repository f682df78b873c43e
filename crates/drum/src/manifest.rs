//! The manifest: one small file that says which other files, up to which length, are the state of a checkpoint.
//!
//! `MANIFEST-n` is written by checkpoint `n` as one atomic step, after everything it names is durable. Opening a repository
//! is reading the newest one; files that no kept manifest names are litter.
//!
//! ```text
//! "MTKDRUM2", varints…, checksum u32
//! ```
//!
//! Without it nothing of the state could be read, so there are two of it: `MANIFEST-n.copy` has the same bytes. So it is with tails.
//!
//! The last character of the magic is the version, of this file and of all that it names. Magic and checksum stay where they
//! are in every version, so that an unknown one can be told from a damaged file.
//!
//! Version 1 is read too: its generations do not tell their [form](Form), which is the first. Files of that form may be named by later
//! manifests, until they have been merged.

use std::path::Path;

use mattock_codec::{Reader, Unreadable, put_varint, seal, unseal, whole};
use mattock_env::{Files, Unread, copy_name, without_copy};

use crate::chunk::Form;
use crate::error::{DrumError, Result};

const MAGIC: &[u8; 8] = b"MTKDRUM2";
const FIRST_VERSION: char = '1';

/// More than any plan makes.
const BUCKETS_MAX: u64 = 1 << 16;
const BLOCK_BYTES_MAX: u64 = 64 << 20;
/// More than any disk has.
const BYTES_MAX: u64 = 1 << 50;
/// More than anybody counts; sums of some of them are numbers still.
const NUMBER_MAX: u64 = 1 << 60;
const PAGE_BYTES: u64 = mattock_env::PAGE_BYTES as u64;

/// A run of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunEntry {
    pub(crate) number: u64,
    pub(crate) directory: u64,
    pub(crate) bytes: u64,
}

/// A generation that is not merged or not delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GenerationEntry {
    pub(crate) number: u64,
    pub(crate) merged: bool,
    pub(crate) log_block_bytes: u64,
    pub(crate) log_blocks: u32,
    pub(crate) log_written: u32,
    /// Whether the log has a file: blocks that were delivered early may never have needed one.
    pub(crate) log_file: bool,
    pub(crate) records: u32,
    pub(crate) first_unresolved: u32,
    pub(crate) sealed_s: u64,
    pub(crate) chunk_bytes: u64,
    /// Chunks of keys, or of answers once it is merged.
    pub(crate) chunks: u32,
    pub(crate) answers: bool,
    pub(crate) answer_shift: u32,
    /// How its chunks are written.
    pub(crate) form: Form,
    pub(crate) tail_bytes: u64,
    pub(crate) tail_sum: u32,
}

/// Everything a checkpoint knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) number: u64,
    pub(crate) buckets: u64,
    pub(crate) has_values: bool,
    /// Whether duplicates are delivered too.
    pub(crate) delivers_all: bool,
    pub(crate) position: u64,
    pub(crate) next_number: u64,
    /// Where delivery stands in the first generation: block, byte, record.
    pub(crate) cursor: (u32, u32, u32),
    pub(crate) runs: Vec<RunEntry>,
    pub(crate) generations: Vec<GenerationEntry>,
}

/// The file of a manifest.
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

pub(crate) fn run_name(number: u64) -> String {
    format!("run-{number:06}")
}

pub(crate) fn log_name(number: u64) -> String {
    format!("log-{number:06}")
}

pub(crate) fn keys_name(number: u64) -> String {
    format!("keys-{number:06}")
}

pub(crate) fn answers_name(number: u64) -> String {
    format!("answers-{number:06}")
}

pub(crate) fn tail_name(generation: u64, checkpoint: u64) -> String {
    format!("tail-{generation:06}-{checkpoint:06}")
}

impl Manifest {
    /// Names and lengths of all files that make up this state, the manifest itself left out.
    pub(crate) fn files(&self) -> Vec<(String, u64)> {
        let mut files: Vec<(String, u64)> =
            self.runs.iter().map(|run| (run_name(run.number), run.bytes)).collect();
        for generation in &self.generations {
            if generation.log_file {
                let bytes = u64::from(generation.log_written) * generation.log_block_bytes;
                files.push((log_name(generation.number), bytes));
            }
            if generation.chunks > 0 {
                let name = if generation.merged { answers_name } else { keys_name };
                files.push((name(generation.number), u64::from(generation.chunks) * generation.chunk_bytes));
            }
            let pages = generation.tail_bytes.max(1).next_multiple_of(mattock_env::PAGE_BYTES as u64);
            files.push((tail_name(generation.number, self.number), pages));
        }
        files
    }

    /// Whether there can be such a state: whoever opens one sets memory aside by these numbers, and a checksum only says that somebody wrote them.
    fn is_possible(&self) -> bool {
        let is_block =
            |bytes: u64| (PAGE_BYTES..=BLOCK_BYTES_MAX).contains(&bytes) && bytes.is_multiple_of(PAGE_BYTES);
        self.buckets.is_power_of_two()
            && self.buckets <= BUCKETS_MAX
            && self.position <= NUMBER_MAX
            && self.next_number <= NUMBER_MAX
            && self
                .runs
                .iter()
                .all(|run| run.number <= NUMBER_MAX && run.directory <= BYTES_MAX && run.bytes <= BYTES_MAX)
            && self.generations.iter().all(|generation| {
                generation.number <= NUMBER_MAX
                    && is_block(generation.log_block_bytes)
                    && is_block(generation.chunk_bytes)
                    && generation.log_written <= generation.log_blocks
                    && generation.answer_shift < u64::BITS
                    && generation.tail_bytes <= BYTES_MAX
                    && i64::try_from(generation.sealed_s).is_ok()
            })
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let mut put = |value: u64| put_varint(&mut out, value);
        for value in [
            self.number,
            self.buckets,
            u64::from(self.has_values),
            u64::from(self.delivers_all),
            self.position,
            self.next_number,
        ] {
            put(value);
        }
        for value in [self.cursor.0, self.cursor.1, self.cursor.2] {
            put(u64::from(value));
        }
        put(self.runs.len() as u64);
        for run in &self.runs {
            put(run.number);
            put(run.directory);
            put(run.bytes);
        }
        put(self.generations.len() as u64);
        for generation in &self.generations {
            for value in [
                generation.number,
                u64::from(generation.merged),
                generation.log_block_bytes,
                u64::from(generation.log_blocks),
                u64::from(generation.log_written),
                u64::from(generation.log_file),
                u64::from(generation.records),
                u64::from(generation.first_unresolved),
                generation.sealed_s,
                generation.chunk_bytes,
                u64::from(generation.chunks),
                u64::from(generation.answers),
                u64::from(generation.answer_shift),
                generation.tail_bytes,
                u64::from(generation.tail_sum),
                generation.form.number(),
            ] {
                put(value);
            }
        }
        seal(&mut out, self.number);
        out
    }

    /// Reads the manifest with this number.
    pub(crate) fn decode(bytes: &[u8], number: u64) -> std::result::Result<Manifest, Unreadable> {
        let (content, has_forms) = match unseal(bytes, MAGIC, number) {
            Err(Unreadable::Version(FIRST_VERSION)) => (&bytes[MAGIC.len()..bytes.len() - 4], false),
            unsealed => (unsealed?, true),
        };
        let manifest = parse(&mut Reader::new(content), has_forms).ok_or(Unreadable::Damaged)?;
        let fits = manifest.number == number && manifest.is_possible();
        if fits { Ok(manifest) } else { Err(Unreadable::Damaged) }
    }
}

/// Reads the manifest with this number from its file, or from the copy of that.
pub(crate) fn read(files: &Files, dir: &Path, number: u64) -> Result<Manifest> {
    let path = dir.join(name(number));
    let found = files.read_either(&path, |bytes| whole(Manifest::decode(bytes, number)));
    match found {
        Ok(Ok(manifest)) => Ok(manifest),
        Ok(Err(version)) => Err(DrumError::UnknownVersion { path, version }),
        Err(unread) if unread.is_missing() => Err(DrumError::NoSuchCheckpoint { path: dir.into(), number }),
        Err(Unread::Io(error)) => Err(DrumError::io(&path, error)),
        Err(Unread::Content(_)) => Err(DrumError::corrupt(&path, 0, "the manifest fails its checksum")),
    }
}

/// Whether these bytes are those of a manifest with this number, as they were written, in whatever version.
pub(crate) fn check(bytes: &[u8], number: u64) -> std::result::Result<(), Unreadable> {
    whole(Manifest::decode(bytes, number)).map(|_| ())
}

fn parse(reader: &mut Reader<'_>, has_forms: bool) -> Option<Manifest> {
    let mut manifest = Manifest {
        number: reader.varint()?,
        buckets: reader.varint()?,
        has_values: reader.varint()? == 1,
        delivers_all: reader.varint()? == 1,
        position: reader.varint()?,
        next_number: reader.varint()?,
        cursor: (narrow(reader)?, narrow(reader)?, narrow(reader)?),
        ..Manifest::default()
    };
    for _ in 0..reader.varint()? {
        let (number, directory, bytes) = (reader.varint()?, reader.varint()?, reader.varint()?);
        manifest.runs.push(RunEntry { number, directory, bytes });
    }
    for _ in 0..reader.varint()? {
        manifest.generations.push(GenerationEntry {
            number: reader.varint()?,
            merged: reader.varint()? == 1,
            log_block_bytes: reader.varint()?,
            log_blocks: narrow(reader)?,
            log_written: narrow(reader)?,
            log_file: reader.varint()? == 1,
            records: narrow(reader)?,
            first_unresolved: narrow(reader)?,
            sealed_s: reader.varint()?,
            chunk_bytes: reader.varint()?,
            chunks: narrow(reader)?,
            answers: reader.varint()? == 1,
            answer_shift: narrow(reader)?,
            tail_bytes: reader.varint()?,
            tail_sum: narrow(reader)?,
            form: if has_forms { Form::from_number(reader.varint()?)? } else { Form::First },
        });
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
    fn what_cannot_be_is_damaged_though_its_checksum_is_right() {
        let generation =
            GenerationEntry { log_block_bytes: 4096, chunk_bytes: 4096, ..GenerationEntry::default() };
        let sound =
            Manifest { number: 1, buckets: 16, generations: vec![generation.clone()], ..Manifest::default() };
        assert_eq!(Manifest::decode(&sound.encode(), 1), Ok(sound.clone()));
        let with = |generation: GenerationEntry| Manifest { generations: vec![generation], ..sound.clone() };
        let run = RunEntry { number: 1, directory: 1 << 63, bytes: 0 };
        for forged in [
            Manifest { buckets: 1 << 31, ..sound.clone() },
            Manifest { next_number: u64::MAX, ..sound.clone() },
            Manifest { runs: vec![run], ..sound.clone() },
            with(GenerationEntry { chunk_bytes: 1 << 40, ..generation.clone() }),
            with(GenerationEntry { chunk_bytes: 1, ..generation.clone() }),
            with(GenerationEntry { log_block_bytes: 0, ..generation.clone() }),
            with(GenerationEntry { tail_bytes: u64::MAX, ..generation.clone() }),
            with(GenerationEntry { answer_shift: 64, ..generation.clone() }),
        ] {
            assert_eq!(Manifest::decode(&forged.encode(), 1), Err(Unreadable::Damaged), "{forged:?}");
        }
    }

    #[test]
    fn a_manifest_comes_back_or_is_damaged() {
        let generation = GenerationEntry {
            number: 9,
            records: 77,
            log_block_bytes: 8192,
            chunk_bytes: 4096,
            tail_sum: u32::MAX,
            ..GenerationEntry::default()
        };
        let manifest = Manifest {
            number: 300,
            buckets: 256,
            position: NUMBER_MAX,
            next_number: 12,
            cursor: (1, 2, 3),
            runs: vec![RunEntry { number: 4, directory: 1 << 40, bytes: 1 << 41 }],
            generations: vec![generation],
            ..Manifest::default()
        };
        let bytes = manifest.encode();
        assert_eq!(Manifest::decode(&bytes, 300), Ok(manifest));
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
        let mut bytes = Manifest { number: 1, buckets: 1, ..Manifest::default() }.encode();
        bytes[7] = b'3';
        let content = bytes.len() - 4;
        let sum = mattock_codec::checksum(0, 1, &[&bytes[..content]]);
        bytes[content..].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(Manifest::decode(&bytes, 1), Err(Unreadable::Version('3')));
    }
}
