//! The repository itself: takes batches, seals generations, has them merged, hands out results.
//!
//! One producer owns it and calls everything; three lanes work behind it (writing, merging, reading ahead), and one
//! removes files. See the crate's documentation for the flow.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use mattock_env::{Clock, Env, Lane, Step, Time};

use crate::batch::{Batch, Operation, Outcome};
use crate::bytes::put_varint;
use crate::cache::{self, Cache};
use crate::checkpoint::Kept;
use crate::deliver::{AnswerPart, ReadAhead};
use crate::disk::Disk;
use crate::error::{DrumError, Result};
use crate::generation::{Generation, Resolved};
use crate::log::{KNOWN_DUPLICATE, KNOWN_UNIQUE, Log, UNRESOLVED};
use crate::merge::{self, CHECK, CHECK_UPDATE, Inputs, Merge, Merged, Progress, UPDATE};
use crate::plan::{Deliver, Options, Plan};
use crate::run::Run;
use crate::stats::Stats;
use crate::table::Table;
use crate::value::Value;
use crate::writer::Writer;

/// Beyond this fullness the producer is slowed in step with the merge of the generation before.
const SLOW_FROM: f64 = 0.5;
/// Beyond this fullness the producer waits until the merge is done.
const FULL: f64 = 1.25;
/// The longest wait that a batch gets while the producer is slowed.
const SLOW_WAIT: Duration = Duration::from_millis(5);
/// How long a merge that failed is left alone before it is tried again unasked.
const RETRY_AFTER: Duration = Duration::from_secs(5);

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
    merging: Option<Arc<Progress>>,
    merge_error: Option<DrumError>,
    /// When to try a failed merge again.
    retry_at: Time,
    /// Whether the open generation is to be sealed as soon as no other waits for its merge.
    flush_wanted: bool,
    pub(crate) writer: Writer,
    // Before `writer`'s last clone goes, the merge that holds one must be gone: lanes drop in this order.
    merge_lane: Lane,
    pub(crate) chores: Lane,
    ahead: ReadAhead,
    answer_part: AnswerPart,
    /// Where delivery stands in the first generation: block, byte, record.
    pub(crate) cursor: (u32, u32, u32),
    pub(crate) position: u64,
    pub(crate) next_number: u64,
    /// Checkpoints that can be opened, the newest last.
    pub(crate) kept: VecDeque<Kept>,
    pub(crate) checkpoint_number: u64,
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
            checkpoint_number: 0,
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
    fn begin(&mut self) -> Result<()> {
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
            if let Some(cache) = &self.cache {
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
        buckets.append_key(bucket, &self.writer, number, written, key, key_bytes);
        self.value.clear();
        if let Some(value) = value {
            value.encode(&mut self.value);
            let mut len = Vec::with_capacity(10);
            put_varint(&mut len, self.value.len() as u64);
            buckets.append(bucket, &self.writer, &len);
            buckets.append(bucket, &self.writer, &self.value);
        }
    }

    /// Waits a little if the merge is behind, and as long as it takes if there is no more room.
    fn slow_down(&mut self) -> Result<()> {
        let fullness = self.fullness();
        if fullness < SLOW_FROM || self.all_merged() {
            return Ok(());
        }
        let before = self.clock.now();
        let mut waited = false;
        if fullness >= FULL {
            self.wait_for_merges()?;
            waited = true;
        } else if let Some(progress) = &self.merging {
            let done = progress.buckets_done.load(Ordering::Relaxed) as f64 / self.plan.buckets as f64;
            if (fullness - SLOW_FROM) / (1.0 - SLOW_FROM) > done {
                self.merge_lane.wait_for_progress(SLOW_WAIT);
                self.poll();
                waited = true;
            }
        }
        if waited {
            self.stats.waits += 1;
            self.note_pause(before);
        }
        Ok(())
    }

    pub(crate) fn note_pause(&mut self, since: Time) {
        let pause = self.clock.now().since(since).as_nanos() as u64;
        self.stats.longest_pause_ns = self.stats.longest_pause_ns.max(pause);
    }

    fn fullness(&self) -> f64 {
        self.open.fullness(&self.plan, self.runs.iter().map(|run| run.keys()).sum())
    }

    fn seal_if_full(&mut self) {
        if self.fullness() >= 1.0 && self.all_merged() {
            self.seal();
        }
    }

    fn all_merged(&self) -> bool {
        self.generations.iter().all(|generation| generation.resolved.is_some())
    }

    /// Ends the open generation and begins the next.
    fn seal(&mut self) {
        self.flush_wanted = false;
        if self.open.is_empty() {
            return;
        }
        let number = self.take_number();
        let mut sealed = std::mem::replace(&mut self.open, Generation::new(&self.disk, number, &self.plan));
        sealed.log.seal();
        sealed.sealed_s = self.clock.unix().as_seconds();
        self.generations.push_back(sealed);
        self.poll();
    }

    fn take_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number - 1
    }

    /// Has every check that was submitted answered soon, without waiting for a generation to fill up: starts its merge. A
    /// no-op if all are answered.
    pub fn flush(&mut self) -> Result<()> {
        if self.open.first_unresolved != u32::MAX {
            self.begin()?;
            self.merge_error = None;
            self.flush_wanted = true;
            self.poll();
        }
        Ok(())
    }

    /// Why the last merge failed, if it did. It is tried again every few seconds, and by [`flush`](Drum::flush),
    /// [`merge`](Drum::merge) and whatever cannot go on without it.
    pub fn trouble(&self) -> Option<&DrumError> {
        self.merge_error.as_ref()
    }

    /// Moves everything that was submitted into the sorted store and waits for that.
    pub fn merge(&mut self) -> Result<()> {
        self.begin()?;
        self.seal();
        self.wait_for_merges()
    }

    /// Waits until everything that was sealed is merged: after [`flush`](Drum::flush) all answers can be delivered.
    pub fn wait_for_merges(&mut self) -> Result<()> {
        self.merge_error = None;
        loop {
            self.poll();
            if let Some(error) = self.merge_error.take() {
                return Err(error);
            }
            if self.merging.is_none() {
                return Ok(());
            }
            self.merge_lane.wait_for_progress(Duration::from_millis(20));
        }
    }

    /// Takes over what the lanes have finished and gives them what comes next. Every other call does this too.
    pub fn poll(&mut self) {
        self.writer.poll();
        self.merge_lane.poll();
        self.chores.poll();
        let outcome = self
            .merging
            .as_ref()
            .and_then(|progress| progress.outcome.lock().unwrap_or_else(PoisonError::into_inner).take());
        match outcome {
            Some(Ok(merged)) => {
                self.merging = None;
                self.publish(merged);
            }
            Some(Err(error)) => {
                self.merging = None;
                self.merge_error = Some(error);
                self.retry_at = self.clock.now() + RETRY_AFTER;
            }
            None => {}
        }
        if self.flush_wanted && self.all_merged() {
            self.seal();
        }
        if self.merge_error.is_some() && self.clock.now() >= self.retry_at {
            self.merge_error = None;
        }
        if self.merging.is_none() && self.merge_error.is_none() {
            self.start_merge();
        }
    }

    /// Lets merges rest, for a fair comparison with somebody who has no background work.
    pub(crate) fn pause_merges(&self, paused: bool) {
        self.merge_lane.pause(paused);
    }

    fn start_merge(&mut self) {
        let run_number = self.next_number;
        let Some(generation) = self.generations.iter_mut().find(|generation| generation.resolved.is_none())
        else {
            return;
        };
        if generation.keys.bytes() == 0 {
            generation.resolved = Some(Resolved { bitmap: Vec::new(), answers: None });
            generation.synced = false;
            return self.start_merge();
        }
        let inputs = Inputs {
            disk: Arc::clone(&self.disk),
            writer: self.writer.clone(),
            number: generation.number,
            keys: Arc::clone(&generation.keys),
            records: generation.log.records(),
            runs: self.runs.clone(),
            now_s: generation.sealed_s,
            answers: self.options.deliver == Deliver::All,
            run_number,
            read_bytes: self.plan.read_bytes,
            chunk_bytes: self.plan.chunk_bytes,
        };
        self.next_number += 1;
        let progress = Arc::new(Progress::default());
        let mut merge = Merge::<V>::new(inputs, Arc::clone(&progress));
        self.merge_lane.submit(Box::new(move || merge.step()));
        self.merging = Some(progress);
    }

    fn publish(&mut self, merged: Merged) {
        self.stats.merges += 1;
        let old = std::mem::replace(&mut self.runs, merged.runs);
        for run in old {
            if !self.runs.iter().any(|kept| Arc::ptr_eq(kept, &run)) {
                self.retire(run.file().name().to_owned());
            }
        }
        let generation = self.generations.iter_mut().find(|generation| generation.resolved.is_none());
        if let Some(generation) = generation {
            generation.resolved = Some(Resolved { bitmap: merged.bitmap, answers: merged.answers });
            generation.synced = false;
            let file = Arc::clone(generation.keys.file());
            // The buffers are of no use any more.
            generation.keys = Arc::new(crate::buckets::Buckets::new(
                &self.disk,
                file.name().to_owned(),
                generation.number,
                0,
                generation.keys.chunk_bytes(),
            ));
            if file.exists() {
                self.retire(file.name().to_owned());
            }
        }
    }

    /// A file is of no use any more: removes it, unless a checkpoint needs it.
    pub(crate) fn retire(&mut self, name: String) {
        if self.kept.iter().any(|kept| kept.files.contains(&name)) {
            self.dead.push(name);
        } else {
            let disk = Arc::clone(&self.disk);
            self.chores.submit(Box::new(move || {
                disk.remove(&name);
                Step::Done
            }));
        }
    }

    /// Hands out up to `limit` results in order of arrival; how many there were. Fewer than `limit` means that the next
    /// one is not known yet.
    pub fn deliver(&mut self, limit: usize, sink: impl FnMut(Outcome<'_, V>)) -> Result<usize> {
        self.hand_out(limit, true, sink)
    }

    /// The same, but never waits for the disk: fewer than `limit` may also mean that the next ones are being read. For a
    /// producer that has more to submit in the meantime.
    pub fn deliver_ready(&mut self, limit: usize, sink: impl FnMut(Outcome<'_, V>)) -> Result<usize> {
        self.hand_out(limit, false, sink)
    }

    fn hand_out(&mut self, limit: usize, wait: bool, mut sink: impl FnMut(Outcome<'_, V>)) -> Result<usize> {
        self.poll();
        let all = self.options.deliver == Deliver::All;
        let mut delivered = 0;
        while delivered < limit {
            let (block, mut offset, mut record) = self.cursor;
            let generation = self.generations.front().unwrap_or(&self.open);
            let end = generation.deliverable();
            if record >= end {
                if generation.resolved.is_some() && self.retire_front() {
                    continue;
                }
                break;
            }
            let bytes = match generation.log.in_ram(block) {
                Some(bytes) => bytes,
                None => {
                    if generation.resolved.is_none() {
                        self.writer.settle()?;
                    }
                    match self.ahead.block(generation.number, block, &generation.log, wait)? {
                        Some(bytes) => bytes,
                        None => break,
                    }
                }
            };
            let path = generation.log.file().path();
            let corrupt =
                || DrumError::corrupt(path, u64::from(block), "a record of the log that cannot be read");
            let mut reader = crate::bytes::Reader::new(bytes.get(offset as usize..).ok_or_else(corrupt)?);
            let start = offset;
            while !reader.is_empty() && record < end && delivered < limit {
                let head = reader.varint().ok_or_else(corrupt)?;
                let known = match head & 3 {
                    KNOWN_DUPLICATE => Some(reader.counted().ok_or_else(corrupt)?),
                    _ => None,
                };
                let aux = reader.take((head >> 2) as usize).ok_or_else(corrupt)?;
                let unique = match head & 3 {
                    UNRESOLVED => generation.resolved.as_ref().is_some_and(|resolved| {
                        resolved
                            .bitmap
                            .get(record as usize / 64)
                            .is_some_and(|word| word >> (record % 64) & 1 == 1)
                    }),
                    kind => kind == KNOWN_UNIQUE,
                };
                if unique {
                    sink(Outcome { unique, value: None, aux });
                    delivered += 1;
                } else if all {
                    let answers = generation.resolved.as_ref().and_then(|resolved| resolved.answers.as_ref());
                    let value = match (known, answers) {
                        (Some(value), _) => Some(value),
                        (None, Some(answers)) => {
                            self.answer_part.value(generation.number, answers, record)?
                        }
                        (None, None) => Some(&[][..]),
                    };
                    let value = value.and_then(V::decode).ok_or_else(corrupt)?;
                    sink(Outcome { unique, value: Some(value), aux });
                    delivered += 1;
                }
                record += 1;
                offset = start + reader.at() as u32;
                self.cursor = (block, offset, record);
            }
            if reader.is_empty() && block + 1 < generation.log.blocks() {
                self.cursor = (block + 1, crate::log::HEADER_BYTES as u32, record);
                let generation = self.generations.front_mut().unwrap_or(&mut self.open);
                generation.log.release(block + 1);
            }
        }
        self.stats.delivered += delivered as u64;
        Ok(delivered)
    }

    /// Forgets the first sealed generation, which is delivered; `false` if the open one is the first.
    fn retire_front(&mut self) -> bool {
        let Some(generation) = self.generations.pop_front() else { return false };
        self.cursor = (0, crate::log::HEADER_BYTES as u32, 0);
        if generation.log.file().exists() {
            self.retire(generation.log.file().name().to_owned());
        }
        if let Some(answers) = generation.resolved.as_ref().and_then(|resolved| resolved.answers.as_ref())
            && answers.buckets.file().exists()
        {
            self.retire(answers.buckets.file().name().to_owned());
        }
        true
    }

    /// Visits every key of the sorted store in order, with its value; operations that are not merged yet do not count.
    pub fn scan(&self, mut visit: impl FnMut(u64, V)) -> Result<()> {
        let now_s = self.clock.unix().as_seconds();
        for bucket in 0..self.plan.buckets {
            let mut readers = Vec::with_capacity(self.runs.len());
            for run in &self.runs {
                readers.push(run.read(bucket, self.plan.read_bytes)?);
            }
            while let Some(key) = readers.iter().filter_map(|reader| reader.key()).min() {
                let mut newest = None;
                for (run, reader) in self.runs.iter().zip(&mut readers) {
                    if reader.key() == Some(key) {
                        let value = V::decode(reader.value());
                        newest = Some(value.ok_or_else(|| {
                            DrumError::corrupt(run.file().path(), 0, "a value that cannot be decoded")
                        })?);
                        reader.advance()?;
                    }
                }
                if let Some(value) = newest.filter(|value| !value.expired(now_s)) {
                    visit(key, value);
                }
            }
        }
        Ok(())
    }

    /// What is stored for a key: `None` if nothing. Operations that are neither merged nor in RAM do not count. Reads one bucket of every run, so it is for a look, not for a stream.
    pub fn look_up(&self, key: u64) -> Result<Option<V>> {
        let now_s = self.clock.unix().as_seconds();
        if let Some(table) = &self.table {
            return Ok(table.get(key, now_s).cloned());
        }
        if let Some(cache) = &self.cache {
            let cached = cache.holds(cache.place(key));
            if cached || cache.is_complete() {
                return Ok(if cached { V::decode(&[]) } else { None });
            }
        }
        let bucket = merge::bucket_of(key, merge::bucket_bits(self.plan.buckets));
        for run in self.runs.iter().rev() {
            let mut reader = run.read(bucket, self.plan.read_bytes)?;
            if reader.seek(key)? {
                let value = V::decode(reader.value()).ok_or_else(|| {
                    DrumError::corrupt(run.file().path(), 0, "a value that cannot be decoded")
                })?;
                return Ok(Some(value).filter(|value| !value.expired(now_s)));
            }
        }
        Ok(None)
    }
}

fn check_size(bytes: usize, limit: usize) -> Result<()> {
    if bytes > limit { Err(DrumError::TooLarge { bytes, limit }) } else { Ok(()) }
}
