//! What can still be read of a checkpoint whose files are damaged.
//!
//! [`View::salvage`] is for whoever makes a repository anew from an old one. Everything is verified while it is opened, and
//! what fails is left out; nothing is written, and nothing that was not stored comes out:
//!
//! - Of a run: the blocks that fail. Blocks say what they are, so they are found without the run's directory, and again behind one
//!   whose length cannot be believed. Each stretch of whole blocks becomes a run of its own.
//! - Of a log: the blocks that fail. How many records they had follows from those that all have together; where several are lost and
//!   their headers do not add up, nobody can tell which answer of a merge belongs to which record between them, and those that
//!   have one are given up.
//! - Of operations that were not merged: the chunks that fail, and the records that have a byte in one (`left`). If only its header is
//!   damaged, it is put right.
//!
//! Lost is what the disk does not give back. Any other error ends it.
//!
//! Costs: runs are read once here, block by block, and logs and operations once; memory for a few bytes per block.

use std::io;
use std::path::Path;
use std::sync::Arc;

use mattock_codec::{Reader, checksum};
use mattock_env::{Env, File, OpenMode, PAGE_BYTES, is_loss};

use crate::disk::{DataFile, Disk};
use crate::elias_fano;
use crate::error::{DrumError, Result};
use crate::generation::Generation;
use crate::log::{Log, LogReader, count_records};
use crate::manifest::{self, Manifest, RunEntry};
use crate::merge;
use crate::run::{BLOCK_KEYS, HEADER_BYTES, Run, Slice};
use crate::value::Value;
use crate::view::{self, Cursor, View};

/// More high words than any block has: its keys take less than three bits each there.
const HIGH_WORDS_MAX: usize = 1024;
/// More bytes of values than any block has: it ends behind the value that makes a mebibyte full.
const VALUE_BYTES_MAX: usize = 32 << 20;
/// Bytes that are searched at once for the beginning of a block.
const WINDOW_BYTES: usize = 1 << 20;

/// What is known of a block of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogBlock {
    Lost,
    /// It can be read. The number of its first record, if that is known.
    From(Option<u32>),
}

impl<V: Value> View<V> {
    /// Opens what is left of a checkpoint whose files are damaged: what fails its checksum is left out, and nothing that was not stored
    /// comes out. The manifest must be whole. Not beside somebody who works on the repository.
    pub fn salvage(env: &Env, dir: &Path, number: u64) -> Result<View<V>> {
        View::left(env, dir, number, true)
    }

    /// The same of what no merge has applied and nobody was handed: stored keys are not looked for.
    pub fn salvage_results(env: &Env, dir: &Path, number: u64) -> Result<View<V>> {
        View::left(env, dir, number, false)
    }

    fn left(env: &Env, dir: &Path, number: u64, with_runs: bool) -> Result<View<V>> {
        if number == 0 {
            return View::open(env, dir, number);
        }
        let manifest = manifest::read(&env.files, dir, number)?;
        let disk = Disk::new(env.files.clone(), dir);
        view::check_kind::<V>(&disk, &manifest)?;
        let mut runs = Vec::new();
        for entry in manifest.runs.iter().filter(|_| with_runs) {
            runs.extend(whole_parts(&disk, &manifest, entry)?);
        }
        let (plan, now_s) = (view::plan(&manifest), env.clock.unix().as_seconds());
        let (mut generations, mut blocks) = (Vec::new(), Vec::new());
        for (index, entry) in manifest.generations.iter().enumerate() {
            let cursor = if index == 0 { manifest.cursor } else { view::BEGINNING };
            let generation = match Generation::salvage(&disk, &plan, entry, (number, !V::NONE), now_s) {
                // Without its tail, which is kept twice, there is no telling what belongs to it.
                Err(error) if error.is_loss() => continue,
                other => other?,
            };
            blocks.push(log_blocks(&generation.log, cursor)?);
            generations.push((cursor, generation));
        }
        Ok(View::new(manifest, runs, generations, Some(blocks)))
    }
}

/// A block of a run.
#[derive(Clone, Copy)]
struct Place {
    bucket: u32,
    offset: u64,
    bytes: u64,
    keys: u64,
}

/// The whole blocks of a run, as few runs. No key is in two of them.
fn whole_parts(disk: &Arc<Disk>, manifest: &Manifest, entry: &RunEntry) -> Result<Vec<Run>> {
    let name = manifest::run_name(entry.number);
    let path = disk.dir.join(&name);
    let io = |error| DrumError::io(&path, error);
    let (file, length) = match disk.files.open(&path, OpenMode::Read) {
        Err(error) if is_loss(&error) => return Ok(Vec::new()),
        opened => {
            let file = opened.map_err(io)?;
            let length = file.len().map_err(io)?;
            (file, length)
        }
    };
    let data = DataFile::open(disk, name, entry.number)?;
    // Later on whole pages are read.
    let end = (length / PAGE_BYTES as u64 * PAGE_BYTES as u64).min(entry.directory);
    let (number, buckets, has_values) = (entry.number, manifest.buckets as usize, manifest.has_values);
    let search = Search { file: &file, number, buckets, has_values, end };
    let mut parts: Vec<Vec<Slice>> = vec![Vec::new(); buckets];
    let mut next = search.from(0).map_err(io)?;
    while let Some(place) = next {
        let slices = &mut parts[place.bucket as usize];
        match slices.last_mut() {
            Some(last) if last.offset + last.bytes == place.offset => {
                last.bytes += place.bytes;
                last.keys += place.keys;
            }
            _ => slices.push(Slice { offset: place.offset, bytes: place.bytes, keys: place.keys }),
        }
        next = search.from(place.offset + place.bytes).map_err(io)?;
    }
    let count = parts.iter().map(Vec::len).max().unwrap_or(0);
    let part = |index: usize| {
        let slices = parts.iter().map(|slices| slices.get(index).copied().unwrap_or_default()).collect();
        Run::new(Arc::clone(&data), slices, entry.directory)
    };
    Ok((0..count).map(part).collect())
}

/// Looks for whole blocks in the file of a run.
struct Search<'a> {
    file: &'a File,
    number: u64,
    buckets: usize,
    has_values: bool,
    end: u64,
}

impl Search<'_> {
    /// The first whole block at this place or behind it.
    fn from(&self, start: u64) -> io::Result<Option<Place>> {
        let mut header = [0; HEADER_BYTES];
        if start + HEADER_BYTES as u64 <= self.end && self.read(&mut header, start)? {
            let place = self.whole(start, &header)?;
            if place.is_some() {
                return Ok(place);
            }
        }
        let mut window = vec![0; WINDOW_BYTES];
        let mut at = start;
        while at + HEADER_BYTES as u64 <= self.end {
            let bytes = (self.end - at).min(WINDOW_BYTES as u64) as usize;
            if !self.read(&mut window[..bytes], at)? {
                // What cannot be read begins no block.
                for (index, page) in window[..bytes].chunks_mut(PAGE_BYTES).enumerate() {
                    if !self.read(page, at + (index * PAGE_BYTES) as u64)? {
                        page.fill(0);
                    }
                }
            }
            for (offset, header) in window[..bytes].windows(HEADER_BYTES).enumerate() {
                let place = self.whole(at + offset as u64, header)?;
                if place.is_some() {
                    return Ok(place);
                }
            }
            at += (bytes - HEADER_BYTES + 1) as u64;
        }
        Ok(None)
    }

    /// Whether the disk gives these bytes back.
    fn read(&self, bytes: &mut [u8], at: u64) -> io::Result<bool> {
        match self.file.read_exact_at(bytes, at) {
            Err(error) if !is_loss(&error) => Err(error),
            outcome => Ok(outcome.is_ok()),
        }
    }

    /// The block that begins with this header, if it is one and whole.
    fn whole(&self, offset: u64, header: &[u8]) -> io::Result<Option<Place>> {
        let Some((place, body, sum)) = self.parse(offset, header) else { return Ok(None) };
        let mut bytes = vec![0; body];
        if !self.read(&mut bytes, offset + HEADER_BYTES as u64)? {
            return Ok(None);
        }
        let expected = checksum(self.number, offset, &[&header[..20], &header[24..], &bytes]);
        Ok((expected == sum).then_some(place))
    }

    /// What a header says, if it could be one: place, bytes behind it, checksum.
    fn parse(&self, offset: u64, header: &[u8]) -> Option<(Place, usize, u32)> {
        let mut reader = Reader::new(header);
        let count = reader.u32()? as usize;
        let bucket = reader.u32()?;
        if count == 0 || count > BLOCK_KEYS || bucket as usize >= self.buckets {
            return None;
        }
        let (low_bits, high_words, value_bytes) =
            (reader.u32()?, reader.u32()? as usize, reader.u32()? as usize);
        let (sum, first) = (reader.u32()?, reader.u64()?);
        let is_of_bucket = merge::bucket_of(first, merge::bucket_bits(self.buckets)) == bucket as usize;
        let values_max = if self.has_values { VALUE_BYTES_MAX } else { 0 };
        if low_bits > 63 || high_words > HIGH_WORDS_MAX || value_bytes > values_max || !is_of_bucket {
            return None;
        }
        let body = 8 * (elias_fano::low_words(count, low_bits) + high_words) + value_bytes;
        let bytes = (HEADER_BYTES + body) as u64;
        let place = Place { bucket, offset, bytes, keys: count as u64 };
        (offset + bytes <= self.end).then_some((place, body, sum))
    }
}

/// Which blocks of a log are lost from a place on, and which records the others begin with.
fn log_blocks(log: &Log, (first, offset, record): Cursor) -> Result<Vec<LogBlock>> {
    let reader = log.reader();
    let mut counts: Vec<Option<u32>> = Vec::new();
    for block in first..log.blocks() {
        let start = if block == first { offset as usize } else { crate::log::HEADER_BYTES };
        counts.push(match log.in_ram(block) {
            Some(bytes) => count_records(bytes, start),
            None => match reader.read(block) {
                Err(error) if !error.is_loss() => return Err(error),
                read => read.ok().and_then(|(bytes, used)| count_records(&bytes[..used], start)),
            },
        });
    }
    let there: u64 = counts.iter().flatten().map(|count| u64::from(*count)).sum();
    let missing = u64::from(log.records().saturating_sub(record)).saturating_sub(there);
    let lost: Vec<usize> = (0..counts.len()).filter(|index| counts[*index].is_none()).collect();
    let told = counts_of_lost(&reader, &lost, (first, offset), missing);
    let mut told = told.iter();
    let mut blocks = Vec::with_capacity(counts.len());
    let mut next = Some(record);
    for (index, count) in counts.iter().enumerate() {
        let count = match count {
            Some(count) => {
                blocks.push(LogBlock::From(next));
                Some(*count)
            }
            None => {
                blocks.push(LogBlock::Lost);
                told.next().copied().flatten()
            }
        };
        next = next.zip(count).and_then(|(next, count)| next.checked_add(count));
        if lost.last() == Some(&index) {
            // Behind the last gap all can be counted from the end.
            let behind: u32 = counts[index + 1..].iter().flatten().sum();
            next = log.records().checked_sub(behind);
        }
    }
    Ok(blocks)
}

/// How many records each lost block had: the only one what is missing, several what their headers say, if that adds up.
fn counts_of_lost(
    reader: &LogReader,
    lost: &[usize],
    (first, offset): (u32, u32),
    missing: u64,
) -> Vec<Option<u32>> {
    if let [_] = lost {
        return vec![u32::try_from(missing).ok()];
    }
    let is_begun = |index: usize| index == 0 && offset as usize != crate::log::HEADER_BYTES;
    let told: Vec<Option<u32>> = lost
        .iter()
        .map(|index| reader.header_records(first + *index as u32).filter(|_| !is_begun(*index)))
        .collect();
    let sum: Option<u64> = told.iter().map(|count| count.map(u64::from)).sum();
    if sum == Some(missing) { told } else { vec![None; lost.len()] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_writer::RunWriter;
    use mattock_env::{Files, Random, SimFiles};

    fn keys_of(runs: &[Run], buckets: usize) -> Vec<u64> {
        let mut keys = Vec::new();
        for run in runs {
            for bucket in 0..buckets {
                let mut reader = run.read(bucket, 4096).unwrap();
                while let Some(key) = reader.key() {
                    assert_eq!(reader.value(), key.to_le_bytes());
                    keys.push(key);
                    reader.advance().unwrap();
                }
            }
        }
        keys.sort_unstable();
        keys
    }

    #[test]
    fn a_flipped_bit_costs_one_block_of_a_run_and_a_cut_what_is_behind_it() {
        let sim = SimFiles::new(Random::from_seed(1));
        let disk = Disk::new(Files::simulated(sim.clone()), Path::new("/drum"));
        let mut random = Random::from_seed(2);
        let path = disk.dir.join(manifest::run_name(7));
        let mut writer = RunWriter::new(&disk, manifest::run_name(7), 7, true, 8192);
        let mut all = Vec::new();
        for bucket in 0..4u64 {
            let mut keys: Vec<u64> = (0..[0, 9, 4 * BLOCK_KEYS + 17, 2 * BLOCK_KEYS][bucket as usize])
                .map(|_| bucket << 62 | random.next_u64() >> 2)
                .collect();
            keys.sort_unstable();
            writer.begin_bucket();
            keys.iter().for_each(|key| writer.push(*key, &key.to_le_bytes()).unwrap());
            writer.end_bucket().unwrap();
            all.extend(keys);
        }
        let run = writer.finish().unwrap();
        let entry = RunEntry { number: 7, directory: run.directory(), bytes: run.bytes() };
        let manifest = Manifest { buckets: 4, has_values: true, ..Manifest::default() };
        let whole = sim.snapshot()[&path].clone();
        for round in 0..60 {
            if round % 3 == 2 {
                let len = random.below(whole.len() as u64);
                disk.files.open(&path, OpenMode::Write).unwrap().set_len(len).unwrap();
                let left = keys_of(&whole_parts(&disk, &manifest, &entry).unwrap(), 4);
                let page = PAGE_BYTES as u64;
                let before = all.len() as u64 * (len / page * page) / whole.len() as u64;
                assert!(left.len() as u64 + 2 * BLOCK_KEYS as u64 >= before, "{} of {before}", left.len());
                assert!(left == all[..left.len()]);
            } else {
                for _ in 0..=round % 2 {
                    sim.flip_bit(&path).unwrap();
                }
                let left = keys_of(&whole_parts(&disk, &manifest, &entry).unwrap(), 4);
                assert!(left.len() + (1 + round % 2) * BLOCK_KEYS >= all.len(), "{}", left.len());
                let mut rest = all.iter();
                assert!(left.iter().all(|key| rest.any(|other| other == key)));
            }
            disk.files.write_atomic(&path, &whole).unwrap();
        }
        assert!(keys_of(&whole_parts(&disk, &manifest, &entry).unwrap(), 4) == all);
    }
}
