//! Many streams of bytes in one file: what each bucket of a generation has collected.
//!
//! The producer appends to any of `k` streams; the merge reads one stream at a time, front to back. A stream collects in
//! a block of memory, and full blocks are written as [chunks](crate::chunk), wherever the file ends: a chain of chunk numbers in RAM leads
//! through the file. So no bucket has a region that could overflow, and a skewed stream costs nothing. What does not fill a
//! block stays in RAM; a small generation never touches the disk.
//!
//! The first few bytes of a stream collect in a vector of its own size: many streams that are nearly empty, as those of a small
//! crawl all are, would otherwise cost a block each.
//!
//! Costs: 4 bytes of RAM per chunk, one write per chunk, at most one block of RAM per bucket.

use std::sync::Arc;

use mattock_env::Block;

use crate::chunk::{self, Form, HEADER_BYTES, Mark};
use crate::disk::{DataFile, Disk};
use crate::error::{DrumError, Result};
use crate::generation::Tail;
use crate::left::Left;
use crate::merge;
use crate::writer::Writer;
use mattock_codec::{Reader, put_counted, put_varint, write_varint};

/// Bytes that a stream collects before it gets a block.
const FIRST_BYTES: usize = 256;

/// The streams of one generation.
pub(crate) struct Buckets {
    pub(crate) file: Arc<DataFile>,
    pub(crate) form: Form,
    chunk_bytes: usize,
    pub(crate) streams: Vec<Stream>,
    pub(crate) chunks: u32,
    pub(crate) bytes: u64,
    largest: u64,
    /// A record on its way into a stream.
    record: Vec<u8>,
    /// What is known of a file that may be damaged.
    pub(crate) left: Option<Left>,
}

/// What one bucket has collected.
#[derive(Default)]
pub(crate) struct Stream {
    /// What came before there was a block; empty once there is one.
    first: Vec<u8>,
    /// Its header but for the checksum is right at any time.
    block: Option<Block>,
    /// Bytes of the block in use, with its header.
    fill: usize,
    /// Bytes of the whole stream.
    pub(crate) bytes: u64,
    /// The last number that was written as a difference.
    last: u32,
    /// Records of the whole stream.
    records: u32,
    pub(crate) chunks: Vec<u32>,
}

impl Stream {
    /// What is in RAM only.
    pub(crate) fn tail(&self) -> &[u8] {
        self.block.as_ref().map_or(&self.first, |block| &block[HEADER_BYTES..self.fill])
    }

    /// The mark of what is in RAM only.
    pub(crate) fn tail_mark(&self) -> Mark {
        match &self.block {
            Some(block) => chunk::header(block).1,
            None if self.chunks.is_empty() => Mark::default(),
            None => {
                let sequence = self.chunks.len() as u32;
                Mark { sequence, first: 0, number: self.last, records: self.records }
            }
        }
    }

    pub(crate) fn forget_tail(&mut self) {
        self.bytes -= self.tail().len() as u64;
        (self.block, self.fill) = (None, 0);
        self.first.clear();
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
        let (form, record) = (Form::default(), Vec::new());
        Buckets { file, form, chunk_bytes, streams, chunks: 0, bytes: 0, largest: 0, record, left: None }
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

    pub(crate) fn form(&self) -> Form {
        self.form
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
        if let Some(block) = &mut stream.block
            && stream.fill + 18 <= self.chunk_bytes
        {
            let at = write_varint(block, stream.fill, head);
            block[at..at + 8].copy_from_slice(&key.to_le_bytes());
            let added = (at + key_bytes - stream.fill) as u64;
            stream.fill = at + key_bytes;
            stream.last = number;
            stream.records += 1;
            stream.bytes += added;
            self.bytes += added;
            self.largest = self.largest.max(stream.bytes);
        } else {
            let mut record = [0; 18];
            let at = write_varint(&mut record, 0, head);
            record[at..at + 8].copy_from_slice(&key.to_le_bytes());
            self.append(bucket, writer, number, &record[..at + key_bytes]);
        }
    }

    /// The same with a value behind it.
    pub(crate) fn append_value(
        &mut self,
        bucket: usize,
        writer: &Writer,
        (number, bits): (u32, u32),
        key: u64,
        value: &[u8],
    ) {
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        put_varint(
            &mut record,
            u64::from(number.wrapping_sub(self.streams[bucket].last)) << 2 | u64::from(bits),
        );
        record.extend_from_slice(&key.to_le_bytes()[..merge::key_bytes(self.streams.len())]);
        put_counted(&mut record, value);
        self.append(bucket, writer, number, &record);
        self.record = record;
    }

    /// Appends a record of any bytes, the number of which may matter to the next one. The end of a chunk may tear it apart.
    pub(crate) fn append(&mut self, bucket: usize, writer: &Writer, number: u32, mut record: &[u8]) {
        let stream = &mut self.streams[bucket];
        let before = (std::mem::replace(&mut stream.last, number), stream.records);
        stream.records += 1;
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
        let mut is_torn = false;
        while !record.is_empty() {
            let block = stream.block.get_or_insert_with(|| {
                let mut block = writer.block(self.chunk_bytes);
                let first = std::mem::take(&mut stream.first);
                stream.fill = HEADER_BYTES + first.len();
                block[HEADER_BYTES..stream.fill].copy_from_slice(&first);
                let (first, (number, records)) = match (is_torn, stream.chunks.is_empty()) {
                    (true, _) => ((self.chunk_bytes - HEADER_BYTES) as u32, (number, stream.records)),
                    (false, true) => (0, (0, 0)),
                    (false, false) => (0, before),
                };
                let sequence = stream.chunks.len() as u32;
                chunk::put_header(&mut block, bucket, Mark { sequence, first, number, records });
                block
            });
            let count = record.len().min(self.chunk_bytes - stream.fill);
            block[stream.fill..stream.fill + count].copy_from_slice(&record[..count]);
            stream.fill += count;
            record = &record[count..];
            if is_torn && record.is_empty() {
                chunk::set_first(block, stream.fill - HEADER_BYTES);
            }
            if stream.fill == self.chunk_bytes
                && let Some(block) = stream.block.take()
            {
                stream.chunks.push(self.chunks);
                let offset = u64::from(self.chunks) * self.chunk_bytes as u64;
                self.chunks += 1;
                writer.write(&self.file, offset, block, self.chunk_bytes, chunk::seal);
            }
            is_torn = true;
        }
    }

    /// A whole stream, or what is left of it. All its writes must have settled.
    pub(crate) fn load(&self, bucket: usize, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        if let Some(left) = &self.left {
            return self.load_left(left, bucket, out);
        }
        let stream = &self.streams[bucket];
        if !stream.chunks.is_empty() {
            let mut block = Block::new(self.chunk_bytes);
            for chunk in &stream.chunks {
                let offset = self.offset(*chunk);
                self.file.read(&mut block, offset)?;
                out.extend_from_slice(chunk::open(&block, self.form, &self.file, offset, bucket)?);
            }
        }
        out.extend_from_slice(stream.tail());
        Ok(())
    }

    /// Where a chunk is in the file.
    pub(crate) fn offset(&self, chunk: u32) -> u64 {
        u64::from(chunk) * self.chunk_bytes as u64
    }

    /// About how much is in RAM only.
    pub(crate) fn tail_bytes(&self) -> usize {
        let tails = self.streams.iter().filter(|stream| stream.bytes > 0);
        tails.map(|stream| stream.tail().len() + HEADER_BYTES + 20).sum()
    }

    /// What is in RAM only: streams, their marks and last bytes.
    pub(crate) fn write_tail(&self, out: &mut Tail) {
        for (bucket, stream) in self.streams.iter().enumerate().filter(|(_, stream)| stream.bytes > 0) {
            let mark = stream.tail_mark();
            out.put_varint(bucket as u64 + 1);
            if self.form == Form::Marked {
                for field in [mark.sequence, mark.first, mark.number, mark.records] {
                    out.put_varint(u64::from(field));
                }
            }
            out.put_counted(stream.tail());
        }
        out.put_varint(0);
    }

    /// Opens the streams again: chunks from the file, the rest from a tail. They cannot be appended to.
    pub(crate) fn restore(
        mut self,
        disk: &Arc<Disk>,
        form: Form,
        chunks: u32,
        tail: &mut Reader<'_>,
    ) -> Result<Buckets> {
        self.form = form;
        self.chunks = chunks;
        if chunks > 0 {
            self.file = DataFile::open(disk, self.file.name().to_owned(), self.file.number())?;
            let mut page = Block::new(HEADER_BYTES);
            for chunk in 0..chunks {
                let offset = self.offset(chunk);
                self.file.read(&mut page, offset)?;
                let bucket = chunk::header(&page).0;
                if !self.add_chunk(bucket, chunk) {
                    return Err(DrumError::corrupt(self.file.path(), offset, "a chunk of no bucket"));
                }
            }
        }
        self.restore_tail(tail)?;
        let is_short = |stream: &Stream| stream.chunks.len() != stream.tail_mark().sequence as usize;
        if form == Form::Marked && self.streams.iter().any(is_short) {
            let what = "a chunk does not belong to the bucket that it names";
            return Err(DrumError::corrupt(self.file.path(), 0, what));
        }
        Ok(self)
    }

    /// A chunk is the next one of its stream; whether there is such a stream.
    pub(crate) fn add_chunk(&mut self, bucket: usize, chunk: u32) -> bool {
        let bytes = (self.chunk_bytes - self.form.header_bytes()) as u64;
        let Some(stream) = self.streams.get_mut(bucket) else { return false };
        stream.chunks.push(chunk);
        stream.bytes += bytes;
        self.bytes += bytes;
        true
    }

    pub(crate) fn restore_tail(&mut self, tail: &mut Reader<'_>) -> Result<()> {
        self.parse_tail(tail)
            .ok_or_else(|| DrumError::corrupt(self.file.path(), 0, "the tail of its streams cannot be read"))
    }

    fn parse_tail(&mut self, tail: &mut Reader<'_>) -> Option<()> {
        loop {
            let bucket = (tail.varint()? as usize).checked_sub(1);
            let Some(bucket) = bucket else { return Some(()) };
            let stream = self.streams.get_mut(bucket)?;
            let mut next = || tail.varint().and_then(|field| u32::try_from(field).ok());
            let mark = match self.form {
                Form::First => Mark { sequence: stream.chunks.len() as u32, ..Mark::default() },
                Form::Marked => Mark { sequence: next()?, first: next()?, number: next()?, records: next()? },
            };
            let payload = tail.counted()?;
            let mut block = Block::new(payload.len() + HEADER_BYTES);
            chunk::put_header(&mut block, bucket, mark);
            stream.fill = HEADER_BYTES + payload.len();
            block[HEADER_BYTES..stream.fill].copy_from_slice(payload);
            stream.block = Some(block);
            stream.bytes += payload.len() as u64;
            self.bytes += payload.len() as u64;
        }
    }
}
