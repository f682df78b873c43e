//! Opening: the newest checkpoint, or an earlier one, is read back, and what a crash left behind goes.

use std::path::Path;
use std::sync::Arc;

use mattock_env::Env;

use crate::cache::Cache;
use crate::drum::Drum;
use crate::error::{DrumError, Result};
use crate::generation::Generation;
use crate::kept::{Kept, NO_PIN};
use crate::manifest::{self, Manifest};
use crate::plan::{Deliver, Options, Plan};
use crate::run::Run;
use crate::table::{ENTRY_BYTES, Table};
use crate::value::Value;

impl<V: Value> Drum<V> {
    /// Opens the repository in `dir` as its newest checkpoint left it, or an empty one. Makes no file.
    pub fn open(env: &Env, dir: &Path, options: Options) -> Result<Drum<V>> {
        Drum::open_at(env, dir, options, None)
    }

    /// Opens an earlier checkpoint; later ones are forgotten. Number 0 is the empty repository before the first. It stays, and
    /// all that follow it, until [`keep_from`](Drum::keep_from) tells which one is needed now.
    pub fn open_at(env: &Env, dir: &Path, options: Options, checkpoint: Option<u64>) -> Result<Drum<V>> {
        let files = &env.files;
        let present = match files.entry(dir).map_err(|error| DrumError::io(dir, error))? {
            Some(_) => files.list(dir).map_err(|error| DrumError::io(dir, error))?,
            None => Vec::new(),
        };
        let mut numbers: Vec<u64> =
            present.iter().filter_map(|file| manifest::number_of(&file.name)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let newest = checkpoint.unwrap_or_else(|| numbers.last().copied().unwrap_or(0));
        if newest > 0 && !numbers.contains(&newest) {
            return Err(DrumError::NoSuchCheckpoint { path: dir.into(), number: newest });
        }
        let mut kept: Vec<Manifest> = Vec::new();
        for number in numbers.iter().copied().filter(|number| *number <= newest) {
            match manifest::read(files, dir, number) {
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
        drum.kept = kept.iter().map(Kept::found).collect();
        drum.find_dead();
        drum.pinned = checkpoint.unwrap_or(NO_PIN);
        if let Some(manifest) = &manifest {
            drum.restore(manifest)?;
        }
        drum.remove_litter(&present)?;
        drum.warm()?;
        Ok(drum)
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
            .flat_map(|kept| kept.files.iter().cloned().chain(manifest::names(kept.number)))
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
        let keys: u64 = self.runs.iter().map(|run| run.keys()).sum();
        let (needed, room) = match &self.cache {
            Some(cache) => (waiting + stored, cache.capacity() / 8 * 4),
            None if V::NONE => (1, 0),
            None => (keys * ENTRY_BYTES as u64 + waiting + stored, (self.plan.table_bytes / 4 * 3) as u64),
        };
        if (waiting == 0 && stored == 0) || needed > room {
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
            // What does not fit is counted again and again, and must not be tried for every key.
            None if fits => {
                bytes.clear();
                value.encode(&mut bytes);
                fits = table.update(key, value, bytes.len(), now_s);
            }
            None => {}
        })?;
        self.cache = cache;
        self.table = (!V::NONE && fits).then_some(table);
        Ok(())
    }
}

/// Whether a file in the directory has one of our names: others are left alone.
fn is_ours(name: &str) -> bool {
    ["MANIFEST-", "run-", "log-", "keys-", "answers-", "tail-"].iter().any(|prefix| name.starts_with(prefix))
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
