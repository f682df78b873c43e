//! Durability: making the present state one that can be opened, and opening it.
//!
//! A checkpoint writes what is only in RAM (the *tail* of each generation: unfinished chunks and log blocks), makes files
//! durable, and then the manifest that names them, as one atomic step. It copies nothing that is in a file already, so it
//! costs what the buffers hold, whatever the size of the store. A crash goes back to the newest manifest.
//!
//! Files are never changed once a manifest names them: logs and chunks only grow behind the length it gives, and all else
//! is written once. A file goes when neither the state nor a kept manifest needs it, its manifest before it.

use std::path::Path;
use std::sync::Arc;

use mattock_env::{Env, OpenMode, Step};

use crate::cache::Cache;
use crate::drum::Drum;
use crate::error::{DrumError, Result};
use crate::generation::{Generation, Tail};
use crate::manifest::{self, Manifest, RunEntry};
use crate::plan::{Deliver, Options, Plan};
use crate::run::Run;
use crate::table::Table;
use crate::value::Value;

/// A durable state: what to copy to have it elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its number, to open it by.
    pub number: u64,
    /// Operations that it contains.
    pub position: u64,
    /// Files in the repository's directory and how many bytes of each belong to it. All but logs and keys, which may
    /// grow, are immutable. The manifest is the last.
    pub files: Vec<(String, u64)>,
}

impl<V: Value> Drum<V> {
    /// Opens the repository in `dir` as its newest checkpoint left it, or an empty one. Makes no file.
    pub fn open(env: &Env, dir: &Path, options: Options) -> Result<Drum<V>> {
        Drum::open_at(env, dir, options, None)
    }

    /// Opens an earlier checkpoint; later ones are forgotten. Number 0 is the empty repository before the first.
    pub fn open_at(env: &Env, dir: &Path, options: Options, checkpoint: Option<u64>) -> Result<Drum<V>> {
        let files = &env.files;
        let present = match files.entry(dir).map_err(|error| DrumError::io(dir, error))? {
            Some(_) => files.list(dir).map_err(|error| DrumError::io(dir, error))?,
            None => Vec::new(),
        };
        let mut numbers: Vec<u64> =
            present.iter().filter_map(|file| manifest::number_of(&file.name)).collect();
        numbers.sort_unstable();
        let newest = checkpoint.unwrap_or_else(|| numbers.last().copied().unwrap_or(0));
        if newest > 0 && !numbers.contains(&newest) {
            return Err(DrumError::NoSuchCheckpoint { path: dir.into(), number: newest });
        }
        let mut kept: Vec<Manifest> = Vec::new();
        for number in numbers.iter().copied().filter(|number| *number <= newest) {
            match read_manifest(env, dir, number) {
                Ok(manifest) => kept.push(manifest),
                Err(error) if number == newest => return Err(error),
                // Of an older one nothing is needed.
                Err(_) => {}
            }
        }
        let wanted = options.checkpoints_kept.max(1);
        kept.drain(..kept.len().saturating_sub(wanted));
        let manifest = kept.last().cloned();

        let free = files.free_bytes(existing(env, dir)).unwrap_or(u64::MAX);
        let mut plan = options.sizes.clone().unwrap_or_else(|| Plan::new(&options, !V::NONE, free));
        if let Some(manifest) = &manifest {
            let path = dir.join(manifest::name(manifest.number));
            if manifest.has_values == V::NONE {
                let what = "it was made for another kind of value";
                return Err(DrumError::Incompatible { path, what });
            }
            if manifest.delivers_all != (options.deliver == Deliver::All) {
                let what = "it was made to deliver other results: `Options::deliver` cannot be changed";
                return Err(DrumError::Incompatible { path, what });
            }
            plan.buckets = manifest.buckets as usize;
        }
        let mut drum = Drum::empty(env, dir, options, plan);
        drum.checkpoint_number = numbers.last().copied().unwrap_or(0).max(newest);
        drum.kept = kept.iter().map(Kept::new).collect();
        if let Some(manifest) = &manifest {
            drum.restore(manifest)?;
        }
        drum.remove_litter(&present)?;
        drum.warm()?;
        Ok(drum)
    }

    /// The number of the newest checkpoint that was acknowledged or opened; 0 before the first.
    pub fn newest_checkpoint(&self) -> u64 {
        self.kept.iter().rev().find(|kept| kept.durable).map_or(0, |kept| kept.number)
    }

    fn restore(&mut self, manifest: &Manifest) -> Result<()> {
        let now_s = self.clock.unix().as_seconds();
        for run in &manifest.runs {
            let name = manifest::run_name(run.number);
            let run = Run::open(&self.disk, name, run.number, run.directory, self.plan.buckets)?;
            self.runs.push(Arc::new(run));
        }
        for entry in &manifest.generations {
            let generation = Generation::restore(&self.disk, &self.plan, entry, manifest.number, now_s)?;
            self.generations.push_back(generation);
        }
        self.position = manifest.position;
        self.cursor = manifest.cursor;
        self.next_number = manifest.next_number + 1;
        self.open = Generation::new(&self.disk, manifest.next_number, &self.plan);
        if !self.runs.is_empty() || !self.generations.is_empty() {
            self.table = None;
            if self.cache.is_some() {
                self.cache = Some(Cache::new(self.plan.cache_sets, false));
            }
        }
        Ok(())
    }

    /// Removes what a crash left behind, later manifests first: their files are going to be overwritten.
    fn remove_litter(&mut self, present: &[mattock_env::StoredFile]) -> Result<()> {
        let needed: Vec<String> = self
            .kept
            .iter()
            .flat_map(|kept| kept.files.iter().cloned().chain([manifest::name(kept.number)]))
            .collect();
        let litter =
            present.iter().filter(|file| !file.is_dir && is_ours(&file.name) && !needed.contains(&file.name));
        let (manifests, others): (Vec<_>, Vec<_>) =
            litter.partition(|file| manifest::number_of(&file.name).is_some());
        let io = |error| DrumError::io(&self.disk.dir, error);
        if !manifests.is_empty() {
            for file in manifests {
                self.disk.files.remove_file(&self.disk.dir.join(&file.name)).map_err(io)?;
            }
            self.disk.files.sync_dir(&self.disk.dir).map_err(io)?;
        }
        for file in others {
            self.disk.files.remove_file(&self.disk.dir.join(&file.name)).map_err(io)?;
        }
        Ok(())
    }

    /// Loads a small store into RAM, so that a small crawl answers at once after a restart too.
    fn warm(&mut self) -> Result<()> {
        let waiting: u64 = self
            .generations
            .iter()
            .filter(|generation| generation.resolved.is_none())
            .map(|generation| generation.keys.bytes())
            .sum();
        let stored: u64 = self.runs.iter().map(|run| run.bytes()).sum();
        let room = match &self.cache {
            Some(cache) => cache.capacity() / 8 * 4,
            None if V::NONE => 0,
            None => (self.plan.table_bytes / 2) as u64,
        };
        if (waiting == 0 && stored == 0) || waiting + stored > room {
            return Ok(());
        }
        match self.wait_for_merges() {
            // It can be opened and read all the same.
            Err(DrumError::DiskFull { .. }) => return Ok(()),
            other => other?,
        }
        let now_s = self.clock.unix().as_seconds();
        let mut cache = self.cache.as_ref().map(|_| Cache::new(self.plan.cache_sets, true));
        let mut table = Table::new(self.plan.table_bytes);
        let (mut fits, mut bytes) = (true, Vec::new());
        self.scan(|key, value| match &mut cache {
            Some(cache) => {
                cache.grow_if_needed();
                cache.insert(cache.place(key));
            }
            None => {
                bytes.clear();
                value.encode(&mut bytes);
                fits &= table.update(key, value, bytes.len(), now_s);
            }
        })?;
        self.cache = cache;
        self.table = (!V::NONE && fits).then_some(table);
        Ok(())
    }

    /// Makes the present state durable. Once this has returned, a crash goes back to here or later, never before.
    pub fn checkpoint(&mut self) -> Result<Checkpoint> {
        if let Some(path) = &self.poisoned {
            return Err(DrumError::Poisoned { path: path.clone() });
        }
        let before = self.clock.now();
        self.poll();
        self.writer.settle()?;
        self.disk
            .files
            .create_dir_all(&self.disk.dir)
            .map_err(|error| DrumError::io(&self.disk.dir, error))?;
        let number = self.checkpoint_number + 1;
        self.checkpoint_number = number;
        let mut manifest = Manifest {
            number,
            buckets: self.plan.buckets as u64,
            has_values: !V::NONE,
            delivers_all: self.options.deliver == Deliver::All,
            position: self.position,
            next_number: self.next_number,
            cursor: self.cursor,
            runs: self.runs.iter().map(|run| run_entry(run)).collect(),
            generations: Vec::new(),
        };
        let mut poisoned = None;
        for generation in self.generations.iter_mut().chain([&mut self.open]) {
            if generation.is_empty() {
                continue;
            }
            let tail = generation.tail();
            let path = self.disk.dir.join(manifest::tail_name(generation.number, number));
            write_new(&self.disk.files, &path, &tail).map_err(|error| DrumError::io(&path, error))?;
            self.disk.count_written(tail.bytes().len());
            if !generation.synced
                && let Err(error) = generation.sync()
            {
                poisoned = Some((generation.log.file().path().to_owned(), error));
                break;
            }
            generation.synced = generation.sealed_s > 0;
            manifest.generations.push(generation.entry(&tail));
        }
        if let Some((path, error)) = poisoned {
            // Nobody knows what of the file is on disk, and trying again would not tell.
            self.poisoned = Some(path);
            return Err(error);
        }
        let files = manifest.files();
        // From here on the new manifest may be the one that a crash goes back to.
        self.kept.push_back(Kept { durable: false, ..Kept::new(&manifest) });
        let bytes = manifest.encode();
        let path = self.disk.dir.join(manifest::name(number));
        let written = self
            .disk
            .files
            .sync_dir(&self.disk.dir)
            .and_then(|()| self.disk.files.write_atomic(&path, &bytes))
            .and_then(|()| if self.placed { Ok(()) } else { sync_parents(&self.disk.files, &self.disk.dir) });
        written.map_err(|error| DrumError::io(&path, error))?;
        self.placed = true;
        self.disk.count_written(bytes.len());
        self.forget_checkpoints();
        self.note_pause(before);
        let mut files = files;
        files.push((manifest::name(number), bytes.len() as u64));
        Ok(Checkpoint { number, position: self.position, files })
    }

    /// Removes checkpoints that are not kept any longer, and then the files that only they needed.
    fn forget_checkpoints(&mut self) {
        let mut names = std::mem::take(&mut self.dead);
        let mut manifests = Vec::new();
        if let Some(newest) = self.kept.back_mut() {
            newest.durable = true;
        }
        let mut surplus = self
            .kept
            .iter()
            .filter(|kept| kept.durable)
            .count()
            .saturating_sub(self.options.checkpoints_kept.max(1));
        for kept in std::mem::take(&mut self.kept) {
            if kept.durable && surplus == 0 {
                self.kept.push_back(kept);
                continue;
            }
            surplus -= usize::from(kept.durable);
            manifests.push(manifest::name(kept.number));
            names.extend(kept.files.into_iter().filter(|name| name.starts_with("tail-")));
        }
        for name in manifests {
            let disk = Arc::clone(&self.disk);
            self.chores.submit(Box::new(move || {
                disk.remove(&name);
                Step::Done
            }));
        }
        for name in names {
            self.retire(name);
        }
    }
}

fn run_entry(run: &Run) -> RunEntry {
    RunEntry { number: run.file().number(), directory: run.directory(), bytes: run.bytes() }
}

/// A checkpoint whose files must stay.
pub(crate) struct Kept {
    pub(crate) number: u64,
    pub(crate) files: Vec<String>,
    /// Whether it was acknowledged. One that failed may yet be on disk, and then a crash goes back to it.
    durable: bool,
}

impl Kept {
    fn new(manifest: &Manifest) -> Kept {
        let files = manifest.files().into_iter().map(|(name, _)| name).collect();
        Kept { number: manifest.number, files, durable: true }
    }
}

/// Whether a file in the directory has one of our names: others are left alone.
fn is_ours(name: &str) -> bool {
    ["MANIFEST-", "run-", "log-", "keys-", "answers-", "tail-"].iter().any(|prefix| name.starts_with(prefix))
}

fn read_manifest(env: &Env, dir: &Path, number: u64) -> Result<Manifest> {
    let path = dir.join(manifest::name(number));
    let bytes = env.files.read(&path).map_err(|error| DrumError::io(&path, error))?;
    Manifest::decode(&bytes, number)
        .ok_or_else(|| DrumError::corrupt(&path, 0, "the manifest fails its checksum"))
}

fn write_new(files: &mattock_env::Files, path: &Path, tail: &Tail) -> std::io::Result<()> {
    let file = files.open_direct(path, OpenMode::CreateOrTruncate)?;
    file.write_all_at(tail.pages(), 0)?;
    file.sync()
}

/// Makes the directory's own name durable, and those above it.
fn sync_parents(files: &mattock_env::Files, dir: &Path) -> std::io::Result<()> {
    let mut dir = dir.parent();
    while let Some(parent) = dir
        && !parent.as_os_str().is_empty()
    {
        files.sync_dir(parent)?;
        dir = parent.parent();
    }
    Ok(())
}

/// The nearest directory that exists.
fn existing<'a>(env: &Env, dir: &'a Path) -> &'a Path {
    let mut dir = dir;
    while !matches!(env.files.entry(dir), Ok(Some(_))) {
        match dir.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => dir = parent,
            _ => return Path::new("."),
        }
    }
    dir
}
