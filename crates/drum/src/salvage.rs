//! What can still be read of a checkpoint whose files are damaged.
//!
//! [`View::salvage`] is for whoever makes a repository anew from an old one. Everything is verified while it is opened, and
//! what fails is left out; nothing is written, and nothing that was not stored comes out:
//!
//! - Of a run: the blocks that fail. Blocks say what they are, so they are found without the run's directory, and again behind one
//!   whose length cannot be believed. Each stretch of whole blocks becomes a run of its own.
//! - Of a log: the blocks that fail. How many records they had follows from those that all have together; where several are lost and their headers
//!   do not add up, what stands between them is given up too, as nobody can tell any more which answer belongs to which record.
//! - Of operations that were not merged: from a damaged chunk on, what its bucket collected in this generation; if the bucket
//!   is not known, what all have from there on, since records are torn apart by the ends of chunks.
//!
//! Costs: all files are read once here, runs in blocks; memory for a few bytes per block.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use mattock_codec::{Reader, checksum};
use mattock_env::{Env, File, OpenMode, PAGE_BYTES};

use crate::disk::{DataFile, Disk};
use crate::elias_fano;
use crate::error::Result;
use crate::generation::Generation;
use crate::log::{Log, LogReader, count_records};
use crate::manifest::{self, Manifest, RunEntry};
use crate::merge;
use crate::run::{BLOCK_KEYS, HEADER_BYTES, Run, Slice};
use crate::value::Value;
use crate::view::{self, Cursor, View};

/// More high words than any block has: its keys take less than three bits each there.
const HIGH_WORDS_MAX: usize = 1024;
/// Bytes that are searched at once for the beginning of a block.
const WINDOW_BYTES: usize = 1 << 20;

/// Blocks of a log that cannot be read, with how many records each is taken to have had.
pub(crate) type Missing = BTreeMap<u32, u32>;

impl<V: Value> View<V> {
    /// Opens what is left of a checkpoint; see the [module's documentation](self). The manifest must be whole. Not beside somebody
    /// who works on the repository.
    pub fn salvage(env: &Env, dir: &Path, number: u64) -> Result<View<V>> {
        if number == 0 {
            return View::open(env, dir, number);
        }
        let manifest = manifest::read(&env.files, dir, number)?;
        let disk = Disk::new(env.files.clone(), dir);
        view::check_kind::<V>(&disk, &manifest)?;
        let runs = manifest.runs.iter().flat_map(|entry| whole_parts(&disk, &manifest, entry)).collect();
        let (plan, now_s) = (view::plan(&manifest), env.clock.unix().as_seconds());
        let (mut generations, mut missing) = (Vec::new(), Vec::new());
        for (index, entry) in manifest.generations.iter().enumerate() {
            let cursor = if index == 0 { manifest.cursor } else { view::BEGINNING };
            // Without its tail, which is kept twice, there is no telling what belongs to it.
            let Ok(generation) = Generation::salvage(&disk, &plan, entry, number, now_s) else { continue };
            missing.push(missing_blocks(&generation.log, cursor));
            generations.push((cursor, generation));
        }
        Ok(View::new(manifest, runs, generations, Some(missing)))
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

/// The whole blocks of a run, as few runs.
fn whole_parts(disk: &Arc<Disk>, manifest: &Manifest, entry: &RunEntry) -> Vec<Run> {
    let name = manifest::run_name(entry.number);
    let buckets = manifest.buckets as usize;
    let path = disk.dir.join(&name);
    let (Ok(file), Ok(Some(found))) = (disk.files.open(&path, OpenMode::Read), disk.files.entry(&path))
    else {
        return Vec::new();
    };
    let Ok(data) = DataFile::open(disk, name, entry.number) else { return Vec::new() };
    // Later on whole pages are read.
    let end = (found.len / PAGE_BYTES as u64 * PAGE_BYTES as u64).min(entry.directory);
    let search = Search { file: &file, number: entry.number, buckets, end };
    let mut parts: Vec<Vec<Slice>> = vec![Vec::new(); buckets];
    let mut next = search.from(0);
    while let Some(place) = next {
        let slices = &mut parts[place.bucket as usize];
        match slices.last_mut() {
            Some(last) if last.offset + last.bytes == place.offset => {
                last.bytes += place.bytes;
                last.keys += place.keys;
            }
            _ => slices.push(Slice { offset: place.offset, bytes: place.bytes, keys: place.keys }),
        }
        next = search.from(place.offset + place.bytes);
    }
    let count = parts.iter().map(Vec::len).max().unwrap_or(0);
    let part = |index: usize| {
        let slices = parts.iter().map(|slices| slices.get(index).copied().unwrap_or_default()).collect();
        Run::new(Arc::clone(&data), slices, entry.directory)
    };
    (0..count).map(part).collect()
}

/// Looks for whole blocks in the file of a run.
struct Search<'a> {
    file: &'a File,
    number: u64,
    buckets: usize,
    end: u64,
}

impl Search<'_> {
    /// The first whole block at this place or behind it.
    fn from(&self, start: u64) -> Option<Place> {
        let mut window = vec![0; WINDOW_BYTES];
        let mut at = start;
        while at + HEADER_BYTES as u64 <= self.end {
            if at == start
                && let Some(place) = self.read_header(at).and_then(|header| self.whole(at, &header))
            {
                return Some(place);
            }
            let bytes = (self.end - at).min(WINDOW_BYTES as u64) as usize;
            if self.file.read_exact_at(&mut window[..bytes], at).is_err() {
                at = (at / PAGE_BYTES as u64 + 1) * PAGE_BYTES as u64;
                continue;
            }
            let found = window[..bytes]
                .windows(HEADER_BYTES)
                .enumerate()
                .find_map(|(offset, header)| self.whole(at + offset as u64, header));
            if found.is_some() {
                return found;
            }
            at += (bytes - HEADER_BYTES + 1) as u64;
        }
        None
    }

    fn read_header(&self, at: u64) -> Option<[u8; HEADER_BYTES]> {
        let mut header = [0; HEADER_BYTES];
        self.file.read_exact_at(&mut header, at).ok()?;
        Some(header)
    }

    /// The block that begins with this header, if it is one and whole.
    fn whole(&self, offset: u64, header: &[u8]) -> Option<Place> {
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
        if low_bits > 63 || high_words > HIGH_WORDS_MAX || !is_of_bucket {
            return None;
        }
        let body = 8 * (elias_fano::low_words(count, low_bits) + high_words) + value_bytes;
        let bytes = (HEADER_BYTES + body) as u64;
        if offset + bytes > self.end {
            return None;
        }
        let mut read = vec![0; body];
        self.file.read_exact_at(&mut read, offset + HEADER_BYTES as u64).ok()?;
        let expected = checksum(self.number, offset, &[&header[..20], &header[24..], &read]);
        (expected == sum).then_some(Place { bucket, offset, bytes, keys: count as u64 })
    }
}

/// Which blocks of a log are lost from a place on, and how many records went with each.
fn missing_blocks(log: &Log, (first, offset, record): Cursor) -> Missing {
    let reader = log.reader();
    let mut counts: Vec<Option<u32>> = Vec::new();
    for block in first..log.blocks() {
        let start = if block == first { offset as usize } else { crate::log::HEADER_BYTES };
        counts.push(match log.in_ram(block) {
            Some(bytes) => count_records(bytes, start),
            None => reader.read(block).ok().and_then(|(bytes, used)| count_records(&bytes[..used], start)),
        });
    }
    let there: u64 = counts.iter().flatten().map(|count| u64::from(*count)).sum();
    let missing = u64::from(log.records().saturating_sub(record)).saturating_sub(there);
    let lost: Vec<u32> =
        (first..).zip(&counts).filter(|(_, count)| count.is_none()).map(|(at, _)| at).collect();
    let (Some(from), Some(to)) = (lost.first(), lost.last()) else { return Missing::new() };
    let told = told_by_headers(&reader, &lost, (first, offset));
    if told.values().map(|count| u64::from(*count)).sum::<u64>() == missing && told.len() == lost.len() {
        return told;
    }
    // Whatever stands between them is lost with them.
    let between = (*from..=*to).filter_map(|block| counts[(block - first) as usize]);
    let all = missing + between.map(u64::from).sum::<u64>();
    let mut given_up: Missing = (*from..=*to).map(|block| (block, 0)).collect();
    given_up.insert(*from, u32::try_from(all).unwrap_or(u32::MAX));
    given_up
}

/// What the headers of damaged blocks say, which may be true.
fn told_by_headers(reader: &LogReader, lost: &[u32], (first, offset): (u32, u32)) -> Missing {
    let is_begun = |block: &u32| *block == first && offset as usize != crate::log::HEADER_BYTES;
    let told = lost.iter().filter(|block| !is_begun(block));
    told.filter_map(|block| Some((*block, reader.header_records(*block)?))).collect()
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
                let left = keys_of(&whole_parts(&disk, &manifest, &entry), 4);
                let page = PAGE_BYTES as u64;
                let before = all.len() as u64 * (len / page * page) / whole.len() as u64;
                assert!(left.len() as u64 + 2 * BLOCK_KEYS as u64 >= before, "{} of {before}", left.len());
                assert!(left == all[..left.len()]);
            } else {
                for _ in 0..=round % 2 {
                    sim.flip_bit(&path).unwrap();
                }
                let left = keys_of(&whole_parts(&disk, &manifest, &entry), 4);
                assert!(left.len() + (1 + round % 2) * BLOCK_KEYS >= all.len(), "{}", left.len());
                let mut rest = all.iter();
                assert!(left.iter().all(|key| rest.any(|other| other == key)));
            }
            disk.files.write_atomic(&path, &whole).unwrap();
        }
        assert!(keys_of(&whole_parts(&disk, &manifest, &entry), 4) == all);
    }
}
