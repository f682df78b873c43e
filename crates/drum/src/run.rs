//! Runs: sorted keys with their values, on disk, immutable. The store Z of the paper is the union of a few of them.
//!
//! A merge writes one run file with a slice per bucket, in the order of buckets; later merges read slices front to back.
//! A slice is a sequence of blocks of up to [`BLOCK_KEYS`] keys, so that reading needs little memory however large it is.
//!
//! ```text
//! block:  count u32, bucket u32, low bits u32, high words u32, value bytes u32, checksum u32, first key u64,
//!         Elias-Fano low words, high words, values
//! values: 1, varint length, bytes…            all of one length
//!         0, varint length…, bytes…           of many
//! end:    per bucket (offset u64, bytes u64, keys u64), checksum u32; then zeros to the end of the page
//! ```
//!
//! Where the directory lies and how long the file is stands in the manifest. Newer runs win over older ones.

use std::sync::Arc;

use mattock_env::{Block, PAGE_BYTES};

use crate::disk::{DataFile, Disk};
use crate::elias_fano;
use crate::error::{DrumError, Result};
use mattock_codec::{Reader, checksum};

/// Keys of one block.
pub(crate) const BLOCK_KEYS: usize = 8192;
pub(crate) const HEADER_BYTES: usize = 32;
pub(crate) const SLICE_BYTES: usize = 24;

/// Where a bucket's keys are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slice {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) keys: u64,
}

/// A run file.
pub(crate) struct Run {
    file: Arc<DataFile>,
    slices: Vec<Slice>,
    keys: u64,
    directory: u64,
}

impl Run {
    /// A run that was just written.
    pub(crate) fn new(file: Arc<DataFile>, slices: Vec<Slice>, directory: u64) -> Run {
        let keys = slices.iter().map(|slice| slice.keys).sum();
        Run { file, slices, keys, directory }
    }

    /// Opens a run whose directory is at this offset.
    pub(crate) fn open(
        disk: &Arc<Disk>,
        name: String,
        number: u64,
        directory: u64,
        buckets: usize,
    ) -> Result<Run> {
        let file = DataFile::open(disk, name, number)?;
        let bytes = buckets * SLICE_BYTES;
        let mut stream = Stream::new(&file, directory, (bytes + 4) as u64, PAGE_BYTES);
        let read = stream.take(bytes + 4)?;
        let (table, sum) = read.split_at(bytes);
        if sum != checksum(number, directory, &[table]).to_le_bytes() {
            return Err(DrumError::corrupt(
                file.path(),
                directory,
                "the directory of a run fails its checksum",
            ));
        }
        let mut reader = Reader::new(table);
        let mut slices = Vec::with_capacity(buckets);
        while let (Some(offset), Some(bytes), Some(keys)) = (reader.u64(), reader.u64(), reader.u64()) {
            slices.push(Slice { offset, bytes, keys });
        }
        Ok(Run::new(file, slices, directory))
    }

    pub(crate) fn file(&self) -> &Arc<DataFile> {
        &self.file
    }

    pub(crate) fn keys(&self) -> u64 {
        self.keys
    }

    pub(crate) fn directory(&self) -> u64 {
        self.directory
    }

    /// Bytes of the file.
    pub(crate) fn bytes(&self) -> u64 {
        (self.directory + (self.slices.len() * SLICE_BYTES + 4) as u64).next_multiple_of(PAGE_BYTES as u64)
    }

    pub(crate) fn slice(&self, bucket: usize) -> Slice {
        self.slices[bucket]
    }

    /// Reads one bucket from its first key on.
    pub(crate) fn read(&self, bucket: usize, read_bytes: usize) -> Result<RunReader> {
        let mut reader = self.reader(bucket, read_bytes);
        reader.next_block()?;
        Ok(reader)
    }

    /// A reader that stands before the first block of a bucket.
    pub(crate) fn reader(&self, bucket: usize, read_bytes: usize) -> RunReader {
        let slice = self.slices[bucket];
        let read_bytes = read_bytes.min((slice.bytes as usize).next_multiple_of(PAGE_BYTES) + PAGE_BYTES);
        RunReader {
            stream: Stream::new(&self.file, slice.offset, slice.bytes, read_bytes),
            bucket: bucket as u32,
            keys: Vec::new(),
            values: Vec::new(),
            ends: Vec::new(),
            at: 0,
            words: Vec::new(),
        }
    }
}

/// A range of a file, read forward in large aligned pieces.
struct Stream {
    file: Arc<DataFile>,
    /// The next byte to read from the file: a multiple of the page.
    at: u64,
    end: u64,
    block: Block,
    carry: Vec<u8>,
    used: usize,
    /// Bytes before the range in its first page.
    skip: usize,
}

impl Stream {
    fn new(file: &Arc<DataFile>, offset: u64, bytes: u64, read_bytes: usize) -> Stream {
        let page = PAGE_BYTES as u64;
        let at = offset / page * page;
        Stream {
            file: Arc::clone(file),
            at,
            end: offset + bytes,
            block: Block::new(read_bytes),
            carry: Vec::new(),
            used: 0,
            skip: (offset - at) as usize,
        }
    }

    fn is_empty(&self) -> bool {
        self.position() >= self.end
    }

    /// The place in the file of the next byte that [`take`](Stream::take) gives.
    fn position(&self) -> u64 {
        self.at - (self.carry.len() - self.used) as u64 + self.skip as u64
    }

    fn take(&mut self, len: usize) -> Result<&[u8]> {
        if self.position() + len as u64 > self.end {
            return Err(DrumError::corrupt(
                self.file.path(),
                self.position(),
                "a run ends in the middle of a block",
            ));
        }
        if self.used > self.carry.len() / 2 {
            self.carry.drain(..self.used);
            self.used = 0;
        }
        while self.carry.len() - self.used < len {
            let left = (self.end - self.at).next_multiple_of(PAGE_BYTES as u64);
            let count = (self.block.len() as u64).min(left) as usize;
            self.file.read(&mut self.block[..count], self.at)?;
            self.at += count as u64;
            self.carry.extend_from_slice(&self.block[self.skip..count]);
            self.skip = 0;
        }
        self.used += len;
        Ok(&self.carry[self.used - len..self.used])
    }
}

/// The keys of one bucket of one run, in order.
pub(crate) struct RunReader {
    stream: Stream,
    bucket: u32,
    keys: Vec<u64>,
    values: Vec<u8>,
    /// Where the values end; empty if there are none.
    ends: Vec<u32>,
    at: usize,
    words: Vec<u64>,
}

impl RunReader {
    /// The current key; `None` at the end.
    #[inline]
    pub(crate) fn key(&self) -> Option<u64> {
        self.keys.get(self.at).copied()
    }

    /// The current key's value.
    pub(crate) fn value(&self) -> &[u8] {
        self.value_at(self.at)
    }

    fn value_at(&self, index: usize) -> &[u8] {
        let end = self.ends.get(index).copied().unwrap_or(0) as usize;
        let start = if index == 0 { 0 } else { self.ends.get(index - 1).copied().unwrap_or(0) as usize };
        &self.values[start..end]
    }

    /// Keys of the current block.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// A key of the current block, with its value.
    pub(crate) fn at(&self, index: usize) -> (u64, &[u8]) {
        (self.keys[index], self.value_at(index))
    }

    /// Where in the file the next block is.
    pub(crate) fn position(&self) -> u64 {
        self.stream.position()
    }

    #[inline]
    pub(crate) fn advance(&mut self) -> Result<()> {
        self.at += 1;
        if self.at >= self.keys.len() { self.next_block() } else { Ok(()) }
    }

    /// Goes forward to the first key that is not below `key`; whether it is that key.
    #[inline]
    pub(crate) fn seek(&mut self, key: u64) -> Result<bool> {
        loop {
            while let Some(current) = self.keys.get(self.at) {
                if *current >= key {
                    return Ok(*current == key);
                }
                self.at += 1;
            }
            if self.keys.is_empty() {
                return Ok(false);
            }
            self.next_block()?;
        }
    }

    /// Reads the next block; after the last one there are no keys.
    pub(crate) fn next_block(&mut self) -> Result<()> {
        self.at = 0;
        self.keys.clear();
        if self.stream.is_empty() {
            return Ok(());
        }
        let offset = self.stream.position();
        let file = Arc::clone(&self.stream.file);
        let corrupt = |what| DrumError::corrupt(file.path(), offset, what);
        let header: [u8; HEADER_BYTES] =
            self.stream.take(HEADER_BYTES)?.try_into().map_err(|_| corrupt("a block without a header"))?;
        let mut reader = Reader::new(&header);
        let mut next = || reader.u32().unwrap_or(0);
        let (count, bucket, low_bits, high_words, value_bytes, sum) =
            (next() as usize, next(), next(), next() as usize, next() as usize, next());
        let first = reader.u64().unwrap_or(0);
        if count == 0 || count > BLOCK_KEYS || low_bits > 63 || bucket != self.bucket {
            return Err(corrupt("a block of a run with a senseless header"));
        }
        let low_words = elias_fano::low_words(count, low_bits);
        let body = self.stream.take(8 * (low_words + high_words) + value_bytes)?;
        if checksum(file.number(), offset, &[&header[..20], &header[24..], body]) != sum {
            return Err(corrupt("a block of a run fails its checksum"));
        }
        let (words, values) = body.split_at(8 * (low_words + high_words));
        self.words.clear();
        let (words, _) = words.as_chunks::<8>();
        self.words.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
        let (low, high) = self.words.split_at(low_words);
        elias_fano::decode(first, count, low_bits, low, high, &mut self.keys)
            .ok_or_else(|| corrupt("keys of a run that cannot be decoded"))?;
        self.ends.clear();
        self.values.clear();
        if value_bytes > 0 {
            let at =
                read_ends(values, count, &mut self.ends).ok_or_else(|| corrupt("values without an end"))?;
            self.values.extend_from_slice(&values[at..]);
        }
        Ok(())
    }
}

/// Reads where values end; the place of the first value. `None` if the values do not fill the section exactly.
fn read_ends(section: &[u8], count: usize, ends: &mut Vec<u32>) -> Option<usize> {
    let mut reader = Reader::new(section);
    let fixed = reader.take(1)?[0] == 1;
    let mut end = 0u32;
    let mut len = if fixed { reader.varint()? as u32 } else { 0 };
    for _ in 0..count {
        if !fixed {
            len = reader.varint()? as u32;
        }
        end = end.checked_add(len)?;
        ends.push(end);
    }
    (reader.at() + end as usize == section.len()).then_some(reader.at())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_writer::RunWriter;
    use mattock_env::{Files, Random, SimFiles};
    use std::path::Path;

    #[test]
    fn buckets_come_back_and_damage_is_named() {
        let sim = SimFiles::new(Random::from_seed(1));
        let disk = Disk::new(Files::simulated(sim.clone()), Path::new("/drum"));
        let mut random = Random::from_seed(2);
        for has_values in [false, true] {
            let mut expected = Vec::new();
            let mut writer = RunWriter::new(&disk, "run-7".into(), 7, has_values, 8192);
            for bucket in 0..4u64 {
                let count = [0, 1, 3 * BLOCK_KEYS + 17, 100][bucket as usize];
                let mut keys: Vec<u64> = (0..count).map(|_| bucket << 62 | random.next_u64() >> 2).collect();
                keys.sort_unstable();
                keys.dedup();
                writer.begin_bucket();
                for key in &keys {
                    let value = vec![*key as u8; if bucket == 3 { 5 } else { *key as usize % 9 }];
                    writer.push(*key, &value).unwrap();
                    expected.push((bucket, *key, if has_values { value } else { vec![] }));
                }
                writer.end_bucket().unwrap();
            }
            let directory = writer.finish().unwrap().directory();
            let run = Run::open(&disk, "run-7".into(), 7, directory, 4).unwrap();
            assert_eq!(run.keys(), expected.len() as u64);
            assert_eq!(run.bytes(), sim.snapshot()[Path::new("/drum/run-7")].len() as u64);
            let mut found = Vec::new();
            for bucket in 0..4 {
                let mut reader = run.read(bucket as usize, 4096).unwrap();
                while let Some(key) = reader.key() {
                    found.push((bucket, key, reader.value().to_vec()));
                    reader.advance().unwrap();
                }
            }
            assert!(found == expected);
            let (_, some, _) = expected[500];
            let mut reader = run.read(2, 4096).unwrap();
            assert!(reader.seek(some).unwrap());
            assert!(!reader.seek(some + 1).unwrap());

            for _ in 0..200 {
                let before = sim.snapshot()[Path::new("/drum/run-7")].clone();
                sim.flip_bit(Path::new("/drum/run-7")).unwrap();
                let mut all = Vec::new();
                let outcome = Run::open(&disk, "run-7".into(), 7, directory, 4).and_then(|run| {
                    for bucket in 0..4 {
                        let mut reader = run.read(bucket as usize, 4096)?;
                        while let Some(key) = reader.key() {
                            all.push((bucket, key, reader.value().to_vec()));
                            reader.advance()?;
                        }
                    }
                    Ok(())
                });
                assert!(matches!(outcome, Err(DrumError::Corrupt { .. })) || all == expected);
                disk.files.write_atomic(Path::new("/drum/run-7"), &before).unwrap();
            }
        }
    }
}
