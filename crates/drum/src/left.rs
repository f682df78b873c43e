//! What is left of the streams of a generation whose file is damaged.
//!
//! A chunk that fails its checksum is lost, and with it the records that have a byte in it; nothing else. Which stream it was of need not be
//! known: the next chunk of that stream, or its tail, is not the one that should follow, and says where a record begins and which
//! ([`Joiner`]). If only its header is damaged, it is put right: it can be but one of as many as there are streams.
//!
//! Of the [first form](Form::First) of chunks all is lost that is behind one in the file.

use std::collections::BTreeMap;
use std::sync::Arc;

use mattock_codec::Reader;
use mattock_env::Block;

use crate::buckets::Buckets;
use crate::chunk::{self, Form, Mark};
use crate::disk::{DataFile, Disk};
use crate::error::Result;
use crate::joiner::{Joiner, Measure};
use crate::merge;

/// What is known of a file that may be damaged.
pub(crate) struct Left {
    measure: Measure,
    /// Chunks whose header is damaged, and what it was.
    mended: BTreeMap<u32, (usize, Mark)>,
    /// Records that are lost, if that is known.
    lost: Option<u64>,
}

impl Buckets {
    /// How many records are lost; `None` if nobody knows.
    pub(crate) fn lost(&self) -> Option<u64> {
        self.left.as_ref().map_or(Some(0), |left| left.lost)
    }

    /// Opens streams whose file may be damaged.
    pub(crate) fn salvage(
        mut self,
        disk: &Arc<Disk>,
        (form, chunks, has_values): (Form, u32, bool),
        tail: &mut Reader<'_>,
    ) -> Result<Buckets> {
        (self.form, self.chunks) = (form, chunks);
        if chunks > 0 {
            self.file = match DataFile::open(disk, self.file.name().to_owned(), self.file.number()) {
                Err(error) if !error.is_loss() => return Err(error),
                opened => opened.unwrap_or(self.file),
            };
        }
        let measure = Measure { key_bytes: merge::key_bytes(self.streams.len()), has_values };
        let mut left = Left { measure, mended: BTreeMap::new(), lost: Some(0) };
        match form {
            Form::First => self.find_first(&mut left, tail)?,
            Form::Marked => self.find_marked(&mut left, tail)?,
        }
        self.left = Some(left);
        Ok(self)
    }

    /// Whether the disk gives a chunk back.
    fn read_chunk(&self, chunk: u32, block: &mut Block) -> Result<bool> {
        match self.file.read(block, self.offset(chunk)) {
            Err(error) if !error.is_loss() => Err(error),
            read => Ok(read.is_ok()),
        }
    }

    /// Chunks of the first form up to one that is lost, and tails if none is.
    fn find_first(&mut self, left: &mut Left, tail: &mut Reader<'_>) -> Result<()> {
        let mut block = Block::new(self.chunk_bytes());
        for chunk in 0..self.chunks {
            let is_there = self.read_chunk(chunk, &mut block)?;
            if !is_there || !chunk::mend_first(&mut block, &self.file, self.offset(chunk), self.len()) {
                // Nobody knows whose it was, nor where in those behind it a record begins.
                left.lost = None;
                break;
            }
            self.add_chunk(chunk::header(&block).0, chunk);
        }
        self.restore_tail(tail)?;
        for stream in self.streams.iter_mut().filter(|_| left.lost.is_none()) {
            self.bytes -= stream.tail().len() as u64;
            stream.forget_tail();
        }
        Ok(())
    }

    /// Chunks that are there, and how many records those that are not had.
    fn find_marked(&mut self, left: &mut Left, tail: &mut Reader<'_>) -> Result<()> {
        let mut joiners: Vec<Joiner> = self.streams.iter().map(|_| Joiner::new(left.measure)).collect();
        let mut block = Block::new(self.chunk_bytes());
        for chunk in 0..self.chunks {
            if !self.read_chunk(chunk, &mut block)? {
                continue;
            }
            if !chunk::is_whole(&block, self.form, &self.file, self.offset(chunk)) {
                let Some(header) = self.mend(&mut block, chunk, &joiners) else { continue };
                left.mended.insert(chunk, header);
            }
            let (bucket, mark) = chunk::header(&block);
            if self.add_chunk(bucket, chunk) {
                joiners[bucket].push(mark, &block[self.form.header_bytes()..]);
                joiners[bucket].skip();
            }
        }
        self.restore_tail(tail)?;
        let lost = self.streams.iter().zip(&mut joiners).map(|(stream, joiner)| {
            joiner.push(stream.tail_mark(), stream.tail());
            joiner.lost(stream.tail_mark(), stream.tail())
        });
        left.lost = Some(lost.sum());
        Ok(())
    }

    /// Puts the header of a chunk right if nothing else of it is damaged: the one that the next chunk of some stream must have.
    fn mend(&self, block: &mut Block, chunk: u32, joiners: &[Joiner]) -> Option<(usize, Mark)> {
        joiners.iter().enumerate().find_map(|(bucket, joiner)| {
            let mark = joiner.expected(&block[self.form.header_bytes()..])?;
            chunk::put_header(block, bucket, mark);
            chunk::is_whole(block, self.form, &self.file, self.offset(chunk)).then_some((bucket, mark))
        })
    }

    /// What is left of a stream, as if nothing else had been written to it.
    pub(crate) fn load_left(&self, left: &Left, bucket: usize, out: &mut Vec<u8>) -> Result<()> {
        let stream = &self.streams[bucket];
        let mut joiner = Joiner::new(left.measure);
        let mut block = Block::new(if stream.chunks.is_empty() { 0 } else { self.chunk_bytes() });
        for chunk in &stream.chunks {
            let offset = self.offset(*chunk);
            self.file.read(&mut block, offset)?;
            let mark = match self.form {
                Form::First => {
                    chunk::mend_first(&mut block, &self.file, offset, self.len());
                    Mark { sequence: joiner.sequence(), ..Mark::default() }
                }
                Form::Marked => {
                    if let Some((bucket, mark)) = left.mended.get(chunk) {
                        chunk::put_header(&mut block, *bucket, *mark);
                    }
                    chunk::header(&block).1
                }
            };
            joiner.push(mark, chunk::open(&block, self.form, &self.file, offset, bucket)?);
            joiner.take(out);
        }
        joiner.push(stream.tail_mark(), stream.tail());
        joiner.take(out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::Tail;
    use crate::writer::Writer;
    use mattock_env::sim::Simulation;
    use mattock_env::{Env, OpenMode, Random};
    use std::path::Path;

    const BUCKETS: usize = 4;
    const CHUNK_BYTES: usize = 4096;
    const PAYLOAD_BYTES: usize = CHUNK_BYTES - chunk::HEADER_BYTES;
    const NAME: &str = "keys-000007";

    /// A record: number, operation, key and value.
    type Record = (u32, u32, u64, Vec<u8>);

    /// Streams that were written, and what is in them: each record with the byte where it ends.
    struct Written {
        disk: Arc<Disk>,
        has_values: bool,
        records: Vec<Vec<(usize, Record)>>,
        /// Bucket and place in it of every chunk.
        chunks: Vec<(usize, usize)>,
        tail: Tail,
    }

    impl Written {
        fn new(env: &Env, seed: u64) -> Written {
            let mut random = Random::from_seed(seed);
            let has_values = random.chance(0.6);
            let disk = Disk::new(env.files.clone(), Path::new("/drum"));
            let writer = Writer::new(&env.workers, 3);
            let mut buckets = Buckets::new(&disk, NAME.into(), 7, BUCKETS, CHUNK_BYTES);
            let mut records = vec![Vec::new(); BUCKETS];
            let (mut number, large) = (0, random.below(40));
            for _ in 0..random.below(9_000) {
                number += [0, 0, 1, 1, 2, 3, 500, 90_000][random.below(8) as usize];
                let among = 1 + random.below(4);
                let (bucket, key) = (random.below(among) as usize, random.next_u64() >> 2);
                let operation = random.below(3) as u32;
                let bytes = if random.below(1000) < large { random.below(13_000) } else { random.below(40) };
                let mut value = Vec::new();
                if has_values && operation != merge::CHECK {
                    value.extend((0..bytes).map(|_| random.next_u64() as u8));
                    buckets.append_value(bucket, &writer, (number, operation), key, &value);
                } else {
                    buckets.append_key(bucket, &writer, number, operation, key, merge::key_bytes(BUCKETS));
                }
                let end = buckets.streams[bucket].bytes as usize;
                records[bucket].push((end, (number, operation, key, value)));
            }
            writer.settle().unwrap();
            let mut chunks = vec![(0, 0); buckets.chunks as usize];
            for (bucket, stream) in buckets.streams.iter().enumerate() {
                stream
                    .chunks
                    .iter()
                    .enumerate()
                    .for_each(|(at, chunk)| chunks[*chunk as usize] = (bucket, at));
            }
            let mut tail = Tail::with_capacity(9);
            buckets.write_tail(&mut tail);
            Written { disk, has_values, records, chunks, tail }
        }

        /// The records of a bucket that have no byte in any of these chunks.
        fn without(&self, bucket: usize, lost: &[usize]) -> Vec<Record> {
            let lost: Vec<usize> = lost
                .iter()
                .map(|chunk| self.chunks[*chunk])
                .filter(|of| of.0 == bucket)
                .map(|of| of.1)
                .collect();
            let mut start = 0;
            let mut left = Vec::new();
            for (end, record) in &self.records[bucket] {
                let touched = start / PAYLOAD_BYTES..=(end - 1) / PAYLOAD_BYTES;
                if !lost.iter().any(|chunk| touched.contains(chunk)) {
                    left.push(record.clone());
                }
                start = *end;
            }
            left
        }

        /// What is left is all that the lost chunks have no byte of, and what is lost is counted.
        fn assert_is_left(&self, lost: &[usize]) {
            let buckets = Buckets::new(&self.disk, NAME.into(), 7, BUCKETS, CHUNK_BYTES);
            let about = (Form::Marked, self.chunks.len() as u32, self.has_values);
            let buckets = buckets.salvage(&self.disk, about, &mut Reader::new(self.tail.bytes())).unwrap();
            let (mut raw, mut missing) = (Vec::new(), 0);
            for bucket in 0..BUCKETS {
                buckets.load(bucket, &mut raw).unwrap();
                let expected = self.without(bucket, lost);
                assert!(decode(&raw, self.has_values) == expected, "bucket {bucket} without {lost:?}");
                missing += self.records[bucket].len() - expected.len();
            }
            assert_eq!(buckets.lost(), Some(missing as u64));
        }
    }

    fn decode(raw: &[u8], has_values: bool) -> Vec<Record> {
        let (mut reader, mut number, mut records) = (Reader::new(raw), 0, Vec::new());
        while !reader.is_empty() {
            let head = reader.varint().unwrap();
            number += (head >> 2) as u32;
            let operation = (head & 3) as u32;
            let key = reader.u64().unwrap();
            let has_value = has_values && operation != merge::CHECK;
            let value = if has_value { reader.counted().unwrap().to_vec() } else { Vec::new() };
            records.push((number, operation, key, value));
        }
        records
    }

    /// Whatever happens to one chunk costs the records that have a byte in it; a header alone costs nothing, and an end that is cut off
    /// what was there.
    #[test]
    fn a_lost_chunk_costs_its_own_records() {
        let mut chunks = 0;
        for seed in 0..40 {
            chunks += Simulation::new(seed).run(|env| async move {
                let mut random = Random::from_seed(seed).fork("damage");
                let written = Written::new(&env, seed);
                written.assert_is_left(&[]);
                if written.chunks.is_empty() {
                    return 0;
                }
                let path = written.disk.dir.join(NAME);
                let whole = env.files.read(&path).unwrap();
                let set = |bytes: &[u8]| env.files.write_atomic(&path, bytes).unwrap();
                for chunk in 0..written.chunks.len() {
                    let mut bytes = whole.clone();
                    let block = &mut bytes[chunk * CHUNK_BYTES..][..CHUNK_BYTES];
                    let (at, bit) = (random.below(CHUNK_BYTES as u64 - 20) as usize, 1 << random.below(8));
                    match random.below(4) {
                        0 => block[20 + at] ^= bit,
                        1 => block.fill(0),
                        2 => block[20..].fill(0xa5),
                        _ => block[20 + at..].fill(0x11),
                    }
                    set(&bytes);
                    written.assert_is_left(&[chunk]);
                    let mut bytes = whole.clone();
                    let header = &mut bytes[chunk * CHUNK_BYTES..][..20];
                    match random.below(3) {
                        0 => header.fill(random.next_u64() as u8),
                        1 => header[at % 20] ^= bit,
                        _ => header.iter_mut().for_each(|byte| *byte = random.next_u64() as u8),
                    }
                    set(&bytes);
                    written.assert_is_left(&[]);
                }
                for _ in 0..20 {
                    set(&whole);
                    let length = random.below(whole.len() as u64) as usize;
                    let file = env.files.open(&path, OpenMode::Write).unwrap();
                    file.set_len(length as u64).unwrap();
                    let lost: Vec<usize> = (length / CHUNK_BYTES..written.chunks.len()).collect();
                    written.assert_is_left(&lost);
                    // Several at once, some of one stream.
                    let mut bytes = whole.clone();
                    let mut lost = Vec::new();
                    for chunk in 0..written.chunks.len() {
                        if random.chance(0.3) {
                            bytes[(chunk + 1) * CHUNK_BYTES - 1] ^= 0x80;
                            lost.push(chunk);
                        }
                    }
                    set(&bytes);
                    written.assert_is_left(&lost);
                }
                env.files.remove_file(&path).unwrap();
                written.assert_is_left(&(0..written.chunks.len()).collect::<Vec<_>>());
                written.chunks.len()
            });
        }
        assert!(chunks > 500, "{chunks}");
    }
}
