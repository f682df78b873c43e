//! Looking at a checkpoint without touching it: for tools beside the process that works on the repository.
//!
//! A [`View`] opens the files that a manifest names, for reading, and makes, removes, truncates and locks nothing. Once it is
//! open, the repository may move on: files that were removed stay readable as long as they are open, and those that grow
//! do so behind the length that the manifest gives. If the repository moves on while the view is being opened, that is
//! [`DrumError::NoSuchCheckpoint`], and there is a newer one to open.
//!
//! Costs: memory for the tails of generations, the directories of runs, and one bucket's operations; a look-up reads one
//! bucket of every run and of every generation that is not merged.

use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use mattock_env::Env;

use crate::batch::Operation;
use crate::disk::Disk;
use crate::error::{DrumError, Result};
use crate::generation::Generation;
use crate::log::{KNOWN_DUPLICATE, KNOWN_UNIQUE, read_record};
use crate::manifest::{self, Manifest};
use crate::merge::{self, CHECK, CHECK_UPDATE};
use crate::plan::{Options, Plan};
use crate::run::Run;
use crate::salvage::LogBlock;
use crate::sort::Item;
use crate::value::Value;
use mattock_codec::Reader;

/// Bytes of a run that are read at once.
const READ_BYTES: usize = 64 << 10;

/// What a checkpoint holds.
pub struct View<V: Value> {
    manifest: Manifest,
    runs: Vec<Run>,
    generations: Vec<Generation>,
    /// Where the results of each begin that were not handed out: block, byte, record.
    cursors: Vec<Cursor>,
    /// What is left of a damaged checkpoint: the blocks of each log. Of a whole one there is nothing to be told.
    left: Option<Vec<Vec<LogBlock>>>,
    values: PhantomData<fn() -> V>,
}

/// A place in a log: block, byte, record.
pub(crate) type Cursor = (u32, u32, u32);
/// Where a log begins.
pub(crate) const BEGINNING: Cursor = (0, crate::log::HEADER_BYTES as u32, 0);

/// An operation that no merge has applied to the store yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting<V> {
    /// What it is. A check that was answered when it was submitted is not here any more: of it and an update the update is left.
    pub operation: Operation,
    /// The value of an update.
    pub value: Option<V>,
    /// What a check is to give back.
    pub aux: Option<Vec<u8>>,
}

/// A result that was not handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undelivered<'a> {
    /// What the check gives back.
    pub aux: &'a [u8],
    /// Whether its key was new; `None` if only a merge will tell.
    pub unique: Option<bool>,
}

/// The operations of one bucket that wait for their merge: the generation and the item of each, the oldest first.
type Operations = (Vec<Vec<u8>>, Vec<(usize, Item)>);

impl<V: Value> View<V> {
    /// Opens a checkpoint. Number 0 is the empty repository before the first.
    pub fn open(env: &Env, dir: &Path, number: u64) -> Result<View<V>> {
        if number == 0 {
            let manifest = Manifest { buckets: 1, has_values: !V::NONE, ..Manifest::default() };
            return Ok(View::new(manifest, Vec::new(), Vec::new(), None));
        }
        let manifest = manifest::read(&env.files, dir, number)?;
        let view = View::restore(env, dir, manifest.clone());
        match manifest::read(&env.files, dir, number) {
            Ok(again) if again == manifest => view,
            Err(error @ DrumError::Io { .. }) => view.and(Err(error)),
            _ => Err(DrumError::NoSuchCheckpoint { path: dir.into(), number }),
        }
    }

    fn restore(env: &Env, dir: &Path, manifest: Manifest) -> Result<View<V>> {
        let disk = Disk::new(env.files.clone(), dir);
        check_kind::<V>(&disk, &manifest)?;
        let mut runs = Vec::with_capacity(manifest.runs.len());
        for run in &manifest.runs {
            let name = manifest::run_name(run.number);
            runs.push(Run::open(&disk, name, run.number, run.directory, manifest.buckets as usize)?);
        }
        let (plan, now_s) = (plan(&manifest), env.clock.unix().as_seconds());
        let generations = manifest.generations.iter();
        let generations =
            generations.map(|entry| Generation::restore(&disk, &plan, entry, manifest.number, now_s));
        let generations = generations.collect::<Result<Vec<_>>>()?;
        let cursors = std::iter::once(manifest.cursor).chain(std::iter::repeat(BEGINNING));
        let generations = cursors.zip(generations).collect();
        Ok(View::new(manifest, runs, generations, None))
    }

    pub(crate) fn new(
        manifest: Manifest,
        runs: Vec<Run>,
        generations: Vec<(Cursor, Generation)>,
        left: Option<Vec<Vec<LogBlock>>>,
    ) -> View<V> {
        let (cursors, generations) = generations.into_iter().unzip();
        View { manifest, runs, generations, cursors, left, values: PhantomData }
    }

    /// Whether results that were not handed out are missing, as they can be only if it was [salvaged](View::salvage).
    pub fn has_lost_results(&self) -> bool {
        self.left.as_ref().is_some_and(|left| {
            let is_lost = |block: &LogBlock| *block == LogBlock::Lost;
            left.len() < self.manifest.generations.len() || left.iter().flatten().any(is_lost)
        })
    }

    /// How many operations that no merge had applied are missing, as they can be only if it was [salvaged](View::salvage); `None` if nobody
    /// knows. Of one chunk those that have a byte in it.
    pub fn lost_operations(&self) -> Option<u64> {
        let waited = self.manifest.generations.iter().filter(|entry| !entry.merged).count();
        let waiting: Vec<_> =
            self.generations.iter().filter(|generation| generation.resolved.is_none()).collect();
        // What a generation had that is lost as a whole, nobody knows.
        let is_known = waiting.len() == waited;
        waiting.iter().map(|generation| generation.keys.lost()).sum::<Option<u64>>().filter(|_| is_known)
    }

    /// The number of the checkpoint.
    pub fn number(&self) -> u64 {
        self.manifest.number
    }

    /// How many operations had been taken.
    pub fn position(&self) -> u64 {
        self.manifest.position
    }

    /// What is stored for a key after all operations that were taken, merged or not. A value may have had its time:
    /// [`Value::expired`] tells.
    pub fn look_up(&self, key: u64) -> Result<Option<V>> {
        let (raw, items) = self.operations(self.bucket_of(key), |item| item.key == key)?;
        self.apply(self.merged(key)?, &raw, &items)
    }

    /// The same as far as operations are merged: who is not here yet, but is looked up, came lately.
    pub fn merged(&self, key: u64) -> Result<Option<V>> {
        let mut stored = None;
        for run in &self.runs {
            let mut reader = run.read(self.bucket_of(key), READ_BYTES)?;
            if reader.seek(key)? {
                stored = Some(decode(run, reader.value())?);
            }
        }
        Ok(stored)
    }

    /// The operations on a key that wait for their merge, in order of arrival.
    pub fn waiting(&self, key: u64) -> Result<Vec<Waiting<V>>> {
        let (raw, items) = self.operations(self.bucket_of(key), |item| item.key == key)?;
        let mut waiting = Vec::with_capacity(items.len());
        for (index, item) in &items {
            waiting.push(Waiting {
                operation: match item.tag >> 30 {
                    CHECK => Operation::Check,
                    CHECK_UPDATE => Operation::CheckUpdate,
                    _ => Operation::Update,
                },
                value: if item.tag >> 30 == CHECK { None } else { Some(self.update(*index, item, &raw)?) },
                aux: None,
            });
        }
        for index in 0..self.generations.len() {
            let mut wanted = items.iter().zip(&mut waiting).filter(|((of, _), _)| *of == index);
            let mut next = wanted.find(|(_, waiting)| waiting.operation != Operation::Update);
            if next.is_none() {
                continue;
            }
            self.visit_log(index, |record, _, aux| {
                if let Some(((_, item), waiting)) = &mut next
                    && record == Some(number_of(item))
                {
                    waiting.aux = Some(aux.to_vec());
                    next = wanted.find(|(_, waiting)| waiting.operation != Operation::Update);
                }
                next.is_some()
            })?;
        }
        Ok(waiting)
    }

    /// Visits every key in order, with what [`look_up`](View::look_up) gives for it.
    pub fn scan(&self, visit: impl FnMut(u64, V)) -> Result<()> {
        self.visit_keys(|_| true, visit)
    }

    /// The same for the keys of which it is known that they are stored: one that came with nothing but questions that no merge has
    /// answered is left out. Those questions are among the [undelivered](View::undelivered).
    pub fn scan_answered(&self, visit: impl FnMut(u64, V)) -> Result<()> {
        self.visit_keys(|item| item.tag >> 30 != CHECK_UPDATE, visit)
    }

    /// Visits every key in order, with what these operations make of it.
    fn visit_keys(&self, wanted: impl Fn(&Item) -> bool, mut visit: impl FnMut(u64, V)) -> Result<()> {
        for bucket in 0..self.manifest.buckets as usize {
            let mut readers = Vec::with_capacity(self.runs.len());
            for run in &self.runs {
                readers.push(run.read(bucket, READ_BYTES)?);
            }
            let (raw, mut items) = self.operations(bucket, &wanted)?;
            items.sort_by_key(|(_, item)| item.key);
            let mut rest = &items[..];
            loop {
                let stored = readers.iter().filter_map(|reader| reader.key());
                let Some(key) = stored.chain(rest.first().map(|(_, item)| item.key)).min() else { break };
                let mut newest = None;
                for (run, reader) in self.runs.iter().zip(&mut readers) {
                    if reader.key() == Some(key) {
                        newest = Some(decode(run, reader.value())?);
                        reader.advance()?;
                    }
                }
                let same = rest.iter().take_while(|(_, item)| item.key == key).count();
                let (now, later) = rest.split_at(same);
                rest = later;
                if let Some(value) = self.apply(newest, &raw, now)? {
                    visit(key, value);
                }
            }
        }
        Ok(())
    }

    /// Visits the results that were not handed out, in order of arrival; those that never will be are left out.
    pub fn undelivered(&self, mut visit: impl FnMut(Undelivered<'_>)) -> Result<()> {
        for (index, generation) in self.generations.iter().enumerate() {
            self.visit_log(index, |record, kind, aux| {
                let unique = match (kind, &generation.resolved) {
                    (KNOWN_UNIQUE, _) => Some(true),
                    (KNOWN_DUPLICATE, _) => Some(false),
                    (_, None) => None,
                    (_, Some(resolved)) => {
                        // Nobody knows which answer is its.
                        let Some(record) = record else { return true };
                        let word = resolved.bitmap.get(record as usize / 64);
                        Some(word.is_some_and(|word| word >> (record % 64) & 1 == 1))
                    }
                };
                if unique != Some(false) || self.manifest.delivers_all {
                    visit(Undelivered { aux, unique });
                }
                true
            })?;
        }
        Ok(())
    }

    fn bucket_of(&self, key: u64) -> usize {
        merge::bucket_of(key, merge::bucket_bits(self.manifest.buckets as usize))
    }

    /// What waits in a bucket.
    fn operations(&self, bucket: usize, wanted: impl Fn(&Item) -> bool) -> Result<Operations> {
        let (mut all, mut raws) = (Vec::new(), Vec::new());
        let mut items = Vec::new();
        for (index, generation) in self.generations.iter().enumerate() {
            let mut raw = Vec::new();
            if generation.resolved.is_none() {
                generation.keys.load(bucket, &mut raw)?;
                let (buckets, records) = (generation.keys.len(), generation.log.records());
                merge::parse::<V>(&raw, bucket, buckets, records, &mut items).ok_or_else(|| {
                    let path = generation.keys.file().path();
                    DrumError::corrupt(path, 0, "records of a bucket that cannot be read")
                })?;
                all.extend(items.iter().filter(|item| wanted(item)).map(|item| (index, *item)));
            }
            raws.push(raw);
        }
        Ok((raws, all))
    }

    fn update(&self, index: usize, item: &Item, raw: &[Vec<u8>]) -> Result<V> {
        let update = if V::NONE {
            V::decode(&[])
        } else {
            Reader::from_place(&raw[index], item.at as usize).counted().and_then(V::decode)
        };
        update.ok_or_else(|| {
            let path = self.generations[index].keys.file().path();
            DrumError::corrupt(path, 0, "an update that cannot be decoded")
        })
    }

    /// What the merges will make of a stored value.
    fn apply(&self, mut stored: Option<V>, raw: &[Vec<u8>], items: &[(usize, Item)]) -> Result<Option<V>> {
        for (index, item) in items {
            if item.tag >> 30 != CHECK {
                let sealed_s = self.generations[*index].sealed_s;
                let current = stored.take().filter(|value| !value.expired(sealed_s));
                stored = Some(V::update(current, self.update(*index, item, raw)?));
            }
        }
        Ok(stored)
    }

    /// Visits the records of a log that were not delivered, with their number and kind, until the visitor has enough.
    fn visit_log(&self, index: usize, mut visit: impl FnMut(Option<u32>, u64, &[u8]) -> bool) -> Result<()> {
        let left = self.left.as_ref().map(|left| &left[index][..]);
        visit_log(&self.generations[index], self.cursors[index], left, &mut visit)
    }
}

/// The number of the log record that an operation belongs to.
fn number_of(item: &Item) -> u32 {
    item.tag & ((1 << 30) - 1)
}

fn decode<V: Value>(run: &Run, bytes: &[u8]) -> Result<V> {
    V::decode(bytes).ok_or_else(|| DrumError::corrupt(run.file().path(), 0, "a value that cannot be decoded"))
}

/// Sizes with which generations of a manifest can be restored.
pub(crate) fn plan(manifest: &Manifest) -> Plan {
    Plan { buckets: manifest.buckets as usize, ..Plan::new(&Options::new(0), true, 0) }
}

pub(crate) fn check_kind<V: Value>(disk: &Arc<Disk>, manifest: &Manifest) -> Result<()> {
    if manifest.has_values == V::NONE {
        let path = disk.dir.join(manifest::name(manifest.number));
        return Err(DrumError::Incompatible { path, what: "it was made for another kind of value" });
    }
    Ok(())
}

/// Visits the records of a log from a place on, with their numbers, until the visitor has enough. Of a damaged log some blocks are left,
/// and some numbers are not known.
pub(crate) fn visit_log(
    generation: &Generation,
    (first, mut offset, record): Cursor,
    left: Option<&[LogBlock]>,
    visit: &mut impl FnMut(Option<u32>, u64, &[u8]) -> bool,
) -> Result<()> {
    let log = &generation.log;
    let mut record = Some(record);
    for block in first..log.blocks() {
        let start = std::mem::replace(&mut offset, crate::log::HEADER_BYTES as u32);
        match left.map(|left| left[(block - first) as usize]) {
            Some(LogBlock::Lost) => continue,
            Some(LogBlock::From(number)) => record = number,
            None => {}
        }
        let read;
        let bytes = match log.in_ram(block) {
            Some(bytes) => bytes,
            None => {
                read = log.reader().read(block)?;
                &read.0[..read.1]
            }
        };
        let corrupt = || {
            let place = u64::from(block) * log.block_bytes() as u64;
            DrumError::corrupt(log.file().path(), place, "a record of the log that cannot be read")
        };
        let mut reader = Reader::new(bytes.get(start as usize..).ok_or_else(corrupt)?);
        while !reader.is_empty() {
            let (kind, aux) = read_record(&mut reader).ok_or_else(corrupt)?;
            if record.is_some_and(|record| record >= log.records()) {
                return Err(corrupt());
            }
            if !visit(record, kind, aux) {
                return Ok(());
            }
            record = record.map(|record| record + 1);
        }
    }
    if left.is_some() || record == Some(log.records()) {
        return Ok(());
    }
    Err(DrumError::corrupt(log.file().path(), 0, "the log holds fewer records than it should"))
}
