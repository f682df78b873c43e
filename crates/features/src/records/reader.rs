//! Reads records: one, or all in order. See the [module](super) for the form of the file.

use std::ops::Range;
use std::path::{Path, PathBuf};

use mattock_codec::Reader;
use mattock_env::{File, Files, OpenMode};

use super::{BLOCK_RECORDS, FOOTER_BYTES, Magic};
use crate::error::{FeaturesError, Result};
use crate::output::Written;

/// Bytes of bits before each of which the number of records is known.
const STRETCH_BYTES: usize = 64;
/// Blocks that a scan reads at once.
const SCANNED_BLOCKS: u64 = 64;

/// Records by id. Can be asked by many threads at once.
#[derive(Debug)]
pub(crate) struct Records {
    path: PathBuf,
    file: File,
    width: usize,
    count: u64,
    ids: u64,
    bits: Vec<u8>,
    /// How many records there are before each stretch of the bits, and at the end.
    before: Vec<u64>,
    checksums: Vec<u32>,
}

impl Records {
    pub(crate) fn open(
        files: &Files,
        dir: &Path,
        written: &Written,
        magic: Magic,
        width: usize,
    ) -> Result<Records> {
        let path = dir.join(&written.name);
        let file = files.open(&path, OpenMode::Read).map_err(FeaturesError::reading(&path, 0))?;
        let bytes = file.len().map_err(FeaturesError::io(&path))?;
        let damaged = |offset: u64, what: &str| FeaturesError::damaged(&path, offset, what);
        if bytes != written.bytes {
            let what = format!("it has {bytes} bytes where {} were written", written.bytes);
            return Err(damaged(bytes.min(written.bytes), &what));
        }
        let footer_at = bytes
            .checked_sub(FOOTER_BYTES)
            .filter(|at| *at >= magic.len() as u64)
            .ok_or_else(|| damaged(bytes, "the file ends too soon"))?;
        let read = |at: u64, len: u64| {
            let mut buffer = vec![0; usize::try_from(len).map_err(|_| damaged(at, "it is too long"))?];
            file.read_exact_at(&mut buffer, at).map_err(FeaturesError::reading(&path, at))?;
            Ok(buffer)
        };
        for at in [0, bytes - magic.len() as u64] {
            let found = read(at, magic.len() as u64)?;
            if found[..7] != magic[..7] {
                return Err(damaged(at, "it is no database of this kind"));
            }
            if found[7] != magic[7] {
                return Err(FeaturesError::Version { path, version: char::from(found[7]).into() });
            }
        }
        let footer = read(footer_at, FOOTER_BYTES)?;
        let mut fields = Reader::new(&footer);
        let (found_width, count) =
            fields.u32().zip(fields.u64()).expect("the footer has room for its fields");
        let (ids, checksum) = fields.u64().zip(fields.u32()).expect("the footer has room for its fields");
        let blocks_end = count.saturating_mul(width as u64).saturating_add(magic.len() as u64);
        let tail_len = count.div_ceil(BLOCK_RECORDS) * 4 + ids.div_ceil(8);
        if found_width as usize != width || blocks_end.checked_add(tail_len) != Some(footer_at) {
            return Err(damaged(footer_at, "the footer makes no sense"));
        }
        let tail = read(blocks_end, tail_len + 20)?;
        if crc32fast::hash(&tail) != checksum {
            return Err(damaged(blocks_end, "the checksum of the bits is wrong"));
        }
        let (checksums, bits) =
            tail[..tail_len as usize].split_at(count.div_ceil(BLOCK_RECORDS) as usize * 4);
        let checksums = checksums.as_chunks::<4>().0.iter().map(|sum| u32::from_le_bytes(*sum)).collect();
        let (bits, before) = (bits.to_vec(), ranks(bits));
        if before.last() != Some(&count) {
            return Err(damaged(blocks_end, "there are not as many records as ids that have one"));
        }
        Ok(Records { path, file, width, count, ids, bits, before, checksums })
    }

    /// How many records there are.
    pub(crate) fn len(&self) -> u64 {
        self.count
    }

    /// How many of the ids below this one have a record.
    pub(crate) fn rank(&self, id: u64) -> u64 {
        let id = id.min(self.ids);
        let (byte, bit) = ((id / 8) as usize, id % 8);
        let stretch = byte / STRETCH_BYTES;
        let whole = self.bits[stretch * STRETCH_BYTES..byte].iter().map(|byte| u64::from(byte.count_ones()));
        let rest = self.bits.get(byte).map_or(0, |byte| (byte & ((1 << bit) - 1)).count_ones());
        self.before[stretch] + whole.sum::<u64>() + u64::from(rest)
    }

    /// The place of an id's record; `None` if it has none.
    pub(crate) fn place(&self, id: u64) -> Option<u64> {
        let byte = self.bits.get((id / 8) as usize)?;
        (byte >> (id % 8) & 1 == 1).then(|| self.rank(id))
    }

    /// The id whose record is at a place; `None` behind the last.
    pub(crate) fn id_at(&self, place: u64) -> Option<u64> {
        if place >= self.count {
            return None;
        }
        let stretch = self.before.partition_point(|before| *before <= place) - 1;
        let mut left = place - self.before[stretch];
        for (at, byte) in self.bits.iter().enumerate().skip(stretch * STRETCH_BYTES) {
            let ones = u64::from(byte.count_ones());
            if left < ones {
                let mut rest = *byte;
                (0..left).for_each(|_| rest &= rest - 1);
                return Some(at as u64 * 8 + u64::from(rest.trailing_zeros()));
            }
            left -= ones;
        }
        None
    }

    /// Reads the record at a place, which must exist.
    pub(crate) fn read(&self, place: u64, record: &mut [u8]) -> Result<()> {
        let number = place / BLOCK_RECORDS;
        let mut blocks = Vec::new();
        self.read_blocks(number..number + 1, &mut blocks)?;
        let at = (place % BLOCK_RECORDS) as usize * self.width;
        record.copy_from_slice(&blocks[at..at + self.width]);
        Ok(())
    }

    fn read_blocks(&self, numbers: Range<u64>, blocks: &mut Vec<u8>) -> Result<()> {
        let block_len = BLOCK_RECORDS as usize * self.width;
        let records = (numbers.end * BLOCK_RECORDS).min(self.count) - numbers.start * BLOCK_RECORDS;
        let begin = size_of::<Magic>() as u64;
        let at = begin + numbers.start * block_len as u64;
        blocks.clear();
        blocks.resize(records as usize * self.width, 0);
        self.file.read_exact_at(blocks, at).map_err(FeaturesError::reading(&self.path, at))?;
        for (block, number) in blocks.chunks(block_len).zip(numbers) {
            if crc32fast::hash(block) != self.checksums[number as usize] {
                let at = begin + number * block_len as u64;
                return Err(FeaturesError::damaged(&self.path, at, "the checksum of a block is wrong"));
            }
        }
        Ok(())
    }

    /// The records at a range of places, in order.
    pub(crate) fn scan(&self, places: Range<u64>) -> RecordScan<'_> {
        let end = places.end.min(self.count);
        let ids = self.id_at(places.start).map_or(self.ids..self.ids, |id| id..self.ids);
        RecordScan { records: self, next: places.start, end, ids, blocks: Vec::new(), first: 0, last: 0 }
    }

    /// Reads all of it, and whether it is as it was written.
    pub(crate) fn verify(&self) -> Result<()> {
        let mut scan = self.scan(0..self.count);
        while scan.next()?.is_some() {}
        Ok(())
    }
}

/// How many bits are set before each stretch, and in all.
fn ranks(bits: &[u8]) -> Vec<u64> {
    let mut before = vec![0];
    let mut sum = 0;
    for stretch in bits.chunks(STRETCH_BYTES) {
        sum += stretch.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
        before.push(sum);
    }
    before
}

/// Records in the order of their ids.
#[derive(Debug)]
pub(crate) struct RecordScan<'a> {
    records: &'a Records,
    next: u64,
    end: u64,
    /// The ids that may come next.
    ids: Range<u64>,
    blocks: Vec<u8>,
    /// The places of what is in `blocks`.
    first: u64,
    last: u64,
}

impl RecordScan<'_> {
    /// The next id and its record.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &[u8])>> {
        if self.next >= self.end {
            return Ok(None);
        }
        let records = self.records;
        if self.next >= self.last {
            let number = self.next / BLOCK_RECORDS;
            let end = (number + SCANNED_BLOCKS).min(records.count.div_ceil(BLOCK_RECORDS));
            records.read_blocks(number..end, &mut self.blocks)?;
            (self.first, self.last) = (number * BLOCK_RECORDS, (end * BLOCK_RECORDS).min(records.count));
        }
        let id = self.ids.by_ref().find(|id| records.bits[(id / 8) as usize] >> (id % 8) & 1 == 1);
        let id = id.expect("there are as many ids with a record as records");
        let at = (self.next - self.first) as usize * records.width;
        self.next += 1;
        Ok(Some((id, &self.blocks[at..at + records.width])))
    }
}

#[cfg(test)]
mod tests {
    use super::super::RecordWriter;
    use super::*;
    use mattock_env::{Random, SimFiles};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const MAGIC: Magic = *b"MTKTEST1";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn records_are_where_they_were_put(
            model in proptest::collection::btree_map(0_u64..3000, any::<[u8; 3]>(), 0..900),
            more in 0_u64..700,
            start in 0_u64..1000,
        ) {
            let files = Files::simulated(SimFiles::new(Random::from_seed(7)));
            files.create_dir_all(Path::new("/dir")).unwrap();
            let ids = model.keys().last().map_or(0, |last| last + 1) + more;
            let mut writer = RecordWriter::create(&files, Path::new("/dir/records"), MAGIC, 3, ids).unwrap();
            for (id, record) in &model {
                writer.push(*id, record).unwrap();
            }
            let (count, written) = writer.finish().unwrap();
            prop_assert_eq!(count, model.len() as u64);
            let records = Records::open(&files, Path::new("/dir"), &written, MAGIC, 3).unwrap();
            let mut record = [0; 3];
            for (place, (id, expected)) in model.iter().enumerate() {
                prop_assert_eq!(records.place(*id), Some(place as u64));
                prop_assert_eq!(records.id_at(place as u64), Some(*id));
                records.read(place as u64, &mut record).unwrap();
                prop_assert_eq!(&record, expected);
            }
            for id in (0..ids + 20).filter(|id| !model.contains_key(id)) {
                prop_assert_eq!(records.place(id), None);
                prop_assert_eq!(records.rank(id), model.range(..id).count() as u64);
            }
            prop_assert_eq!(records.id_at(count), None);
            let mut scan = records.scan(start..count + 1);
            let mut found = BTreeMap::new();
            while let Some((id, record)) = scan.next().unwrap() {
                found.insert(id, <[u8; 3]>::try_from(record).unwrap());
            }
            prop_assert_eq!(found, model.into_iter().skip(start as usize).collect::<BTreeMap<_, _>>());
            records.verify().unwrap();
        }
    }

    #[test]
    fn other_kinds_and_versions_are_told() {
        let files = Files::simulated(SimFiles::new(Random::from_seed(7)));
        files.create_dir_all(Path::new("/dir")).unwrap();
        let mut writer = RecordWriter::create(&files, Path::new("/dir/records"), MAGIC, 3, 9).unwrap();
        writer.push(4, b"abc").unwrap();
        let (_, written) = writer.finish().unwrap();
        let message = |magic: &[u8; 8], width| {
            Records::open(&files, Path::new("/dir"), &written, *magic, width).unwrap_err().to_string()
        };
        assert!(message(b"MTKTEST2", 3).contains("has version \"1\", which this program does not know"));
        assert!(message(b"MTKOTHR1", 3).contains("it is no database of this kind"));
        assert!(message(&MAGIC, 4).contains("the footer makes no sense"));
    }
}
