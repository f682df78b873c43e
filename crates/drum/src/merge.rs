//! The merge: one sealed generation against the store, bucket by bucket, in the background.
//!
//! It reads what is immutable (a generation's buckets, the runs) and writes what nobody sees until it is done (a new run,
//! a bitmap, answers): so it is a pure function of its inputs, can be thrown away at any point, and gives the same again.
//!
//! For each bucket: read its records, sort them by key (equal keys in order of arrival), walk through the runs' slices
//! beside them, and apply the operations one after the other. A check that finds nothing sets its bit in the bitmap; one
//! that finds a value writes an answer. Changed keys go into the new run.
//!
//! A *minor* merge writes only what changed, as one more run on top. A *major* one writes the union of everything and
//! replaces all runs; [`is_major`] decides, so that the store is rewritten each time it has grown by a quarter.
//!
//! Costs: every run is read once; memory for one bucket's records twice, and a block per run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mattock_env::Step;

use crate::buckets::Buckets;
use crate::disk::Disk;
use crate::error::{DrumError, Result};
use crate::run::{Run, RunReader};
use crate::run_writer::RunWriter;
use crate::sort::{Item, sort};
use crate::value::Value;
use crate::writer::Writer;
use mattock_codec::{Reader, put_counted};

/// Operations as they stand in the two bits of a record.
pub(crate) const CHECK: u32 = 0;
pub(crate) const UPDATE: u32 = 1;
pub(crate) const CHECK_UPDATE: u32 = 2;

/// Partitions of answers by number: each is sorted in RAM when it is delivered.
pub(crate) const ANSWER_PARTS: usize = 64;
const RUNS_MAX: usize = 5;

/// What a merge works on.
pub(crate) struct Inputs {
    pub(crate) disk: Arc<Disk>,
    pub(crate) writer: Writer,
    /// Number of the generation.
    pub(crate) number: u64,
    pub(crate) keys: Arc<Buckets>,
    pub(crate) records: u32,
    pub(crate) runs: Vec<Arc<Run>>,
    pub(crate) now_s: i64,
    /// Whether duplicates are delivered too, with their values.
    pub(crate) answers: bool,
    pub(crate) run_number: u64,
    pub(crate) read_bytes: usize,
    pub(crate) chunk_bytes: usize,
}

/// What came of it.
pub(crate) struct Merged {
    pub(crate) bitmap: Vec<u64>,
    pub(crate) answers: Option<Answers>,
    /// All runs from now on.
    pub(crate) runs: Vec<Arc<Run>>,
}

/// Values for checks that found one, in parts by number of the record.
pub(crate) struct Answers {
    pub(crate) buckets: Buckets,
    pub(crate) shift: u32,
}

/// What the owner of a merge sees of it.
#[derive(Default)]
pub(crate) struct Progress {
    pub(crate) buckets_done: AtomicUsize,
    pub(crate) outcome: Mutex<Option<Result<Merged>>>,
}

/// How many bits number a bucket.
pub(crate) fn bucket_bits(buckets: usize) -> u32 {
    buckets.trailing_zeros()
}

/// Bytes of a key that its bucket does not tell.
pub(crate) fn key_bytes(buckets: usize) -> usize {
    (64 - bucket_bits(buckets) as usize).div_ceil(8)
}

/// The bucket of a key.
#[inline]
pub(crate) fn bucket_of(key: u64, bits: u32) -> usize {
    if bits == 0 { 0 } else { (key >> (64 - bits)) as usize }
}

/// Whether to rewrite everything: when the runs on top would hold a quarter of the lowest one, or are too many.
fn is_major(runs: &[Arc<Run>], added_bytes: u64) -> bool {
    let Some((base, top)) = runs.split_first() else { return true };
    let top_keys: u64 = top.iter().map(|run| run.keys()).sum();
    runs.len() >= RUNS_MAX || (top_keys + added_bytes / 12) * 4 > base.keys()
}

pub(crate) struct Merge<V> {
    inputs: Inputs,
    progress: Arc<Progress>,
    major: bool,
    state: Option<State>,
    started: bool,
    bucket: usize,
    values: std::marker::PhantomData<fn() -> V>,
}

struct State {
    out: RunWriter,
    bitmap: Vec<u64>,
    answers: Option<Answers>,
    raw: Vec<u8>,
    items: Vec<Item>,
    scratch: Vec<Item>,
    counts: Vec<u32>,
    value: Vec<u8>,
}

impl<V: Value> Merge<V> {
    pub(crate) fn new(inputs: Inputs, progress: Arc<Progress>) -> Merge<V> {
        let major = is_major(&inputs.runs, inputs.keys.bytes());
        Merge {
            inputs,
            progress,
            major,
            state: None,
            started: false,
            bucket: 0,
            values: std::marker::PhantomData,
        }
    }

    /// Merges the next bucket. What is left of a merge that was dropped or failed is removed with the other litter when the
    /// repository is opened, or here.
    pub(crate) fn step(&mut self) -> Step {
        let outcome = match self.advance() {
            Ok(None) => return Step::Again,
            Ok(Some(merged)) => Ok(merged),
            Err(error) => Err(error),
        };
        if outcome.is_err()
            && let Some(state) = self.state.take()
        {
            let name = state.out.file().name().to_owned();
            drop(state);
            self.inputs.disk.remove(&name);
        }
        *self.progress.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        Step::Done
    }

    fn advance(&mut self) -> Result<Option<Merged>> {
        if !self.started {
            self.started = true;
            self.inputs.writer.settle()?;
            self.state = Some(self.begin());
            return Ok(None);
        }
        let Some(state) = &mut self.state else { return Ok(None) };
        if self.bucket < self.inputs.keys.len() {
            merge_bucket::<V>(&self.inputs, state, self.major, self.bucket)?;
            self.bucket += 1;
            self.progress.buckets_done.store(self.bucket, Ordering::Relaxed);
            return Ok(None);
        }
        let Some(state) = self.state.take() else { return Ok(None) };
        self.finish(state).map(Some)
    }

    fn begin(&self) -> State {
        let inputs = &self.inputs;
        let name = format!("run-{:06}", inputs.run_number);
        let records = inputs.records as usize;
        let shift = (records / ANSWER_PARTS).checked_ilog2().map_or(0, |bits| bits + 1);
        let answers = (inputs.answers && !V::NONE).then(|| {
            let name = format!("answers-{:06}", inputs.number);
            let buckets = Buckets::new(&inputs.disk, name, inputs.number, ANSWER_PARTS, inputs.chunk_bytes);
            Answers { buckets, shift }
        });
        State {
            out: RunWriter::new(&inputs.disk, name, inputs.run_number, !V::NONE, inputs.read_bytes),
            bitmap: vec![0; records.div_ceil(64)],
            answers,
            raw: Vec::new(),
            items: Vec::new(),
            scratch: Vec::new(),
            counts: Vec::new(),
            value: Vec::new(),
        }
    }

    fn finish(&self, state: State) -> Result<Merged> {
        let State { out, bitmap, answers, .. } = state;
        let mut runs = if self.major { Vec::new() } else { self.inputs.runs.clone() };
        let file = Arc::clone(out.file());
        if out.total() > 0 {
            match out.finish() {
                Ok(run) => runs.push(Arc::new(run)),
                Err(error) => {
                    self.inputs.disk.remove(file.name());
                    return Err(error);
                }
            }
        } else if file.exists() {
            self.inputs.disk.remove(file.name());
        }
        if answers.is_some() {
            self.inputs.writer.settle()?;
        }
        Ok(Merged { bitmap, answers, runs })
    }
}

fn merge_bucket<V: Value>(inputs: &Inputs, state: &mut State, major: bool, bucket: usize) -> Result<()> {
    let buckets = inputs.keys.len();
    inputs.keys.load(bucket, &mut state.raw)?;
    parse::<V>(&state.raw, bucket, buckets, inputs.records, &mut state.items).ok_or_else(|| {
        DrumError::corrupt(inputs.keys.file().path(), 0, "records of a bucket that cannot be read")
    })?;
    sort(&mut state.items, bucket_bits(buckets), &mut state.scratch, &mut state.counts);
    let mut readers = Vec::with_capacity(inputs.runs.len());
    if major || !state.items.is_empty() {
        for run in &inputs.runs {
            readers.push(run.read(bucket, inputs.read_bytes)?);
        }
    }

    state.out.begin_bucket();
    let items = std::mem::take(&mut state.items);
    let mut start = 0;
    while start < items.len() {
        let key = items[start].key;
        let mut end = start + 1;
        while end < items.len() && items[end].key == key {
            end += 1;
        }
        if major {
            copy_below::<V>(inputs, state, &mut readers, Some(key))?;
        }
        let stored = take_stored::<V>(inputs, &mut readers, key)?;
        apply::<V>(inputs, state, &items[start..end], stored, major)?;
        start = end;
    }
    if major {
        copy_below::<V>(inputs, state, &mut readers, None)?;
    }
    state.items = items;
    state.out.end_bucket()
}

/// Reads a bucket's records; `None` if they are not what [`Buckets::append_key`] and [`Buckets::append_value`] wrote.
pub(crate) fn parse<V: Value>(
    raw: &[u8],
    bucket: usize,
    buckets: usize,
    records: u32,
    items: &mut Vec<Item>,
) -> Option<()> {
    items.clear();
    let bits = bucket_bits(buckets);
    let bytes = key_bytes(buckets);
    let prefix = if bits == 0 { 0 } else { (bucket as u64) << (64 - bits) };
    let mask = if bits == 0 { u64::MAX } else { u64::MAX >> bits };
    let mut reader = Reader::new(raw);
    let mut number = 0u32;
    while !reader.is_empty() {
        let head = reader.varint()?;
        number = number.wrapping_add((head >> 2) as u32);
        let operation = (head & 3) as u32;
        let mut key = [0; 8];
        key[..bytes].copy_from_slice(reader.take(bytes)?);
        let key = prefix | u64::from_le_bytes(key) & mask;
        let at = reader.at() as u32;
        if !V::NONE && operation != CHECK {
            reader.counted()?;
        }
        if operation > CHECK_UPDATE || number > records || (operation != UPDATE && number >= records) {
            return None;
        }
        items.push(Item { key, tag: operation << 30 | number, at });
    }
    Some(())
}

/// The newest value of a key, unless it has had its time. Moves all readers past the key.
fn take_stored<V: Value>(inputs: &Inputs, readers: &mut [RunReader], key: u64) -> Result<Option<V>> {
    let mut stored = None;
    for (index, reader) in readers.iter_mut().enumerate() {
        if reader.seek(key)? {
            stored = Some(decode::<V>(inputs, index, reader)?);
            reader.advance()?;
        }
    }
    Ok(stored.filter(|value| !value.expired(inputs.now_s)))
}

fn decode<V: Value>(inputs: &Inputs, run: usize, reader: &RunReader) -> Result<V> {
    let path = inputs.runs[run].file().path();
    V::decode(reader.value()).ok_or_else(|| DrumError::corrupt(path, 0, "a value that cannot be decoded"))
}

/// Applies the operations on one key in order of arrival.
fn apply<V: Value>(
    inputs: &Inputs,
    state: &mut State,
    items: &[Item],
    mut stored: Option<V>,
    major: bool,
) -> Result<()> {
    let mut changed = false;
    let key = items[0].key;
    for item in items {
        let (operation, number) = (item.tag >> 30, item.tag & ((1 << 30) - 1));
        // A value may have had its time between two operations; when they came is not known, but it was before the seal.
        stored = stored.filter(|value| !value.expired(inputs.now_s));
        if operation != UPDATE {
            match &stored {
                None => state.bitmap[number as usize / 64] |= 1 << (number % 64),
                Some(value) => {
                    if let Some(answers) = &mut state.answers {
                        state.value.clear();
                        value.encode(&mut state.value);
                        let mut record = number.to_le_bytes().to_vec();
                        put_counted(&mut record, &state.value);
                        let part = (number >> answers.shift) as usize;
                        answers.buckets.append(part, &inputs.writer, 0, &record);
                    }
                }
            }
        }
        if operation != CHECK {
            let update = if V::NONE {
                V::decode(&[])
            } else {
                Reader::new(&state.raw[item.at as usize..]).counted().and_then(V::decode)
            };
            let update = update.ok_or_else(|| {
                DrumError::corrupt(inputs.keys.file().path(), 0, "an update that cannot be decoded")
            })?;
            if !V::NONE || stored.is_none() {
                changed = true;
            }
            stored = Some(V::update(stored.take(), update));
        }
    }
    if let Some(value) = stored
        && (changed || major)
    {
        state.value.clear();
        value.encode(&mut state.value);
        state.out.push(key, &state.value)?;
    }
    Ok(())
}

/// Copies all stored keys below `limit` into the new run, the newest of each.
fn copy_below<V: Value>(
    inputs: &Inputs,
    state: &mut State,
    readers: &mut [RunReader],
    limit: Option<u64>,
) -> Result<()> {
    loop {
        let mut least: Option<(u64, usize)> = None;
        for (index, reader) in readers.iter().enumerate() {
            if let Some(key) = reader.key()
                && least.is_none_or(|(smallest, _)| key <= smallest)
            {
                least = Some((key, index));
            }
        }
        let Some((key, newest)) = least else { return Ok(()) };
        if limit.is_some_and(|limit| key >= limit) {
            return Ok(());
        }
        if V::NONE {
            state.out.push(key, &[])?;
        } else if !decode::<V>(inputs, newest, &readers[newest])?.expired(inputs.now_s) {
            state.out.push(key, readers[newest].value())?;
        }
        for reader in readers.iter_mut() {
            if reader.key() == Some(key) {
                reader.advance()?;
            }
        }
    }
}
