//! A generation: a stretch of the stream, from the moment it is opened until all of its results are delivered.
//!
//! open (the producer appends) → sealed (its merge waits or runs) → merged (answers known, being delivered) → gone.

use std::sync::Arc;

use mattock_env::{Block, PAGE_BYTES, Unread};

use crate::buckets::Buckets;
use crate::disk::{DataFile, Disk};
use crate::error::{DrumError, Result};
use crate::log::Log;
use crate::manifest::{self, GenerationEntry};
use crate::merge::{ANSWER_PARTS, Answers};
use crate::plan::Plan;
use mattock_codec::{Reader, checksum, write_varint};

/// Bytes for the tail of a checkpoint, collected where a disk can take them from directly.
pub(crate) struct Tail {
    block: Block,
    len: usize,
}

impl Tail {
    pub(crate) fn with_capacity(bytes: usize) -> Tail {
        Tail { block: Block::new(bytes), len: 0 }
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if end > self.block.len() {
            let mut larger = Block::new(end * 2);
            larger[..self.len].copy_from_slice(&self.block[..self.len]);
            self.block = larger;
        }
        self.block[self.len..end].copy_from_slice(bytes);
        self.len = end;
    }

    fn put_words(&mut self, words: &[u64]) {
        let mut bytes = [0; PAGE_BYTES];
        for words in words.chunks(PAGE_BYTES / 8) {
            for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
                place.copy_from_slice(&word.to_le_bytes());
            }
            self.put(&bytes[..words.len() * 8]);
        }
    }

    pub(crate) fn put_varint(&mut self, value: u64) {
        let mut bytes = [0; 10];
        let len = write_varint(&mut bytes, 0, value);
        self.put(&bytes[..len]);
    }

    pub(crate) fn put_counted(&mut self, bytes: &[u8]) {
        self.put_varint(bytes.len() as u64);
        self.put(bytes);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.block[..self.len]
    }

    /// The checksum that the manifest holds of this generation's tail.
    pub(crate) fn sum(&self, generation: u64) -> u32 {
        checksum(generation, 0, &[self.bytes()])
    }

    /// The bytes with zeros to the end of the page, and at least one page.
    pub(crate) fn pages(&self) -> &[u8] {
        let end = self.len.max(1).next_multiple_of(PAGE_BYTES).min(self.block.len());
        &self.block[..end]
    }
}

/// The answers of a merge.
pub(crate) struct Resolved {
    pub(crate) bitmap: Vec<u64>,
    pub(crate) answers: Option<Answers>,
}

pub(crate) struct Generation {
    pub(crate) number: u64,
    pub(crate) log: Log,
    /// Shared with the merge once it is sealed.
    pub(crate) keys: Arc<Buckets>,
    /// The first record that only a merge can answer; `u32::MAX` if there is none.
    pub(crate) first_unresolved: u32,
    pub(crate) sealed_s: i64,
    pub(crate) resolved: Option<Resolved>,
    /// Whether its files have not changed since they were last made durable.
    pub(crate) synced: bool,
}

/// What is in the file of a tail, if it is as it was written.
pub(crate) fn check_tail(
    bytes: &[u8],
    entry: &GenerationEntry,
) -> std::result::Result<Vec<u8>, &'static str> {
    let bytes = usize::try_from(entry.tail_bytes).ok().and_then(|len| bytes.get(..len));
    let bytes = bytes.filter(|bytes| checksum(entry.number, 0, &[bytes]) == entry.tail_sum);
    bytes.map(<[u8]>::to_vec).ok_or("the tail of a generation fails its checksum")
}

impl Generation {
    pub(crate) fn new(disk: &Arc<Disk>, number: u64, plan: &Plan) -> Generation {
        let log =
            Log::new(disk, manifest::log_name(number), number, plan.log_block_bytes, plan.log_blocks_in_ram);
        let keys = Buckets::new(disk, manifest::keys_name(number), number, plan.buckets, plan.chunk_bytes);
        Generation {
            number,
            log,
            keys: Arc::new(keys),
            first_unresolved: u32::MAX,
            sealed_s: 0,
            resolved: None,
            synced: false,
        }
    }

    /// Whether nothing happened in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.log.records() == 0 && self.keys.bytes() == 0
    }

    /// Records before this one can be delivered.
    pub(crate) fn deliverable(&self) -> u32 {
        match self.resolved {
            Some(_) => self.log.records(),
            None => self.log.records().min(self.first_unresolved),
        }
    }

    /// How full it is, as a part of what the plan allows. While the store is small, so is a generation: merging is cheap
    /// then, and answers come sooner.
    pub(crate) fn fullness(&self, plan: &Plan, stored_keys: u64) -> f64 {
        let part = (stored_keys as f64 / plan.generation_records_max as f64).clamp(0.25, 1.0);
        let records = f64::from(self.log.records()) / (part * plan.generation_records_max as f64);
        let bytes = (self.log.bytes() + self.keys.bytes()) as f64 / (part * plan.generation_bytes_max as f64);
        let bucket = self.keys.largest() as f64 / plan.bucket_bytes_max as f64;
        records.max(bytes).max(bucket)
    }

    /// What is not in the files: for the tail of a checkpoint.
    pub(crate) fn tail(&self) -> Tail {
        let rest = match &self.resolved {
            None => self.keys.tail_bytes(),
            Some(resolved) => {
                let answers = resolved.answers.as_ref().map_or(0, |answers| answers.buckets.tail_bytes());
                resolved.bitmap.len() * 8 + answers
            }
        };
        let mut out = Tail::with_capacity(PAGE_BYTES + self.log.tail_bytes() + rest);
        self.log.write_tail(&mut out);
        match &self.resolved {
            None => self.keys.write_tail(&mut out),
            Some(resolved) => {
                out.put_varint(resolved.bitmap.len() as u64);
                out.put_words(&resolved.bitmap);
                if let Some(answers) = &resolved.answers {
                    answers.buckets.write_tail(&mut out);
                }
            }
        }
        out
    }

    /// Its line in the manifest, given its tail, whose checksum is left to whoever writes it.
    pub(crate) fn entry(&self, tail: &Tail) -> GenerationEntry {
        let answers = self.resolved.as_ref().and_then(|resolved| resolved.answers.as_ref());
        let buckets = match &self.resolved {
            None => Some(&*self.keys),
            Some(_) => answers.map(|answers| &answers.buckets),
        };
        GenerationEntry {
            number: self.number,
            merged: self.resolved.is_some(),
            log_block_bytes: self.log.block_bytes() as u64,
            log_blocks: self.log.blocks(),
            log_written: self.log.written(),
            log_file: self.log.has_file(),
            records: self.log.records(),
            first_unresolved: self.first_unresolved,
            sealed_s: self.sealed_s.max(0) as u64,
            chunk_bytes: buckets.unwrap_or(&self.keys).chunk_bytes() as u64,
            chunks: buckets.map_or(0, Buckets::chunks),
            answers: answers.is_some(),
            answer_shift: answers.map_or(0, |answers| answers.shift),
            form: buckets.unwrap_or(&self.keys).form(),
            tail_bytes: tail.bytes().len() as u64,
            tail_sum: 0,
        }
    }

    /// The files that must be durable for a checkpoint to name them.
    pub(crate) fn files(&self, files: &mut Vec<Arc<DataFile>>) {
        files.push(Arc::clone(self.log.file()));
        match &self.resolved {
            None => files.push(Arc::clone(self.keys.file())),
            Some(resolved) => {
                files.extend(resolved.answers.as_ref().map(|answers| Arc::clone(answers.buckets.file())));
            }
        }
    }

    /// A generation as a checkpoint left it. It is sealed, whatever it was.
    pub(crate) fn restore(
        disk: &Arc<Disk>,
        plan: &Plan,
        entry: &GenerationEntry,
        checkpoint: u64,
        now_s: i64,
    ) -> Result<Generation> {
        Generation::found(disk, plan, entry, (checkpoint, now_s), None)
    }

    /// What is left of it, without the operations that cannot be read, and without the values of answers.
    pub(crate) fn salvage(
        disk: &Arc<Disk>,
        plan: &Plan,
        entry: &GenerationEntry,
        (checkpoint, has_values): (u64, bool),
        now_s: i64,
    ) -> Result<Generation> {
        Generation::found(disk, plan, entry, (checkpoint, now_s), Some(has_values))
    }

    fn found(
        disk: &Arc<Disk>,
        plan: &Plan,
        entry: &GenerationEntry,
        (checkpoint, now_s): (u64, i64),
        salvaging: Option<bool>,
    ) -> Result<Generation> {
        let plan = Plan {
            log_block_bytes: entry.log_block_bytes as usize,
            chunk_bytes: entry.chunk_bytes as usize,
            ..plan.clone()
        };
        let path = disk.dir.join(manifest::tail_name(entry.number, checkpoint));
        let bytes =
            disk.files.read_either(&path, |bytes| check_tail(bytes, entry)).map_err(
                |unread| match unread {
                    unread if unread.is_missing() => DrumError::corrupt(&path, 0, "the file is missing"),
                    Unread::Io(error) => DrumError::io(&path, error),
                    Unread::Content(what) => DrumError::corrupt(&path, 0, what),
                },
            )?;
        let mut tail = Reader::new(&bytes);
        let mut generation = Generation::new(disk, entry.number, &plan);
        generation.log =
            generation.log.restore(disk, (entry.log_blocks, entry.log_written, entry.records), &mut tail)?;
        generation.first_unresolved = entry.first_unresolved;
        generation.sealed_s = if entry.sealed_s > 0 { entry.sealed_s as i64 } else { now_s };
        generation.synced = true;
        if !entry.merged {
            let name = manifest::keys_name(entry.number);
            let keys = Buckets::new(disk, name, entry.number, plan.buckets, plan.chunk_bytes);
            generation.keys = Arc::new(if let Some(has_values) = salvaging {
                keys.salvage(disk, (entry.form, entry.chunks, has_values), &mut tail)?
            } else {
                keys.restore(disk, entry.form, entry.chunks, &mut tail)?
            });
            return Ok(generation);
        }
        let too_short = || DrumError::corrupt(&path, 0, "a bitmap that is too short");
        let mut bitmap = Vec::new();
        for _ in 0..tail.varint().ok_or_else(too_short)? {
            bitmap.push(tail.u64().ok_or_else(too_short)?);
        }
        let answers = if entry.answers && salvaging.is_none() {
            let name = manifest::answers_name(entry.number);
            let buckets = Buckets::new(disk, name, entry.number, ANSWER_PARTS, plan.chunk_bytes);
            let buckets = buckets.restore(disk, entry.form, entry.chunks, &mut tail)?;
            Some(Answers { buckets, shift: entry.answer_shift })
        } else {
            None
        };
        generation.resolved = Some(Resolved { bitmap, answers });
        Ok(generation)
    }
}
