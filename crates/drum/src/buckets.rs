//! Many streams of bytes in one file: what each bucket of a generation has collected.
//!
//! The producer appends to any of `k` streams; the merge reads one stream at a time, front to back. A stream collects in
//! a block of memory, and full blocks are written as *chunks*, wherever the file ends: a chain of chunk numbers in RAM leads
//! through the file. So no bucket has a region that could overflow, and a skewed stream costs nothing. What does not fill a
//! block stays in RAM; a small generation never touches the disk.
//!
//! The first few bytes of a stream collect in a vector of its own size: many streams that are nearly empty, as those of a small
//! crawl all are, would otherwise cost a block each.
//!
//! A chunk is `bucket u32, payload bytes u32, checksum u32, 0 u32`, then the payload. Costs: 4 bytes of RAM per chunk, one
//! write per chunk, at most one block of RAM per bucket.

use std::sync::Arc;

use mattock_env::Block;

use crate::disk::{DataFile, Disk};
use crate::error::{DrumError, Result};
use crate::generation::Tail;
use crate::writer::Writer;
use mattock_codec::{Reader, checksum, write_varint};

const HEADER_BYTES: usize = 16;
/// Bytes that a stream collects before it gets a block.
const FIRST_BYTES: usize = 256;

/// The streams of one generation.
pub(crate) struct Buckets {
    file: Arc<DataFile>,
    chunk_bytes: usize,
    streams: Vec<Stream>,
    chunks: u32,
    bytes: u64,
    largest: u64,
    /// Whether headers may be damaged.
    salvaged: bool,
}

#[derive(Default)]
struct Stream {
    /// What came before there was a block; empty once there is one.
    first: Vec<u8>,
    block: Option<Block>,
    /// Bytes of the block in use, with its header.
    fill: usize,
    /// Bytes of the whole stream.
    bytes: u64,
    /// The last number that was written as a difference.
    last: u32,
    chunks: Vec<u32>,
}

impl Stream {
    /// What is in RAM only.
    fn tail(&self) -> &[u8] {
        self.block.as_ref().map_or(&self.first, |block| &block[HEADER_BYTES..self.fill])
    }
}

impl Buckets {
    pub(crate) fn new(
        disk: &Arc<Disk>,
        name: String,
        number: u64,
        buckets: usize,
        chunk_bytes: usize,
    ) -> Buckets {
        let file = DataFile::create(disk, name, number);
        let streams = (0..buckets).map(|_| Stream::default()).collect();
        Buckets { file, chunk_bytes, streams, chunks: 0, bytes: 0, largest: 0, salvaged: false }
    }

    /// Bytes in all streams.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes in the largest stream.
    pub(crate) fn largest(&self) -> u64 {
        self.largest
    }

    pub(crate) fn file(&self) -> &Arc<DataFile> {
        &self.file
    }

    pub(crate) fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    pub(crate) fn chunks(&self) -> u32 {
        self.chunks
    }

    pub(crate) fn len(&self) -> usize {
        self.streams.len()
    }

    /// Appends a number as the difference from the last one of this stream, with two more bits, and the low bytes of a key.
    #[inline]
    pub(crate) fn append_key(
        &mut self,
        bucket: usize,
        writer: &Writer,
        number: u32,
        bits: u32,
        key: u64,
        key_bytes: usize,
    ) {
        let stream = &mut self.streams[bucket];
        let head = u64::from(number.wrapping_sub(stream.last)) << 2 | u64::from(bits);
        stream.last = number;
        if let Some(block) = &mut stream.block
            && stream.fill + 18 <= self.chunk_bytes
        {
            let at = write_varint(block, stream.fill, head);
            block[at..at + 8].copy_from_slice(&key.to_le_bytes());
            let added = (at + key_bytes - stream.fill) as u64;
            stream.fill = at + key_bytes;
            stream.bytes += added;
            self.bytes += added;
            self.largest = self.largest.max(stream.bytes);
        } else {
            let mut record = [0; 18];
            let at = write_varint(&mut record, 0, head);
            record[at..at + 8].copy_from_slice(&key.to_le_bytes());
            self.append(bucket, writer, &record[..at + key_bytes]);
        }
    }

    /// Appends any bytes; they may be torn apart by the end of a chunk.
    pub(crate) fn append(&mut self, bucket: usize, writer: &Writer, mut record: &[u8]) {
        let stream = &mut self.streams[bucket];
        stream.bytes += record.len() as u64;
        self.bytes += record.len() as u64;
        self.largest = self.largest.max(stream.bytes);
        if stream.block.is_none()
            && stream.chunks.is_empty()
            && stream.first.len() + record.len() <= FIRST_BYTES.min(self.chunk_bytes - HEADER_BYTES - 1)
        {
            stream.first.extend_from_slice(record);
            return;
        }
        while !record.is_empty() {
            let block = stream.block.get_or_insert_with(|| {
                let mut block = writer.block(self.chunk_bytes);
                let first = std::mem::take(&mut stream.first);
                stream.fill = HEADER_BYTES + first.len();
                block[HEADER_BYTES..stream.fill].copy_from_slice(&first);
                block
            });
            let count = record.len().min(self.chunk_bytes - stream.fill);
            block[stream.fill..stream.fill + count].copy_from_slice(&record[..count]);
            stream.fill += count;
            record = &record[count..];
            if stream.fill == self.chunk_bytes
                && let Some(mut block) = stream.block.take()
            {
                fill_header(&mut block, bucket, stream.fill);
                stream.chunks.push(self.chunks);
                let offset = u64::from(self.chunks) * self.chunk_bytes as u64;
                self.chunks += 1;
                writer.write(&self.file, offset, block, self.chunk_bytes, seal);
            }
        }
    }

    /// A whole stream. All its writes must have settled.
    pub(crate) fn load(&self, bucket: usize, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        let stream = &self.streams[bucket];
        if !stream.chunks.is_empty() {
            let mut block = Block::new(self.chunk_bytes);
            for chunk in &stream.chunks {
                let offset = u64::from(*chunk) * self.chunk_bytes as u64;
                self.file.read(&mut block, offset)?;
                if self.salvaged {
                    mend_header(&mut block, &self.file, offset, self.streams.len());
                }
                let payload = open(&block, &self.file, offset, bucket)?;
                out.extend_from_slice(payload);
            }
        }
        out.extend_from_slice(stream.tail());
        Ok(())
    }

    /// About how much is in RAM only.
    pub(crate) fn tail_bytes(&self) -> usize {
        let tails = self.streams.iter().map(Stream::tail).filter(|tail| !tail.is_empty());
        tails.map(|tail| tail.len() + HEADER_BYTES + 20).sum()
    }

    /// What is in RAM only: streams and their last bytes.
    pub(crate) fn write_tail(&self, out: &mut Tail) {
        for (bucket, stream) in self.streams.iter().enumerate() {
            if !stream.tail().is_empty() {
                out.put_varint(bucket as u64 + 1);
                out.put_counted(stream.tail());
            }
        }
        out.put_varint(0);
    }

    /// Opens the streams again: chunks from the file, the rest from a tail. They cannot be appended to.
    pub(crate) fn restore(mut self, disk: &Arc<Disk>, chunks: u32, tail: &mut Reader<'_>) -> Result<Buckets> {
        if chunks > 0 {
            self.file = DataFile::open(disk, self.file.name().to_owned(), self.file.number())?;
            let mut page = Block::new(HEADER_BYTES);
            for chunk in 0..chunks {
                let offset = u64::from(chunk) * self.chunk_bytes as u64;
                self.file.read(&mut page, offset)?;
                let mut header = Reader::new(&page);
                let bucket = header.u32().unwrap_or(u32::MAX) as usize;
                let len = u64::from(header.u32().unwrap_or(0));
                let stream = self.streams.get_mut(bucket);
                let stream = stream
                    .ok_or_else(|| DrumError::corrupt(self.file.path(), offset, "a chunk of no bucket"))?;
                stream.chunks.push(chunk);
                stream.bytes += len;
                self.bytes += len;
            }
            self.chunks = chunks;
        }
        self.restore_tail(tail).ok_or_else(|| {
            DrumError::corrupt(self.file.path(), 0, "the tail of its streams cannot be read")
        })?;
        Ok(self)
    }

    /// The same of a file that may be damaged: each stream up to the first chunk that is lost, and its tail if none is.
    pub(crate) fn salvage(mut self, disk: &Arc<Disk>, chunks: u32, tail: &mut Reader<'_>) -> Result<Buckets> {
        let mut is_torn = false;
        if chunks > 0 {
            self.file = match DataFile::open(disk, self.file.name().to_owned(), self.file.number()) {
                Err(error) if !error.is_loss() => return Err(error),
                opened => opened.unwrap_or(self.file),
            };
            let mut block = Block::new(self.chunk_bytes);
            for chunk in 0..chunks {
                let offset = u64::from(chunk) * self.chunk_bytes as u64;
                match self.file.read(&mut block, offset) {
                    Err(error) if !error.is_loss() => return Err(error),
                    Err(_) => is_torn = true,
                    Ok(()) => is_torn |= !mend_header(&mut block, &self.file, offset, self.streams.len()),
                }
                if is_torn {
                    // Nobody knows whose it was, and records are torn apart by the ends of chunks: no stream can be trusted behind it.
                    break;
                }
                let stream = &mut self.streams[bucket_of(&block)];
                let bytes = (block.len() - HEADER_BYTES) as u64;
                stream.chunks.push(chunk);
                stream.bytes += bytes;
                self.bytes += bytes;
            }
            (self.chunks, self.salvaged) = (chunks, true);
        }
        self.restore_tail(tail).ok_or_else(|| {
            DrumError::corrupt(self.file.path(), 0, "the tail of its streams cannot be read")
        })?;
        for stream in self.streams.iter_mut().filter(|_| is_torn) {
            self.bytes -= stream.tail().len() as u64;
            stream.bytes -= stream.tail().len() as u64;
            (stream.block, stream.fill) = (None, 0);
            stream.first.clear();
        }
        Ok(self)
    }

    fn restore_tail(&mut self, tail: &mut Reader<'_>) -> Option<()> {
        loop {
            let bucket = tail.varint()? as usize;
            if bucket == 0 {
                return Some(());
            }
            let payload = tail.counted()?;
            let stream = self.streams.get_mut(bucket - 1)?;
            let mut block = Block::new(payload.len() + HEADER_BYTES);
            stream.fill = HEADER_BYTES + payload.len();
            block[HEADER_BYTES..stream.fill].copy_from_slice(payload);
            stream.block = Some(block);
            stream.bytes += payload.len() as u64;
            self.bytes += payload.len() as u64;
        }
    }
}

fn fill_header(block: &mut [u8], bucket: usize, fill: usize) {
    block[..4].copy_from_slice(&(bucket as u32).to_le_bytes());
    block[4..8].copy_from_slice(&((fill - HEADER_BYTES) as u32).to_le_bytes());
}

fn bucket_of(block: &[u8]) -> usize {
    u32::from_le_bytes([block[0], block[1], block[2], block[3]]) as usize
}

/// Whether a chunk is whole, or only its header is damaged, which is put right: its bucket is one of so many, and only full chunks are
/// written.
fn mend_header(block: &mut [u8], file: &DataFile, offset: u64, buckets: usize) -> bool {
    let is_whole = |block: &[u8]| open(block, file, offset, bucket_of(block)).is_ok();
    if is_whole(block) {
        return bucket_of(block) < buckets;
    }
    (0..buckets).any(|bucket| {
        let fill = block.len();
        fill_header(block, bucket, fill);
        is_whole(block)
    })
}

/// The last step before a chunk is written.
fn seal(block: &mut [u8], file: u64, offset: u64) {
    block[12..HEADER_BYTES].fill(0);
    let sum = checksum(file, offset, &[&block[..8], &block[HEADER_BYTES..]]);
    block[8..12].copy_from_slice(&sum.to_le_bytes());
}

fn open<'a>(block: &'a [u8], file: &DataFile, offset: u64, bucket: usize) -> Result<&'a [u8]> {
    let sum = checksum(file.number(), offset, &[&block[..8], &block[HEADER_BYTES..]]);
    let len = u32::from_le_bytes([block[4], block[5], block[6], block[7]]) as usize;
    if block[8..12] != sum.to_le_bytes() || block[..4] != (bucket as u32).to_le_bytes() {
        return Err(DrumError::corrupt(file.path(), offset, "a chunk fails its checksum"));
    }
    let payload = block.get(HEADER_BYTES..HEADER_BYTES + len);
    payload.ok_or_else(|| DrumError::corrupt(file.path(), offset, "a chunk is longer than it can be"))
}

/// Checks a chunk of any of so many streams. Bytes that the checksum does not cover, and where in it they are.
pub(crate) fn verify<'a>(
    block: &'a [u8],
    file: &DataFile,
    offset: u64,
    streams: usize,
) -> Result<(u64, &'a [u8])> {
    let bucket = bucket_of(block);
    open(block, file, offset, bucket)?;
    if bucket >= streams {
        return Err(DrumError::corrupt(file.path(), offset, "a chunk of no bucket"));
    }
    Ok((12, &block[12..HEADER_BYTES]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::{Files, Random, SimFiles};
    use std::path::Path;

    #[test]
    fn a_damaged_header_is_put_right_and_a_damaged_chunk_is_not_believed() {
        let disk = Disk::new(Files::simulated(SimFiles::new(Random::from_seed(1))), Path::new("/drum"));
        let file = DataFile::create(&disk, "keys-1".into(), 1);
        let mut whole: Vec<u8> = (0..4096u32).map(|byte| (byte * 7) as u8).collect();
        fill_header(&mut whole, 5, 4096);
        seal(&mut whole, 1, 8192);
        for byte in (0..12).chain([16, 700, 4095]) {
            for bit in 0..8 {
                let mut block = whole.clone();
                block[byte] ^= 1 << bit;
                let is_mended = mend_header(&mut block, &file, 8192, 8);
                // A checksum that is wrong vouches for nothing.
                assert_eq!(is_mended, byte < 8, "byte {byte}");
                assert!(!is_mended || block == whole);
            }
        }
        assert!(mend_header(&mut whole.clone(), &file, 8192, 8));
        assert!(!mend_header(&mut whole.clone(), &file, 4096, 8), "at another place");
        assert!(!mend_header(&mut whole, &file, 8192, 4), "of no bucket");
    }
}
