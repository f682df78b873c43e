//! Verifying: every byte that belongs to a checkpoint is read, every checksum compared, and everything decoded.
//!
//! Nothing is written. What is wrong becomes a [`Problem`], and the search goes on behind it: in a run with the next block
//! if the damaged one says where that is, otherwise with the next bucket; elsewhere blocks have a fixed size. Bytes that
//! fill up a page must be zero. Bytes that no longer belong to the checkpoint are not looked at: blocks of the log that
//! were delivered, and what a file has grown since. Of a file that is kept twice one is enough; whether the other is whole too,
//! [`Files::damaged_twins`](mattock_env::Files::damaged_twins) tells.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use mattock_env::{Block, Env, PAGE_BYTES, copy_path};

use crate::chunk;
use crate::disk::{DataFile, Disk};
use crate::error::{DrumError, Result};
use crate::generation::Generation;
use crate::log::LogReader;
use crate::manifest::{self, GenerationEntry, Manifest, RunEntry};
use crate::merge::{self, CHECK};
use crate::run::{self, Run};
use crate::twins::is_whole_tail;
use crate::value::Value;
use crate::view::{self, View};
use mattock_codec::{Problem, Reader, checksum};

const LOST: &str = "this checkpoint cannot be opened: open an earlier one";
const RUN: &str = "keys that were stored cannot be read";
const LOG: &str = "results that were not handed out cannot be read";
const KEYS: &str = "operations that were not merged cannot be read";
const ANSWERS: &str = "values of results that were not handed out cannot be read";
const TAIL: &str = "the last operations and results of a generation cannot be read";
const PADDING: &str = "nothing depends on them, but this disk changes what is stored on it";
const NOT_ZERO: &str = "bytes that should be zero are not";
const ORDER: &str = "keys are not in the order that they should be in";

impl<V: Value> View<V> {
    /// Reads all of a checkpoint and tells everything that is wrong with it. An error only if there is no such checkpoint (any
    /// more), or if it is one of another kind of value.
    pub fn verify(env: &Env, dir: &Path, number: u64) -> Result<Vec<Problem>> {
        let disk = Disk::new(env.files.clone(), dir);
        let mut verifier = Verifier { disk, now_s: env.clock.unix().as_seconds(), problems: Vec::new() };
        if number == 0 {
            return Ok(verifier.problems);
        }
        let read = || manifest::read(&env.files, dir, number);
        let manifest = match read() {
            Ok(manifest) => manifest,
            Err(error @ DrumError::NoSuchCheckpoint { .. }) => return Err(error),
            Err(error) => {
                verifier.note(&dir.join(manifest::name(number)), error, LOST);
                return Ok(verifier.problems);
            }
        };
        view::check_kind::<V>(&verifier.disk, &manifest)?;
        for entry in &manifest.runs {
            verifier.run::<V>(&manifest, entry);
        }
        for (index, entry) in manifest.generations.iter().enumerate() {
            let cursor = if index == 0 { manifest.cursor } else { view::BEGINNING };
            verifier.generation::<V>(&manifest, entry, cursor);
        }
        // Whoever works on the repository may have moved on, and removed files.
        if !verifier.problems.is_empty() && read().ok() != Some(manifest) {
            return Err(DrumError::NoSuchCheckpoint { path: dir.into(), number });
        }
        Ok(verifier.problems)
    }
}

struct Verifier {
    disk: Arc<Disk>,
    now_s: i64,
    problems: Vec<Problem>,
}

impl Verifier {
    fn add(&mut self, path: &Path, offset: u64, what: impl fmt::Display, means: &str) {
        self.problems.push(Problem { path: path.into(), offset, what: format!("{what}: {means}") });
    }

    /// An error that was met while reading `path`.
    fn note(&mut self, path: &Path, error: DrumError, means: &str) {
        match error {
            DrumError::Corrupt { path, offset, what } => self.add(&path, offset, what, means),
            DrumError::UnknownVersion { version, .. } => {
                self.add(path, 0, format!("format version {version:?} is unknown to this version"), means);
            }
            DrumError::Io { path, source } => self.add(&path, 0, source, means),
            other => self.add(path, 0, other, means),
        }
    }

    /// How many of the bytes that a file should have are there.
    fn available(&mut self, name: &str, bytes: u64, means: &str) -> u64 {
        let path = self.disk.dir.join(name);
        match self.disk.files.entry(&path) {
            Ok(Some(entry)) if entry.len >= bytes => return bytes,
            Ok(Some(entry)) => {
                self.add(&path, entry.len, "the file is too short", means);
                return entry.len;
            }
            Ok(None) => self.add(&path, 0, "the file is missing", means),
            Err(error) => self.add(&path, 0, error, means),
        }
        0
    }

    fn open(&mut self, name: String, number: u64, means: &str) -> Option<Arc<DataFile>> {
        let path = self.disk.dir.join(&name);
        DataFile::open(&self.disk, name, number).map_err(|error| self.note(&path, error, means)).ok()
    }

    fn run<V: Value>(&mut self, manifest: &Manifest, entry: &RunEntry) {
        let name = manifest::run_name(entry.number);
        let path = self.disk.dir.join(&name);
        if self.available(&name, entry.bytes, RUN) < entry.bytes {
            return;
        }
        let buckets = manifest.buckets as usize;
        let run = match Run::open(&self.disk, name, entry.number, entry.directory, buckets) {
            Ok(run) => run,
            Err(error) => return self.note(&path, error, RUN),
        };
        for bucket in 0..buckets {
            self.slice::<V>(&run, bucket, buckets);
        }
        let end = entry.directory + (buckets * run::SLICE_BYTES + 4) as u64;
        let page = end / PAGE_BYTES as u64 * PAGE_BYTES as u64;
        if page < end {
            let mut last = Block::new(PAGE_BYTES);
            match run.file().read(&mut last, page) {
                Ok(()) => self.zeros(&path, end, &last[(end - page) as usize..]),
                Err(error) => self.note(&path, error, RUN),
            }
        }
    }

    fn zeros(&mut self, path: &Path, offset: u64, bytes: &[u8]) {
        if let Some(place) = bytes.iter().position(|byte| *byte != 0) {
            self.add(path, offset + place as u64, NOT_ZERO, PADDING);
        }
    }

    fn slice<V: Value>(&mut self, run: &Run, bucket: usize, buckets: usize) {
        let path = run.file().path();
        let mut reader = run.reader(bucket, 64 << 10);
        let (mut last, mut keys, mut whole) = (None, 0, true);
        loop {
            let offset = reader.position();
            if let Err(error) = reader.next_block() {
                self.note(path, error, RUN);
                whole = false;
                if reader.position() <= offset + run::HEADER_BYTES as u64 {
                    return;
                }
                continue;
            }
            let Some(_) = reader.key() else { break };
            for index in 0..reader.len() {
                let (key, value) = reader.at(index);
                let misplaced = merge::bucket_of(key, merge::bucket_bits(buckets)) != bucket;
                if misplaced || last.is_some_and(|last| last >= key) {
                    return self.add(path, offset, ORDER, RUN);
                }
                if V::decode(value).is_none() {
                    self.add(path, offset, format!("the value of key {key:016x} cannot be decoded"), RUN);
                }
                last = Some(key);
            }
            keys += reader.len() as u64;
        }
        if whole && keys != run.slice(bucket).keys {
            let what = format!("bucket {bucket} has {keys} keys in place of {}", run.slice(bucket).keys);
            self.add(path, run.slice(bucket).offset, what, RUN);
        }
    }

    fn generation<V: Value>(
        &mut self,
        manifest: &Manifest,
        entry: &GenerationEntry,
        cursor: (u32, u32, u32),
    ) {
        let before = self.problems.len();
        if cursor.0 < entry.log_written {
            self.log(entry, cursor.0);
        }
        if entry.chunks > 0 {
            self.chunks(manifest, entry);
        }
        self.tail(manifest.number, entry);
        if self.problems.len() > before {
            return;
        }
        let plan = view::plan(manifest);
        let restored = Generation::restore(&self.disk, &plan, entry, manifest.number, self.now_s);
        let outcome = restored.and_then(|generation| {
            view::visit_log(&generation, cursor, None, &mut |_, _, _| true)?;
            decode_buckets::<V>(&generation)
        });
        if let Err(error) = outcome {
            self.note(&self.disk.dir.join(manifest::log_name(entry.number)), error, LOG);
        }
    }

    fn log(&mut self, entry: &GenerationEntry, first: u32) {
        let name = manifest::log_name(entry.number);
        let bytes = u64::from(entry.log_written) * entry.log_block_bytes;
        let available = self.available(&name, bytes, LOG);
        if available == 0 {
            return;
        }
        let Some(file) = self.open(name, entry.number, LOG) else { return };
        let reader = LogReader::new(&file, entry.log_block_bytes as usize);
        for block in first..entry.log_written.min((available / entry.log_block_bytes) as u32) {
            if let Err(error) = reader.read(block) {
                self.note(file.path(), error, LOG);
            }
        }
    }

    fn chunks(&mut self, manifest: &Manifest, entry: &GenerationEntry) {
        let (name, means, streams) = if entry.merged {
            (manifest::answers_name(entry.number), ANSWERS, merge::ANSWER_PARTS)
        } else {
            (manifest::keys_name(entry.number), KEYS, manifest.buckets as usize)
        };
        let available = self.available(&name, u64::from(entry.chunks) * entry.chunk_bytes, means);
        if available == 0 {
            return;
        }
        let Some(file) = self.open(name, entry.number, means) else { return };
        let mut block = Block::new(entry.chunk_bytes as usize);
        for chunk in 0..u64::from(entry.chunks).min(available / entry.chunk_bytes) {
            let offset = chunk * entry.chunk_bytes;
            let checked = file.read(&mut block, offset);
            match checked.and_then(|()| chunk::verify(&block, entry.form, &file, offset, streams)) {
                Ok(unused) => self.zeros(file.path(), offset + unused.0, unused.1),
                Err(error) => self.note(file.path(), error, means),
            }
        }
    }

    fn tail(&mut self, checkpoint: u64, entry: &GenerationEntry) {
        let name = manifest::tail_name(entry.number, checkpoint);
        let path = self.disk.dir.join(&name);
        let is_whole =
            |path: &Path| self.disk.files.read(path).is_ok_and(|bytes| is_whole_tail(&bytes, entry));
        if is_whole(&path) || is_whole(&copy_path(&path)) {
            // If only one is, `damaged_twins` tells.
            return;
        }
        let pages = entry.tail_bytes.max(1).next_multiple_of(PAGE_BYTES as u64);
        if self.available(&name, pages, TAIL) < pages {
            return;
        }
        match self.disk.files.read(&path) {
            Ok(bytes) => {
                let (tail, padding) = bytes.split_at((entry.tail_bytes as usize).min(bytes.len()));
                if checksum(entry.number, 0, &[tail]) != entry.tail_sum {
                    self.add(&path, 0, "the tail of a generation fails its checksum", TAIL);
                }
                self.zeros(&path, entry.tail_bytes, padding);
            }
            Err(error) => self.add(&path, 0, error, TAIL),
        }
    }
}

/// Decodes everything that waits in the buckets of a generation: operations, or answers once it is merged.
fn decode_buckets<V: Value>(generation: &Generation) -> Result<()> {
    let answers = generation.resolved.as_ref().map(|resolved| resolved.answers.as_ref());
    let (mut raw, mut items) = (Vec::new(), Vec::new());
    let Some(answers) = answers else {
        let (buckets, records) = (generation.keys.len(), generation.log.records());
        let corrupt = |what| DrumError::corrupt(generation.keys.file().path(), 0, what);
        for bucket in 0..buckets {
            generation.keys.load(bucket, &mut raw)?;
            merge::parse::<V>(&raw, bucket, buckets, records, &mut items)
                .ok_or_else(|| corrupt("records of a bucket that cannot be read"))?;
            let updates = items.iter().filter(|item| !V::NONE && item.tag >> 30 != CHECK);
            for item in updates {
                let value = Reader::from_place(&raw, item.at as usize).counted();
                value.and_then(V::decode).ok_or_else(|| corrupt("an update that cannot be decoded"))?;
            }
        }
        return Ok(());
    };
    for part in 0..answers.map_or(0, |answers| answers.buckets.len()) {
        let Some(answers) = answers else { break };
        answers.buckets.load(part, &mut raw)?;
        let mut reader = Reader::new(&raw);
        while !reader.is_empty() {
            let number = reader.u32().filter(|number| *number < generation.log.records());
            let value = number.and_then(|_| reader.counted()).and_then(V::decode);
            value.ok_or_else(|| {
                DrumError::corrupt(answers.buckets.file().path(), 0, "answers that cannot be read")
            })?;
        }
    }
    Ok(())
}
