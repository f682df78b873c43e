//! The repository itself: what it holds, and how it takes batches. What happens to them is in `background`, what comes out in
//! `results`, and what stays in `checkpoint`.
//!
//! One producer owns it and calls everything; four lanes work behind it (writing, merging, reading ahead,
//! checkpoints), and one removes files. See the crate's documentation for the flow.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mattock_env::{Clock, Env, Lane, Time};

use crate::batch::{Batch, Operation};
use crate::cache::{self, Cache};
use crate::checkpoint::{Checkpoint, Pending};
use crate::deliver::{AnswerPart, ReadAhead};
use crate::disk::Disk;
use crate::error::{DrumError, Result};
use crate::generation::Generation;
use crate::kept::{Kept, NO_PIN};
use crate::log::{KNOWN_DUPLICATE, KNOWN_UNIQUE, Log, UNRESOLVED};
use crate::merge::{self, CHECK, CHECK_UPDATE, Progress, UPDATE};
use crate::plan::{Deliver, Options, Plan};
use crate::run::Run;
use crate::stats::Stats;
use crate::table::Table;
use crate::value::Value;
use crate::writer::Writer;

/// A disk repository with update management; see the [crate's documentation](crate).
pub struct Drum<V: Value> {
    pub(crate) disk: Arc<Disk>,
    pub(crate) clock: Clock,
    pub(crate) options: Options,
    pub(crate) plan: Plan,
    pub(crate) cache: Option<Cache>,
    pub(crate) table: Option<Table<V>>,
    pub(crate) open: Generation,
    /// Sealed ones, the oldest first: merged ones before the others.
    pub(crate) generations: VecDeque<Generation>,
    pub(crate) runs: Vec<Arc<Run>>,
    pub(crate) merging: Option<Arc<Progress>>,
    pub(crate) merge_error: Option<DrumError>,
    /// When to try a failed merge again.
    pub(crate) retry_at: Time,
    /// Whether the open generation is to be sealed as soon as no other waits for its merge.
    pub(crate) flush_wanted: bool,
    pub(crate) writer: Writer,
    // Before `writer`'s last clone goes, the merge that holds one must be gone: lanes drop in this order.
    pub(crate) merge_lane: Lane,
    pub(crate) chores: Lane,
    pub(crate) ahead: ReadAhead,
    pub(crate) answer_part: AnswerPart,
    /// Where delivery stands in the first generation: block, byte, record.
    pub(crate) cursor: (u32, u32, u32),
    pub(crate) position: u64,
    pub(crate) next_number: u64,
    /// Checkpoints that can be opened, the newest last.
    pub(crate) kept: VecDeque<Kept>,
    /// All from this one on are kept.
    pub(crate) pinned: u64,
    pub(crate) checkpoint_number: u64,
    /// The checkpoint that is being written.
    pub(crate) pending: Option<Pending>,
    /// How the last one ended, until somebody asks.
    pub(crate) finished: Option<Result<Checkpoint>>,
    pub(crate) checkpoint_lane: Lane,
    /// Whether the names of the directory and those above it are known to be durable.
    pub(crate) placed: bool,
    /// Files that are of no use any more but to a kept checkpoint.
    pub(crate) dead: Vec<String>,
    pub(crate) poisoned: Option<PathBuf>,
    pub(crate) stats: Stats,
    value: Vec<u8>,
}

impl<V: Value> Drum<V> {
    /// An empty repository; nothing is read or written.
    pub(crate) fn empty(env: &Env, dir: &Path, options: Options, plan: Plan) -> Drum<V> {
        let disk = Disk::new(env.files.clone(), dir);
        let writer = Writer::new(&env.workers, plan.writes_max);
        Drum {
            cache: (V::NONE && plan.cache_sets > 0).then(|| Cache::new(plan.cache_sets, true)),
            table: (!V::NONE && plan.table_bytes > 0).then(|| Table::new(plan.table_bytes)),
            open: Generation::new(&disk, 1, &plan),
            generations: VecDeque::new(),
            runs: Vec::new(),
            merging: None,
            merge_error: None,
            retry_at: Time::ZERO,
            flush_wanted: false,
            writer,
            merge_lane: env.workers.lane("drum-merge", 2),
            chores: env.workers.lane("drum-chores", 64),
            ahead: ReadAhead::new(&env.workers),
            answer_part: AnswerPart::default(),
            cursor: (0, crate::log::HEADER_BYTES as u32, 0),
            position: 0,
            next_number: 2,
            kept: VecDeque::new(),
            pinned: NO_PIN,
            checkpoint_number: 0,
            pending: None,
            finished: None,
            checkpoint_lane: env.workers.lane("drum-checkpoint", 1),
            placed: false,
            dead: Vec::new(),
            poisoned: None,
            stats: Stats::default(),
            value: Vec::new(),
            clock: env.clock.clone(),
            disk,
            options,
            plan,
        }
    }

    /// The sizes that were chosen for the memory given.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many operations were taken so far, over all times it was opened. After a crash this tells what is missing.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Counters and sizes.
    pub fn stats(&self) -> Stats {
        Stats {
            stored_keys: self.runs.iter().map(|run| run.keys()).sum(),
            store_bytes: self.runs.iter().map(|run| run.bytes()).sum(),
            cached_keys: self.cache.as_ref().map_or(0, Cache::keys),
            read_bytes: self.disk.read_bytes(),
            written_bytes: self.disk.written_bytes(),
            generations_waiting: self.generations.len() as u64,
            ..self.stats.clone()
        }
    }

    /// Checks whose results were not handed out; those that only told of repeats, and never will be, among them.
    pub fn undelivered(&self) -> u64 {
        let sealed: u64 = self.generations.iter().map(|generation| u64::from(generation.log.records())).sum();
        (sealed + u64::from(self.open.log.records())).saturating_sub(u64::from(self.cursor.2))
    }

    /// Submits a batch. On an error nothing of it was taken: call again when the cause is gone.
    pub fn submit(&mut self, batch: &Batch<V>) -> Result<()> {
        let limit = Log::record_max(self.plan.log_block_bytes);
        for (index, value) in batch.values.iter().enumerate() {
            self.value.clear();
            if let Some(value) = value {
                value.encode(&mut self.value);
            }
            check_size(self.value.len() + batch.aux(index).len(), limit)?;
        }
        self.begin()?;
        if V::NONE {
            self.take_keys(&batch.keys, |index| batch.operations[index], |index| batch.aux(index));
        } else {
            self.take_values(batch);
        }
        self.end(batch.len())
    }

    /// Submits check-updates of keys that all get the same value: the quick way for sets of keys.
    pub fn check_update_all<'a>(
        &mut self,
        keys: &[u64],
        value: &V,
        aux: impl Fn(usize) -> &'a [u8],
    ) -> Result<()> {
        if !V::NONE {
            let mut batch = Batch::new();
            for (index, key) in keys.iter().enumerate() {
                batch.check_update(*key, value.clone(), aux(index));
            }
            return self.submit(&batch);
        }
        let limit = Log::record_max(self.plan.log_block_bytes);
        for index in 0..keys.len() {
            check_size(aux(index).len(), limit)?;
        }
        self.begin()?;
        self.take_keys(keys, |_| Operation::CheckUpdate, aux);
        self.end(keys.len())
    }

    /// Before a batch: nothing of it is taken unless the writes of the last ones went well.
    pub(crate) fn begin(&mut self) -> Result<()> {
        if let Some(path) = &self.poisoned {
            return Err(DrumError::Poisoned { path: path.clone() });
        }
        self.writer.retry()?;
        self.poll();
        self.slow_down()
    }

    fn end(&mut self, operations: usize) -> Result<()> {
        self.position += operations as u64;
        self.stats.operations += operations as u64;
        self.seal_if_full();
        Ok(())
    }

    /// Operations without values, past the front cache.
    fn take_keys<'a>(
        &mut self,
        keys: &[u64],
        operation: impl Fn(usize) -> Operation,
        aux: impl Fn(usize) -> &'a [u8],
    ) {
        let bits = merge::bucket_bits(self.plan.buckets);
        let key_bytes = merge::key_bytes(self.plan.buckets);
        let all = self.options.deliver == Deliver::All;
        let generation = &mut self.open;
        let buckets =
            Arc::get_mut(&mut generation.keys).expect("an open generation is not shared with a merge");
        let mut places = [cache::Place::default(); cache::BATCH];
        let (mut checks, mut hits, mut known) = (0, 0, 0);
        for (start, part) in keys.chunks(cache::BATCH).enumerate() {
            if let Some(cache) = &mut self.cache {
                cache.grow_if_needed();
                cache.touch(part, &mut places);
            }
            for (index, key) in part.iter().enumerate() {
                let at = start * cache::BATCH + index;
                let operation = operation(at);
                let check = operation != Operation::Update;
                checks += u64::from(check);
                let mut complete = false;
                if let Some(cache) = &mut self.cache {
                    complete = cache.is_complete();
                    let hit = match operation {
                        Operation::Check => cache.contains(places[index]),
                        _ => cache.insert(places[index]),
                    };
                    if hit {
                        hits += u64::from(check);
                        if all && check {
                            generation.log.append(&self.writer, KNOWN_DUPLICATE, &[], aux(at));
                        }
                        continue;
                    }
                }
                let number = generation.log.records();
                let written = match operation {
                    Operation::Update => UPDATE,
                    _ if complete => {
                        known += 1;
                        generation.log.append(&self.writer, KNOWN_UNIQUE, &[], aux(at));
                        if operation == Operation::Check {
                            continue;
                        }
                        UPDATE
                    }
                    _ => {
                        generation.log.append(&self.writer, UNRESOLVED, &[], aux(at));
                        generation.first_unresolved = generation.first_unresolved.min(number);
                        if operation == Operation::Check { CHECK } else { CHECK_UPDATE }
                    }
                };
                buckets.append_key(
                    merge::bucket_of(*key, bits),
                    &self.writer,
                    number,
                    written,
                    *key,
                    key_bytes,
                );
            }
        }
        self.stats.checks += checks;
        self.stats.cache_hits += hits;
        self.stats.answered_in_ram += hits + known;
    }

    /// Operations with values, past the table while there is one.
    fn take_values(&mut self, batch: &Batch<V>) {
        let now_s = self.clock.unix().as_seconds();
        for (index, key) in batch.keys.iter().enumerate() {
            let operation = batch.operations[index];
            let number = self.open.log.records();
            let mut written = match operation {
                Operation::Check => CHECK,
                Operation::Update => UPDATE,
                Operation::CheckUpdate => CHECK_UPDATE,
            };
            if operation != Operation::Update {
                self.stats.checks += 1;
                if self.answer_from_table(*key, batch.aux(index), now_s) {
                    self.stats.answered_in_ram += 1;
                    if operation == Operation::Check {
                        continue;
                    }
                    written = UPDATE;
                } else {
                    self.open.log.append(&self.writer, UNRESOLVED, &[], batch.aux(index));
                    self.open.first_unresolved = self.open.first_unresolved.min(number);
                }
            }
            self.append_value(*key, number, written, batch.values[index].as_ref());
            if let (Some(table), Some(value)) = (&mut self.table, &batch.values[index])
                && !table.update(*key, value.clone(), self.value.len(), now_s)
            {
                self.table = None;
            }
        }
    }

    /// Whether the table could answer; the answer is in the log then.
    fn answer_from_table(&mut self, key: u64, aux: &[u8], now_s: i64) -> bool {
        let Some(table) = &self.table else { return false };
        match table.get(key, now_s) {
            None => {
                self.open.log.append(&self.writer, KNOWN_UNIQUE, &[], aux);
            }
            Some(_) if self.options.deliver == Deliver::Unique => {}
            Some(value) => {
                self.value.clear();
                value.encode(&mut self.value);
                if self.value.len() + aux.len() > Log::record_max(self.plan.log_block_bytes) {
                    return false;
                }
                self.open.log.append(&self.writer, KNOWN_DUPLICATE, &self.value, aux);
            }
        }
        true
    }

    /// Leaves the value's bytes in `self.value`.
    fn append_value(&mut self, key: u64, number: u32, written: u32, value: Option<&V>) {
        let bucket = merge::bucket_of(key, merge::bucket_bits(self.plan.buckets));
        let key_bytes = merge::key_bytes(self.plan.buckets);
        let buckets =
            Arc::get_mut(&mut self.open.keys).expect("an open generation is not shared with a merge");
        self.value.clear();
        match value {
            Some(value) => {
                value.encode(&mut self.value);
                buckets.append_value(bucket, &self.writer, (number, written), key, &self.value);
            }
            None => buckets.append_key(bucket, &self.writer, number, written, key, key_bytes),
        }
    }
}

fn check_size(bytes: usize, limit: usize) -> Result<()> {
    if bytes > limit { Err(DrumError::TooLarge { bytes, limit }) } else { Ok(()) }
}
