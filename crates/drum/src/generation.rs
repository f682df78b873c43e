//! A generation: a stretch of the stream, from the moment it is opened until all of its results are delivered.
//!
//! open (the producer appends) → sealed (its merge waits or runs) → merged (answers known, being delivered) → gone.

use std::sync::Arc;

use crate::buckets::Buckets;
use crate::bytes::{Reader, checksum, put_varint};
use crate::disk::Disk;
use crate::error::{DrumError, Result};
use crate::log::Log;
use crate::manifest::{self, GenerationEntry};
use crate::merge::{ANSWER_PARTS, Answers};
use crate::plan::Plan;

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

    /// How full it is, as a part of what the plan allows.
    pub(crate) fn fullness(&self, plan: &Plan) -> f64 {
        let records = f64::from(self.log.records()) / plan.generation_records_max as f64;
        let bytes = (self.log.bytes() + self.keys.bytes()) as f64 / plan.generation_bytes_max as f64;
        let bucket = self.keys.largest() as f64 / plan.bucket_bytes_max as f64;
        records.max(bytes).max(bucket)
    }

    /// What is not in the files: for the tail of a checkpoint.
    pub(crate) fn tail(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.log.write_tail(&mut out);
        match &self.resolved {
            None => self.keys.write_tail(&mut out),
            Some(resolved) => {
                put_varint(&mut out, resolved.bitmap.len() as u64);
                for word in &resolved.bitmap {
                    out.extend_from_slice(&word.to_le_bytes());
                }
                if let Some(answers) = &resolved.answers {
                    answers.buckets.write_tail(&mut out);
                }
            }
        }
        out
    }

    /// Its line in the manifest, given its tail.
    pub(crate) fn entry(&self, tail: &[u8]) -> GenerationEntry {
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
            log_file: self.log.file().exists(),
            records: self.log.records(),
            first_unresolved: self.first_unresolved,
            sealed_s: self.sealed_s.max(0) as u64,
            chunk_bytes: self.keys.chunk_bytes() as u64,
            chunks: buckets.map_or(0, Buckets::chunks),
            answers: answers.is_some(),
            answer_shift: answers.map_or(0, |answers| answers.shift),
            tail_bytes: tail.len() as u64,
            tail_sum: checksum(self.number, 0, &[tail]),
        }
    }

    /// Makes what is in files durable.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.log.file().sync()?;
        match &self.resolved {
            None => self.keys.file().sync(),
            Some(resolved) => {
                resolved.answers.as_ref().map_or(Ok(()), |answers| answers.buckets.file().sync())
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
        let plan = Plan {
            log_block_bytes: entry.log_block_bytes as usize,
            chunk_bytes: entry.chunk_bytes as usize,
            ..plan.clone()
        };
        let path = disk.dir.join(manifest::tail_name(entry.number, checkpoint));
        let bytes = disk.files.read(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => DrumError::corrupt(&path, 0, "the file is missing"),
            _ => DrumError::io(&path, error),
        })?;
        if bytes.len() as u64 != entry.tail_bytes || checksum(entry.number, 0, &[&bytes]) != entry.tail_sum {
            return Err(DrumError::corrupt(&path, 0, "the tail of a generation fails its checksum"));
        }
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
            generation.keys = Arc::new(keys.restore(disk, entry.chunks, &mut tail)?);
            return Ok(generation);
        }
        let too_short = || DrumError::corrupt(&path, 0, "a bitmap that is too short");
        let mut bitmap = Vec::new();
        for _ in 0..tail.varint().ok_or_else(too_short)? {
            bitmap.push(tail.u64().ok_or_else(too_short)?);
        }
        let answers = if entry.answers {
            let name = manifest::answers_name(entry.number);
            let buckets = Buckets::new(disk, name, entry.number, ANSWER_PARTS, plan.chunk_bytes);
            let buckets = buckets.restore(disk, entry.chunks, &mut tail)?;
            Some(Answers { buckets, shift: entry.answer_shift })
        } else {
            None
        };
        generation.resolved = Some(Resolved { bitmap, answers });
        Ok(generation)
    }
}
